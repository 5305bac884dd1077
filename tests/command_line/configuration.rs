//! What `fast-rlm config` shows: what holds, where it came from, and never a secret.

use super::running::{Program, Ran};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A working directory and a user's configuration directory.
struct Place(tempfile::TempDir);

impl Place {
    fn new(project: &[(&str, &str)], user: &[(&str, &str)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for (dir, files) in [(place.project(), project), (place.user(), user)] {
            std::fs::create_dir_all(&dir).unwrap();
            files
                .iter()
                .for_each(|(name, text)| std::fs::write(dir.join(name), text).unwrap());
        }
        place
    }

    fn project(&self) -> PathBuf {
        self.0.path().join("project")
    }

    fn user(&self) -> PathBuf {
        self.0.path().join("config/fast-rlm")
    }

    fn program(&self) -> Program {
        Program::new(&self.project()).env("XDG_CONFIG_HOME", self.0.path().join("config"))
    }

    fn config(&self) -> Program {
        self.program().arg("config")
    }
}

/// Value and origin of an option.
fn option(told: &Value, name: &str) -> (Value, String) {
    let options = told["options"].as_array().unwrap();
    let row = options.iter().find(|row| row["name"] == name).unwrap();
    let origin = &row["origin"];
    let origin = match origin["kind"].as_str().unwrap() {
        "file" => {
            let path = Path::new(origin["path"].as_str().unwrap());
            format!("{}:{}", path.file_name().unwrap().to_string_lossy(), origin["line"])
        }
        "variable" => origin["variable"].as_str().unwrap().to_owned(),
        other => other.to_owned(),
    };
    (row["value"].clone(), origin)
}

#[test]
fn flags_win_over_environment_over_project_over_user_over_defaults() {
    let place = Place::new(
        &[
            ("fast-rlm.toml", "primary_agent = \"project-toml\"\nmax_depth = 2\n"),
            (
                "rlm_config.yaml",
                "primary_agent: project-yaml\nmax_depth: 9\ntruncate_len: 2000\nsub_agent: project-yaml\n",
            ),
        ],
        &[
            (
                "config.toml",
                "# mine\n\nmax_money_spent = 0.5\nsub_agent = \"user\"\ntheme = \"dusk\"\napi_max_retries = 7\n",
            ),
            ("rlm_config.yaml", "theme: paper\nmax_agents_at_once: 4\n"),
        ],
    );
    let told = place
        .config()
        .arg("--json")
        .env("FAST_RLM_API_MAX_RETRIES", "1")
        .run()
        .json();
    for (name, value, origin) in [
        ("primary_agent", json!("project-toml"), "fast-rlm.toml:1"),
        ("max_depth", json!(2), "fast-rlm.toml:2"),
        ("truncate_len", json!(2000), "rlm_config.yaml:3"),
        ("sub_agent", json!("project-yaml"), "rlm_config.yaml:4"),
        ("max_money_spent", json!(0.5), "config.toml:3"),
        ("theme", json!("dusk"), "config.toml:5"),
        ("max_agents_at_once", json!(4), "rlm_config.yaml:2"),
        ("api_max_retries", json!(1), "FAST_RLM_API_MAX_RETRIES"),
        ("api_timeout_ms", json!(600_000), "default"),
        ("instruction", Value::Null, "default"),
    ] {
        assert_eq!(option(&told, name), (value, origin.to_owned()), "{name}");
    }
    let found: Vec<bool> = told["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["found"] == true)
        .collect();
    assert_eq!(found, [true, true, true, true]);
    let text = place.config().run().out;
    let line = text.lines().find(|line| line.starts_with("max_depth ")).unwrap();
    assert!(line.contains(" 2 ") && line.ends_with("fast-rlm.toml:2"), "{line}");
}

#[test]
fn keys_that_conflict_are_told_with_file_and_line() {
    let conflict = "[keys.run]\nfork = [\"d\"]\n";
    let place = Place::new(&[("fast-rlm.toml", conflict)], &[]);
    for arguments in [&[][..], &["--json"]] {
        let ran = arguments
            .iter()
            .fold(place.config(), |config, arg| config.arg(arg))
            .run();
        ran.refused(
            2,
            &["fast-rlm.toml:2: d would mean both", "give one of them another key"],
        );
        assert_eq!(ran.out, "");
    }
    // Queries have no keys.
    asks(&place, &[], "scripted:variable.yaml").refused(2, &["variable.yaml"]);
    let ours = Place::new(&[], &[("keymap.toml", "[run]\nfrok = [\"F\"]\n")]);
    ours.config()
        .run()
        .refused(2, &["keymap.toml:2: [run] has no action \"frok\""]);
}

/// What was asked shows which model counted: there is no such script.
fn asks(place: &Place, flags: &[&str], variable: &str) -> Ran {
    let asks = flags
        .iter()
        .fold(place.program().arg("hello"), |asks, flag| asks.arg(flag));
    asks.env("FAST_RLM_MODEL", variable).run()
}

#[test]
fn queries_take_what_the_configuration_says() {
    let place = Place::new(&[("fast-rlm.toml", "primary_agent = \"scripted:project.yaml\"\n")], &[]);
    asks(&place, &[], "").refused(2, &["project.yaml"]);
    asks(&place, &[], "scripted:variable.yaml").refused(2, &["variable.yaml"]);
    asks(
        &place,
        &["--primary-agent", "scripted:flag.yaml"],
        "scripted:variable.yaml",
    )
    .refused(2, &["flag.yaml"]);
}

#[test]
fn paths_in_a_file_start_where_it_lies() {
    let user = "primary_agent = \"scripted:model.yaml\"\nmcp = \"servers.json\"\ntheme = \"themes/mine.toml\"\nkeymap = \"vim\"\n";
    let files = [
        ("config.toml", user),
        ("model.yaml", "replies: [{code: FINAL('of the user')}]"),
        ("servers.json", "{\"mcpServers\": {}}"),
    ];
    let place = Place::new(&[("model.yaml", "replies: [{code: FINAL('of the project')}]")], &files);
    assert_eq!(place.program().arg("go").answer(), "of the user");
    let told = place.config().arg("--json").run().json();
    let lies = |name: &str| place.user().join(name).to_string_lossy().into_owned();
    for (name, value) in [
        ("primary_agent", format!("scripted:{}", lies("model.yaml"))),
        ("mcp", lies("servers.json")),
        ("theme", lies("themes/mine.toml")),
        ("keymap", "vim".to_owned()),
    ] {
        assert_eq!(option(&told, name).0, json!(value));
    }
    // A project's files lie in the working directory; variables and flags are typed there.
    std::fs::write(
        place.project().join("rlm_config.yaml"),
        "primary_agent: scripted:model.yaml\n",
    )
    .unwrap();
    assert_eq!(place.program().arg("go").answer(), "of the project");
    let by_variable = place.program().arg("go").env("FAST_RLM_MODEL", "scripted:model.yaml");
    assert_eq!(by_variable.answer(), "of the project");
    let elsewhere = place
        .program()
        .arg("go")
        .option("--config", place.user().join("config.toml"));
    assert_eq!(elsewhere.answer(), "of the user");
}

#[test]
fn the_instruction_of_the_configuration_reaches_the_model() {
    let script = r#"{"rules": [{"when": {"system": "Answer in rhyme."}, "replies": [{"code": "FINAL('heard')"}]}]}"#;
    let place = Place::new(
        &[
            (
                "rlm_config.yaml",
                "instruction: Answer in rhyme.\nprimary_agent: scripted:s.json\n",
            ),
            ("s.json", script),
        ],
        &[],
    );
    let ran = place.program().arg("hello").run();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "heard\n"), "{ran:?}");
}

