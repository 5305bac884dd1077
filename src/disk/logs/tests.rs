use std::fs;

use super::*;

const LINE: &str = "{\"run_id\":\"r1\",\"event_type\":\"agent_start\"}\n";

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("runs/s/logs")).unwrap();
        Self { dir }
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn finder(&self, tree: &str) -> LogFinder {
        LogFinder::new(&self.dir.path().join("runs/s"), &self.dir.path().join(tree))
    }
}

fn tried(sought: Sought) -> String {
    match sought {
        Sought::Missing(tried) => tried.join("\n"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn relative_to_the_session_is_where_the_link_says() {
    let place = Place::new();
    let path = place.put("runs/s/logs/a.jsonl", LINE);
    let sought = place.finder("runs/s").seek("logs/a.jsonl", Some("r1"));
    assert!(matches!(sought, Sought::Linked(file) if file.path == path));
}

#[test]
fn parents_are_tried_up_to_the_opened_tree_only() {
    let place = Place::new();
    place.put("old/x.log", LINE);
    let outside = tried(place.finder("runs/s").seek("old/x.log", Some("r1")));
    assert!(!outside.contains("runs/old"), "{outside}");
    assert!(matches!(
        place.finder(".").seek("old/x.log", Some("r1")),
        Sought::Moved(_)
    ));
}

#[test]
fn by_name_last_and_only_with_the_right_run() {
    let place = Place::new();
    place.put("runs/s/a.jsonl", "{\"run_id\":\"r2\"}\n");
    let path = place.put("runs/s/logs/a.jsonl", &format!("{}{LINE}", "\n".repeat(200_000)));
    let sought = place.finder("runs/s").seek(r"C:\elsewhere\a.jsonl", Some("r1"));
    assert!(matches!(sought, Sought::Moved(file) if file.path == path));
    let missing = tried(place.finder("runs/s").seek("/gone/a.jsonl", Some("r3")));
    assert!(
        missing.contains("not there") && missing.contains("does not contain run r3"),
        "{missing}"
    );
}

#[cfg(unix)]
#[test]
fn devices_fifos_directories_and_foreign_files_are_refused() {
    let place = Place::new();
    let foreign = place.put("secret.txt", LINE);
    std::os::unix::fs::symlink(&foreign, place.dir.path().join("runs/s/logs/link.jsonl")).unwrap();
    std::os::unix::fs::symlink("loop.jsonl", place.dir.path().join("runs/s/logs/loop.jsonl")).unwrap();
    let fifo = place.dir.path().join("runs/s/logs/fifo.jsonl");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, rustix::fs::Mode::RUSR).unwrap();
    let mut finder = place.finder("runs/s");
    for (link, part) in [
        ("/dev/zero", "a device, pipe or socket"),
        ("logs/fifo.jsonl", "a device, pipe or socket"),
        ("logs", "a directory"),
        ("../../secret.txt", "outside the opened directory"),
        ("logs/link.jsonl", "outside the opened directory"),
        ("logs/loop.jsonl", "("),
        ("", "a directory"),
        ("a\0b", "("),
    ] {
        let tried = tried(finder.seek(link, Some("r1")));
        assert!(tried.contains(part), "{link}: {tried}");
    }
    assert_eq!(finder.all(), [], "none of them is a stray either");
}

#[test]
fn all_are_listed_once_and_others_jsonl_is_not_a_transcript() {
    let place = Place::new();
    let a = place.put("runs/s/logs/a.jsonl", "");
    place.put("runs/s/logs/notes.txt", LINE);
    place.put("runs/s/data.jsonl", "{\"x\":1}\n");
    let b = place.put("runs/s/b.jsonl", LINE);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&a, place.dir.path().join("runs/s/logs/z.jsonl")).unwrap();
    let paths: Vec<PathBuf> = place.finder("runs/s").all().into_iter().map(|file| file.path).collect();
    assert_eq!(paths, [a, b]);
}

#[test]
fn a_run_is_found_behind_a_long_beginning_of_its_first_line() {
    let key = "\"run_id\":\"r1\"";
    let place = Place::new();
    let mut names = Vec::new();
    // The key across the end of a window, at its start, and far behind.
    for before in (WINDOW - 20..WINDOW + 2).chain([3 * WINDOW - 9, 5 << 20]) {
        let head = "{\"task\":\"\",";
        let text = format!("{{\"task\":\"{}\",{key}}}\n", "x".repeat(before - head.len()));
        names.push(place.put(&format!("runs/s/{before:08}.jsonl"), &text));
    }
    // Of what is no transcript, only the beginning is read.
    place.put("runs/s/z.jsonl", &format!("{}{{{key}}}\n", "y\n".repeat(WINDOW)));
    let files = place.finder("runs/s").all().into_iter();
    assert_eq!(files.map(|file| file.path).collect::<Vec<_>>(), names);
}

#[test]
fn a_run_id_is_found_however_its_json_is_spelt() {
    let place = Place::new();
    place.put("runs/s/logs/a.jsonl", "");
    let finds = |id: &str, spelt: &str, before: usize| {
        place.put(
            "runs/s/logs/a.jsonl",
            &format!("{}{{\"run_id\": \"{spelt}\"}}\n", " ".repeat(before)),
        );
        matches!(place.finder("runs/s").seek("logs/a.jsonl", Some(id)), Sought::Linked(_))
    };
    for (id, spelt) in [
        ("r1é", "r1é"),
        ("r1é", "r1\\u00e9"),
        ("r1é", "\\u0072\\u0031\\u00E9"),
        ("r1日", "r1\\u65e5"),
        ("r😀", "r\\ud83d\\uDE00"),
        ("r1\u{7f}", "r1\\u007f"),
        ("a/b", "a\\/b"),
        ("a\"b", "a\\u0022b"),
        ("a\\u0041", "a\\\\u0041"),
        ("a\nb\u{8}", "a\\nb\\b"),
    ] {
        // Across the ends of windows, too.
        for before in (0..1)
            .chain(4_080..4_100)
            .chain(4_096 + WINDOW - 20..4_096 + WINDOW + 2)
        {
            assert!(finds(id, spelt, before), "{id} as {spelt} behind {before}");
        }
    }
    for (id, spelt) in [
        ("r1é", "r1\\u00e8"),
        ("r1é", "r1\\u00e"),
        ("r1é", "r1e"),
        ("r1", "r1\\u00e9"),
        ("aA", "a\\\\u0041"),
        ("ub", "\\ub"),
        ("r😀", "r\\ud83d"),
    ] {
        assert!(!finds(id, spelt, 0), "{id} as {spelt}");
    }
}
