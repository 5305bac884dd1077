//! Tests of scripts: reading, choosing, performing.

use super::*;
use crate::provider::{Delta, ErrorKind, Finish, Limits, Message, Usage};
use std::time::Duration;

fn settings() -> Settings {
    Settings {
        pacing: Pacing {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(1),
        },
        ..Settings::default()
    }
}

fn scripted(yaml: &str) -> Scripted {
    Scripted::from_yaml(yaml, &settings()).unwrap()
}

/// A conversation of user messages with replies between them.
fn talk(users: &[&str]) -> Request {
    let mut messages = vec![Message::system("You are brief. Name the mood.")];
    for (index, user) in users.iter().enumerate() {
        if index > 0 {
            messages.push(Message::assistant("…"));
        }
        messages.push(Message::user(*user));
    }
    Request::new("scripted:test.yaml#small", messages)
}

async fn call(model: &Scripted, request: &Request) -> Result<Reply, CallError> {
    model.call(request, &mut super::super::Discard, &Cancel::new()).await
}

async fn text(model: &Scripted, request: &Request) -> String {
    call(model, request).await.unwrap().text
}

#[tokio::test]
async fn replies_in_order_are_given_once_each() {
    let model = scripted("replies: [one, {code: FINAL(2)}, {say: So., code: \"\\nx = 1\\n\"}]");
    assert_eq!(text(&model, &talk(&["a"])).await, "one");
    assert_eq!(text(&model, &talk(&["a"])).await, "```repl\nFINAL(2)\n```");
    assert_eq!(text(&model, &talk(&["a"])).await, "So.\n\n```repl\nx = 1\n```");
    let error = call(&model, &talk(&["what now?", "b"])).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script script has no reply: no rule matches, its 3 replies in order are used up, and turn 1 at depth 0 asks \"b\""
    );
    assert_eq!(error.attempts, 1);
}

#[tokio::test]
async fn a_block_with_fences_in_it_is_still_one_block() {
    let model = scripted("replies:\n- code: |\n    FINAL('''\n    ```python\n    x\n    ```\n    ''')");
    assert_eq!(
        text(&model, &talk(&["a"])).await,
        "````repl\nFINAL('''\n```python\nx\n```\n''')\n````"
    );
}

#[tokio::test]
async fn a_rule_answers_by_the_conversation_alone() {
    let model = scripted(
        "rules:\n- name: r\n  when: {first: task}\n  replies: [zero, one]\n- when: {first: loop}\n  at_end: again\n  replies: [a, b]\n\
         - when: {first: stay}\n  at_end: last\n  replies: [a, b]\nreplies: [other]",
    );
    for _ in 0..3 {
        assert_eq!(text(&model, &talk(&["the task", "x"])).await, "one");
        assert_eq!(text(&model, &talk(&["the task"])).await, "zero");
    }
    let error = call(&model, &talk(&["the task", "x", "y"]))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("rule “r” has 2, and turn 2 at depth 0 asks \"y\""),
        "{error}"
    );
    assert_eq!(text(&model, &talk(&["loop", "", ""])).await, "a");
    assert_eq!(text(&model, &talk(&["stay", "", ""])).await, "b");
    assert_eq!(text(&model, &talk(&["no rule"])).await, "other");
}

#[tokio::test]
async fn a_rule_counts_only_the_turns_that_it_answers() {
    let model = scripted(
        "rules:\n- when: {last: error}\n  replies: [sorry, again?]\n- when: {first: task}\n  replies: [zero, one]",
    );
    assert_eq!(text(&model, &talk(&["task"])).await, "zero");
    assert_eq!(text(&model, &talk(&["task", "error"])).await, "sorry");
    assert_eq!(text(&model, &talk(&["task", "error", "out"])).await, "one");
    assert_eq!(text(&model, &talk(&["task", "error", "out", "error"])).await, "again?");
}

#[tokio::test]
async fn every_condition_must_hold() {
    let holds = async |when: &str| {
        let model = scripted(&format!(
            "rules:\n- when: {when}\n  at_end: last\n  replies: [yes!]\nreplies: [no!]"
        ));
        let mut request = talk(&["first task\nline 2", "last: 41 episodes"]);
        request.depth = 1;
        text(&model, &request).await == "yes!"
    };
    for when in [
        "mood",
        "task",
        "{}",
        "{any: episodes}",
        "{system: Name the mood}",
        "{first: task, last: \"41\", depth: 1, turn: 1}",
        "{last: {equals: \" last: 41 episodes\\n\"}}",
        "{first: {regex: '^line \\d$'}}",
        "{first: {regex: 'first.*2'}}",
        "{last: [\"41\", {regex: 'epi'}]}",
        "{model: \"#small\"}",
        "{last: {contains: last}}",
    ] {
        assert!(holds(when).await, "{when}");
    }
    for when in [
        "…",
        "{first: episodes}",
        "{last: task}",
        "{depth: 0}",
        "{turn: 2}",
        "{last: [\"41\", task]}",
        "{model: large}",
        "{last: {equals: last}}",
    ] {
        assert!(!holds(when).await, "{when}");
    }
}

