//! Wrong options, and inputs that cannot be used.

use super::{Book, Program};

#[test]
fn options_that_make_no_sense() {
    let mut book = Book::new();
    for args in [
        &["go", "--no-such"][..],
        &["go", "--max-depth", "deep"],
        &["go", "--max-calls", "-1"],
        &["go", "--wait", "soon"],
        &["go", "--verbosity", "loud"],
        &["go", "--vertex"],
        &["go", "--cli-minimal"],
        &["go", "--acp-agents", "{}"],
        &["acp", "install"],
        &["go", "--session-id", "alone"],
        &["go", "there"],
        &["sessions", "--no-such"],
        &["fork"],
        &["fork", "one", "--at", "0", "--inject", "1"],
        &["fork", "one", "--at", "1"],
        &["fork", "one", "--at", "1", "--inject", "1", "--replan", "x"],
        &["what-if", "one"],
        &["replay", "--turn", "0"],
        &["export", "one"],
        &["import"],
        &["diff", "one"],
        &["answer"],
        &["completions", "tcsh"],
    ] {
        book.met(&format!("fast-rlm {}", args.join(" ")), &book.program(args).run());
    }
    for args in [
        &["--no-such"][..],
        &["--stats", "--json"],
        &["--demo", "somewhere"],
        &["one", "two"],
        &["--theme"],
    ] {
        book.met(&format!("fast-rlm-log {}", args.join(" ")), &book.viewer(args));
    }
    book.close("options");
}

