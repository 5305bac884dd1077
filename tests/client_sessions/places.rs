//! Where sessions live, and that those without a place of their own go, however their program ends.

use crate::child::{Child, READY};
use crate::script::config;
use fast_rlm::store::StoreError;
use fast_rlm::{Error, RunOptions, Session, What};
use serde_json::json;
use std::sync::{Arc, Mutex};

#[test]
fn an_id_needs_a_directory_and_must_be_one() {
    let alone = RunOptions::new(config()).session_id("podcasts");
    assert!(matches!(
        fast_rlm::run("bind", alone),
        Err(Error::IdWithoutDirectory { .. })
    ));
    assert!(matches!(
        Session::open("", "podcasts"),
        Err(Error::IdWithoutDirectory { .. })
    ));
    assert!(matches!(
        Session::open("", None),
        Err(Error::Option {
            name: "session_dir",
            ..
        })
    ));
    let dir = tempfile::tempdir().unwrap();
    for id in ["", "..", "a/b", ".hidden", "-flag", "logs", "é"] {
        let refused = Session::open(dir.path(), id);
        assert!(
            matches!(refused, Err(Error::Store(StoreError::BadSessionId { .. }))),
            "{id:?}"
        );
    }
    let session = Session::open(dir.path(), "podcasts").unwrap();
    assert_eq!(session.dir(), dir.path().join("podcasts"));
    assert!(!session.dir().exists(), "opening makes nothing");
    assert!(session.variables().unwrap().is_empty() && session.queries().unwrap().is_empty());
    assert!(session.parked().unwrap().is_none());
    session.clear().unwrap();
    assert!(!session.dir().exists());
}

#[test]
fn an_ephemeral_session_remembers_until_it_ends() {
    let session = Session::ephemeral().unwrap().config(config());
    let dir = session.dir().to_owned();
    session.query("bind").unwrap();
    let again = session.clone();
    assert_eq!(again.query("use").unwrap().value, json!(["a", "b"]));
    assert_eq!(session.queries().unwrap().len(), 2);
    again.close().unwrap();
    assert!(!dir.exists());
    assert!(matches!(session.query("use"), Err(Error::Closed)));
    assert!(matches!(session.variables(), Err(Error::Closed)));
    assert!(!dir.exists(), "what is refused makes nothing");

    let dropped = Session::ephemeral().unwrap();
    let dir = dropped.dir().to_owned();
    assert!(dir.exists());
    drop(dropped);
    assert!(!dir.exists());
}

#[test]
fn each_ephemeral_session_is_a_clean_slate() {
    let first = Session::ephemeral().unwrap().config(config());
    first.query("bind").unwrap();
    let second = Session::ephemeral().unwrap().config(config());
    assert_eq!(second.query("is it there").unwrap().value, json!(false));
}

#[test]
fn an_ephemeral_session_goes_with_its_program_however_that_ends() {
    for (end, code) in [("exit", 0), ("panic", 101), ("panic_elsewhere", 0)] {
        let mut child = Child::start(end);
        child.wait_for_output(READY);
        assert_eq!(child.wait().code(), Some(code));
        assert_eq!(child.left_behind(), Vec::<String>::new(), "{end}");
    }
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let mut child = Child::start("signals");
        child.wait_for_its_directory();
        child.signal(signal);
        assert_eq!(
            child.wait().ended_by(),
            Some(signal.as_raw()),
            "the signal still ends it"
        );
        assert_eq!(child.left_behind(), Vec::<String>::new());
    }
}

#[test]
fn what_a_killed_program_leaves_goes_with_the_next_session() {
    let mut killed = Child::start("waits");
    killed.wait_for_its_directory();
    let mut beside = Child::start_beside(&killed, "exit");
    assert_eq!(beside.wait().code(), Some(0));
    assert_eq!(killed.left_behind().len(), 1, "a living program keeps its own");
    killed.signal(rustix::process::Signal::KILL);
    killed.wait();
    assert_eq!(killed.left_behind().len(), 1);
    let mut next = Child::start_beside(&killed, "exit");
    assert_eq!(next.wait().code(), Some(0));
    assert_eq!(killed.left_behind(), Vec::<String>::new());
}

#[test]
fn closing_cancels_what_runs_and_the_directory_goes_with_it() {
    let session = Session::ephemeral().unwrap();
    let dir = session.dir().to_owned();
    let closing = Arc::new(Mutex::new(Some(session.clone())));
    let session = session.config(config()).watch(move |event: fast_rlm::RunEvent| {
        if matches!(event.what, What::CallEnded { .. })
            && let Some(session) = closing.lock().unwrap().take()
        {
            session.close().unwrap();
        }
    });
    let error = session.query("for ever").unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert!(!dir.exists());
}

#[test]
fn a_program_that_is_stopped_at_once_leaves_no_directory() {
    let mut program = Child::start_program();
    program.wait_for_output("step 1");
    // The second one does not wait for the query to be closed.
    program.signal(rustix::process::Signal::TERM);
    program.signal(rustix::process::Signal::TERM);
    assert_eq!(program.wait().code(), Some(130));
    assert_eq!(program.left_behind(), Vec::<String>::new());
}
