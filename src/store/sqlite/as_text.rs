//! Stores as text: their rows as SQL, a statement a line, to be kept where a database should not be, as in a source
//! repository. Tables are not in it: they are made by the version that reads it.

use std::fmt::Write as _;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::database::{Database, Durability, Failure};
use super::{EVENTS_FILE, FLOW_FILE, format};
use crate::store::StoreError;

/// The rows of the two stores of a storage directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreRows {
    /// Of `events.db`.
    pub events: String,
    /// Of `flow.db`.
    pub flow: String,
}

/// The tables, in an order in which they can be filled.
const EVENT_TABLES: [&str; 3] = ["session", "event", "piece"];
const FLOW_TABLES: [&str; 5] = ["fence", "value", "point", "binding", "parked"];

impl StoreRows {
    /// Reads them; another process may be writing.
    ///
    /// # Errors
    ///
    /// Those of opening the two files.
    pub fn read(root: &Path) -> Result<Self, StoreError> {
        let events = Database::open_read_only(&root.join(EVENTS_FILE), &format::EVENTS)?;
        let flow = Database::open_read_only(&root.join(FLOW_FILE), &format::FLOW)?;
        Ok(Self {
            events: events.read("reading", |connection| statements(connection, &EVENT_TABLES))?,
            flow: flow.read("reading", |connection| statements(connection, &FLOW_TABLES))?,
        })
    }

    /// Makes the two files in a storage directory that has none, fast: they are not forced to the disk. The text is run
    /// as it is: it must be our own.
    ///
    /// # Errors
    ///
    /// Those of making the two files; a text that is none of ours.
    pub fn write(&self, root: &Path) -> Result<(), StoreError> {
        for (file, format, text) in [
            (EVENTS_FILE, &format::EVENTS, &self.events),
            (FLOW_FILE, &format::FLOW, &self.flow),
        ] {
            let database = Database::in_memory(format)?;
            database.write("filling", Durability::Process, |rows| Ok(rows.execute_batch(text)?))?;
            let path = root.join(file);
            let path = path.to_string_lossy();
            database.maintain("writing", |rows| {
                rows.pragma_update(None, "synchronous", "OFF")?;
                rows.execute("VACUUM INTO ?1", [&*path]).map(drop)
            })?;
        }
        Ok(())
    }
}

fn statements(connection: &Connection, tables: &[&str]) -> Result<String, Failure> {
    let mut text = String::new();
    for table in tables {
        let mut select = connection.prepare(&format!("SELECT * FROM {table}"))?;
        let columns = select.column_names().collect::<Vec<_>>().join(", ");
        let width = select.column_count();
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let _ = writeln!(
                text,
                "INSERT INTO {table} ({columns}) VALUES ({});",
                values(row, width)?
            );
        }
    }
    Ok(text)
}

fn values(row: &Row<'_>, width: usize) -> rusqlite::Result<String> {
    let values = (0..width).map(|column| Ok(literal(row.get_ref(column)?)));
    Ok(values.collect::<rusqlite::Result<Vec<_>>>()?.join(", "))
}

/// A value as SQL has it. None of ours is a floating point number.
fn literal(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".into(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        // A statement takes one line: no text of ours has a raw newline but inside JSON, where it is escaped.
        ValueRef::Text(text) => format!("'{}'", String::from_utf8_lossy(text).replace('\'', "''")),
        ValueRef::Blob(bytes) => {
            let mut hex = String::with_capacity(2 * bytes.len() + 3);
            hex.push_str("X'");
            for byte in bytes {
                let _ = write!(hex, "{byte:02x}");
            }
            hex.push('\'');
            hex
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::payload::{Custom, SessionStarted};
    use crate::store::{
        At, Binding, BindingKind, Described, Digest, NewEvent, NewSession, Select, SessionWriter, Storage,
    };
    use crate::store::{Namespace, Store};

    fn filled(root: &Path) -> Store {
        let store = Storage::dir(root).open().unwrap();
        store.events.create_session(&NewSession::in_root(1)).unwrap();
        let id = store.events.sessions().unwrap().remove(0).id;
        let writer = SessionWriter::take_over(&store, &id).unwrap();
        let custom = Custom {
            name: "it's\n'quoted'; DROP TABLE event;".into(),
            data: serde_json::json!(["é", null]),
        };
        let events = vec![
            NewEvent::of_session("a", 2, SessionStarted::default().into()),
            NewEvent::of_session("b", 3, custom.into()),
        ];
        writer.append(events).unwrap();
        let value = b"\x00'\xff".as_slice();
        let binding = Binding {
            name: "x".into(),
            kind: BindingKind::Value,
            digest: Some(Digest::of(value)),
            bytes: 3,
            described: Described::default(),
        };
        let namespace = Namespace {
            at: At::after(0, 0),
            bindings: vec![binding],
        };
        store
            .flow
            .put_namespace(&id, writer.token(), &namespace, &[value])
            .unwrap();
        store
    }

    #[test]
    fn a_store_that_was_text_holds_the_same() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = filled(one.path());
        let rows = StoreRows::read(one.path()).unwrap();
        rows.write(other.path()).unwrap();
        assert_eq!(StoreRows::read(other.path()).unwrap(), rows);
        let again = Store::open_read_only(other.path()).unwrap();
        let id = store.events.sessions().unwrap().remove(0).id;
        assert_eq!(again.events.sessions().unwrap(), store.events.sessions().unwrap());
        let all = |store: &Store| store.events.read_all(&id, &Select::all()).unwrap().events;
        assert_eq!(all(&again), all(&store));
        let names = |store: &Store| store.flow.namespace(&id, At::after(0, 0)).unwrap();
        assert_eq!(names(&again), names(&store));
        let digest = Digest::of(b"\x00'\xff");
        assert_eq!(again.flow.value(&digest).unwrap(), store.flow.value(&digest).unwrap());
    }
}
