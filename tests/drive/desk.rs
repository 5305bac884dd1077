//! A session of its own, a script that answers, and the program on it.

use crate::pty::Pty;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A directory with a session that has one answered query, and nothing of the user's own around it.
pub(crate) struct Desk {
    dir: tempfile::TempDir,
}

/// Everything that the program switches on.
const MODES: [&str; 6] = ["1049", "2004", "1000", "1002", "1006", "1004"];

impl Desk {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let desk = Self { dir };
        desk.add_session("s");
        desk
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn session(&self) -> PathBuf {
        self.path().join("runs/s")
    }

    /// A session as its writer would leave it: one query, without a transcript.
    pub(crate) fn add_session(&self, name: &str) -> PathBuf {
        let dir = self.path().join("runs").join(name);
        std::fs::create_dir_all(&dir).unwrap();
        let state = json!({"version": 1, "queries": [{"query": "the first one", "final": "first answer"}]});
        std::fs::write(dir.join("state.json"), state.to_string()).unwrap();
        dir
    }

    /// Writes a script and gives the model string that names it.
    pub(crate) fn script(&self, script: &Value) -> String {
        let path = self.path().join("script.json");
        std::fs::write(&path, script.to_string()).unwrap();
        format!("scripted:{}", path.display())
    }

    /// The program on the session, with these arguments besides, when its first frame is there.
    pub(crate) fn open(&self, args: &[&str], env: &[(&str, &str)]) -> Pty {
        self.open_at(&self.session(), args, env)
    }

    /// The same on another target.
    pub(crate) fn open_at(&self, target: &Path, args: &[&str], env: &[(&str, &str)]) -> Pty {
        let own = |name: &str| self.path().join(name).to_string_lossy().into_owned();
        let (config, state) = (own("no-configuration"), own("state"));
        let mut all = vec![
            ("XDG_CONFIG_HOME", config.as_str()),
            ("XDG_STATE_HOME", state.as_str()),
            ("FAST_RLM_MODEL", ""),
            ("RLM_MODEL_API_KEY", "key-of-the-tests"),
        ];
        all.extend_from_slice(env);
        let target = target.to_string_lossy().into_owned();
        let mut line = vec![target.as_str(), "--tui", "--no-animation"];
        line.extend_from_slice(args);
        let pty = Pty::viewer(self.path(), &line, &all);
        pty.wait_for("? keys");
        pty
    }

    /// The program answered by a script.
    pub(crate) fn scripted(&self, script: &Value) -> Pty {
        let model = self.script(script);
        self.open(&["--primary-agent", &model], &[])
    }

    /// `state.json`, which must be whole.
    pub(crate) fn state(&self) -> Value {
        let text = std::fs::read_to_string(self.session().join("state.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// How the last run without FINAL ended, as it is recorded.
    pub(crate) fn last_outcome(&self) -> Value {
        let state = self.state();
        let interrupted = state["interrupted"].as_array().cloned().unwrap_or_default();
        interrupted.last().map_or(Value::Null, |last| last["outcome"].clone())
    }

    /// Every transcript line, parsed.
    pub(crate) fn transcript_lines(&self) -> Vec<Value> {
        let Ok(logs) = std::fs::read_dir(self.session().join("logs")) else {
            return Vec::new();
        };
        let texts = logs.map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap());
        let all: Vec<String> = texts.collect();
        all.iter()
            .flat_map(|text| text.lines())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

/// Writes a question into the box and sends it.
pub(crate) fn ask(pty: &mut Pty, text: &str) {
    pty.send("a");
    say(pty, text);
}

/// Writes into the box, which has the focus, and sends it: not as fast as a paste would come.
pub(crate) fn say(pty: &mut Pty, text: &str) {
    pty.send(text);
    pty.wait_for(text);
    std::thread::sleep(Duration::from_millis(200));
    pty.send("\r");
}

/// Answers the question in the box: not before a person could have read it.
pub(crate) fn answer(pty: &mut Pty, text: &str) {
    std::thread::sleep(Duration::from_millis(700));
    say(pty, text);
}

/// Chooses an option of the question in the box by its number.
pub(crate) fn choose(pty: &mut Pty, number: &str) {
    std::thread::sleep(Duration::from_millis(700));
    pty.send(number);
    std::thread::sleep(Duration::from_millis(200));
    pty.send("\r");
}

/// Quits, and sees that the terminal is as it was.
pub(crate) fn quit(mut pty: Pty) {
    // While a run winds up, leaving asks first.
    pty.wait_until_gone("Ctrl-C cancels");
    pty.send("\x1b");
    std::thread::sleep(Duration::from_millis(100));
    pty.send("q");
    assert_eq!(pty.exit_code(), 0);
    assert_restored(&pty);
}

pub(crate) fn assert_restored(pty: &Pty) {
    for mode in MODES {
        assert!(!pty.is_on(mode), "mode {mode} is still on");
    }
    assert!(pty.is_cooked(), "the terminal is still raw");
}

/// Replies in order; a slow last one keeps the run going.
pub(crate) fn replies(codes: &[&str]) -> Value {
    let replies: Vec<Value> = codes.iter().map(|code| json!({"code": code})).collect();
    json!({"rules": [{"when": {"depth": 0}, "replies": replies}]})
}
