//! Damaged, odd and hostile session files through the real viewer: everything that can be read is shown, everything
//! else is counted and placed, and nothing is hidden.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice
)]

// Each of its users needs its own part of it.
#[allow(dead_code)]
mod viewer_files;

use serde_json::{Value, json};
use std::fs;
use viewer_files::{Place, STATE, lines, problems, run, step, step_of};

fn kinds(json: &Value) -> Vec<String> {
    problems(json).into_iter().map(|(kind, _, _)| kind).collect()
}

#[test]
fn a_last_line_cut_at_any_byte_leaves_all_whole_lines() {
    let whole = lines(&[step(1, ""), step(2, "")]);
    let first = step(1, "").len() + 1;
    let place = Place::with_log(&whole);
    for cut in (first + 1..whole.len() - 1).step_by(7) {
        place.put("s/logs/a.jsonl", &whole[..cut]);
        let json = place.json();
        assert_eq!(
            (&run(&json)["events"], &run(&json)["unreadable_lines"]),
            (&json!(1), &json!(0)),
            "cut at {cut}"
        );
        assert_eq!(
            problems(&json),
            [("incomplete".into(), Some(2), Some(first as u64))],
            "cut at {cut}"
        );
    }
    place.put("s/logs/a.jsonl", &whole[..whole.len() - 1]);
    let json = place.json();
    assert_eq!(
        (&run(&json)["events"], problems(&json).len()),
        (&json!(2), 0),
        "a missing newline alone is no damage"
    );
}

#[test]
fn bad_lines_are_skipped_counted_and_placed() {
    let bad = ["null", "42", "[]", "\"text\"", "{\"level\":30,", "{}", "}{", "\u{1}"].map(String::from);
    for line in bad {
        let place = Place::with_log(&lines(&[step(1, ""), line.clone(), step(2, "")]));
        let json = place.json();
        assert_eq!(
            (&run(&json)["events"], &run(&json)["unreadable_lines"]),
            (&json!(2), &json!(1)),
            "{line}"
        );
        let at = step(1, "").len() as u64 + 1;
        assert_eq!(problems(&json), [("unreadable".into(), Some(2), Some(at))], "{line}");
        assert!(place.stats().contains("1 unreadable line"), "{line}");
    }
}

#[test]
fn records_that_share_a_line_are_both_read() {
    let welded = format!("{}{}", step(1, ""), step(2, ""));
    let torn = format!("{}{}", &step(3, "")[..60], step(4, ""));
    let json = Place::with_log(&lines(&[welded, torn, step(5, "")])).json();
    assert_eq!(run(&json)["steps"], 4, "1, 2, 4 and 5");
    assert_eq!(run(&json)["unreadable_lines"], 1, "what is left of 3");
    assert_eq!(kinds(&json).iter().filter(|kind| *kind == "repaired").count(), 2);
}

