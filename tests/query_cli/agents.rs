//! Sub-agents: what they get, what they are refused, and how many there may be.

use super::Place;
use crate::running::script::rule;
use crate::running::session::Totals;
use serde_json::{Value, json};

const TOOLS: &str = r#"
def shout(text: str) -> str:
    """Says it loudly."""
    return text.upper() + "!"

async def twice(text: str) -> str:
    """Says it two times."""
    return text * 2
"#;

#[test]
fn tools_are_told_without_their_source_and_handed_over_by_name() {
    let place = Place::new();
    place.file("tools.py", TOOLS);
    let told = json!({"depth": 0, "first": ["shout(text: str) -> str [sync]", "Says it loudly.", "twice(text: str) -> str [async"]});
    let root = r#"
async def attempt(**given):
    try:
        return await llm_query("hi", **given)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
got = [shout("a"), await twice("b"), await attempt(), await attempt(tools=["shout"]), await attempt(tools=[shout]), await attempt(tools=["nope"])]
"#;
    let child = "FINAL([shout('x') if 'shout' in globals() else 'no shout', 'twice' in globals()])";
    let query = place.rules(&[rule(told, &[root, "FINAL(got)"]), rule(json!({"depth": 1}), &[child])]);
    let answer = query
        .option("--tools", "tools.py")
        .arg("--json")
        .session(&place.session_dir())
        .run()
        .json();
    let got = &answer["final"];
    assert_eq!((&got[0], &got[1]), (&json!("A!"), &json!("bb")));
    assert_eq!(got[2], json!(["no shout", false]), "nothing is inherited");
    assert_eq!(got[3], json!(["X!", false]));
    assert_eq!(got[4], json!(["X!", false]), "the function itself names it");
    assert!(got[5].as_str().unwrap().contains("nope"), "{got}");
    let probe = place.session().last_transcript()[1]["output"].to_string();
    assert!(!probe.contains("text.upper()"), "{probe}");
}

#[test]
fn a_tool_that_fails_shows_no_line_of_its_source() {
    let place = Place::new();
    place.file(
        "tools.py",
        "def fail():\n    raise ValueError('no ' + 'such row')  # kept to itself\n",
    );
    let code = "import inspect\ntry:\n    print(inspect.getsource(fail))\nexcept OSError as e:\n    print(e)\nfail()";
    let query = place.steps(&[code, "FINAL(1)"]).option("--tools", "tools.py");
    assert_eq!(query.session(&place.session_dir()).answer(), "1");
    let lines = place.session().last_transcript();
    let told = crate::running::session::output(&lines, 1);
    let traced = told.contains("tools.py\", line 2, in fail") && told.contains("ValueError: no such row");
    assert!(traced && told.contains("source code"), "{told}");
    assert!(!told.contains("kept to itself") && !told.contains("raise"), "{told}");
}

/// A root with a context that is worth guarding, and a reviewer who says `verdict`.
fn guarded(place: &Place, verdict: &str, code: &str) -> (Value, Totals) {
    place.file("long.txt", &"lorem ipsum ".repeat(600));
    let review = json!({"when": {"last": {"regex": "^STOP"}}, "replies": [{"text": verdict, "usage": {"prompt": 10, "completion": 5, "cost": 0.01}}], "at_end": "last"});
    let attempt = format!("try:\n    got = {code}\nexcept Exception as e:\n    got = f'{{type(e).__name__}}: {{e}}'");
    let root = json!({"when": {"depth": 0}, "replies": [{"code": attempt}, {"code": "FINAL(got)"}]});
    let child = rule(json!({"depth": 1}), &["FINAL(len(context))"]);
    let query = place.rules(&[review, root, child]).option("--input-file", "long.txt");
    let told = query.session(&place.session_dir()).arg("--json").run().json();
    (told, Totals::of(&place.session().last_transcript()))
}

#[test]
fn handing_over_everything_is_reviewed_first() {
    let place = Place::new();
    let (told, totals) = guarded(&place, "YES - different work", "await llm_query(context)");
    assert_eq!((&told["final"], totals.agents), (&json!(7_200), 2));
    let lines = place.session().last_transcript();
    let step = lines
        .iter()
        .find(|line| line["step"] == json!(1) && line["depth"] == json!(0))
        .unwrap();
    assert_eq!(
        step["guard"]["total_tokens"],
        json!(15),
        "what the review used stands at the step that caused it"
    );
    assert_eq!(told["usage"]["cost_nano_usd"], json!(10_000_000));

    let (told, totals) = guarded(&Place::new(), "NO - it is the same text", "await llm_query(context)");
    let refused = told["final"].as_str().unwrap();
    assert!(
        refused.contains("it is the same text") && totals.agents == 1,
        "{refused}"
    );

    let batch = "await batch_llm_query(llm_query(context), llm_query('small'))";
    let (told, totals) = guarded(&Place::new(), "No.", batch);
    assert!(
        told["final"].as_str().unwrap().contains("refused") && totals.agents == 1,
        "{told}"
    );
    assert_eq!(told["usage"]["calls"], json!(3), "one question for the whole batch");

    let (told, _) = guarded(&Place::new(), "NO", "await llm_query(context[:1000])");
    assert_eq!(told["final"], json!(1_000), "a small part is nobody's business");
}

