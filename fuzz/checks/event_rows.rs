//! Rows of the event store: whatever stands in a row, reading gives the event or says what was skipped.

use fast_rlm::store::{EventStore, Kind, NewEvent, NewSession, Select, SqliteEvents};
use rusqlite::{Connection, params};

/// A database with one session of one event, and a way to damage it.
struct Rows {
    store: SqliteEvents,
    damage: Connection,
}

impl Rows {
    fn new() -> Self {
        let path = super::scratch().join("events.db");
        let store = SqliteEvents::open(&path).unwrap();
        let custom = fast_rlm::store::payload::Custom {
            name: "n".into(),
            data: serde_json::Value::Null,
        };
        let event = NewEvent::of_session("e", 0, custom.into());
        store.import_session(&NewSession::named("s", 0), &[event]).unwrap();
        let damage = Connection::open(&path).unwrap();
        Self { store, damage }
    }
}

pub fn check(data: &[u8]) {
    thread_local!(static ROWS: Rows = Rows::new());
    let (kind, payload) = data.split_first().unwrap_or((&0, &[]));
    let kind = Kind::ALL.get(usize::from(*kind) % (Kind::ALL.len() + 1));
    let payload = String::from_utf8_lossy(payload);
    ROWS.with(|rows| {
        let kind = kind.map_or("from_the_future", |kind| kind.as_str());
        rows.damage
            .execute("UPDATE event SET kind = ?1, payload = ?2", params![kind, payload])
            .unwrap();
        let page = rows.store.read("s", &Select::all()).unwrap();
        assert_eq!(page.events.len() + page.skipped.len(), 1);
        for skipped in &page.skipped {
            assert!(!skipped.reason.is_empty() && skipped.kind == kind);
        }
    });
}
