//! `--repl python3`: chosen by name only, with a notice of what it isolates; sessions go from one backend to the other.

use crate::running::session::Session;
use crate::running::{Program, script, signal};
use std::path::Path;
use std::time::{Duration, Instant};

const WHICH: &str = "import sys\nwhich = 'sandbox' if sys.platform == 'wasi' else 'python3'";

fn asks(dir: &Path, codes: &[&str]) -> Program {
    let script = script::steps(dir, "steps.json", codes);
    Program::asks(dir, "go").scripted(&script).session(&dir.join("session"))
}

#[test]
fn a_session_goes_from_the_sandbox_to_python3_and_back() {
    let dir = tempfile::tempdir().unwrap();
    let first = asks(
        dir.path(),
        &[WHICH, "seen = [which]\ndef add(): seen.append(which)", "FINAL(seen)"],
    );
    assert_eq!(first.answer(), "[\n  \"sandbox\"\n]");
    let second = asks(dir.path(), &[WHICH, "add()", "FINAL(seen)"]);
    let ran = second
        .option("--repl", "python3")
        .option("--verbosity", "summary")
        .run();
    assert!(
        ran.err.contains("not the sandbox") && ran.err.contains("Landlock"),
        "the notice: {}",
        ran.err
    );
    assert_eq!(ran.answer(), "[\n  \"sandbox\",\n  \"python3\"\n]");
    std::fs::write(dir.path().join("rlm_config.yaml"), "repl: python3\n").unwrap();
    let last = || asks(dir.path(), &[WHICH, "add()", "FINAL(seen[-1])"]);
    let of_the_directory = last().option("--verbosity", "summary").run();
    assert!(
        of_the_directory.err.contains("repl does not count here"),
        "a directory does not open the sandbox: {}",
        of_the_directory.err
    );
    assert!(of_the_directory.answer().ends_with("sandbox"));
    assert!(
        last()
            .option("--config", "rlm_config.yaml")
            .answer()
            .ends_with("python3")
    );
    let third = asks(dir.path(), &[WHICH, "add()", "FINAL(seen)"]).option("--repl", "sandbox");
    let seen = "[\n  \"sandbox\",\n  \"python3\",\n  \"sandbox\",\n  \"python3\",\n  \"sandbox\"\n]";
    assert_eq!(third.answer(), seen);

    let replay = |turn: &str, repl: &str| {
        let program = Program::new(dir.path())
            .arg("replay")
            .arg("session")
            .option("--turn", turn);
        program.option("--repl", repl).run()
    };
    assert_eq!(replay("1", "sandbox").code, Some(0));
    assert_eq!(replay("2", "python3").code, Some(0));
    let all = Program::new(dir.path()).arg("replay").arg("session").run();
    assert!(
        all.err.contains("replay it alone, with --turn and --repl python3"),
        "{all:?}"
    );
    assert!(replay("2", "sandbox").err.contains("replay it with --repl python3"));
    assert!(replay("1", "python3").err.contains("replay it with --repl sandbox"));
}

#[test]
fn a_replay_says_that_the_clocks_are_not_as_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let codes = ["import time\nprint(time.time_ns())", "FINAL(1)"];
    asks(dir.path(), &codes).option("--repl", "python3").answer();
    let replay = Program::new(dir.path()).arg("replay").arg("session");
    let ran = replay.option("--repl", "python3").run();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.out.contains("names a clock, and python3 shows the time of now"),
        "{ran:?}"
    );
}

#[test]
fn what_the_project_has_is_not_run_and_what_a_shell_left_open_is_not_had() {
    let dir = tempfile::tempdir().unwrap();
    for module in ["platform", "json", "ctypes", "sysconfig", "sitecustomize"] {
        let code = format!("open({:?}, 'w')\n", dir.path().join("was-run"));
        std::fs::write(dir.path().join(format!("{module}.py")), code).unwrap();
    }
    let secret = dir.path().join("secret");
    std::fs::write(&secret, "x").unwrap();
    let open = format!("exec 3<{}; exec \"$0\" \"$@\"", secret.display());
    let code = "import os\nopen_files = [os.readlink('/proc/self/fd/' + n) for n in os.listdir('/proc/self/fd') if os.path.islink('/proc/self/fd/' + n)]\nFINAL(open_files)";
    let script = script::steps(dir.path(), "steps.json", &[code]);
    let ran = Program::started_by(dir.path(), &["sh", "-c", &open])
        .arg("go")
        .scripted(&script)
        .option("--repl", "python3")
        .env("PYTHONPATH", dir.path())
        .env("PYTHONSTARTUP", dir.path().join("json.py"));
    let open_files = ran.answer();
    assert!(
        open_files.contains("pipe:") && !open_files.contains("secret"),
        "{open_files}"
    );
    assert!(!dir.path().join("was-run").exists());
}

