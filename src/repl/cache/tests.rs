use super::*;

/// A root with an installed entry, whose files only look like the real ones.
fn installed() -> (tempfile::TempDir, Entry) {
    let root = tempfile::tempdir().unwrap();
    let entry = Entry::new(root.path(), "key");
    fill_and_install(&entry);
    (root, entry)
}

fn fill_and_install(entry: &Entry) {
    DirBuilder::new().mode(0o700).create(entry.filling()).unwrap();
    fs::create_dir(library(&entry.filling())).unwrap();
    fs::write(machine_code(&entry.filling()), "machine code").unwrap();
    entry.install().unwrap();
}

#[test]
fn an_entry_is_ready_once_it_is_installed() {
    let root = tempfile::tempdir().unwrap();
    assert!(!Entry::new(root.path(), "key").is_ready());
    let (_root, entry) = installed();
    assert!(entry.is_ready() && entry.is_sound());
    assert!(!Entry::new(entry.directory.parent().unwrap(), "other").is_ready());
}

fn open_to_others(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
}

#[test]
fn any_damage_is_noticed() {
    type Damage = fn(&Entry);
    let damages: [(&str, Damage); 9] = [
        ("truncated", |entry| {
            fs::write(machine_code(&entry.directory), "mach").unwrap()
        }),
        ("overwritten with the same length", |entry| {
            let file = machine_code(&entry.directory);
            fs::write(&file, "MACHINE CODE").unwrap();
            // The clock of the file system may be too coarse to show it.
            File::options()
                .append(true)
                .open(&file)
                .unwrap()
                .set_modified(SystemTime::UNIX_EPOCH)
                .unwrap();
        }),
        ("removed", |entry| {
            fs::remove_file(machine_code(&entry.directory)).unwrap()
        }),
        ("without its library", |entry| {
            fs::remove_dir(library(&entry.directory)).unwrap()
        }),
        ("without its mark", Entry::discard),
        ("with a garbled mark", |entry| {
            fs::write(entry.directory.join("ready"), "12 x").unwrap()
        }),
        ("writable by others", |entry| open_to_others(&entry.directory)),
        ("of machine code that others can write", |entry| {
            open_to_others(&machine_code(&entry.directory));
        }),
        ("of a mark that others can write", |entry| {
            open_to_others(&entry.directory.join("ready"));
        }),
    ];
    for (what, damage) in damages {
        let (_root, entry) = installed();
        damage(&entry);
        assert!(!entry.is_ready(), "an entry that is {what}");
        fill_and_install(&entry);
        assert!(entry.is_ready(), "prepared again after it was {what}");
    }
}

#[test]
fn a_copy_with_another_time_is_good_as_long_as_its_content_is() {
    let (_root, entry) = installed();
    let file = File::options()
        .append(true)
        .open(machine_code(&entry.directory))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert!(entry.is_ready());
}

#[test]
fn a_directory_that_others_can_write_to_is_refused() {
    let root = tempfile::tempdir().unwrap();
    fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(matches!(private(root.path().into()), Err(PrepareError::Untrusted(_))));
    assert!(private(root.path().join("made")).is_ok(), "made with mode 0700");
    assert!(matches!(
        private("relative".into()),
        Err(PrepareError::NoCacheDirectory(_))
    ));
    assert!(matches!(private("/dev/null/x".into()), Err(PrepareError::File { .. })));
}

#[test]
fn one_process_at_a_time_prepares() {
    let (_root, entry) = installed();
    let held = entry.lock(|| panic!("nobody has it")).unwrap();
    std::thread::scope(|scope| {
        let (sender, waiting) = std::sync::mpsc::channel();
        let entry = &entry;
        let other = scope.spawn(move || entry.lock(move || sender.send(()).unwrap()).is_ok());
        waiting.recv().unwrap();
        drop(held);
        assert!(other.join().unwrap());
    });
}

#[test]
fn entries_of_other_versions_go_when_they_are_old() {
    let (root, entry) = installed();
    let (old, recent) = (root.path().join("python-old"), root.path().join("python-recent"));
    for directory in [&old, &recent] {
        fs::create_dir(directory).unwrap();
    }
    File::open(&old)
        .unwrap()
        .set_modified(SystemTime::now() - STALE * 2)
        .unwrap();
    let [killed, at_work] = ["killed", "at-work"].map(|key| Entry::new(root.path(), key));
    let lock = |entry: &Entry| entry.lock(|| panic!("nobody has it")).unwrap();
    for entry in [&killed, &at_work] {
        fs::create_dir(entry.filling()).unwrap();
    }
    let _locks = (drop(lock(&killed)), lock(&at_work));
    entry.sweep_siblings();
    assert!(!old.exists() && recent.exists() && entry.is_ready());
    assert!(!killed.filling().exists() && at_work.filling().exists());
}
