//! Time, cancelling, memory of the process, and steps that are abandoned.

use crate::desk::{Desk, Host, factory};
use fast_rlm::repl::{InstanceState, Limits, ReplFactory, StartOptions, Step, StepErrorKind};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_spent_awaiting_calls_does_not_count() {
    let limits = Limits {
        step_timeout: Duration::from_millis(500),
        ..Limits::default()
    };
    let mut desk = Desk::with_limits(limits).await;
    // 40 calls of 20 ms, one after another, take longer than the limit.
    let outcome = desk.run("for i in range(40): await llm_query(i)\nprint('done')").await;
    assert_eq!(outcome.error, None);
    assert!(outcome.duration > Duration::from_millis(800) && outcome.execution < outcome.duration);
    let busy = desk
        .run("import asyncio\nt = asyncio.create_task(llm_query('HANG'))\nawait asyncio.sleep(0)\nwhile True: pass")
        .await;
    assert_eq!(
        busy.error.unwrap().kind,
        StepErrorKind::Timeout,
        "computing counts while a call is in flight"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_keeps_the_state_of_a_step_that_awaits() {
    let mut desk = Desk::open().await;
    let cancel = |desk: &Desk| {
        let canceller = desk.repl.canceller();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            canceller.cancel();
        })
    };
    let waiting = cancel(&desk);
    let outcome = desk.run("x = 6\nawait llm_query('HANG')").await;
    waiting.await.unwrap();
    let error = outcome.error.unwrap();
    assert_eq!(
        (error.kind, outcome.instance),
        (StepErrorKind::Cancelled, InstanceState::Alive),
        "{}",
        error.text
    );
    assert!(error.text.contains("it was cancelled"));
    assert_eq!(desk.print("print(x)").await, "6\n");
    let waiting = cancel(&desk);
    let busy = desk.run("while True: pass").await;
    waiting.await.unwrap();
    assert_eq!(
        (busy.error.unwrap().kind, busy.instance),
        (StepErrorKind::Cancelled, InstanceState::Lost)
    );
    desk.repl.restart(Default::default()).await.unwrap();
    desk.repl.canceller().cancel();
    assert_eq!(
        desk.print("print('a cancel between steps does nothing')").await,
        "a cancel between steps does nothing\n"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_abandoned_gives_its_instance_up() {
    let mut desk = Desk::open().await;
    let step = Step::new(1, "await ask('HANG')\nawait llm_query('HANG')");
    let mut output = |_| ();
    let running = desk.repl.run(step, &mut output);
    assert!(tokio::time::timeout(Duration::from_millis(200), running).await.is_err());
    assert!(!desk.repl.is_alive());
    desk.repl.restart(Default::default()).await.unwrap();
    assert_eq!(desk.print("print(1)").await, "1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_instances_together_stay_within_the_process_memory() {
    let factory = factory().with_process_memory(200 << 20);
    let start = || factory.start(StartOptions::default(), Arc::<Host>::default());
    let mut first = start().await.expect("room for one").repl;
    let one = factory.memory_in_use();
    assert!(one > 0 && one == first.memory_bytes());
    let outcome = first.run(Step::new(1, "b = bytearray(300 << 20)"), &mut |_| ()).await;
    assert_eq!(
        outcome.error.unwrap().kind,
        StepErrorKind::Memory,
        "below its own limit, above the process's"
    );
    drop(first);
    for _ in 0..100 {
        if factory.memory_in_use() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(factory.memory_in_use(), 0, "given back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_compute_side_by_side_and_apart() {
    let mut desks = Vec::new();
    for _ in 0..4 {
        desks.push(Desk::open().await);
    }
    let runs = desks.iter_mut().enumerate().map(|(index, desk)| async move {
        desk.print(&format!("x = {index}\ns = sum(range(200_000))")).await;
        desk.print("print(x, s)").await
    });
    let printed = futures_util::future::join_all(runs).await;
    assert_eq!(
        printed,
        (0..4).map(|index| format!("{index} 19999900000\n")).collect::<Vec<_>>()
    );
}
