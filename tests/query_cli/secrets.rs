//! Values given with `--env` are visible in the REPL and nowhere else.

use super::Place;
use fast_rlm::provider::{Scripted, Settings};
use fast_rlm::{Config, Person, Question, RunEvent, Session, What};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};

const SECRET: &str = "hunter2-and-\"quotes\"";

/// Every file below `dir` that holds the secret in a form that is looked for.
fn leaks(dir: &Path, found: &mut Vec<String>) {
    use base64::Engine as _;
    let forms = [
        SECRET.to_owned(),
        SECRET.replace('"', "\\\""),
        SECRET.replace('"', "%22"),
        base64::engine::general_purpose::STANDARD.encode(SECRET),
    ];
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            leaks(&entry.path(), found);
            continue;
        }
        let bytes = std::fs::read(entry.path()).unwrap();
        for form in &forms {
            if bytes.windows(form.len()).any(|part| part == form.as_bytes()) {
                found.push(format!("{form} in {}", entry.path().display()));
            }
        }
    }
}

#[test]
fn a_secret_is_in_no_file_and_no_output() {
    let place = Place::new();
    let steps = [
        "import os, base64, json\nkey = os.environ['KEY']\nprint(key, json.dumps(key), base64.b64encode(key.encode()).decode())",
        "class Stubborn:\n    def __reduce__(self):\n        raise TypeError('no copy of ' + key)\nstubborn = Stubborn()\ninside = {'deep': [key]}\ncommit('key', note='it is ' + key)\nprint(inside)\nraise ValueError(key)",
        "child = await llm_query({'k': key}, instruction='use ' + key)\nprint(child)",
        "length = len(key)\nFINAL({'key': key, 'length': length})",
    ];
    let rules = [
        crate::running::script::rule(json!({"depth": 0}), &steps),
        crate::running::script::rule(json!({"depth": 1}), &["import os\nFINAL([context, os.environ['KEY']])"]),
    ];
    let query = place
        .rules(&rules)
        .session(&place.session_dir())
        .option("--verbosity", "full");
    let ran = query.option("--env", format!("KEY={SECRET}")).arg("--json").run();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["final"]["length"], json!(SECRET.len()), "the REPL had it");
    assert!(!ran.err.contains("hunter2"), "{}", ran.err);
    assert!(!ran.out.contains("hunter2"), "{}", ran.out);
    let mut found = Vec::new();
    leaks(&place.session_dir(), &mut found);
    assert_eq!(found, Vec::<String>::new());
    let dropped = place.session().state()["dropped"].clone();
    assert_eq!(
        (&dropped["key"], &dropped["inside"]),
        (&json!("holds a secret"), &json!("holds a secret"))
    );
    assert_eq!(
        dropped["stubborn"],
        json!("not picklable: TypeError: no copy of [secret KEY]")
    );
    assert!(place.session().names("variables").contains(&"length".to_owned()));
}

/// Prints the secret in two halves, of which each is a piece of output, and asks a question with it.
const HALVES: &str = r#"
replies:
  - code: |
      import os, sys, asyncio
      key = os.environ["KEY"]
      sys.stdout.write("it is " + key[:7])
      await asyncio.sleep(0.3)
      print(key[7:], "indeed")
      answer = await ask("Is it " + key + "?", options=["no", key])
      FINAL(answer == key)
"#;

/// Takes the last option.
struct Agrees(Arc<Mutex<Vec<String>>>);

#[async_trait::async_trait]
impl Person for Agrees {
    async fn ask(&self, question: &Question) -> Option<String> {
        self.0.lock().unwrap().push(question.to_string());
        question.options.last().cloned()
    }
}

