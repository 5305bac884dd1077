//! What recording costs: one durable append, one step's end with small and large namespaces, reading back.

#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::atomic::{AtomicU32, Ordering};

use divan::{Bencher, black_box};
use fast_rlm::disk::atomic;
use fast_rlm::store::payload::{LeafCall, StepEnded, StepStarted, Swept};
use fast_rlm::store::{
    At, Binding, BindingKind, Described, Digest, Namespace, NewEvent, NewSession, Select, SessionWriter, Storage, Store,
};
use tempfile::TempDir;

fn main() {
    divan::main();
}

struct Recording {
    dir: TempDir,
    store: Store,
    writer: SessionWriter,
    step: AtomicU32,
}

fn recording() -> Recording {
    let dir = tempfile::tempdir_in(std::env::var_os("BENCH_DIR").unwrap_or_else(|| ".".into())).unwrap();
    let store = Storage::dir(dir.path()).open().unwrap();
    let session = store.events.root_session(&NewSession::in_root(1)).unwrap();
    let writer = SessionWriter::take_over(&store, &session.id).unwrap();
    Recording {
        dir,
        store,
        writer,
        step: AtomicU32::new(0),
    }
}

impl Recording {
    fn next(&self) -> u32 {
        self.step.fetch_add(1, Ordering::Relaxed)
    }
}

fn ending(step: u32) -> Vec<NewEvent> {
    let ended = StepEnded {
        output: "0123456789".repeat(1000),
        duration_ms: 12,
        ..StepEnded::default()
    };
    let swept = Swept {
        imports: vec![],
        state: Some(Digest::of(b"state")),
        dropped: vec![],
    };
    vec![
        NewEvent::of_step(0, step, 1, ended.into()),
        NewEvent::of_step(0, step, 1, swept.into()),
    ]
}

fn names(count: usize) -> Vec<Binding> {
    let one = |n| Binding {
        name: format!("name_{n:05}"),
        kind: BindingKind::Value,
        digest: Some(Digest::of(b"1")),
        bytes: 1,
        described: Described {
            type_name: "int".into(),
            preview: "1".into(),
            ..Described::default()
        },
    };
    (0..count).map(one).collect()
}

#[divan::bench]
fn open_a_store(bencher: Bencher<'_, '_>) {
    let recording = recording();
    bencher.bench(|| Storage::dir(recording.dir.path()).open().unwrap());
}

#[divan::bench]
fn append_step_started(bencher: Bencher<'_, '_>) {
    let recording = recording();
    bencher.bench(|| {
        let started = StepStarted {
            code: "x = 1\n".repeat(50),
            ..StepStarted::default()
        };
        recording
            .writer
            .append(vec![NewEvent::of_step(0, recording.next(), 1, started.into())])
            .unwrap()
    });
}

#[divan::bench]
fn append_ten_cells(bencher: Bencher<'_, '_>) {
    let recording = recording();
    bencher.bench(|| {
        let step = recording.next();
        let cell = |number| NewEvent::of_step(0, step, 1, LeafCall::default().into()).numbered(number);
        recording.writer.append((0..10).map(cell).collect()).unwrap()
    });
}

#[divan::bench]
fn append_step_ended_durably(bencher: Bencher<'_, '_>) {
    let recording = recording();
    bencher.bench(|| recording.writer.append(ending(recording.next())).unwrap());
}

#[divan::bench(args = [10, 1000])]
fn end_a_step_with_unchanged_names(bencher: Bencher<'_, '_>, count: usize) {
    let recording = recording();
    let bindings = names(count);
    bencher.bench(|| {
        let step = recording.next();
        let namespace = Namespace {
            at: At::after(0, step),
            bindings: bindings.clone(),
        };
        recording.writer.end_step(&namespace, &[b"1"], ending(step)).unwrap()
    });
}

#[divan::bench]
fn end_a_step_with_a_new_value_of_4_mb(bencher: Bencher<'_, '_>) {
    let recording = recording();
    bencher.bench(|| {
        let step = recording.next();
        let value = format!("{step} is the number of this line of text\n").repeat(100_000);
        let digest = Some(Digest::of(value.as_bytes()));
        let bindings = vec![Binding {
            digest,
            ..names(1).remove(0)
        }];
        let namespace = Namespace {
            at: At::after(0, step),
            bindings,
        };
        recording
            .writer
            .end_step(&namespace, &[value.as_bytes()], ending(step))
            .unwrap()
    });
}

#[divan::bench(args = [100_000, 2_000_000])]
fn write_a_state_file(bencher: Bencher<'_, '_>, bytes: usize) {
    let recording = recording();
    let content = vec![b'x'; bytes];
    bencher.bench(|| atomic::write(&recording.dir.path().join("state.json"), &content).unwrap());
}

#[divan::bench]
fn read_ten_thousand_events(bencher: Bencher<'_, '_>) {
    let recording = recording();
    for step in 0..1000 {
        let cell = |number| NewEvent::of_step(0, step, 1, LeafCall::default().into()).numbered(number);
        recording.writer.append((0..10).map(cell).collect()).unwrap();
    }
    bencher.bench(|| {
        black_box(
            recording
                .store
                .events
                .read_all(recording.writer.session(), &Select::all())
                .unwrap(),
        )
    });
}
