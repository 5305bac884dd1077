//! The state of each phase of a run.

use super::*;

#[test]
fn every_phase_of_a_run_has_its_state() {
    let calling = || live(root(LiveNews::Calling(1)));
    let running = || live(root(replied(1)));
    let spawned = || live(child(LiveNews::Started("t".into())));
    let table: Vec<(&str, Vec<In>, State)> = vec![
        ("nothing", vec![], State::Idle),
        ("sent", vec![send()], State::Submitting),
        (
            "python",
            vec![send(), told(Told::Preparing("unpacking".into()))],
            State::Submitting,
        ),
        (
            "started",
            vec![send(), live(root(LiveNews::Started("t".into())))],
            State::Submitting,
        ),
        ("calls", vec![send(), calling()], State::Streaming),
        (
            "streams",
            vec![send(), calling(), live(root(LiveNews::Text("a".into())))],
            State::Streaming,
        ),
        ("runs", vec![send(), calling(), running()], State::Running),
        ("spawns", vec![send(), calling(), running(), spawned()], State::Helped),
        (
            "child calls",
            vec![
                send(),
                calling(),
                running(),
                spawned(),
                live(child(LiveNews::Calling(1))),
            ],
            State::Helped,
        ),
        (
            "child ends",
            vec![send(), calling(), running(), spawned(), live(child(LiveNews::Ended))],
            State::Running,
        ),
        (
            "next step",
            vec![send(), calling(), running(), live(root(LiveNews::Calling(2)))],
            State::Streaming,
        ),
        (
            "asks",
            vec![send(), calling(), running(), told(Told::Asked(question(1)))],
            State::Asking,
        ),
        (
            "answered",
            vec![send(), calling(), running(), told(Told::Asked(question(1))), answer(1)],
            State::Running,
        ),
        (
            "wrong answer",
            vec![send(), calling(), running(), told(Told::Asked(question(1))), answer(9)],
            State::Asking,
        ),
        (
            "one of two answered",
            vec![
                send(),
                calling(),
                running(),
                told(Told::Asked(question(1))),
                told(Told::Asked(question(2))),
                answer(1),
            ],
            State::Asking,
        ),
        ("cancelled", vec![send(), calling(), In::Cancel], State::Cancelling),
        (
            "cancelled twice",
            vec![send(), calling(), In::Cancel, In::Cancel],
            State::Cancelling,
        ),
        (
            "news while cancelling",
            vec![send(), calling(), In::Cancel, running()],
            State::Cancelling,
        ),
        (
            "a question while cancelling",
            vec![send(), In::Cancel, told(Told::Asked(question(1)))],
            State::Cancelling,
        ),
        (
            "cancelled at last",
            vec![send(), In::Cancel, ended(Ending::Cancelled)],
            State::Idle,
        ),
        (
            "cancelled too late",
            vec![send(), In::Cancel, ended(Ending::Answered)],
            State::Done,
        ),
        ("done", vec![send(), ended(Ending::Answered)], State::Done),
        (
            "failed",
            vec![send(), ended(Ending::Failed("401".into()))],
            State::Failed("401".into()),
        ),
        (
            "not begun",
            vec![send(), ended(Ending::Refused("busy".into()))],
            State::Idle,
        ),
        ("parked", vec![send(), ended(Ending::Parked(question(7)))], State::Idle),
        (
            "parked and answered",
            vec![send(), ended(Ending::Parked(question(7))), answer(7)],
            State::Submitting,
        ),
        (
            "parked and asked",
            vec![send(), ended(Ending::Parked(question(7))), send()],
            State::Idle,
        ),
        ("cancel of nothing", vec![In::Cancel], State::Idle),
        (
            "asked again",
            vec![send(), ended(Ending::Answered), send()],
            State::Submitting,
        ),
        (
            "a second one meanwhile",
            vec![send(), calling(), send()],
            State::Streaming,
        ),
    ];
    for (name, inputs, state) in table {
        assert_eq!(*after(inputs).0.state(), state, "{name}");
    }
}