#[test]
fn who_watches_and_who_is_asked_sees_no_secret_either() {
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let model = Scripted::from_yaml(HALVES, &Settings::default()).unwrap();
    let config = Config::default().provider(Arc::new(model)).env("KEY", SECRET);
    let watch = Arc::clone(&told);
    let session = Session::ephemeral()
        .unwrap()
        .config(config)
        .person(Agrees(Arc::clone(&told)))
        .watch(move |event: RunEvent| match event.what {
            What::Output(text) => watch.lock().unwrap().push(text),
            What::Asked(question) => watch.lock().unwrap().push(question.to_string()),
            _ => {}
        });
    assert_eq!(
        session.query("Tell me.").unwrap().value,
        json!(true),
        "the option was the secret itself"
    );
    let told = told.lock().unwrap();
    let question = "Is it [secret KEY]? [no | [secret KEY]]";
    assert_eq!(told.iter().filter(|text| *text == question).count(), 2, "{told:?}");
    let output: String = told
        .iter()
        .filter(|text| *text != question)
        .map(String::as_str)
        .collect();
    assert!(
        output.ends_with("it is [secret KEY] indeed\n"),
        "after the probe's: {output}"
    );
    let halves = told
        .iter()
        .filter(|text| text.contains("it is") || text.contains("indeed"));
    assert_eq!(halves.count(), 2, "the halves came one after the other: {told:?}");
}

/// A class that tells the value by its name, and one whose description is cut in the middle of it.
const NAMED: &str = r#"
import os
class Named:
    def __reduce__(self):
        return (list, ())
    def __repr__(self):
        return "something"
class Long:
    def __repr__(self):
        return "x" * 1985 + " " + os.environ["KEY"]
long = Long()
named = Named()
Named.__name__ = Named.__qualname__ = os.environ["KEY"]
"#;

#[test]
fn no_name_of_a_type_and_no_cut_tells_a_part_of_it() {
    let place = Place::new();
    let value = "zebra9quagga8okapi7";
    let query = place
        .steps(&[NAMED, "FINAL(1)"])
        .option("--env", format!("KEY={value}"));
    let query = query.session(&place.path().join("runs")).option("--session-id", "one");
    assert_eq!(query.answer(), "1");
    let state: serde_json::Value =
        serde_json::from_slice(&std::fs::read(place.path().join("runs/one/state.json")).unwrap()).unwrap();
    assert_eq!(state["variables"]["named"]["type"], json!("[secret KEY]"));
    let preview = state["variables"]["long"]["preview"].as_str().unwrap();
    assert!(preview.ends_with("xx [secret KEY]"), "{preview}");
    let mut found = Vec::new();
    texts(&place.path().join("runs"), &["zebra9", "quagga8"], &mut found);
    assert_eq!(found, Vec::<String>::new());
}

/// Every file below `dir` that holds one of these, as text.
fn texts(dir: &Path, parts: &[&str], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            texts(&entry.path(), parts, found);
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned();
        let told = parts.iter().filter(|part| text.contains(**part));
        found.extend(told.map(|part| format!("{part} in {}", entry.path().display())));
    }
}

#[test]
fn a_replay_says_which_steps_read_a_secret_and_is_faithful_with_it() {
    let place = Place::new();
    let steps = [
        "x = 1",
        "import os\ndef pin():\n    return os.environ['KEY']\nlength = len(pin())",
        "print('begins', pin()[:3])\nFINAL(length)",
    ];
    let asked = place.steps(&steps).session(&place.session_dir());
    let key = format!("KEY={SECRET}");
    assert_eq!(asked.option("--env", &key).answer(), SECRET.len().to_string());
    let replay = || {
        crate::running::Program::new(place.path())
            .arg("replay")
            .arg(place.session_dir())
    };
    let told = "reads KEY, whose value is in no record: give it again, with --env KEY=VALUE";
    let masked = replay().run();
    assert_eq!(masked.code, Some(1), "{masked:?}");
    assert!(
        masked.out.contains(&format!("step 2: value of length (step 2 {told})")),
        "{masked:?}"
    );
    let report = replay().arg("--json").run().json();
    assert_eq!(
        report["report"]["masked"],
        json!([{"turn": 0, "step": 1, "names": ["KEY"]}])
    );
    let whole = replay().option("--env", &key).run();
    assert_eq!(whole.code, Some(0), "{whole:?}");
    assert!(
        whole.out.starts_with("faithful") && !whole.out.contains("no record"),
        "{whole:?}"
    );
    // What comes out the same is told all the same.
    let only_read = place.steps(&["import os\nkey = os.environ['KEY']", "FINAL(2)"]);
    let only_read = only_read.session(&place.path().join("other"));
    assert_eq!(only_read.option("--env", &key).answer(), "2");
    let replayed = crate::running::Program::new(place.path())
        .arg("replay")
        .arg("other")
        .run();
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    assert!(replayed.out.contains(&format!("Q1 step 1 {told}")), "{replayed:?}");
}
