//! Files: found, chosen, attached, sent. Real directories.

use super::*;

fn bench() -> (Bench, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("my data")).unwrap();
    for name in ["reviews.jsonl", "readme.md", ".env", "my data/prices.csv"] {
        std::fs::write(dir.path().join(name), "12345").unwrap();
    }
    let mut bench = Bench::new();
    bench.input.home.user = Some(dir.path().to_owned());
    (bench, dir)
}

#[test]
fn a_path_is_completed_to_a_file_that_is_sent_as_the_context() {
    let (mut bench, dir) = bench();
    bench.type_in("count @~/revi");
    bench.keys(&["tab"]);
    bench.work();
    bench.keys(&["tab"]);
    bench.type_in("by year");
    assert_eq!(
        bench.input.draft.content().chips().next().unwrap().label(),
        "[reviews.jsonl 5B]"
    );
    bench.keys(&["enter"]);
    let request = Request {
        text: "count reviews.jsonl by year".into(),
        file: Some(dir.path().join("reviews.jsonl")),
    };
    assert_eq!(bench.said, [Said::Send(request)]);
}

#[test]
fn directories_are_entered_typing_goes_on_and_the_list_follows() {
    let (mut bench, dir) = bench();
    bench.type_in("@~/");
    bench.keys(&["tab"]);
    bench.work();
    bench.type_in("my");
    bench.keys(&["enter"]);
    assert_eq!(bench.text(), "@\"~/my data/");
    bench.work();
    bench.keys(&["enter"]);
    bench.type_in("sum it");
    bench.keys(&["enter"]);
    let file = bench.said.iter().find_map(|said| match said {
        Said::Send(request) => request.file.clone(),
        _ => None,
    });
    assert_eq!(file, Some(dir.path().join("my data/prices.csv")));
}

#[test]
fn hidden_files_only_when_asked_for() {
    let (mut bench, _dir) = bench();
    bench.type_in("@~/env");
    bench.keys(&["tab"]);
    bench.work();
    bench.keys(&["enter"]);
    assert_eq!(bench.input.draft.content().chips().count(), 0);
    bench.keys(&["esc", "ctrl-u"]);
    bench.type_in("@~/.e");
    bench.keys(&["tab"]);
    bench.work();
    bench.keys(&["enter"]);
    assert_eq!(bench.text(), ".env ");
}

#[test]
fn a_second_file_is_refused_and_a_file_alone_is_no_question() {
    let (mut bench, _dir) = bench();
    for name in ["@~/revi", "@~/read"] {
        bench.type_in(name);
        bench.keys(&["tab"]);
        bench.work();
        bench.keys(&["tab"]);
    }
    assert!(
        bench.notices().contains("delete reviews.jsonl first"),
        "{}",
        bench.notices()
    );
    bench.keys(&["esc", "ctrl-w", "ctrl-w", "backspace", "backspace", "enter"]);
    assert!(bench.sent().is_empty());
}

#[test]
fn a_directory_that_cannot_be_read_is_said_and_late_answers_are_dropped() {
    let (mut bench, _dir) = bench();
    bench.type_in("@/nonexistent/x");
    bench.keys(&["tab"]);
    bench.work();
    let Over::Paths(paths) = &bench.input.over else {
        panic!()
    };
    assert!(paths.chosen().is_none());
    bench.keys(&["esc", "ctrl-u"]);
    bench.type_in("@~/");
    bench.keys(&["tab", "esc"]);
    bench.work();
    assert!(matches!(bench.input.over, Over::None));
}

#[test]
fn a_file_stays_attached_through_an_editor() {
    let (mut bench, dir) = bench();
    bench.type_in("@~/revi");
    bench.keys(&["tab"]);
    bench.work();
    bench.keys(&["tab", "ctrl-g"]);
    let path = dir.path().join("reviews.jsonl");
    let written = format!("@{} ", path.display());
    assert_eq!(bench.said, [Said::Editor(written.clone())]);
    bench.input.edited(Ok(format!("count {written}\n")), &bench.world.ctx());
    assert_eq!(bench.text(), "count reviews.jsonl ");
}

#[test]
fn a_path_that_was_never_completed_is_looked_up_before_it_is_sent() {
    let (mut bench, dir) = bench();
    bench.type_in("count @~/reviews.jsonl, and tell @me");
    bench.keys(&["enter"]);
    assert!(bench.said.is_empty());
    bench.work();
    let request = Request {
        text: "count reviews.jsonl, and tell @me".into(),
        file: Some(dir.path().join("reviews.jsonl")),
    };
    assert_eq!(bench.said, [Said::Send(request)]);
    assert_eq!(bench.text(), "");
}

#[test]
fn what_changes_during_the_look_up_is_not_sent() {
    let (mut bench, _dir) = bench();
    bench.type_in("tell @me");
    bench.keys(&["enter"]);
    bench.type_in(" more");
    bench.work();
    assert!(bench.said.is_empty());
    bench.keys(&["enter"]);
    bench.work();
    assert!(bench.notices().contains("@me names no file"), "{}", bench.notices());
    bench.keys(&["enter"]);
    bench.work();
    assert_eq!(bench.sent(), ["tell @me more"]);
}

#[test]
fn a_file_that_is_not_there_is_told_once_before_it_is_sent() {
    let (mut bench, _dir) = bench();
    for (draft, named) in [
        ("count @nothere.txt please", "@nothere.txt"),
        ("count @~/reviews.jsonl and @~/nothere.txt", "@~/nothere.txt"),
    ] {
        bench.said.clear();
        bench.type_in(draft);
        bench.keys(&["enter"]);
        bench.work();
        assert!(bench.said.is_empty(), "{draft}");
        let told = format!("{named} names no file: Enter again asks without it");
        assert!(bench.notices().contains(&told), "{}", bench.notices());
        // Another draft is told of anew.
        bench.type_in("!");
        bench.keys(&["enter"]);
        bench.work();
        assert!(bench.said.is_empty(), "{draft}!");
        bench.keys(&["enter"]);
        bench.work();
        assert_eq!(bench.said.len(), 1, "{draft}!");
    }
}
