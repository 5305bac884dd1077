use proptest::prelude::*;

use super::*;
use crate::disk::files::open_regular;
use crate::disk::transcript::{Segment, scan_part};
use crate::model::Problem;

const LINES: &str = concat!(
    r#"{"run_id":"a","event_type":"agent_start","time":"2026-01-01T00:00:00Z","depth":0}"#,
    "\n",
    r#"{"run_id":"b","parent_run_id":"a","event_type":"execution_result","step":0,"output":"Context:  go","depth":1}"#,
    "\n",
    r#"{"run_id":"b","event_type":"execution_result","step":1,"code":"x","hasError":true,"usage":{"total_tokens":-3,"cost":0.5},"timestamps":{"llm_call_start":"1969-01-01T00:00:00Z"}}"#,
    "\n",
    r#"{"run_id":"b","event_type":"final_result","result":[1,{"a":"\ud83d"}]}"#,
    "\n",
    "null\n",
    r#"{"run_id":"a","event_type":"final_result","result":"text"}"#,
    "\n",
    r#"{"run_id":"a","event_type":"agent_end","outcome":"error","error":"boom"}"#,
    "\n",
    r#"{"run_id":"a","event_type":"new_thing"}"#,
    "\n",
    r#"{"run_id":"a","event_ty"#,
);

fn scanned(dir: &Path) -> (LogFile, Part) {
    let path = dir.join("a.jsonl");
    fs::write(&path, LINES).unwrap();
    let old = SystemTime::now() - Duration::from_secs(60);
    fs::File::options()
        .append(true)
        .open(&path)
        .unwrap()
        .set_modified(old)
        .unwrap();
    let (file, metadata) = open_regular(&path).unwrap();
    let size = metadata.len();
    let part = scan_part(
        &file,
        Segment {
            log: LogId(3),
            from: 0,
            to: size,
            size,
            at_line: true,
        },
        &|| false,
    )
    .unwrap();
    (LogFile::new(path, &metadata), part)
}

fn cache_at(path: PathBuf) -> ScanCache {
    let bytes = fs::read(&path).unwrap_or_default();
    let entries = read_index(&bytes).unwrap_or_default();
    ScanCache {
        path,
        bytes,
        entries,
        fresh: Vec::new(),
    }
}

#[test]
fn what_was_put_comes_back_for_the_same_file_only() {
    let dir = tempfile::tempdir().unwrap();
    let (file, part) = scanned(dir.path());
    assert_eq!((part.lines.len(), part.end.unreadable, part.end.torn), (7, 1, true));
    assert!(part.problems.len() > 3, "{:?}", part.problems);
    let mut cache = cache_at(dir.path().join("c/scan"));
    assert!(!cache.has(&file));
    cache.put(&file, &part);
    cache.save(std::slice::from_ref(&file)).unwrap();
    let cache = cache_at(dir.path().join("c/scan"));
    assert_eq!(cache.get(&file, LogId(3)).unwrap(), part);
    let moved: Vec<Option<LogId>> = cache
        .get(&file, LogId(5))
        .unwrap()
        .problems
        .iter()
        .map(|p: &Problem| p.log)
        .collect();
    assert!(moved.iter().all(|log| *log == Some(LogId(5))));
    assert!(!cache.has(&LogFile {
        size: 1,
        ..file.clone()
    }));
    assert!(!cache.has(&LogFile {
        modified: 1,
        ..file.clone()
    }));
}

#[test]
fn a_file_that_may_still_change_is_not_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (file, part) = scanned(dir.path());
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_nanos();
    let mut cache = cache_at(dir.path().join("scan"));
    cache.put(
        &LogFile {
            modified: i128::try_from(now).unwrap(),
            ..file
        },
        &part,
    );
    assert!(cache.fresh.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_no_result(at in 0_usize..2000, to in any::<u8>(), cut in 0_usize..2000) {
        let dir = tempfile::tempdir().unwrap();
        let (file, part) = scanned(dir.path());
        let path = dir.path().join("scan");
        let mut cache = cache_at(path.clone());
        cache.put(&file, &part);
        cache.save(std::slice::from_ref(&file)).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        bytes.truncate(bytes.len() - cut % 50);
        fs::write(&path, &bytes).unwrap();
        if let Some(found) = cache_at(path).get(&file, LogId(3)) {
            prop_assert_eq!(found, part);
        }
    }
}