#[test]
fn values_that_cannot_be_used() {
    let mut book = Book::new();
    let ran = Program::asks(book.dir.path(), " ")
        .option("--primary-agent", "scripted:none")
        .run();
    book.met("an empty prompt", &ran);
    for (option, value) in [
        ("--max-money-spent", "lots"),
        ("--max-money-spent", "-1"),
        ("--cli-agents", "[]"),
        ("--cli-agents", "@nowhere.json"),
        ("--cli-agents", "{\"mine\": {\"comand\": \"x\"}}"),
        ("--env", "NOVALUE"),
        ("--env", "PIN=short"),
        ("--output-schema", "nowhere.json"),
        ("--tools", "nowhere.py"),
        ("--mcp", "nowhere.json"),
        ("--repl", "ruby"),
        ("--config", "nowhere.yaml"),
        ("--input-file", "nowhere.txt"),
        ("--input-file", "."),
    ] {
        book.met(
            &format!("{option} {value}"),
            &book.steps(&["FINAL(1)"]).option(option, value).run(),
        );
    }
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (option, file, content) in [
        ("--output-schema", "no.json", "not json"),
        ("--output-schema", "schema.json", r#"{"type": "nonsense"}"#),
        ("--tools", "bad.py", "def f(:\n"),
        ("--tools", "raises.py", "1 / 0\n"),
        ("--mcp", "broken.json", "{"),
        ("--mcp", "form.json", r#"{"servers": {}}"#),
        ("--mcp", "neither.json", r#"{"mcpServers": {"it": {}}}"#),
        (
            "--mcp",
            "unset.json",
            r#"{"mcpServers": {"it": {"command": "${NOT_SET_ANYWHERE}"}}}"#,
        ),
        (
            "--mcp",
            "short.json",
            r#"{"mcpServers": {"it": {"command": "x", "env": {"API_KEY": "1234"}}}}"#,
        ),
        ("--config", "repl.yaml", "repl: ruby\n"),
        ("--config", "list.yaml", "max_depth: [1\n"),
        ("--config", "type.yaml", "max_depth: deep\n"),
        ("--config", "money.yaml", "max_money_spent: -1\n"),
        ("--config", "memory.yaml", "repl_memory_mb: 1\n"),
        ("--config", "no_memory.yaml", "repl_memory_mb: 0\n"),
        ("--output-schema", "deep.json", &deep),
        ("--mcp", "deep.json", &deep),
        ("--input-file", "deep.json", &deep),
        ("--input-file", "deep.yaml", &deep),
        ("--input-file", "deep.jsonl", &deep),
        ("--input-file", "bad.json", "{\n \"a\": }"),
        ("--input-file", "bad.yaml", "a: [1\n"),
        ("--input-file", "bad.jsonl", "1\n2\n{"),
    ] {
        book.put(file, content);
        book.met(
            &format!("{option} {file}"),
            &book.steps(&["FINAL(1)"]).option(option, file).run(),
        );
    }
    let twice = |n: u32| {
        format!(
            r##""a{}": {{"anyOf": [{{"$ref": "#/$defs/a{n}"}}, {{"$ref": "#/$defs/a{n}"}}]}}"##,
            n + 1
        )
    };
    let definitions: Vec<String> = (0..40).map(twice).collect();
    book.put(
        "bomb.json",
        format!(
            r##"{{"$ref": "#/$defs/a40", "$defs": {{"a0": {{"type": "null"}}, {}}}}}"##,
            definitions.join(", ")
        ),
    );
    let ran = book.steps(&["FINAL(1)"]).option("--output-schema", "bomb.json").run();
    book.met("--output-schema bomb.json", &ran);
    let no_text = std::os::unix::ffi::OsStringExt::from_vec(b"abcdefgh\xff".to_vec());
    let no_text: std::ffi::OsString = no_text;
    let ran = book.steps(&["FINAL(1)"]).env("FAST_RLM_MAX_DEPTH", &no_text).run();
    book.met("FAST_RLM_MAX_DEPTH that is no text", &ran);
    let ran = Program::asks(book.dir.path(), "go")
        .option("--primary-agent", "some/model")
        .env("RLM_MODEL_API_KEY", &no_text)
        .env("OPENAI_API_KEY", "sk-for-another-server")
        .run();
    book.met("RLM_MODEL_API_KEY that is no text", &ran);
    for id in ["../x", "a/b", "", ".hidden", "logs", "ü", &"x".repeat(65)] {
        let ran = book.session(id, &["FINAL(1)"]).run();
        book.met(&format!("--session-id {id:?}"), &ran);
    }
    book.put("a file", "");
    for prefix in ["../../up", "a/b"] {
        let ran = book.session("named", &["FINAL(1)"]).option("--prefix", prefix).run();
        book.met(&format!("--prefix {prefix}"), &ran);
    }
    for (option, id) in [("--prefix", "named"), ("--session-id", "alone")] {
        let secret = "hunter2-hunter2";
        let asks = match option {
            "--prefix" => book.session(id, &["FINAL(1)"]).option(option, secret),
            _ => book.session(secret, &["FINAL(1)"]),
        };
        let ran = asks.option("--env", format!("KEY={secret}")).run();
        book.met(&format!("{option} that is a secret"), &ran);
    }
    let ran = book.steps(&["FINAL(1)"]).session(&book.path("a file")).run();
    book.met("--session-dir is a file", &ran);
    let ran = book.steps(&["FINAL(1)"]).session(&book.path("a file/below")).run();
    book.met("--session-dir is below a file", &ran);
    let ran = book.steps(&["FINAL(1)"]).option("--log-dir", "a file").run();
    book.met("--log-dir is a file", &ran);
    let ran = book.steps(&["FINAL(1)"]).option("--log-dir", "/proc/none").run();
    book.met("--log-dir where none can be made", &ran);
    let ran = book
        .steps(&["FINAL(1)"])
        .option("--config", "memory.yaml")
        .option("--repl", "python3");
    book.met("repl_memory_mb: 1 with --repl python3", &ran.arg("-q").run());
    book.close("values");
}

#[test]
fn limits_that_stop_a_query() {
    let mut book = Book::new();
    let usage = serde_json::json!({"prompt": 1_000, "completion": 200, "cost": 0.05});
    let replies: Vec<_> = (1..5)
        .map(|n| serde_json::json!({"code": format!("x{n} = {n}"), "usage": usage}))
        .collect();
    let script = super::script::write(book.dir.path(), "limits.yaml", &serde_json::json!({"replies": replies}));
    for setting in [
        "max_calls_per_subagent: 2",
        "max_global_calls: 1",
        "max_money_spent: 0.07",
        "max_money_spent: 0.01",
        "max_money_spent: 0",
        "max_completion_tokens: 150",
        "max_prompt_tokens: 1100",
    ] {
        book.put("limits_config.yaml", setting);
        let asks = Program::asks(book.dir.path(), "go").scripted(&script);
        book.met(setting, &asks.option("--config", "limits_config.yaml").run());
    }
    book.close("limits");
}