#[test]
fn broken_text_is_repaired_and_told_never_lost() {
    let mut log = b"\xEF\xBB\xBF".to_vec();
    log.extend(format!("{}\r\n", step(1, r#","reasoning":"\ud83d!""#)).into_bytes());
    log.extend(
        step(2, ",\"reasoning\":\"a\"")
            .replace("\"o\"", "\"\u{FFFD}\"")
            .into_bytes(),
    );
    log.extend(b"\n");
    log.extend(
        step(3, ",\"reasoning\":\"X\"")
            .into_bytes()
            .iter()
            .map(|byte| if *byte == b'X' { 0xFF } else { *byte }),
    );
    log.extend(b"\n\0\0\0\0");
    let json = Place::with_log(&log).json();
    assert_eq!(
        (&run(&json)["steps"], &run(&json)["unreadable_lines"]),
        (&json!(3), &json!(0))
    );
    let lines: Vec<Option<u64>> = problems(&json)
        .into_iter()
        .map(|(kind, line, _)| {
            assert_eq!(kind, "repaired");
            line
        })
        .collect();
    assert_eq!(
        lines,
        [Some(1), Some(1), Some(3), Some(4)],
        "the mark, the surrogate, the byte, the padding"
    );
}

#[test]
fn utf16_is_named() {
    let utf16: Vec<u8> = STATE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let place = Place::new();
    place.put("s/state.json", [&b"\xFF\xFE"[..], &utf16].concat());
    assert!(place.refusal("s").contains("UTF-16"));
    place.put("s/state.json", STATE);
    place.put("s/logs/a.jsonl", [&b"\xFF\xFE"[..], &utf16].concat());
    let log = place.refusal("s/logs/a.jsonl");
    assert!(log.contains("UTF-16") && log.contains("iconv"), "{log}");
}

#[test]
fn a_transcript_in_utf16_is_named_where_its_figures_would_stand() {
    let text = String::from_utf8(lines(&[step(1, "")])).unwrap();
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let place = Place::with_log(&[&b"\xFF\xFE"[..], &utf16].concat());
    let stats = place.stats();
    assert!(
        stats.contains("logs/a.jsonl (UTF-16: convert it to UTF-8 to read it)"),
        "{stats}"
    );
    assert!(!stats.contains("does not contain run"), "{stats}");
    // A query without a run id takes it all the same.
    place.put("s/state.json", STATE.replace(r#","run_id":"r1""#, ""));
    let stats = place.stats();
    assert!(stats.contains("no line of the transcript was read: UTF-16"), "{stats}");
}

#[test]
fn a_path_that_is_longer_than_any_is_shortened_as_text_and_whole_in_json() {
    let place = Place::new();
    let long = format!("logs/{}.jsonl", "x".repeat(100_000));
    place.put("s/state.json", STATE.replace("logs/a.jsonl", &long));
    let stats = place.stats();
    assert!(stats.lines().all(|line| line.len() < 2_000), "{}", stats.len());
    assert!(
        stats.contains("logs/xxx") && stats.contains("xxx.jsonl (File name too long"),
        "{stats}"
    );
    assert_eq!(place.json()["queries"][0]["log"]["recorded"], json!(long));
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_called_that() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.put("s/state.json", STATE);
    symlink("../gone.jsonl", place.path("s/logs/a.jsonl")).unwrap();
    let what = "a dangling link: it leads to ../gone.jsonl, which is not there";
    assert!(place.stats().contains(what), "{}", place.stats());
    symlink("nowhere", place.path("t")).unwrap();
    assert!(
        place
            .refusal("t")
            .contains("cannot read t: a dangling link: it leads to nowhere")
    );
    assert!(
        place
            .refusal("t/state.json")
            .contains("t is a dangling link: it leads to nowhere")
    );
    fs::remove_file(place.path("s/state.json")).unwrap();
    symlink("other.json", place.path("s/state.json")).unwrap();
    assert!(place.refusal("s").contains("a dangling link: it leads to other.json"));
}

#[test]
fn nesting_of_any_depth_is_kept_as_text() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let result = format!(r#"{{"run_id":"r1","event_type":"final_result","result":{deep}}}"#);
    let place = Place::with_log(&lines(&[step(1, &format!(",\"unknown\":{deep}")), result]));
    place.put("s/state.json", STATE.replace("\"f\"", &deep));
    let json = place.json();
    assert_eq!(
        (&run(&json)["events"], &run(&json)["unreadable_lines"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(json["queries"][0]["final_state"], "raw");
    assert_eq!(json["queries"][0]["final"].as_str().unwrap().len(), deep.len());
}

#[test]
fn families_of_any_shape_appear_once() {
    let with_parent = |run: &str, parent: &str| step_of(run, 1, &format!(r#","parent_run_id":"{parent}""#));
    let mut log = vec![
        r#"{"run_id":"r1","event_type":"final_result","result":1}"#.to_owned(),
        r#"{"run_id":"r1","event_type":"agent_end"}"#.to_owned(),
        step(1, ""),
        r#"{"run_id":"r1","event_type":"agent_start"}"#.to_owned(),
        r#"{"run_id":"r1","event_type":"brand_new"}"#.to_owned(),
        with_parent("cycle-a", "cycle-b"),
        with_parent("cycle-b", "cycle-a"),
        with_parent("self", "self"),
        with_parent("orphan", "nobody"),
    ];
    log.extend((0..500).map(|depth| with_parent(&format!("d{}", depth + 1), &format!("d{depth}"))));
    let json = Place::with_log(&lines(&log)).json();
    let tree = run(&json)["tree"].as_array().unwrap();
    let mut ids: Vec<&str> = tree.iter().map(|agent| agent["run_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    let all = ids.len();
    ids.dedup();
    assert_eq!((all, ids.len()), (505, 505), "every agent appears, once");
    assert_eq!(run(&json)["steps"], 505);
    assert!(kinds(&json).contains(&"structure".to_owned()) && kinds(&json).contains(&"unknown_event".to_owned()));
}

#[test]
fn a_step_that_was_logged_twice_counts_once() {
    let generated = step(1, "")
        .replace("execution_result", "code_generated")
        .replace("\"output\":\"o\",", "");
    let once = lines(&[step(1, ""), generated, step(2, "")]);
    let twice = [once.clone(), once].concat();
    let json = Place::with_log(&twice).json();
    let sums = (
        &run(&json)["steps"],
        &run(&json)["tokens"]["total"],
        &run(&json)["cost_nano_usd"],
    );
    assert_eq!(sums, (&json!(2), &json!(22), &json!(2_000_000)));
    let different = lines(&[
        step(1, ""),
        step(1, "").replace("x = 1", "y = 1").replace("0.001", "0.002"),
    ]);
    let json = Place::with_log(&different).json();
    assert_eq!(
        (&run(&json)["steps"], &run(&json)["cost_nano_usd"]),
        (&json!(2), &json!(3_000_000))
    );
    assert!(kinds(&json).contains(&"structure".to_owned()));
}

#[test]
fn a_session_of_which_little_is_there_opens() {
    let pending = r#"{"queries":[],"pending_query":"first","code_log":[{"q":0,"step":1,"ok":true,"code":"x = 1"}],"variables":{"x":{"preview":"1"}}}"#;
    let place = Place::new();
    place.put("s/state.json", pending);
    place.put("s/logs/a.jsonl", lines(&[step(1, "")]));
    let json = place.json();
    assert_eq!(
        (&json["queries"][0]["name"], &json["queries"][0]["query"]),
        (&json!("P"), &json!("first"))
    );
    assert_eq!(
        (&run(&json)["steps"], &json["memory"]["entries"][0]["name"]),
        (&json!(1), &json!("x"))
    );
    for state in [
        "{}",
        r#"{"queries":null,"version":"2"}"#,
        r#"{"queries":[{"query":null},{}],"variables":null,"code_log":7}"#,
    ] {
        place.put("s/state.json", state);
        place.json();
    }
}

#[test]
fn leftovers_behind_the_state_are_told_and_not_repaired() {
    let place = Place::with_log(&lines(&[step(1, "")]));
    let state = format!("{STATE}final\":\"f\"}}]}}");
    place.put("s/state.json", &state);
    place.put("s/state.json.tmp", "{");
    let json = place.json();
    assert_eq!(problems(&json), [("state".into(), None, Some(STATE.len() as u64))]);
    assert_eq!(fs::read_to_string(place.path("s/state.json")).unwrap(), state);
}

#[test]
fn a_moved_transcript_is_found_only_with_the_right_run() {
    let place = Place::with_log(&lines(&[step(1, "")]));
    place.put("s/state.json", STATE.replace("logs/a", "/elsewhere/logs/a"));
    assert_eq!(place.json()["queries"][0]["log"]["state"], "moved");
    place.put("s/logs/a.jsonl", lines(&[step_of("another", 1, "")]));
    let json = place.json();
    // The other run stands beside it, as one that no query links.
    let queries = json["queries"].as_array().unwrap();
    let q1 = queries.iter().find(|query| query["name"] == "Q1").unwrap();
    assert_eq!(q1["log"]["state"], "missing");
    let tried = q1["log"]["tried"].to_string();
    assert!(
        tried.contains("/elsewhere/logs/a.jsonl (not there)") && tried.contains("does not contain run r1"),
        "{tried}"
    );
    assert!(place.stats().contains("missing; tried"));
}

#[test]
fn a_session_in_a_tree_that_moved_is_found_above_itself() {
    let place = Place::new();
    place.put("tree/s/state.json", STATE.replace("logs/a", "old/a"));
    place.put("tree/old/a.jsonl", lines(&[step(1, "")]));
    assert_eq!(
        place.json_of("tree/s")["queries"][0]["log"]["state"],
        "missing",
        "outside of what was opened"
    );
}

#[cfg(unix)]
#[test]
fn names_and_links_of_any_kind() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let place = Place::with_log(&lines(&[step(1, "")]));
    symlink("a.jsonl", place.path("s/logs/b.jsonl")).unwrap();
    symlink("c.jsonl", place.path("s/logs/c.jsonl")).unwrap();
    symlink("nowhere", place.path("s/logs/d.jsonl")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"\xFF\x1b[31m\n.jsonl");
    fs::write(place.path("s/logs").join(odd), lines(&[step_of("r9", 1, "")])).unwrap();
    let output = place.run("s", &["--stats"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.contains('\x1b') && text.contains("⏎.jsonl"), "{text}");
    let json = place.json();
    assert_eq!(
        json["queries"].as_array().unwrap().len(),
        2,
        "one linked, one stray, each once"
    );
    symlink("s", place.path("again")).unwrap();
    let list = place.json_of(".");
    assert_eq!(
        list["sessions"].as_array().unwrap().len(),
        1,
        "one session reached by two paths"
    );
}

#[cfg(unix)]
#[test]
fn devices_pipes_and_foreign_files_are_never_read() {
    let place = Place::with_log(b"");
    let pipe = place.path("s/logs/pipe.jsonl");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    place.put("secret.txt", lines(&[step(1, "")]));
    for (link, why) in [
        ("/dev/zero", "a device, pipe or socket"),
        ("/dev/stdin", "refused"),
        ("logs/pipe.jsonl", "a device, pipe or socket"),
        ("../secret.txt", "outside the opened directory"),
        ("logs", "a directory"),
    ] {
        place.put("s/state.json", STATE.replace("logs/a.jsonl", link));
        let log = &place.json()["queries"][0]["log"];
        assert_eq!(log["state"], "missing", "{link}");
        assert!(log["tried"].to_string().contains(why), "{link}: {log}");
    }
    assert!(place.refusal("s/logs/pipe.jsonl").contains("a device, pipe or socket"));
}

#[test]
fn what_cannot_be_opened_is_said_in_one_line() {
    let place = Place::with_log(b"");
    place.put("empty/readme.txt", "");
    place.put("s/logs/notes.jsonl", "{\"a\":1}\n");
    for (target, part) in [
        ("nowhere", "does not exist"),
        ("empty", "holds no session"),
        ("s/logs/a.jsonl", "is empty"),
        ("s/logs/notes.jsonl", "is no transcript"),
        ("a\u{1b}[31mb\nc", "does not exist"),
    ] {
        assert!(place.refusal(target).contains(part), "{target}");
    }
    place.put("s/state.json", &STATE[..40]);
    assert!(place.refusal("s").contains("cut off at byte 40"));
    place.put("s/state.json", "");
    assert!(place.refusal("s").contains("is empty"));
}

#[test]
fn a_list_of_sessions_names_the_damaged_one() {
    let place = Place::with_log(&lines(&[step(1, "")]));
    place.put("bad/state.json", "{\"queries\":[");
    let output = place.run(".", &["--stats"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("cut off at byte 12"), "{text}");
    assert!(
        text.lines().any(|line| line.starts_with("s ") && line.contains("11")),
        "{text}"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::{Command, Stdio};

    let place = Place::with_log(&lines(
        &(1..2000).map(|n| step_of(&format!("r{n}"), 1, "")).collect::<Vec<_>>(),
    ));
    let mut viewer = Command::new(env!("CARGO_BIN_EXE_fast-rlm-log"))
        .args([place.path("s").as_os_str(), "--json".as_ref(), "--no-cache".as_ref()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(viewer.stdout.take());
    let output = viewer.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn the_screens_are_refused_without_a_terminal() {
    let place = Place::with_log(b"");
    let output = place.run("s", &["--tui"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(said.contains("--stats"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_names_the_cause() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::with_log(&lines(&[step(1, "")]));
    let state = place.path("s/state.json");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::File::open(&state).is_ok() {
        // The superuser reads everything: the rest would test nothing.
        return;
    }
    assert!(place.refusal("s").contains("ermission denied"));
}
