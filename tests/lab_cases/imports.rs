//! Taking a bundle over, in the shell: killed at any moment it leaves no half session, a changed bundle is refused, and a
//! record from elsewhere is no reason to read a file of this machine.

use crate::shell::{asking, command, exits, json_of, out, program, recorded};
use fast_rlm::disk::lock::SessionLock;
use fast_rlm::store::NewSession;
use fast_rlm::{Client, Storage};
use serde_json::json;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn export(dir: &Path, session: &str, bundle: &str) {
    let args = ["export", session, "--dir", "runs", "--bundle", bundle];
    exits(&program(&args, dir), 0);
}

fn import(dir: &Path, bundle: &str) -> Output {
    program(&["import", bundle, "--dir", "other"], dir)
}

/// The same with a fault.
fn import_with(dir: &Path, bundle: &str, fault: &str) -> Output {
    let mut command = command(&["import", bundle, "--dir", "other"], dir);
    command.env("FAST_RLM_FAULT", fault).output().unwrap()
}

/// The same, killed at this point.
fn import_killed_at(dir: &Path, bundle: &str, point: &str) {
    let killed = import_with(dir, bundle, point);
    assert_eq!(killed.status.code(), None, "{point}: {killed:?}");
}

fn sessions(dir: &Path) -> serde_json::Value {
    json_of(&program(&["sessions", "other", "--json"], dir))
}

/// Names in the target that are no stores.
fn entries(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir.join("other")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.contains(".db")).collect()
}

#[test]
fn an_import_that_was_killed_leaves_no_half_session_and_is_finished_by_the_next() {
    let points = [
        "import.filled",
        "flow.commit:4",
        "flow.write:5",
        "events.commit:3",
        "import.logged",
    ];
    for point in points {
        let dir = recorded();
        export(dir.path(), "one", "one.tar");
        import_killed_at(dir.path(), "one.tar", point);
        assert_eq!(sessions(dir.path()), json!([]), "{point}");
        let half = program(&["replay", "one", "--dir", "other"], dir.path());
        exits(&half, 2);
        assert!(err(&half).contains("import the same file again"), "{point}: {half:?}");
        exits(&program(&["replay", "last", "--dir", "other"], dir.path()), 2);
        let client = Client::builder().storage(Storage::dir(dir.path().join("other")));
        let client = client.open().unwrap();
        assert!(client.sessions().unwrap().is_empty() && client.latest_session().unwrap().is_none());
        assert!(client.open_session("one").is_err(), "{point}: it is not whole");
        drop(client);
        exits(&import(dir.path(), "one.tar"), 0);
        assert_eq!(entries(dir.path()), ["one"], "{point}");
        assert_eq!(sessions(dir.path())[0]["queries"], json!(1), "{point}");
        exits(&program(&["replay", "one", "--dir", "other"], dir.path()), 0);
        let same = program(&["diff", "runs/one", "other/one"], dir.path());
        exits(&same, 0);
    }
}

#[test]
fn what_another_bundle_left_unfinished_is_swept_up() {
    let dir = recorded();
    export(dir.path(), "one", "one.tar");
    import_killed_at(dir.path(), "one.tar", "import.logged");
    let again = asking("And again", "scripted:model.json", "one");
    exits(&program(&again, dir.path()), 0);
    export(dir.path(), "one", "two.tar");
    let taken = import(dir.path(), "two.tar");
    exits(&taken, 2);
    assert!(err(&taken).contains("never used twice"), "{taken:?}");
    assert_eq!((entries(dir.path()), sessions(dir.path())), (vec![], json!([])));
    let other = program(
        &["import", "two.tar", "--dir", "other", "--session-id", "fresh"],
        dir.path(),
    );
    assert_eq!(out(&other), "fresh\n");
    exits(&program(&["replay", "fresh", "--dir", "other"], dir.path()), 0);
}

#[test]
fn while_another_process_imports_it_the_session_is_told_to_be_busy() {
    let dir = recorded();
    export(dir.path(), "one", "one.tar");
    import_killed_at(dir.path(), "one.tar", "import.filled");
    let [staged] = entries(dir.path()).try_into().unwrap();
    let _held = SessionLock::acquire(&dir.path().join("other").join(staged), Duration::ZERO).unwrap();
    let busy = import(dir.path(), "one.tar");
    exits(&busy, 4);
    let said = err(&busy);
    assert!(said.contains("session other/one is busy: process "), "{said}");
    // The other way round: of another bundle.
    let again = asking("And again", "scripted:model.json", "one");
    exits(&program(&again, dir.path()), 0);
    export(dir.path(), "one", "two.tar");
    let busy = import(dir.path(), "two.tar");
    exits(&busy, 4);
    assert!(err(&busy).contains("session other/one is busy"), "{busy:?}");
}

#[test]
fn errors_on_the_way_leave_nothing() {
    for (point, code) in [
        ("import.filled=full", 1),
        ("import.logged=denied", 1),
        ("events.write:3=full", 1),
    ] {
        let dir = recorded();
        export(dir.path(), "one", "one.tar");
        exits(&import_with(dir.path(), "one.tar", point), code);
        assert_eq!(
            (entries(dir.path()), sessions(dir.path())),
            (vec![], json!([])),
            "{point}"
        );
    }
}