#[test]
fn installed_packages_are_read_and_a_project_that_is_installed_to_be_edited_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("python3")
        .args(["-m", "venv", "--without-pip", "venv"])
        .current_dir(dir.path())
        .status();
    assert!(made.unwrap().success());
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("edited.py"), "x = 1\n").unwrap();
    let lib = std::fs::read_dir(dir.path().join("venv/lib")).unwrap().next().unwrap();
    let packages = lib.unwrap().path().join("site-packages");
    std::fs::write(packages.join("edited.pth"), project.to_str().unwrap()).unwrap();
    std::fs::write(packages.join("installed.py"), "x = 2\n").unwrap();
    let code = format!(
        "import installed\ntold = []\nfor act in (lambda: __import__('edited'), lambda: open({:?})):\n    try: told.append(str(act()))\n    except (ImportError, OSError) as e: told.append(type(e).__name__)\nFINAL([installed.x, *told])",
        project.join("edited.py")
    );
    let path = format!(
        "{}:{}",
        dir.path().join("venv/bin").display(),
        std::env::var("PATH").unwrap()
    );
    let answer = asks(dir.path(), &[&code])
        .option("--repl", "python3")
        .env("PATH", path)
        .answer();
    let told: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert_eq!((&told[0], &told[2]), (&2.into(), &"PermissionError".into()));
    // Whether its directory was listed before the process shut itself in depends on the Python.
    assert!(
        ["ModuleNotFoundError", "PermissionError"].contains(&told[1].as_str().unwrap()),
        "{told}"
    );
}

#[test]
fn what_cannot_be_chosen_is_told() {
    let dir = tempfile::tempdir().unwrap();
    asks(dir.path(), &["FINAL(1)"])
        .option("--repl", "ruby")
        .run()
        .refused(2, &["--repl", "sandbox", "python3"]);
    let missing = asks(dir.path(), &["FINAL(1)"])
        .option("--repl", "python3")
        .env("PATH", dir.path())
        .run();
    assert_ne!(missing.code, Some(0));
    for said in ["python3 is not installed", "Python 3.11 or newer"] {
        assert!(missing.err.contains(said), "{missing:?}");
    }
    assert!(!dir.path().join("session/state.json").exists(), "nothing was begun");
}

#[test]
fn a_query_that_is_killed_leaves_no_worker() {
    let dir = tempfile::tempdir().unwrap();
    let code = "import os\nprint(os.getpid())\nawait llm_query('x')\nwhile True: pass";
    let rules = serde_json::json!({"rules": [
        script::rule(serde_json::json!({"depth": 0}), &["import os\npid = os.getpid()", code]),
        {"when": {"depth": 1}, "replies": [{"code": "while True: pass"}]},
    ]});
    let script = script::write(dir.path(), "rules.json", &rules);
    let query = Program::asks(dir.path(), "go")
        .scripted(&script)
        .session(&dir.path().join("session"));
    let mut query = query.option("--repl", "python3").start();
    let session = Session::at(&dir.path().join("session"));
    let patience = Instant::now() + Duration::from_secs(30);
    let pid = loop {
        assert!(Instant::now() < patience, "the first step is saved");
        std::thread::sleep(Duration::from_millis(20));
        let saved = std::fs::read_to_string(session.dir.join("state.json")).unwrap_or_default();
        if saved.contains("\"pid\"") {
            let state = session.state();
            break state["variables"]["pid"]["preview"].as_str().unwrap().to_owned();
        }
    };
    std::thread::sleep(Duration::from_millis(200));
    signal(&query, rustix::process::Signal::KILL);
    query.wait().unwrap();
    let gone = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
    };
    while !gone() {
        assert!(Instant::now() < patience, "the worker {pid} is gone");
        std::thread::sleep(Duration::from_millis(20));
    }
}
