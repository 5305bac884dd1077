use super::*;

#[test]
fn a_second_writer_is_told_who_holds_it_and_gets_it_afterwards() {
    let dir = tempfile::tempdir().unwrap();
    let held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    let LockError::Busy { holder: Some(by), .. } = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap_err() else {
        panic!("not busy");
    };
    assert_eq!(by.pid, std::process::id());
    assert_eq!(holder(dir.path()), Some(by));
    drop(held);
    assert_eq!(holder(dir.path()), None);
    assert!(dir.path().join(LOCK_FILE).exists());
    SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
}

#[test]
fn the_message_names_the_holder_and_offers_to_follow() {
    let dir = tempfile::tempdir().unwrap();
    let _held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    let text = SessionLock::acquire(dir.path(), Duration::ZERO)
        .unwrap_err()
        .to_string();
    assert!(text.contains(&format!("process {}", std::process::id())), "{text}");
    assert!(text.contains("read-only"), "{text}");
}

#[test]
fn waiting_ends_when_the_holder_lets_go() {
    let dir = tempfile::tempdir().unwrap();
    let held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    let path = dir.path().to_owned();
    let waiter = std::thread::spawn(move || SessionLock::acquire(&path, Duration::from_secs(60)).map(drop));
    std::thread::sleep(POLL);
    drop(held);
    waiter.join().unwrap().unwrap();
}

#[test]
fn a_dead_holders_record_blocks_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let mut dead = myself();
    dead.process_started = dead.process_started.map(|ticks| ticks + 1);
    dead.pid = if dead.process_started.is_some() {
        dead.pid
    } else {
        u32::MAX
    };
    fs::write(dir.path().join(LOCK_FILE), serde_json::to_vec(&dead).unwrap()).unwrap();
    assert_eq!(holder(dir.path()), None);
    SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_holder_that_ended_is_dead_before_its_parent_asks_how() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let started = process(child.id()).map(|process| process.started);
    for process_started in [started, None] {
        let record = Holder {
            pid: child.id(),
            process_started,
            ..myself()
        };
        fs::write(dir.path().join(LOCK_FILE), serde_json::to_vec(&record).unwrap()).unwrap();
        assert_eq!(holder(dir.path()), Some(record));
    }
    child.kill().unwrap();
    while process(child.id()).is_some_and(|process| !process.has_ended) {
        std::thread::sleep(POLL);
    }
    assert_eq!(holder(dir.path()), None);
    child.wait().unwrap();
}

/// A record as another machine, or a container that is gone, leaves it.
fn sign_from_elsewhere(dir: &Path) -> Holder {
    let far = Holder {
        host: "elsewhere.invalid".into(),
        ..myself()
    };
    fs::write(dir.join(LOCK_FILE), serde_json::to_vec(&far).unwrap()).unwrap();
    far
}

#[test]
fn of_a_holder_elsewhere_the_lock_itself_says_whether_it_lives() {
    let dir = tempfile::tempdir().unwrap();
    let held = SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    let far = sign_from_elsewhere(dir.path());
    assert_eq!(holder(dir.path()), Some(far));
    drop(held);
    sign_from_elsewhere(dir.path());
    assert_eq!(holder(dir.path()), None, "it ended without a word");
}

#[test]
fn readers_that_ask_for_a_holder_elsewhere_keep_no_writer_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().to_owned();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let reader = std::thread::spawn(move || {
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            is_locked(&path.join(LOCK_FILE));
        }
    });
    for _ in 0..200 {
        SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    }
    drop(stop);
    reader.join().unwrap();
}

#[test]
fn garbage_in_the_file_is_nobody() {
    let dir = tempfile::tempdir().unwrap();
    for garbage in [&b"\xff\x00"[..], b"{\"pid\":", b"[]", b""] {
        fs::write(dir.path().join(LOCK_FILE), garbage).unwrap();
        assert_eq!(holder(dir.path()), None);
        SessionLock::acquire(dir.path(), Duration::ZERO).unwrap();
    }
}

#[test]
fn a_missing_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let error = SessionLock::acquire(&dir.path().join("gone"), Duration::ZERO).unwrap_err();
    assert!(error.to_string().contains("gone"), "{error}");
}

#[cfg(unix)]
#[test]
fn paths_to_one_directory_share_its_lock_and_links_in_its_place_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let real = dir.path().join("real");
    fs::create_dir(&real).unwrap();
    let alias = dir.path().join("alias");
    std::os::unix::fs::symlink(&real, &alias).unwrap();
    let held = SessionLock::acquire(&real, Duration::ZERO).unwrap();
    assert!(matches!(
        SessionLock::acquire(&alias, Duration::ZERO),
        Err(LockError::Busy { .. })
    ));
    drop(held);

    let victim = dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    fs::remove_file(real.join(LOCK_FILE)).unwrap();
    std::os::unix::fs::symlink(&victim, real.join(LOCK_FILE)).unwrap();
    assert!(matches!(
        SessionLock::acquire(&real, Duration::ZERO),
        Err(LockError::NotAFile { .. })
    ));
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
}
