//! Looking for the values in files of any kind, in every form in which programs write them.

use crate::running::Ran;
use crate::{KEY, PIN, SECRET};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the forms of a value have that nothing else has.
fn forms(value: &str) -> Vec<Vec<u8>> {
    let json = serde_json::to_string(value).unwrap();
    let ascii: String = value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    let percent: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut forms = vec![value.to_owned(), json.trim_matches('"').to_owned(), ascii, percent];
    let middle = value.char_indices().nth(value.chars().count() / 2).unwrap().0;
    forms.extend([value[..middle].to_owned(), value[middle..].to_owned()]);
    for before in ["", "a", "ab"] {
        let text = format!("{before}{value}");
        for encoded in [STANDARD.encode(&text), URL_SAFE.encode(&text)] {
            // The first and last characters depend on the neighbours.
            forms.push(encoded[4..encoded.len() - 4].to_owned());
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// What was found where.
#[derive(Default)]
pub(crate) struct Search {
    forms: Vec<Vec<u8>>,
    pub(crate) found: Vec<String>,
    looked_at: usize,
}

impl Search {
    pub(crate) fn new() -> Self {
        let mut forms: Vec<Vec<u8>> = [SECRET, PIN, KEY].iter().flat_map(|value| forms(value)).collect();
        // In a pickle.
        forms.push(PIN.parse::<u64>().unwrap().to_le_bytes()[..5].to_vec());
        Self {
            forms,
            ..Self::default()
        }
    }

    pub(crate) fn bytes(&mut self, place: &str, bytes: &[u8]) {
        self.looked_at += 1;
        for form in &self.forms {
            if let Some(at) = memchr::memmem::find(bytes, form) {
                let around = &bytes[at.saturating_sub(60)..(at + form.len() + 20).min(bytes.len())];
                self.found.push(format!("{place}: {}", String::from_utf8_lossy(around)));
            }
        }
        if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            self.bytes(&format!("{place}, unpacked"), &zstd::decode_all(bytes).unwrap());
        }
    }

    pub(crate) fn ran(&mut self, place: &str, ran: &Ran) {
        self.bytes(&format!("stdout of {place}"), ran.out.as_bytes());
        self.bytes(&format!("stderr of {place}"), ran.err.as_bytes());
    }

    /// Every file below a directory; databases after the rest, since looking into one takes its `-wal` away.
    pub(crate) fn tree(&mut self, dir: &Path) {
        let mut databases = Vec::new();
        self.files(dir, &mut databases);
        databases.iter().for_each(|path| self.database(path));
    }

    fn files(&mut self, dir: &Path, databases: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let place = path.display().to_string();
            self.bytes("a name", place.as_bytes());
            if path.is_dir() {
                self.files(&path, databases);
                continue;
            }
            let bytes = std::fs::read(&path).unwrap();
            self.bytes(&place, &bytes);
            if bytes.starts_with(b"SQLite format 3") {
                databases.push(path);
            }
            if let Ok(value) = serde_json::from_slice(&bytes) {
                self.pickles(&place, &value);
            }
        }
    }

    /// Every cell of every table; what is in the `-wal` counts.
    fn database(&mut self, path: &Path) {
        let file = rusqlite::Connection::open(path).unwrap();
        let mut tables = file
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
            .unwrap();
        let tables: Vec<String> = tables
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert!(!tables.is_empty());
        for table in tables {
            let mut all = file.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
            let width = all.column_count();
            let mut rows = all.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..width {
                    let place = format!(
                        "{}, {table}.{}",
                        path.display(),
                        row.as_ref().column_name(column).unwrap()
                    );
                    let cell = row.get_ref(column).unwrap();
                    match cell {
                        rusqlite::types::ValueRef::Integer(number) => self.bytes(&place, number.to_string().as_bytes()),
                        rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => {
                            self.bytes(&place, bytes);
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    fn pickles(&mut self, place: &str, state: &Value) {
        for (name, row) in state["variables"].as_object().into_iter().flatten() {
            let pickle = STANDARD.decode(row["pickle_b64"].as_str().unwrap()).unwrap();
            self.bytes(&format!("{place}, pickle of {name}"), &pickle);
        }
    }

    #[track_caller]
    pub(crate) fn nothing(&self) {
        assert_eq!(self.found, Vec::<String>::new());
        assert!(self.looked_at > 50, "only {} pieces were looked at", self.looked_at);
    }
}
