//! Child processes that load the interpreter, each with a cache directory of its own.

use fast_rlm::repl::{CACHE_VARIABLE, PythonFactory, prepare};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Set in the processes that these tests start: they load the interpreter and print the progress.
const CHILD: &str = "FAST_RLM_TEST_LOADS_PYTHON";

/// Not a test by itself: what the child processes run.
#[test]
fn child_loads_python() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let say = |line: &str| writeln!(std::io::stdout(), "progress: {line}").unwrap();
    PythonFactory::load(&mut |line| say(line)).expect("Python is there");
    say(&format!("loaded, ready {}", prepare::is_ready()));
}

fn child(cache: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::child_loads_python", "--nocapture"])
        .env(CHILD, "1")
        .env(CACHE_VARIABLE, cache)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    lines.filter_map(|line| line.split_once("progress: ").map(|(_, text)| text.to_owned()))
}

fn finish(mut child: Child) -> Vec<String> {
    let lines: Vec<_> = lines(&mut child).collect();
    assert!(child.wait().unwrap().success(), "{lines:?}");
    lines
}

#[test]
fn a_killed_process_leaves_nothing_in_the_way_and_two_at_once_prepare_once() {
    let root = tempfile::tempdir().unwrap();
    let cache = root.path().join("cache");
    let mut killed = child(&cache);
    let seen = lines(&mut killed).find(|line| line.contains("starting Python"));
    assert!(seen.is_some(), "it had begun");
    killed.kill().unwrap();
    killed.wait().unwrap();

    let (one, other) = (child(&cache), child(&cache));
    let other = std::thread::spawn(move || finish(other));
    let both = [finish(one), other.join().unwrap()];
    let preparing = |lines: &&Vec<String>| lines.iter().any(|line| line.starts_with("Preparing Python, once"));
    assert_eq!(both.iter().filter(preparing).count(), 1, "{both:?}");
    assert!(
        both.iter().all(|lines| lines.last().unwrap() == "loaded, ready true"),
        "{both:?}"
    );
    assert_eq!(
        finish(child(&cache)),
        ["loaded, ready true"],
        "no line once it is prepared"
    );
}

#[test]
fn a_cache_that_cannot_be_used_is_said_and_the_interpreter_works_for_this_run() {
    let lines = finish(child(Path::new("/dev/null/cache")));
    assert!(
        lines[0].starts_with("Preparing Python for this run only: cannot create /dev/null/cache"),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap(), "loaded, ready false");
}
