//! What a durable query costs beyond one in memory: transactions, counted, never timed (`benches/lab.rs` has the times);
//! and what a long session costs on the disk.

use crate::desk::scripted;
use fast_rlm::store::payload::{StepEnded, StepStarted, TurnStarted};
use fast_rlm::store::{
    At, Binding, BindingKind, Described, Digest, EventStore, FULL_TURNS, FlowStore, Freed, Namespace, NewEvent,
    NewSession, Page, Parked, Select, SessionRow, SessionWriter, StoreError, StoredEvent, Token,
};
use fast_rlm::{Client, Storage};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Notes each write on its way to the stores of a directory: a call is a transaction, and one with a mark waits for the
/// disk.
#[derive(Clone)]
struct Counted {
    events: Arc<dyn EventStore>,
    flow: Arc<dyn FlowStore>,
    writes: Arc<Mutex<Vec<String>>>,
}

impl Counted {
    fn open(dir: &Path) -> Self {
        let store = Storage::dir(dir).open().unwrap();
        Self {
            events: store.events,
            flow: store.flow,
            writes: Arc::default(),
        }
    }

    fn note(&self, write: impl Into<String>) {
        self.writes.lock().unwrap().push(write.into());
    }

    /// What was written since it was asked last.
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.writes.lock().unwrap())
    }
}

impl EventStore for Counted {
    fn create_session(&self, new: &NewSession) -> Result<SessionRow, StoreError> {
        self.note("create");
        self.events.create_session(new)
    }

    fn import_session(&self, new: &NewSession, events: &[NewEvent]) -> Result<SessionRow, StoreError> {
        self.note("import");
        self.events.import_session(new, events)
    }

    fn root_session(&self, new: &NewSession) -> Result<SessionRow, StoreError> {
        self.note("root");
        self.events.root_session(new)
    }

    fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        self.events.session(id)
    }

    fn sessions(&self) -> Result<Vec<SessionRow>, StoreError> {
        self.events.sessions()
    }

    fn latest_session(&self) -> Result<Option<SessionRow>, StoreError> {
        self.events.latest_session()
    }

    fn remove_session(&self, id: &str, token: Token) -> Result<(), StoreError> {
        self.note("remove");
        self.events.remove_session(id, token)
    }

    fn raise_token_above(&self, id: &str, above: Token) -> Result<Token, StoreError> {
        self.note("raise!");
        self.events.raise_token_above(id, above)
    }

    fn append(&self, id: &str, token: Token, events: &[NewEvent]) -> Result<Vec<StoredEvent>, StoreError> {
        let kinds: Vec<_> = events.iter().map(|event| event.fact.kind().as_str()).collect();
        let waits = events.iter().any(|event| event.fact.kind().is_durable());
        self.note(format!("{}{}", kinds.join("+"), if waits { "!" } else { "" }));
        self.events.append(id, token, events)
    }

    fn read(&self, id: &str, select: &Select) -> Result<Page, StoreError> {
        self.events.read(id, select)
    }

    fn last_seq(&self) -> Result<u64, StoreError> {
        self.events.last_seq()
    }
}

impl FlowStore for Counted {
    fn token(&self, session: &str) -> Result<Token, StoreError> {
        self.flow.token(session)
    }

    fn fence(&self, session: &str, token: Token) -> Result<(), StoreError> {
        self.note("fence");
        self.flow.fence(session, token)
    }

    fn put_namespace(
        &self,
        session: &str,
        token: Token,
        namespace: &Namespace,
        values: &[&[u8]],
    ) -> Result<(), StoreError> {
        self.note("namespace!");
        self.flow.put_namespace(session, token, namespace, values)
    }

    fn namespace(&self, session: &str, at: At) -> Result<Option<Namespace>, StoreError> {
        self.flow.namespace(session, at)
    }

    fn points(&self, session: &str) -> Result<Vec<At>, StoreError> {
        self.flow.points(session)
    }

    fn share_namespace(&self, from: &str, at: At, to: &str, token: Token, as_point: At) -> Result<bool, StoreError> {
        self.note("share!");
        self.flow.share_namespace(from, at, to, token, as_point)
    }

    fn value(&self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.flow.value(digest)
    }

    fn missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, StoreError> {
        self.flow.missing(digests)
    }

    fn park(&self, session: &str, token: Token, question: &Parked) -> Result<(), StoreError> {
        self.note("park!");
        self.flow.park(session, token, question)
    }

    fn parked(&self, session: &str) -> Result<Vec<Parked>, StoreError> {
        self.flow.parked(session)
    }

    fn unpark(&self, session: &str, token: Token, turn: u32) -> Result<(), StoreError> {
        self.note("unpark");
        self.flow.unpark(session, token, turn)
    }

    fn retain(&self, session: &str, token: Token, full_turns: u32) -> Result<(), StoreError> {
        self.note("retain");
        self.flow.retain(session, token, full_turns)
    }

    fn forget(&self, session: &str, token: Token) -> Result<(), StoreError> {
        self.note("forget");
        self.flow.forget(session, token)
    }

