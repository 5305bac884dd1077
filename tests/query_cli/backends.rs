//! Coding agents as models, played by scripts that take the arguments and write the JSON of the real ones; and the list
//! of models.

use super::Place;
use crate::running::{self, Program, Ran};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What every fake agent does first: it keeps what it was given, where the test finds it.
const KEEP: &str = r#"#!/bin/sh
keep="$(dirname "$0")/kept"
mkdir -p "$keep"
printf '%s\n' "$@" > "$keep/args"
env > "$keep/env"
ls -A > "$keep/files"
"#;

/// Claude Code 2: one result object.
const CLAUDE: &str = r#"cat > "$keep/prompt"
cat <<'END'
{"type":"result","subtype":"success","is_error":false,"duration_ms":1200,"num_turns":1,"result":"Here:\n\n```repl\nFINAL(context.upper())\n```","session_id":"s","total_cost_usd":0.0123,"usage":{"input_tokens":10,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":50},"permission_denials":[]}
END
"#;

/// Codex: an event a line.
const CODEX: &str = r#"cat > "$keep/prompt"
cat <<'END'
{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
not JSON at all
{"type":"item.completed","item":{"id":"item_0","type":"reasoning","text":"Capitals, then."}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"```repl\nFINAL(context.upper())\n```"}}
{"type":"turn.completed","usage":{"input_tokens":1110,"cached_input_tokens":1000,"output_tokens":50}}
END
"#;

/// OpenCode: an event a line.
const OPENCODE: &str = r#"cat > "$keep/prompt"
cat <<'END'
{"type":"step_start","sessionID":"s","part":{"type":"step-start"}}
{"type":"text","sessionID":"s","part":{"type":"text","text":"```repl\nFINAL(context.upper())\n```"}}
{"type":"step_finish","sessionID":"s","part":{"type":"step-finish","reason":"stop","cost":0.0123,"tokens":{"input":110,"output":40,"reasoning":10,"cache":{"read":1000,"write":0}}}}
END
"#;

impl Place {
    fn agent(&self, name: &str, script: &str) -> PathBuf {
        let bin = self.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let path = bin.join(name);
        std::fs::write(&path, format!("{KEEP}{script}")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn kept(&self, what: &str) -> String {
        std::fs::read_to_string(self.path().join("bin/kept").join(what)).unwrap()
    }

    fn asks_agent(&self, model: &str) -> Program {
        let path = format!("{}:/usr/bin:/bin", self.path().join("bin").display());
        Program::asks(self.path(), "shout this")
            .option("--primary-agent", model)
            .env("PATH", path)
    }
}

fn usage(ran: &Ran) -> [u64; 3] {
    let usage = &ran.json()["usage"];
    ["prompt_tokens", "completion_tokens", "cost_nano_usd"].map(|key| usage[key].as_u64().unwrap())
}

#[test]
fn agents_answer_under_their_own_login_and_without_their_tools() {
    // Codex says nothing of cost: 110 × $1.25 + 1000 × $0.125 + 50 × $10, for a million each.
    for (model, script, denied, cost) in [
        ("cli:claude?model=sonnet", CLAUDE, "--tools\n\n", 12_300_000),
        (
            "cli:codex?model=gpt-5",
            CODEX,
            "features.shell_tool=false",
            137_500 + 125_000 + 500_000,
        ),
        ("cli:opencode?model=opencode/big", OPENCODE, "--format", 12_300_000),
    ] {
        let place = Place::new();
        let name = model.trim_start_matches("cli:").split('?').next().unwrap();
        place.agent(name, script);
        let ran = place
            .asks_agent(model)
            .env("RLM_MODEL_API_KEY", "sk-for-someone-else")
            .arg("--json")
            .run();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["final"], json!("SHOUT THIS"), "{model}");
        assert_eq!(usage(&ran), [1110, 50, cost], "{model}");
        let (args, env) = (place.kept("args"), place.kept("env"));
        let named = model.split('=').nth(1).unwrap();
        assert!(
            args.contains(&format!("--model\n{named}\n")) && args.contains(denied),
            "{args}"
        );
        assert_eq!(place.kept("files"), "", "it runs in an empty directory");
        assert!(!env.contains("sk-for-someone-else"), "{env}");
        assert!(name != "opencode" || env.contains(r#""*": "deny""#), "{env}");
        assert!(place.kept("prompt").contains("shout this"));
        let system = if name == "claude" { args } else { place.kept("prompt") };
        assert!(system.contains("FINAL"), "the system prompt is given: {system}");
    }
}

#[test]
fn an_agent_that_fails_says_so_in_its_own_words() {
    let failures = [
        (
            "claude",
            r#"echo '{"type":"result","is_error":true,"result":"Invalid login: run /login"}'; exit 1"#,
            "run /login",
        ),
        (
            "codex",
            r#"echo '{"type":"turn.failed","error":{"message":"usage limit reached"}}'; exit 1"#,
            "usage limit reached",
        ),
        (
            "opencode",
            r#"echo "no such model" >&2; exit 7"#,
            "exit status: 7: no such model",
        ),
    ];
    for (name, script, said) in failures {
        let place = Place::new();
        place.agent(name, script);
        place
            .asks_agent(&format!("cli:{name}?model=m"))
            .run()
            .refused(1, &[name, said]);
    }
    let place = Place::new();
    place
        .asks_agent("cli:claude?model=m")
        .run()
        .refused(1, &["claude is not installed"]);
    let keyed = place
        .asks_agent("cli:claude?model=m")
        .env("ANTHROPIC_API_KEY", "sk-ant-billed");
    keyed.run().refused(2, &["ANTHROPIC_API_KEY", "bill", "env -u"]);
    place
        .asks_agent("cli:claude")
        .run()
        .refused(2, &["cli:NAME?model=MODEL"]);
}

#[test]
fn an_agent_is_declared_in_the_configuration() {
    let place = Place::new();
    let script = "echo '```repl'; echo \"FINAL('$2 says hello')\"; echo '```'";
    let command = place.agent("echoing", script);
    let config = format!(
        "primary_agent: cli:mine?model=tiny\ncli_agents:\n  mine:\n    command: {}\n    args: [--with, '{{model}}', '{{prompt}}']\n",
        command.display()
    );
    place.file("mine.yaml", &config);
    let asks = || Program::asks(place.path(), "hello").option("--config", "mine.yaml");
    assert_eq!(asks().answer(), "tiny says hello");
    assert!(place.kept("args").contains("hello"), "the prompt is an argument");

    place.file("mine.yaml", "cli_agents: {mine: {comand: x}}\n");
    asks().run().refused(2, &["mine.yaml", "comand"]);

    place.file("rlm_config.yaml", &config);
    Program::asks(place.path(), "hello")
        .run()
        .refused(2, &["cli_agents does not count here", "no agent \"mine\""]);
}

#[test]
fn prices_of_ones_own_count_and_bad_ones_are_named() {
    let place = Place::new();
    place.agent("codex", CODEX);
    let asks = || place.asks_agent("cli:codex?model=gpt-5").arg("--json");
    let configuration = place.path().join("no-configuration/fast-rlm");
    std::fs::create_dir_all(&configuration).unwrap();
    let prices = configuration.join("pricing.toml");
    std::fs::write(&prices, "[models.\"gpt-5\"]\ninput = \"1\"\noutput = \"2\"\n").unwrap();
    assert_eq!(usage(&asks().run())[2], 1_110_000 + 100_000);
    std::fs::write(&prices, "[models.\"gpt-5\"]\ninput = \"cheap\"\n").unwrap();
    asks().run().refused(2, &["pricing.toml", "line 2", "cheap"]);
}

/// Whether a process runs, which is none that waits to be collected.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn ctrl_c_ends_an_agent_with_everything_it_started() {
    let place = Place::new();
    place.agent(
        "claude",
        "sleep 600 &\necho $! > \"$keep/child\"\necho $$ > \"$keep/own\"\nsleep 600",
    );
    let child = place
        .asks_agent("cli:claude?model=m")
        .session(&place.session_dir())
        .start();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !std::fs::read_to_string(place.path().join("bin/kept/own")).is_ok_and(|pid| pid.ends_with('\n')) {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
    let pids = [place.kept("child"), place.kept("own")];
    assert!(pids.iter().all(|pid| runs(pid)));
    running::signal(&child, rustix::process::Signal::INT);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    while pids.iter().any(|pid| runs(pid)) {
        assert!(Instant::now() < deadline, "{pids:?} are left");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A server that answers every request with this.
fn serving(status: &'static str, body: Value) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let count = stream.read(&mut [0; 65_536]).unwrap();
            assert!(count > 0);
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn models_lists_what_each_backend_offers() {
    let place = Place::new();
    place.agent("codex", "");
    let list = json!({"object": "list", "data": [{"id": "b/two"}, {"id": "a/one", "pricing": {}}]});
    let models = |openai: String, anthropic: String| {
        Program::new(place.path())
            .arg("models")
            .env("PATH", place.path().join("bin"))
            .env("RLM_MODEL_BASE_URL", openai + "/v1")
            .env("ANTHROPIC_BASE_URL", anthropic)
            .env("ANTHROPIC_API_KEY", "sk-ant-something")
    };
    let claude = json!({"data": [{"type": "model", "id": "claude-x"}], "has_more": false});
    let ran = models(serving("200 OK", list), serving("200 OK", claude)).run();
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "a/one\nb/two\nclaude-x\ncli:codex?model=MODEL\n"),
        "{ran:?}"
    );

    let refused = json!({"error": {"message": "who are you?"}});
    let broken = || serving("401 Unauthorized", refused.clone());
    let ran = models(broken(), serving("200 OK", json!([]))).arg("--json").run();
    assert_eq!(ran.code, Some(0), "an agent is there: {ran:?}");
    let offers = ran.json();
    assert!(
        offers[0]["error"].as_str().unwrap().contains("who are you?"),
        "{offers}"
    );
    assert!(
        offers[1]["error"].as_str().unwrap().contains("ANTHROPIC_BASE_URL"),
        "{offers}"
    );
    assert_eq!(offers[2]["models"], json!(["cli:codex?model=MODEL"]));
    Program::new(place.path())
        .arg("models")
        .env("PATH", "")
        .run()
        .refused(2, &["OPENROUTER_API_KEY"]);
}
