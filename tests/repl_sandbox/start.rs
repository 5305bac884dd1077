//! What a REPL is started with: the context, the environment, the agent's role.

use crate::desk::{Desk, factory};
use fast_rlm::repl::{Context, ContextKind, PROBE, ReplError, ReplFactory, Role, StartOptions, Step, StepErrorKind};
use serde_json::json;
use std::io::Write;

async fn with_context(context: Context) -> Desk {
    Desk::start(StartOptions {
        context,
        ..StartOptions::default()
    })
    .await
    .0
}

fn file(content: &[u8], kind: ContextKind) -> (tempfile::NamedTempFile, Context) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let context = Context::File {
        path: file.path().into(),
        kind,
    };
    (file, context)
}

#[tokio::test]
async fn the_context_is_a_string_or_what_the_json_says() {
    for (context, printed) in [
        (Context::Nothing, "None"),
        (Context::Text("a \u{0} 日本".into()), "'a \\x00 日本'"),
        (
            Context::Json(json!({ "a": [1, null, 2.5], "big": u64::MAX }).into()),
            "{'a': [1, None, 2.5], 'big': 18446744073709551615}",
        ),
        (Context::Json(json!([true, "x"]).into()), "[True, 'x']"),
    ] {
        let mut desk = with_context(context).await;
        assert_eq!(desk.print("print(repr(context))").await.trim_end(), printed);
    }
}

#[tokio::test]
async fn a_file_is_read_in_pieces_whatever_its_bytes() {
    let (_kept, context) = file("é".repeat(5_000_000).as_bytes(), ContextKind::Text);
    let mut desk = with_context(context).await;
    assert_eq!(desk.print("print(len(context), set(context))").await, "5000000 {'é'}\n");
    let (_kept, context) = file(b"bad \xff byte", ContextKind::Text);
    assert_eq!(
        with_context(context).await.print("print(context)").await,
        "bad \u{fffd} byte\n"
    );
    let (_kept, context) = file(b"{\"a\": 1}", ContextKind::Json);
    assert_eq!(with_context(context).await.print("print(context['a'])").await, "1\n");
    let (_kept, context) = file(b"1\n\n{\"a\": 2}\n", ContextKind::JsonLines);
    assert_eq!(
        with_context(context).await.print("print(repr(context))").await,
        "[1, {'a': 2}]\n"
    );
}

#[tokio::test]
async fn a_context_that_cannot_be_read_is_an_error_of_the_start() {
    let start = |context| {
        let options = StartOptions {
            context,
            ..StartOptions::default()
        };
        async {
            factory()
                .start(options, std::sync::Arc::<crate::desk::Host>::default())
                .await
                .err()
                .expect("refused")
        }
    };
    let missing = start(Context::File {
        path: "/no/such/file".into(),
        kind: ContextKind::Text,
    })
    .await;
    assert!(
        matches!(&missing, ReplError::Context { path, .. } if path.ends_with("file")),
        "{missing}"
    );
    let (_kept, broken) = file(b"{\"a\": ", ContextKind::Json);
    assert!(start(broken).await.to_string().contains("JSONDecodeError"));
}

#[tokio::test]
async fn the_environment_holds_what_was_given_and_nothing_else() {
    let env = vec![("API_TOKEN".to_owned(), "s3cret é".to_owned())];
    let (mut desk, _) = Desk::start(StartOptions {
        env,
        ..StartOptions::default()
    })
    .await;
    assert_eq!(
        desk.print("import os\nprint(dict(os.environ) == {'API_TOKEN': 's3cret é'}, os.getenv('HOME'))")
            .await,
        "True None\n"
    );
}