#[test]
fn a_bundle_that_was_changed_is_refused() {
    let dir = recorded();
    export(dir.path(), "one", "one.tar");
    let path = dir.path().join("one.tar");
    let mut bytes = std::fs::read(&path).unwrap();
    let text = b"Find the whale";
    let at = bytes.windows(text.len()).rposition(|part| part == text).unwrap();
    bytes[at] = b'f';
    std::fs::write(&path, bytes).unwrap();
    let refused = import(dir.path(), "one.tar");
    exits(&refused, 2);
    assert!(err(&refused).contains("its checksum does not fit"), "{refused:?}");
    assert!(!dir.path().join("other").exists());
}

/// Asks about a file in the session `about` under `runs`.
fn asks_about_a_file(dir: &Path, steps: &[&str], code: i32) {
    let replies: Vec<_> = steps.iter().map(|code| json!({ "code": code })).collect();
    std::fs::write(dir.join("model.json"), json!({"replies": replies}).to_string()).unwrap();
    std::fs::write(dir.join("data.txt"), "of this machine").unwrap();
    let mut args = asking("Read it", "scripted:model.json", "about").to_vec();
    args.extend(["--input-file", "data.txt"]);
    exits(&program(&args, dir), code);
    export(dir, "about", "about.tar");
    exits(&import(dir, "about.tar"), 0);
}

#[test]
fn a_record_from_elsewhere_names_no_file_of_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    asks_about_a_file(dir.path(), &["x = len(context)", "FINAL(x)"], 0);
    let run = |args: &[&str]| program(&[args, &["--dir", "other"]].concat(), dir.path());
    for args in [
        &["replay", "about"][..],
        &["fork", "about", "--at", "1", "--replan", "Print the context."],
        &["what-if", "about", "--instruction", "Print the context."],
    ] {
        let refused = run(args);
        exits(&refused, 2);
        assert!(err(&refused).contains("--input-file"), "{refused:?}");
        assert!(!format!("{refused:?}").contains("of this machine"), "{refused:?}");
    }
    assert_eq!(sessions(dir.path()).as_array().unwrap().len(), 1, "no branch was kept");
    exits(&program(&["replay", "about", "--dir", "runs"], dir.path()), 0);
    exits(&run(&["replay", "about", "--input-file", "data.txt"]), 0);
    let forked = [
        "fork",
        "about",
        "--at",
        "2",
        "--inject",
        "1",
        "--input-file",
        "data.txt",
    ];
    assert_eq!(
        run(&["fork", "about", "--at", "1", "--inject", "7"]).status.code(),
        Some(2)
    );
    let refused = err(&run(&forked));
    assert!(refused.contains("binds no name"), "{refused}");
}

#[test]
fn neither_does_a_question_from_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    asks_about_a_file(
        dir.path(),
        &["day = await ask('Which day?')\nFINAL([day, context])"],
        75,
    );
    let refused = program(&["answer", "other/about", "monday"], dir.path());
    exits(&refused, 2);
    assert!(
        err(&refused).contains("a session that was imported names it"),
        "{refused:?}"
    );
    let given = ["answer", "other/about", "monday", "--input-file", "data.txt", "--json"];
    let answered = program(&given, dir.path());
    exits(&answered, 0);
    assert_eq!(json_of(&answered)["final"], json!(["monday", "of this machine"]));
}

#[test]
fn a_session_that_somebody_writes_to_is_not_removed() {
    let dir = recorded();
    let store = fast_rlm::Storage::dir(dir.path().join("runs")).open().unwrap();
    store.events.create_session(&NewSession::named("empty", 1)).unwrap();
    let place = dir.path().join("runs/empty");
    std::fs::create_dir(&place).unwrap();
    let held = SessionLock::acquire(&place, Duration::ZERO).unwrap();
    let busy = program(&["sessions", "runs", "--prune"], dir.path());
    exits(&busy, 4);
    assert!(place.exists() && store.events.session("empty").is_ok(), "{busy:?}");
    drop(held);
    exits(&program(&["sessions", "runs", "--prune"], dir.path()), 0);
    assert!(!place.exists() && store.events.session("empty").is_err());
    store.events.session("one").unwrap();
}

#[test]
fn what_lies_in_the_directory_of_an_empty_session_is_somebodys() {
    let dir = recorded();
    let store = Storage::dir(dir.path().join("runs")).open().unwrap();
    for (name, file) in [("src", "main.c"), ("transcripts", "logs/run.jsonl")] {
        store.events.create_session(&NewSession::named(name, 1)).unwrap();
        let file = dir.path().join("runs").join(name).join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, "of a person").unwrap();
        exits(&program(&["sessions", "runs", "--prune"], dir.path()), 0);
        assert!(store.events.session(name).is_err(), "{name}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "of a person");
    }
}
