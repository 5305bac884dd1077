//! What Python in the sandbox costs: a start, a step, a sweep, a restore. `cargo bench --bench repl`.

#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use divan::Bencher;
use fast_rlm::repl::{
    HostCall, HostCalls, HostError, Limits, Pickle, PythonFactory, Repl, ReplFactory, RestoreSet, SavedVariable,
    StartOptions, Step, SweptPickle,
};
use std::sync::{Arc, LazyLock};
use tokio::runtime::Runtime;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
static FACTORY: LazyLock<PythonFactory> = LazyLock::new(|| PythonFactory::load(&mut |_| ()).unwrap());

fn main() {
    LazyLock::force(&FACTORY);
    divan::main();
}

/// No call leaves the interpreter here.
struct Nobody;

#[async_trait::async_trait]
impl HostCalls for Nobody {
    async fn call(&self, call: HostCall) -> Result<serde_json::Value, HostError> {
        Err(HostError::new(call.name))
    }
}

fn start(restore: RestoreSet) -> Box<dyn Repl> {
    let limits = Limits {
        memory_bytes: 1 << 30,
        ..Limits::default()
    };
    let options = StartOptions {
        restore,
        limits,
        ..StartOptions::default()
    };
    RUNTIME.block_on(FACTORY.start(options, Arc::new(Nobody))).unwrap().repl
}

fn run(repl: &mut dyn Repl, code: &str) {
    let outcome = RUNTIME.block_on(repl.run(Step::new(1, code), &mut |_| ()));
    assert_eq!(outcome.error, None);
}

#[divan::bench]
fn load_the_prepared_interpreter() -> PythonFactory {
    PythonFactory::load(&mut |_| ()).unwrap()
}

#[divan::bench]
fn start_to_the_first_result(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| run(start(RestoreSet::default()).as_mut(), "print(1)"));
}

#[divan::bench(args = ["x = 1", "print(1)"])]
fn trivial_step(bencher: Bencher<'_, '_>, code: &str) {
    let mut repl = start(RestoreSet::default());
    bencher.bench_local(|| run(repl.as_mut(), code));
}

#[divan::bench]
fn sweep_of_4_mb_unchanged_and_a_dict_of_100_000(bencher: Bencher<'_, '_>) {
    let mut repl = start(RestoreSet::default());
    run(
        repl.as_mut(),
        "text = 'x' * 4_000_000\nnames = {f'key{i}': i for i in range(100_000)}",
    );
    bencher.bench_local(|| RUNTIME.block_on(repl.sweep()).unwrap());
}

/// Lists of strings, 50 MB of pickles.
fn large_state() -> RestoreSet {
    let mut repl = start(RestoreSet::default());
    run(
        repl.as_mut(),
        "for n in range(12): globals()[f'v{n}'] = [f'{n} {i} ' + 'x' * 40 for i in range(80_000)]",
    );
    let sweep = RUNTIME.block_on(repl.sweep()).unwrap();
    let variables = sweep.variables.into_iter().map(|variable| {
        let SweptPickle::Changed(bytes) = variable.pickle else {
            panic!("all is new")
        };
        SavedVariable {
            name: variable.name,
            pickle: Pickle::Bytes(bytes),
            comment: None,
            note: None,
            committed: false,
        }
    });
    RestoreSet {
        variables: variables.collect(),
        ..RestoreSet::default()
    }
}

#[divan::bench(sample_count = 5)]
fn restore_of_50_mb(bencher: Bencher<'_, '_>) {
    let state = large_state();
    bencher.bench_local(|| start(state.clone()));
}