    fn collect(&self, dry_run: bool) -> Result<Freed, StoreError> {
        self.note("collect");
        self.flow.collect(dry_run)
    }
}

/// The writes of the second query of a session: what the first one makes is made.
async fn writes(steps: &[&str], more: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let counted = Counted::open(dir.path());
    let client = Client::builder()
        .model("m")
        .storage(Storage::custom(Arc::new(counted.clone()), Arc::new(counted.clone())))
        .build(scripted(&[steps, more].concat()))
        .unwrap();
    let session = client.create_session().unwrap();
    session.send("first").await.unwrap();
    counted.taken();
    session.send("second").await.unwrap();
    counted.taken()
}

#[tokio::test]
async fn case_87_a_durable_query_with_one_call_is_a_handful_of_transactions() {
    let writes = writes(&["x = 1\nFINAL(x)"], &["x = await llm_query('a')\nFINAL(x)"]).await;
    let expected = [
        // The session is taken over.
        "raise!",
        "fence",
        "turn_started+swept",
        // The step's start, its one result, its end.
        "model_call+step_started",
        "sub_agent+leaf_call",
        "namespace!",
        "step_ended+final+turn_ended+swept!",
        // What older queries need not keep.
        "retain",
    ];
    assert_eq!(writes, expected);
}

#[tokio::test]
async fn case_87_a_step_waits_for_the_disk_twice_and_its_calls_never() {
    let many = "a = await batch_llm_query(*[llm_query(str(n)) for n in range(10)])";
    let writes = writes(&["FINAL(1)"], &["x = 1", many, "FINAL(a)"]).await;
    let waiting: Vec<_> = writes.iter().filter(|write| write.ends_with('!')).collect();
    assert_eq!(
        waiting.len(),
        1 + 3 * 2,
        "one for the session and two a step: {writes:?}"
    );
    let batch: Vec<_> = writes.iter().filter(|write| write.contains("leaf_call")).collect();
    assert_eq!(
        batch.len(),
        1,
        "results that are ready together are one transaction: {writes:?}"
    );
}

/// A step's namespace: one large value that changes, and one that does not.
fn namespace(turn: u32, step: u32) -> (Namespace, Vec<u8>) {
    let value = format!("{turn}.{step} ").repeat(4_000).into_bytes();
    let binding = |name: &str, value: &[u8]| Binding {
        name: name.into(),
        kind: BindingKind::Value,
        digest: Some(Digest::of(value)),
        bytes: 0,
        described: Described::default(),
    };
    let bindings = vec![binding("same", b"same"), binding("x", &value)];
    let at = At::after(turn, step);
    (Namespace { at, bindings }, value)
}

/// Steps as the engine keeps them, of which only what retention keeps is left.
#[test]
fn the_files_of_a_session_of_2000_steps_are_bounded() {
    const TURNS: u32 = 100;
    const STEPS: u32 = 20;
    let dir = tempfile::tempdir().unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let session = store.events.create_session(&NewSession::minted(1)).unwrap().id;
    let writer = SessionWriter::take_over(&store, &session).unwrap();
    let (mut written, mut largest) = (0, 0);
    for turn in 0..TURNS {
        let mut events = vec![NewEvent::of_turn(turn, 1, TurnStarted::default().into())];
        for step in 0..STEPS {
            let (namespace, value) = namespace(turn, step);
            writer.put_namespace(&namespace, &[b"same", &value]).unwrap();
            written += value.len() as u64;
            let ended = StepEnded {
                output: "0".repeat(1_000),
                ..StepEnded::default()
            };
            events.push(NewEvent::of_step(turn, step, 1, StepStarted::default().into()));
            events.push(NewEvent::of_step(turn, step, 1, ended.into()));
        }
        writer.append(events).unwrap();
        writer.retain(FULL_TURNS).unwrap();
        let size = |name: &str| dir.path().join(name).metadata().map_or(0, |file| file.len());
        largest = largest.max(size("flow.db") + size("flow.db-wal"));
    }
    // All points of the last three turns, and the end of each other one; nothing is left for a collection.
    let kept = u64::from(FULL_TURNS * STEPS + (TURNS - FULL_TURNS));
    assert_eq!(store.flow.points(&session).unwrap().len() as u64, kept);
    assert_eq!(store.flow.collect(true).unwrap(), Freed::default());
    let each = written / u64::from(TURNS * STEPS);
    assert!(
        largest < (kept + u64::from(2 * STEPS)) * each + (12 << 20),
        "{largest} bytes at most, for {kept} values of {each}; {written} were written"
    );
    drop((writer, store));
    let size = |name: &str| dir.path().join(name).metadata().unwrap().len();
    assert!(size("flow.db") < (kept + u64::from(2 * STEPS)) * each * 5 / 4);
    assert!(
        size("events.db") < u64::from(TURNS * STEPS) * 3_000,
        "a log is all there, and no more than that"
    );
    assert!(!dir.path().join("flow.db-wal").exists());
}