#[test]
fn a_context_that_nests_too_deep_is_an_error_of_the_call() {
    let place = Place::new();
    let code = "d = 0\nfor _ in range(200):\n    d = [d]\ntry:\n    await llm_query(d)\nexcept ValueError as e:\n    FINAL(str(e))";
    let query = place
        .rules(&[rule(json!({"depth": 0}), &[code])])
        .session(&place.session_dir());
    let answer = query.answer();
    assert!(answer.contains("flatten"), "{answer}");

    place.file(
        "deep.py",
        "def deep(value):\n    for _ in range(200):\n        value = [value]\n    return value\n",
    );
    let code = "got = deep(deep(1))\nwhile isinstance(got, list):\n    got = got[0]\nFINAL(got)";
    let query = place.rules(&[rule(json!({"depth": 0}), &[code])]);
    let query = query.session(&place.session_dir()).option("--tools", "deep.py");
    assert_eq!(
        query.answer(),
        "1",
        "a tool may take and return what no record can hold"
    );
}

#[test]
fn gather_is_refused_and_names_the_way() {
    let place = Place::new();
    let code = "import asyncio\ntry:\n    await asyncio.gather(llm_query('a'), llm_query('b'))\nexcept Exception as e:\n    FINAL(str(e))";
    let answer = place
        .rules(&[
            rule(json!({"depth": 0}), &[code]),
            rule(json!({"depth": 1}), &["FINAL(1)"]),
        ])
        .answer();
    assert!(answer.contains("batch_llm_query"), "{answer}");
}

#[test]
fn the_deepest_agents_are_leaves() {
    let place = Place::new();
    let deeper = "try:\n    FINAL([context, await llm_query(context + 1)])\nexcept Exception as e:\n    FINAL([context, str(e)])";
    let leaf = rule(json!({"depth": 2, "system": "deepest level allowed"}), &[deeper]);
    let root = rule(json!({"depth": 0}), &["FINAL(await llm_query(1))"]);
    let middle = rule(json!({"depth": 1}), &[deeper]);
    let ran = place
        .rules(&[leaf, root, middle])
        .option("--max-depth", "2")
        .arg("--json")
        .run();
    let answer = ran.json();
    assert_eq!(answer["final"][0], json!(1), "{ran:?}");
    assert_eq!(answer["final"][1][0], json!(2));
    assert!(answer["final"][1][1].as_str().unwrap().contains("depth"), "{answer}");
}

#[test]
fn sub_agents_see_nothing_of_the_session_and_cannot_commit_or_ask() {
    let place = Place::new();
    let child = r#"
said = []
for name in ("commit", "ask"):
    try:
        result = globals()[name]("x")
        said.append(await result if name == "ask" else result)
    except Exception as e:
        said.append(str(e))
FINAL([sorted(n for n in globals() if n in ("kept", "helper")), said])
"#;
    let root = ["kept = 1\ndef helper():\n    return 2", "FINAL(await llm_query('x'))"];
    let query = place.rules(&[rule(json!({"depth": 0}), &root), rule(json!({"depth": 1}), &[child])]);
    let answer = query.session(&place.session_dir()).arg("--json").run().json();
    assert_eq!(answer["final"][0], json!([]));
    for said in answer["final"][1].as_array().unwrap() {
        assert!(said.as_str().unwrap().contains("root"), "{said}");
    }
}

#[test]
fn two_hundred_sub_agents_at_once() {
    let place = Place::new();
    let root = [
        "got = await batch_llm_query(*[llm_query(i) for i in range(200)])",
        "FINAL(got == [i * 2 for i in range(200)])",
    ];
    let child = rule(json!({"depth": 1}), &["FINAL(context * 2)"]);
    let query = place
        .rules(&[rule(json!({"depth": 0}), &root), child])
        .session(&place.session_dir());
    assert_eq!(query.answer(), "true");
    let totals = Totals::of(&place.session().last_transcript());
    assert_eq!(
        (totals.agents, totals.all_steps, totals.failed_steps),
        (201, 202, 0),
        "no step is lost"
    );
}