#[test]
fn names_that_are_no_options_are_told_with_file_line_and_suggestion() {
    let place = Place::new(
        &[(
            "rlm_config.yaml",
            "max_depth: 1\nmax_mony_spent: 1\nacp_agents: {a: {}}\n",
        )],
        &[],
    );
    let ran = place.config().run();
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.out
            .contains("rlm_config.yaml:2: max_mony_spent is no option and is ignored; did you mean max_money_spent?")
    );
    assert!(
        ran.out.contains("rlm_config.yaml:3: acp_agents") && ran.out.contains("cli_agents here"),
        "{}",
        ran.out
    );
    asks(&place, &[], "scripted:none.yaml").refused(2, &["rlm_config.yaml:2", "did you mean max_money_spent?"]);
}

#[test]
fn every_command_that_takes_options_tells_of_names_that_are_none() {
    let place = Place::new(
        &[
            ("rlm_config.yaml", "primary_agent: scripted:s.json\nmax_mony_spent: 1\n"),
            ("s.json", r#"{"replies": [{"code": "FINAL(1)"}]}"#),
        ],
        &[],
    );
    let told = |args: &[&str]| {
        let ran = args.iter().fold(place.program(), |program, arg| program.arg(arg)).run();
        let told = ran.err.matches("max_mony_spent is no option").count();
        assert_eq!(told, 1, "{args:?}: {ran:?}");
    };
    told(&["hello", "--session-dir", "runs", "--session-id", "one"]);
    for command in [
        &["replay", "one", "--dir", "runs"][..],
        &["fork", "one", "--dir", "runs", "--at", "1", "--replan", "otherwise"],
        &["what-if", "one", "--dir", "runs", "--model", "scripted:s.json"],
        &["resume", "one", "--dir", "runs"],
        &["models"],
        &["doctor"],
    ] {
        told(command);
    }
}

#[test]
fn variables_that_set_nothing_are_told_once_and_those_that_are_read_are_not() {
    let place = Place::new(&[("s.json", r#"{"replies": [{"code": "FINAL(1)"}]}"#)], &[]);
    let mistyped = |args: &[&str]| {
        let program = args.iter().fold(place.program(), |program, arg| program.arg(arg));
        let program = program.env("FAST_RLM_MAX_DPETH", "2").env("FAST_RLM_MAX_DEPHT", "");
        program
            .env("FAST_RLM_TEST_X", "1")
            .env("FAST_RLM_MODEL", "scripted:s.json")
            .run()
    };
    let told = "the variable FAST_RLM_MAX_DPETH is no option and is ignored; did you mean FAST_RLM_MAX_DEPTH?";
    for args in [&["hello"][..], &["models"], &["doctor"]] {
        let ran = mistyped(args);
        let lines: Vec<_> = ran.err.lines().filter(|line| line.contains("FAST_RLM_")).collect();
        assert_eq!(lines, [format!("fast-rlm: {told}")], "{args:?}: {ran:?}");
    }
    assert_eq!(mistyped(&["hello", "-q"]).err, "");
    let shown = mistyped(&["config"]);
    assert_eq!(shown.out.matches(told).count(), 1, "{shown:?}");
    let unknown = mistyped(&["config", "--json"]).json()["unknown"].clone();
    let row = json!({
        "path": null, "line": null, "name": "FAST_RLM_MAX_DPETH", "advice": "did you mean FAST_RLM_MAX_DEPTH?",
    });
    assert_eq!(unknown, json!([row]));
}

#[test]
fn wrong_values_and_wrong_files_are_refused_with_file_and_line() {
    for (name, text, said) in [
        (
            "fast-rlm.toml",
            "\nmax_depth = \"deep\"\n",
            "fast-rlm.toml:2: max_depth: \"deep\" is not a whole number",
        ),
        (
            "fast-rlm.toml",
            "max_depth = 1\nmax_depth = 2\n",
            "fast-rlm.toml:2 is not valid TOML",
        ),
        ("rlm_config.yaml", "a: [1\n", "is not valid YAML"),
        ("rlm_config.yaml", "- a\n", "rlm_config.yaml:1"),
    ] {
        let place = Place::new(&[(name, text)], &[]);
        place.config().run().refused(2, &[said]);
    }
    let place = Place::new(&[], &[("config.toml", "\n[cli_agents.mine]\ncomand = \"x\"\n")]);
    place.config().run().refused(2, &["config.toml:2: cli_agents.mine"]);
    let place = Place::new(&[], &[]);
    place
        .config()
        .env("FAST_RLM_MAX_DEPTH", "deep")
        .run()
        .refused(2, &["FAST_RLM_MAX_DEPTH", "deep"]);
    place
        .config()
        .option("--config", "nowhere.toml")
        .run()
        .refused(2, &["nowhere.toml"]);
}

#[test]
fn a_file_that_is_named_is_the_only_one() {
    let place = Place::new(
        &[
            ("fast-rlm.toml", "max_depth = 2\n"),
            ("other.toml", "truncate_len = 5\n"),
        ],
        &[],
    );
    let told = place
        .config()
        .arg("--json")
        .option("--config", "other.toml")
        .run()
        .json();
    assert_eq!(option(&told, "max_depth"), (json!(3), "default".into()));
    assert_eq!(option(&told, "truncate_len"), (json!(5), "other.toml:1".into()));
}

#[test]
fn secrets_are_never_shown() {
    const KEY: &str = "sk-or-v1-0123456789abcdef0123456789abcdef";
    const LOGIN: &str = "hunter2-hunter2";
    let agent =
        format!("instruction = \"use {KEY}\"\n[cli_agents.mine]\ncommand = \"x\"\nenv = {{ TOKEN = \"{LOGIN}\" }}\n");
    let place = Place::new(&[("fast-rlm.toml", &agent)], &[]);
    for json in [false, true] {
        let config = if json {
            place.config().arg("--json")
        } else {
            place.config()
        };
        let ran = config
            .env("OPENROUTER_API_KEY", KEY)
            .env("RLM_MODEL_BASE_URL", format!("https://user:{LOGIN}@example.org/v1"))
            .run();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.out.contains(KEY) && !ran.out.contains(LOGIN), "{}", ran.out);
        assert!(
            ran.out.contains("OPENROUTER_API_KEY") && ran.out.contains("set, hidden"),
            "{}",
            ran.out
        );
    }
}

#[test]
fn paths_are_listed_the_strongest_first() {
    let place = Place::new(&[("rlm_config.yaml", "max_depth: 1\n")], &[("keymap.toml", "")]);
    let out = place.config().arg("path").run().answer();
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[0].starts_with("project not there") && lines[0].ends_with("fast-rlm.toml"),
        "{out}"
    );
    assert!(
        lines[1].starts_with("project read") && lines[1].ends_with("rlm_config.yaml"),
        "{out}"
    );
    assert!(
        lines[2].starts_with("user") && lines[2].ends_with("config/fast-rlm/config.toml"),
        "{out}"
    );
    assert!(
        lines[4].starts_with("keys    read") && lines[4].ends_with("keymap.toml"),
        "{out}"
    );
}
