//! Bundles from strangers: nothing is written outside of the target, nothing is left of what was refused, and nothing in
//! them is given more memory or time than it is worth.

use crate::desk::{Never, builder, client, files, reader, scripted};
use fast_rlm::lab::{Source, export_bundle, import_bundle};
use fast_rlm::store::payload::TurnStarted;
use fast_rlm::store::{NewSession, SessionWriter, Storage, StoreError};
use fast_rlm::{LabError, NoSink, Session};
use rusqlite::Connection;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory with a session, its bundle, and its bundle's parts unpacked.
struct Bundle {
    dir: tempfile::TempDir,
}

impl Bundle {
    async fn of(steps: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let client = client(&dir.path().join("runs"), steps);
        let session = client.create_named("one").unwrap();
        let _ = session.send("go").await;
        let bundle = Self { dir };
        export_bundle(&session.log_for_reading().unwrap(), &bundle.file()).unwrap();
        tar::Archive::new(File::open(bundle.file()).unwrap())
            .unpack(bundle.parts())
            .unwrap();
        bundle
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("one.tar")
    }

    fn parts(&self) -> PathBuf {
        self.dir.path().join("parts")
    }

    fn target(&self) -> PathBuf {
        self.dir.path().join("target")
    }

    /// Changes a database of it.
    fn change(&self, file: &str, sql: &str) {
        let database = Connection::open(self.parts().join(file)).unwrap();
        database.execute_batch(sql).unwrap();
        database
            .pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))
            .unwrap();
    }

    /// Packs the parts again, and takes the bundle over.
    fn import(&self) -> Result<(String, usize), LabError> {
        let mut bundle = tar::Builder::new(File::create(self.file()).unwrap());
        for name in ["events.db", "flow.db", "state.json"] {
            bundle.append_path_with_name(self.parts().join(name), name).unwrap();
        }
        for log in fs::read_dir(self.parts().join("logs")).unwrap() {
            let log = log.unwrap();
            let name = Path::new("logs").join(log.file_name());
            bundle.append_path_with_name(log.path(), name).unwrap();
        }
        bundle.finish().unwrap();
        import_bundle(&self.file(), &self.target(), None)
    }

    /// Nothing of the session is in the target.
    #[track_caller]
    fn left_nothing(&self) {
        if !self.target().exists() {
            return;
        }
        let store = Storage::dir(self.target()).open().unwrap();
        assert_eq!(store.events.sessions().unwrap(), []);
        assert_eq!(store.flow.points("one").unwrap(), []);
        assert!(!self.target().join("one").exists());
    }
}

fn bad(error: LabError) -> String {
    match error {
        LabError::BadBundle { what, .. } => what,
        other => panic!("{other}"),
    }
}

/// A tar of one entry, whatever its name and kind.
fn entry(path: &Path, name: &[u8], kind: tar::EntryType, claims: u64, body: &[u8]) {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(claims);
    header.set_mode(0o644);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(512) + 1024, 0);
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn names_that_lead_elsewhere_and_what_is_no_file_are_refused() {
    use tar::EntryType as Kind;
    let dir = tempfile::tempdir().unwrap();
    let (file, target) = (dir.path().join("bad.tar"), dir.path().join("deep/target"));
    let names: [&[u8]; 7] = [
        b"../evil",
        b"/tmp/fast-rlm-evil",
        b"logs/../../evil",
        b"logs/a/b",
        b"other",
        b"logs",
        b"",
    ];
    let before = files(dir.path()).len();
    for name in names {
        entry(&file, name, Kind::Regular, 4, b"evil");
        assert!(
            import_bundle(&file, &target, None).is_err(),
            "{:?}",
            String::from_utf8_lossy(name)
        );
    }
    for kind in [Kind::Symlink, Kind::Link, Kind::Directory, Kind::Char, Kind::Fifo] {
        entry(&file, b"state.json", kind, 0, b"");
        assert!(
            bad(import_bundle(&file, &target, None).unwrap_err()).contains("no plain file"),
            "{kind:?}"
        );
    }
    // What unpacks to more than it is.
    entry(&file, b"events.db", Kind::GNUSparse, 0, b"");
    bad(import_bundle(&file, &target, None).unwrap_err());
    // A name of a gigabyte, of which there are four bytes.
    for kind in [Kind::GNULongName, Kind::XHeader] {
        entry(&file, b"././@LongLink", kind, 1 << 30, b"evil");
        assert!(bad(import_bundle(&file, &target, None).unwrap_err()).contains("a name in it has 1073741824 bytes"));
    }
    for bytes in [&b""[..], b"no tar at all", &[0xff; 4096]] {
        fs::write(&file, bytes).unwrap();
        assert!(import_bundle(&file, &target, None).is_err());
    }
    // More than it has.
    entry(&file, b"events.db", Kind::Regular, 1 << 40, b"short");
    assert!(import_bundle(&file, &target, None).is_err());
    assert_eq!(files(dir.path()).len(), before + 1, "nothing but the bundle itself");
    assert!(!Path::new("/tmp/fast-rlm-evil").exists());
}