#[tokio::test]
async fn what_a_sub_agent_may_not_do_raises_and_says_so() {
    let start = async |role| {
        Desk::start(StartOptions {
            role,
            mcp: true,
            ..StartOptions::default()
        })
        .await
        .0
    };
    let mut sub = start(Role::SubAgent).await;
    for code in ["x = 1; commit('x')", "await ask('?')"] {
        let outcome = sub.run(code).await;
        assert!(outcome.text().contains("root agent only"), "{code}: {}", outcome.text());
        assert_eq!(outcome.error.unwrap().kind, StepErrorKind::Exception);
    }
    assert!(!sub.run("await llm_query(1)").await.failed());
    let mut leaf = start(Role::Leaf).await;
    for code in ["await llm_query(1)", "await batch_llm_query(1)"] {
        assert!(
            leaf.run(code).await.text().contains("not available at this depth"),
            "{code}"
        );
    }
    assert_eq!(
        leaf.print("print((await mcp_call('server', 'tool', {'a': 1}))['arguments']['a'])")
            .await,
        "1\n"
    );
    for (call, given) in [
        (
            "mcp_call('s', 't', a=1)",
            json!({"server": "s", "tool": "t", "arguments": {"a": 1}}),
        ),
        (
            "mcp_call('s', 't', {'a': 1}, b=2)",
            json!({"server": "s", "tool": "t", "arguments": {"a": 1, "b": 2}}),
        ),
        (
            "mcp_call('s', tool='t', arguments={'a': 1})",
            json!({"server": "s", "tool": "t", "arguments": {"a": 1}}),
        ),
        (
            "mcp_read_resource('s', 'note:one')",
            json!({"server": "s", "uri": "note:one"}),
        ),
        (
            "mcp_read_resource('note:one', 's')",
            json!({"server": "s", "uri": "note:one"}),
        ),
        (
            "mcp_read_resource('note:one', server='s')",
            json!({"server": "s", "uri": "note:one"}),
        ),
        (
            "mcp_read_resource('s', uri='note:one')",
            json!({"server": "s", "uri": "note:one"}),
        ),
        ("mcp_read_resource('note:one')", json!({"uri": "note:one"})),
        (
            "mcp_read_resource('note:one', None)",
            json!({"server": null, "uri": "note:one"}),
        ),
    ] {
        assert!(!leaf.run(&format!("await {call}")).await.failed(), "{call}");
        assert_eq!(leaf.host.last().args, given, "{call}");
    }
    assert!(
        leaf.run("await mcp_call('server')")
            .await
            .text()
            .contains("mcp_call() needs tool")
    );
}

#[tokio::test]
async fn the_probe_shows_what_the_context_is() {
    let probe = async |context| {
        let mut desk = with_context(context).await;
        let outcome = desk.run_step(Step::new(0, PROBE)).await;
        assert_eq!(outcome.error, None);
        assert_eq!(outcome.written, Vec::<String>::new(), "the probe leaves nothing behind");
        outcome.output.text
    };
    assert_eq!(
        probe(Context::Text("short".into())).await,
        "context: a string of 5 characters\nshort\n"
    );
    let long = probe(Context::Text(
        format!("{}{}{}", "a".repeat(500), "m".repeat(5_000), "z".repeat(500)).into(),
    ))
    .await;
    assert!(
        long.starts_with("context: a string of 6000 characters") && !long.contains('m'.to_string().repeat(5).as_str())
    );
    assert!(long.contains(&"a".repeat(500)) && long.contains(&"z".repeat(500)));
    let dict = probe(Context::Json(
        json!({ "k": "v".repeat(1_000), "n": 5, "l": [1, 2] }).into(),
    ))
    .await;
    assert_eq!(
        dict,
        format!(
            "context: a dict with 3 keys\n  'k' (str, length 1000): {}... [1000 characters]\n  'n' (int): 5\n  'l' (list, length 2): [1, 2]\n",
            "v".repeat(200)
        )
    );
    let list = probe(Context::Json(json!(["a", { "b": 1 }]).into())).await;
    assert_eq!(
        list,
        "Context type: <class 'list'>, 2 items\n  first: str: a\n  last: dict: {'b': 1}\n"
    );
}