#[tokio::test]
async fn parallel_agents_get_the_same_replies_in_any_order() {
    let rules = "rules:\n- when: {first: a}\n  replies: [a0, a1]\n- when: {first: b}\n  replies: [{text: b0, delay: 2ms}, b1]\n";
    let model = std::sync::Arc::new(scripted(rules));
    let calls: Vec<_> = (0..40)
        .map(|index| {
            let (model, task, turn) = (model.clone(), ["a", "b"][index % 2], index / 2 % 2);
            tokio::spawn(async move {
                let users = if turn == 0 { vec![task] } else { vec![task, "out"] };
                (format!("{task}{turn}"), text(&model, &talk(&users)).await)
            })
        })
        .collect();
    for call in calls {
        let (expected, got) = call.await.unwrap();
        assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn a_reply_is_cut_into_pieces_and_keeps_its_characters() {
    let model =
        scripted("replies: [{text: \"héllo 👍 wörld\", reasoning: \"hmm…\", stream: {chars: 3}, finish: length}]");
    let mut pieces: Vec<String> = Vec::new();
    let mut sink = |delta: Delta<'_>| match delta {
        Delta::Text(piece) => pieces.push(piece.to_owned()),
        Delta::Reasoning(piece) => pieces.push(format!("({piece})")),
    };
    let reply = model.call(&talk(&["x"]), &mut sink, &Cancel::new()).await.unwrap();
    assert_eq!(pieces, ["(hmm)", "(…)", "hél", "lo ", "👍 w", "örl", "d"]);
    assert_eq!(
        (reply.text.as_str(), reply.reasoning.as_str()),
        ("héllo 👍 wörld", "hmm…")
    );
    assert_eq!(reply.finish, Finish::Length);
}

#[tokio::test]
async fn usage_is_as_written_and_else_estimated() {
    let usage = async |usage: &str| -> Usage {
        let model = scripted(&format!(
            "defaults: {{prices: {{input: 1, cached: 0.1, output: 10}}}}\nreplies: [{{text: 12345678, reasoning: abcd, {usage}}}]"
        ));
        call(&model, &talk(&[&"x".repeat(2000), "abc"])).await.unwrap().usage
    };
    let auto = usage("usage: auto").await;
    // 29, 2000, 1 and 3 characters in four messages; all but the last are cached, in blocks.
    assert_eq!(
        (auto.prompt_tokens, auto.completion_tokens, auto.reasoning_tokens),
        (8 + 500 + 1 + 1 + 16, 3, 1)
    );
    assert_eq!((auto.cached_tokens, auto.total_tokens), (512, 529));
    // 14 × 1000 + 512 × 100 + 3 × 10,000 nano-dollars.
    assert_eq!(auto.cost_nano, Some(14_000 + 51_200 + 30_000));
    assert_eq!(usage("delay: 0").await, auto);

    let written = usage("usage: {prompt: 5, completion: 6, total: 12, cached: 4, reasoning: 3, cost: 0.0000378}").await;
    assert_eq!(
        (written.prompt_tokens, written.completion_tokens, written.total_tokens),
        (5, 6, 12)
    );
    assert_eq!(
        (written.cached_tokens, written.reasoning_tokens, written.cost_nano),
        (4, 3, Some(37_800))
    );
    assert_eq!(
        usage("usage: {cost: \"4e-9\"}").await,
        Usage {
            cost_nano: Some(4),
            ..auto
        }
    );
    assert_eq!(usage("usage: {cost: unknown}").await.cost_nano, None);
    assert_eq!(usage("usage: none").await, Usage::default());

    let free = call(&scripted("replies: [x]"), &talk(&["x"])).await.unwrap();
    assert_eq!((free.usage.cost_nano, free.usage.reported), (Some(0), true));
}

#[tokio::test]
async fn attempts_fail_as_written_and_then_succeed() {
    let model = scripted(
        "replies: [{text: ok, fails: [429, {status: 503, message: busy, retry_after: 1ms}, transport]}, {text: no, fails: [500, empty, broken, 500]}]",
    );
    let reply = call(&model, &talk(&["x"])).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.attempts), ("ok", 4));
    let error = call(&model, &talk(&["x"])).await.unwrap_err();
    assert_eq!(error.to_string(), "the script answered 500 (after 4 attempts)");
}