#[tokio::test]
async fn values_that_are_not_what_they_say_are_refused_with_the_whole_session() {
    let step = "x = 'x' * 300_000\ny = [1, 2, 3]\nFINAL(len(x))";
    // Zeros by the megabyte, in a few kilobytes.
    let zeros = zstd::bulk::compress(&vec![0; 80 << 20], 1).unwrap();
    let hex: String = zeros.iter().map(|byte| format!("{byte:02x}")).collect();
    let bomb = |bytes: u64| format!("UPDATE value SET packed = 1, bytes = {bytes}, body = x'{hex}'");
    let changes = [
        "UPDATE value SET body = x'00' WHERE packed = 0".to_owned(),
        "UPDATE value SET body = substr(body, 1, 20) WHERE packed = 1".to_owned(),
        "UPDATE value SET digest = randomblob(32); UPDATE binding SET digest = (SELECT digest FROM value) WHERE digest IS \
         NOT NULL"
            .to_owned(),
        "DELETE FROM value".to_owned(),
        bomb(10),
        bomb(80 << 20),
        bomb(1 << 50),
        bomb(u64::MAX >> 1),
    ];
    for change in changes {
        let bundle = Bundle::of(&[step]).await;
        bundle.change("flow.db", &change);
        let shown: String = change.chars().take(60).collect();
        match bundle.import().unwrap_err() {
            LabError::Store(
                StoreError::DamagedValue { .. } | StoreError::MissingValue { .. } | StoreError::TooLarge { .. },
            ) => {}
            other => panic!("{shown}: {other}"),
        }
        bundle.left_nothing();
    }
}

#[tokio::test]
async fn databases_that_compute_are_no_stores() {
    for (file, change) in [
        (
            "events.db",
            "ALTER TABLE event RENAME TO e; CREATE VIEW event AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT e.* FROM e, n",
        ),
        (
            "events.db",
            "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
        ),
        (
            "flow.db",
            "CREATE TABLE more (a TEXT, b TEXT GENERATED ALWAYS AS (printf('%.*c', 900000000, 'x')))",
        ),
        // As a SQLite writes them that has the module: this one has not.
        (
            "flow.db",
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING fts5(x)')",
        ),
        (
            "flow.db",
            "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE /**/ VIRTUAL\tTABLE v USING fts5(x)')",
        ),
        ("events.db", "PRAGMA application_id = 7"),
    ] {
        let bundle = Bundle::of(&["FINAL(1)"]).await;
        bundle.change(file, change);
        match bundle.import().unwrap_err() {
            LabError::Store(StoreError::NotAStore { .. }) => {}
            other => panic!("{change}: {other}"),
        }
        bundle.left_nothing();
    }
    for file in ["events.db", "flow.db"] {
        let bundle = Bundle::of(&["FINAL(1)"]).await;
        bundle.change(file, "PRAGMA user_version = 9001");
        let refused = bundle.import().unwrap_err();
        assert!(
            matches!(refused, LabError::Store(StoreError::StoreTooNew { .. })),
            "{refused}"
        );
        bundle.left_nothing();
    }
}

#[tokio::test]
async fn rows_that_cannot_be_understood_are_counted_and_the_rest_is_taken_over() {
    let bundle = Bundle::of(&["x = 1", "FINAL(x)"]).await;
    bundle.change(
        "events.db",
        "INSERT INTO event (session, stream_seq, id, kind, schema, time, payload, turn, step)
         SELECT session, 900 + value, 'odd' || value, CASE value WHEN 0 THEN 'from_the_future' ELSE 'step_ended' END,
                CASE value WHEN 1 THEN 99 ELSE 1 END, 1,
                CASE value WHEN 2 THEN 'no json' WHEN 3 THEN replace(hex(zeroblob(100000)), '0', '[') ELSE '{}' END,
                0, 4000000000
         FROM event, json_each('[0, 1, 2, 3, 4]') WHERE stream_seq = 0",
    );
    let (id, skipped) = bundle.import().unwrap();
    assert_eq!((id.as_str(), skipped), ("one", 4));
    let session = reader(&bundle.target()).open_session("one").unwrap();
    assert_eq!(session.turns().unwrap().len(), 1);
    session.history().unwrap();
    let report = session.replay(None, &mut NoSink).await.unwrap();
    assert!(report.diverged.is_none(), "{report:#?}");
    assert_eq!(
        session.diff(&session).unwrap().rows.len(),
        3,
        "a step of number 4,000,000,000 is the next one"
    );
}

