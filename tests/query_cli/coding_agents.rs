//! Coding agents as models, played by scripts that take the arguments of the real ones and write what those wrote.

use super::Place;
use crate::running::{self, Program, Ran};
use serde_json::json;
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
cat ../system-prompt.txt > "$keep/system"
"#;

/// What the real ones wrote, against a model server on this machine (docs/models.md has their versions).
const CLAUDE: &str = include_str!("recorded/claude.json");
const CODEX: &str = include_str!("recorded/codex.jsonl");
const OPENCODE: &str = include_str!("recorded/opencode.jsonl");
const CLAUDE_REFUSED: &str = include_str!("recorded/claude-refused.json");
const CODEX_REFUSED: &str = include_str!("recorded/codex-refused.jsonl");
const OPENCODE_REFUSED: &str = include_str!("recorded/opencode-refused.jsonl");

/// A script that reads what it is asked, writes this, and ends with `code`.
fn saying(recorded: &str, code: u8) -> String {
    format!("cat > \"$keep/prompt\"\ncat <<'END'\n{recorded}END\nexit {code}\n")
}

impl Place {
    pub(super) fn agent(&self, name: &str, script: &str) -> PathBuf {
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
    // One of them has another name elsewhere, too.
    // Codex says nothing of cost: 112 × $1.25 + 1000 × $0.125 + 50 × $10, for a million each.
    for (model, recorded, denied, figures) in [
        ("cli:claude?model=sonnet", CLAUDE, "--tools\n\n", [1112, 40, 1_311_000]),
        (
            "cli:claude-code?model=sonnet",
            CLAUDE,
            "--tools\n\n",
            [1112, 40, 1_311_000],
        ),
        (
            "cli:codex?model=gpt-5",
            CODEX,
            "features.shell_tool=false",
            [1112, 50, 140_000 + 125_000 + 500_000],
        ),
        (
            "cli:opencode?model=opencode/big",
            OPENCODE,
            "--agent\n",
            [1112, 50, 712_000],
        ),
    ] {
        let place = Place::new();
        let name = model.trim_start_matches("cli:").split('?').next().unwrap();
        place.agent(name.trim_end_matches("-code"), &saying(recorded, 0));
        let ran = place
            .asks_agent(model)
            .env("RLM_MODEL_API_KEY", "sk-for-someone-else")
            .env("GEMINI_API_KEY", "sk-for-someone-else")
            .env("AWS_BEARER_TOKEN_BEDROCK", "sk-for-someone-else")
            .arg("--json")
            .run();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["final"], json!("SHOUT THIS"), "{model}");
        assert_eq!(usage(&ran), figures, "{model}");
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
        let told = if name == "opencode" { env } else { args };
        assert!(told.contains("/system-prompt.txt"), "{told}");
        assert!(
            place.kept("system").contains("FINAL"),
            "the system prompt is in that file"
        );
    }
}

#[test]
fn an_agent_that_fails_says_so_in_its_own_words() {
    let failures = [
        ("claude", saying(CLAUDE_REFUSED, 1), "Please run /login"),
        (
            "codex",
            saying(CODEX_REFUSED, 1),
            "codex failed: unexpected status 401 Unauthorized: invalid x-api-key",
        ),
        ("opencode", saying(OPENCODE_REFUSED, 1), "invalid x-api-key"),
        (
            "opencode",
            "echo 'no such model' >&2; exit 7".to_owned(),
            "exit status: 7: no such model",
        ),
    ];
    for (name, script, said) in failures {
        let place = Place::new();
        place.agent(name, &script);
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
    let keyed = place
        .asks_agent("cli:opencode?model=google/gemini-2.5-pro")
        .env("GEMINI_API_KEY", "sk-billed-else");
    keyed.run().refused(2, &["GEMINI_API_KEY", "bill"]);
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
        "primary_agent: cli:mine?model=tiny\ncli_agents:\n  mine:\n    command: {}\n    args: [--with, '{{model}}', '{{prompt}}']\n    pass_on: [MY_TOKEN]\n",
        command.display()
    );
    place.file("mine.yaml", &config);
    let asks = || Program::asks(place.path(), "hello").option("--config", "mine.yaml");
    let keyed = asks().env("MY_TOKEN", "passed-on").env("MY_API_KEY", "kept-from-it");
    assert_eq!(keyed.answer(), "tiny says hello");
    let env = place.kept("env");
    assert!(env.contains("passed-on") && !env.contains("kept-from-it"), "{env}");
    assert!(place.kept("args").contains("hello"), "the prompt is an argument");

    let older = format!(
        "primary_agent: cli:mine?model=tiny\ncli_agents:\n  mine: {{command: {}, model_flag: --with, prompt_via: arg, \
         extract: {{kind: text}}}}\n",
        command.display()
    );
    place.file("mine.yaml", &older);
    assert_eq!(asks().answer(), "tiny says hello");
    place.file("mine.yaml", &older.replace("prompt_via", "timeout_ms: 5, prompt_via"));
    asks()
        .run()
        .refused(2, &["mine.yaml", "cli_agents.mine", "timeout_ms (api_timeout_ms"]);

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
    place.agent("codex", &saying(CODEX, 0));
    let asks = || place.asks_agent("cli:codex?model=gpt-5").arg("--json");
    let configuration = place.path().join("no-configuration/fast-rlm");
    std::fs::create_dir_all(&configuration).unwrap();
    let prices = configuration.join("pricing.toml");
    std::fs::write(&prices, "[models.\"gpt-5\"]\ninput = \"1\"\noutput = \"2\"\n").unwrap();
    assert_eq!(usage(&asks().run())[2], 1_112_000 + 100_000);
    std::fs::write(&prices, "[models.\"gpt-5\"]\ninput = \"cheap\"\n").unwrap();
    asks().run().refused(2, &["pricing.toml", "line 2", "cheap"]);
}

/// Whether a process runs, which is none that waits to be collected.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

#[test]
fn an_answer_does_not_wait_for_what_an_agent_left_behind() {
    let place = Place::new();
    let script = saying(CLAUDE, 0).replace("exit 0", "sleep 600 &\necho $! > \"$keep/child\"");
    place.agent("claude", &script);
    let ran = place.asks_agent("cli:claude?model=sonnet").arg("--json").run();
    assert_eq!(ran.json()["final"], json!("SHOUT THIS"), "{ran:?}");
    assert!(!runs(&place.kept("child")), "it ends with the agent");
}

#[test]
fn an_interrupt_or_a_kill_ends_an_agent_with_everything_it_started() {
    for (signal, code) in [
        (rustix::process::Signal::INT, Some(130)),
        (rustix::process::Signal::KILL, None),
    ] {
        agent_ends_at(signal, code);
    }
}

fn agent_ends_at(signal: rustix::process::Signal, code: Option<i32>) {
    let place = Place::new();
    place.agent(
        "claude",
        "trap '' TERM INT HUP\nsleep 600 &\necho $! > \"$keep/child\"\necho $$ > \"$keep/own\"\nsleep 600",
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
    running::signal(&child, signal);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, code, "{ran:?}");
    while pids.iter().any(|pid| runs(pid)) {
        assert!(Instant::now() < deadline, "{pids:?} are left");
        std::thread::sleep(Duration::from_millis(10));
    }
}