#[tokio::test]
async fn errors_are_those_of_a_real_server() {
    let error = async |error: &str| {
        let model = scripted(&format!("replies: [{{text: abcdef, reasoning: xy, error: {error}}}]"));
        let limits = Limits {
            max_retries: 0,
            idle_timeout: Duration::from_millis(5),
            ..Limits::default()
        };
        call(&model, &Request { limits, ..talk(&["x"]) }).await.unwrap_err()
    };
    assert!(matches!(*error("401").await.kind, ErrorKind::Auth { status: 401, .. }));
    assert!(matches!(
        *error("{status: 402, message: no credit}").await.kind,
        ErrorKind::Status { status: 402, .. }
    ));
    assert!(matches!(*error("transport").await.kind, ErrorKind::Transport { .. }));
    assert!(matches!(*error("silent").await.kind, ErrorKind::Silent { .. }));
    assert!(matches!(*error("empty").await.kind, ErrorKind::Empty { .. }));
    let broken = error("{broken_after: 5}").await;
    assert_eq!(
        (broken.partial.reasoning.as_str(), broken.partial.text.as_str()),
        ("xy", "abc")
    );
}

#[tokio::test]
async fn delays_can_be_cancelled_and_switched_off() {
    let yaml = "defaults: {delay: 2m}\nreplies: [x, {text: y, stream: {chars: 1, every: 60}}]";
    let model = scripted(yaml);
    let cancel = Cancel::new();
    let request = talk(&["x"]);
    let mut sink = super::super::Discard;
    let cancelling = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(model.call(&request, &mut sink, &cancel), cancelling);
    assert!(result.unwrap_err().is_cancelled());

    let instant = Scripted::from_yaml(
        yaml,
        &Settings {
            script_delays: false,
            ..settings()
        },
    )
    .unwrap();
    assert_eq!(text(&instant, &request).await, "x");
    assert_eq!(text(&instant, &request).await, "y");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        ("replies:\n  - text: a\n    txt: b\n", 3, "txt"),
        (
            "replies:\n  - delay: 1\n",
            2,
            "a reply needs text, say, code or an error",
        ),
        ("replies:\n- text: a\n  say: b\n", 2, "either text, or say and code"),
        (
            "rules:\n- when: {last: {regex: '('}}\n  replies: [x]\n",
            2,
            "unclosed group",
        ),
        ("rules:\n- when: x\n  replies: []\n", 3, "at least one reply"),
        ("rules:\n- when: {frist: x}\n  replies: [y]\n", 2, "frist"),
        ("rules:\n- replies: [x]\n  at_end: never\n", 3, "never"),
        ("replies:\n- {text: x, delay: soon}\n", 2, "soon"),
        ("replies:\n- {text: x, fails: [200]}\n", 2, "a status from 400 to 599"),
        (
            "replies:\n- {text: x, error: {status: 500, broken_after: 1}}\n",
            2,
            "broken_after",
        ),
        ("replies:\n- {text: x, usage: {cost: cheap}}\n", 2, "cheap"),
        ("replies:\n- {text: x, usage: some}\n", 2, "some"),
        ("replies:\n- {text: x, stream: {chars: 0}}\n", 2, "zero"),
        ("replies: [x\n", 1, "unclosed bracket"),
        ("- x\n", 1, ""),
        ("", 1, "needs rules or replies"),
        ("replies: []\n", 1, "needs rules or replies"),
    ];
    for (yaml, line, part) in cases {
        let error = Script::from_yaml("demo.yaml", yaml).expect_err(yaml);
        assert_eq!(error.line, line, "{yaml}: {error}");
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("demo.yaml:{line}:")) && message.contains(part),
            "{yaml}: {message}"
        );
    }
    let json = Script::from_json("demo.json", "{\"replies\": [\n{\"txt\": 1}]}").unwrap_err();
    assert!(
        json.to_string().starts_with("demo.json:2:6: unknown field `txt`"),
        "{json}"
    );
}

#[tokio::test]
async fn files_are_read_by_their_kind_and_labels_are_no_part_of_the_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("a.json"), "{\"replies\": [\"\\ud83d\\udc4d\\/\"]}").unwrap();
    std::fs::write(path("b.yaml"), "replies: [b]").unwrap();
    std::fs::write(path("c.yaml#x"), "replies: [c]").unwrap();
    for (name, expected) in [("a.json", "👍/"), ("b.yaml#small", "b"), ("c.yaml#x", "c")] {
        let model = Scripted::open(&path(name), &settings()).unwrap();
        assert_eq!(text(&model, &talk(&["x"])).await, expected);
    }
    let missing = Scripted::open(&path("missing.yaml"), &settings())
        .unwrap_err()
        .to_string();
    assert!(missing.contains("missing.yaml: cannot read the script: "), "{missing}");
}

#[test]
fn the_examples_in_the_manual_are_scripts() {
    let manual = include_str!("../../../docs/scripted.md");
    let mut count = 0;
    for part in manual.split("\n```yaml\n").skip(1) {
        let yaml = part.split("\n```\n").next().unwrap();
        Script::from_yaml("docs/scripted.md", yaml).unwrap();
        count += 1;
    }
    assert_eq!(count, 4);
}