#[tokio::test]
async fn a_session_of_a_bad_or_taken_name_is_refused_and_what_is_there_stays() {
    for name in ["../x", "a/b", "logs", ""] {
        let bundle = Bundle::of(&["FINAL(1)"]).await;
        bundle.change("events.db", &format!("UPDATE session SET id = '{name}'"));
        let refused = bundle.import().unwrap_err();
        assert!(
            matches!(refused, LabError::Store(StoreError::BadSessionId { .. })),
            "{name:?}: {refused}"
        );
        bundle.left_nothing();
    }
    // A directory of that name, or a link out of the target: nothing is put into it.
    let bundle = Bundle::of(&["FINAL(1)"]).await;
    let victim = bundle.dir.path().join("victim");
    fs::create_dir_all(&victim).unwrap();
    fs::create_dir_all(bundle.target()).unwrap();
    std::os::unix::fs::symlink(&victim, bundle.target().join("one")).unwrap();
    assert!(matches!(bundle.import().unwrap_err(), LabError::Exists { .. }));
    assert_eq!(fs::read_dir(&victim).unwrap().count(), 0);
    fs::remove_file(bundle.target().join("one")).unwrap();
    assert_eq!(bundle.import().unwrap().0, "one");
    let before = files(&bundle.target());
    assert!(bundle.import().is_err());
    assert_eq!(files(&bundle.target()), before);
}

/// A parked session of a stranger, whose log names a file of ours as its transcript.
async fn parked(dir: &Path, log_file: &str) -> Session {
    let target = dir.join("target");
    let mine = builder(&dir.join("theirs"))
        .build(scripted(&["y = await ask('ok?')\nFINAL(y)"]))
        .unwrap();
    let session = mine.create_named("trap").unwrap();
    session.send("go").await.unwrap();
    let theirs = session.log_for_reading().unwrap();
    let store = Storage::dir(&target).open().unwrap();
    fast_rlm::store::copy_session(&theirs.store, "trap", &store, None, 1).unwrap();
    drop(store);
    let change = Connection::open(target.join("events.db")).unwrap();
    let sql = "UPDATE event SET payload = json_set(payload, '$.log_file', ?1) WHERE kind = 'turn_started'";
    assert_eq!(change.execute(sql, [log_file]).unwrap(), 1);
    drop(change);
    fs::create_dir_all(target.join("trap/logs")).unwrap();
    fs::copy(theirs.dir.join("state.json"), target.join("trap/state.json")).unwrap();
    let client = builder(&target).build(Arc::new(Never)).unwrap();
    client.open_session("trap").unwrap()
}

#[tokio::test]
async fn a_received_log_cannot_have_its_transcript_written_into_other_files() {
    for form in ["absolute", "relative", "link", "linked directory"] {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "precious\n").unwrap();
        let link = match form {
            "absolute" => victim.to_string_lossy().into_owned(),
            "relative" => "../../victim".to_owned(),
            "link" => "logs/link".to_owned(),
            _ => "elsewhere/victim".to_owned(),
        };
        let session = parked(dir.path(), &link).await;
        std::os::unix::fs::symlink(&victim, session.dir().join("logs/link")).unwrap();
        std::os::unix::fs::symlink(dir.path(), session.dir().join("elsewhere")).unwrap();
        assert_eq!(session.send("yes").await.unwrap().value, "yes", "{form}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious\n", "{form}");
        let logs = fs::read_dir(session.dir().join("logs")).unwrap();
        let own = logs.filter(|entry| entry.as_ref().unwrap().file_type().unwrap().is_file());
        assert_eq!(own.count(), 1, "{form}: a transcript of its own");
    }
}

#[test]
fn a_session_with_more_values_in_a_step_than_fit_is_not_copied() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Storage::dir(one.path()).open().unwrap();
    store.events.create_session(&NewSession::named("one", 1)).unwrap();
    let writer = SessionWriter::take_over(&store, "one").unwrap();
    writer
        .append(vec![fast_rlm::store::NewEvent::of_turn(
            0,
            1,
            TurnStarted::default().into(),
        )])
        .unwrap();
    let value = vec![7; 100_000];
    let namespace = fast_rlm::store::Namespace {
        at: fast_rlm::store::At::after(0, 0),
        bindings: vec![fast_rlm::store::Binding {
            name: "x".into(),
            kind: fast_rlm::store::BindingKind::Value,
            digest: Some(fast_rlm::store::Digest::of(&value)),
            bytes: 0,
            described: fast_rlm::store::Described::default(),
        }],
    };
    writer.put_namespace(&namespace, &[&value]).unwrap();
    drop((writer, store));
    let change = Connection::open(one.path().join("flow.db")).unwrap();
    change.execute("UPDATE value SET bytes = 5000000000", []).unwrap();
    drop(change);
    let source = Source {
        store: fast_rlm::store::Store::open_read_only(one.path()).unwrap(),
        session: "one".into(),
        dir: one.path().join("one"),
    };
    let refused = export_bundle(&source, &two.path().join("b.tar")).unwrap_err();
    assert!(
        matches!(refused, LabError::Store(StoreError::TooLarge { .. })),
        "{refused}"
    );
}
