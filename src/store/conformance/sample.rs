//! An event of every kind, with every field set, and small ones for counting.

use serde_json::json;

use crate::model::{Cost, Usage};
use crate::store::payload::{
    Adopted, AgentStep, Answered, Asked, CellOutcome, ClearReason, Cleared, Custom, Dropped, Final, ForkedFrom,
    LeafCall, Message, ModelCall, Outcome, Pinned, Raised, SessionStarted, StepEnded, StepStarted, SubAgent, Swept,
    TurnEnded, TurnStarted, Written,
};
use crate::store::{Digest, Fact, NewEvent, Origin};

/// The `number`-th of a series of small events.
pub(super) fn note(number: u64) -> NewEvent {
    let fact = Custom {
        name: "note".into(),
        data: json!(number),
    };
    NewEvent::of_session("note", 1000, fact.into()).numbered(number)
}

/// A small event of a turn and a step.
pub(super) fn step_note(turn: u32, step: u32) -> NewEvent {
    NewEvent::of_step(
        turn,
        step,
        1000,
        Custom {
            name: "note".into(),
            data: json!(null),
        }
        .into(),
    )
}

/// One event of every kind, no field at its default.
pub(super) fn every_kind() -> Vec<NewEvent> {
    let steps = step_facts().into_iter().map(|fact| NewEvent::of_step(3, 5, -7, fact));
    let turns = turn_facts()
        .into_iter()
        .map(|fact| NewEvent::of_turn(3, 1_700_000_000_000, fact));
    let session = session_facts()
        .into_iter()
        .map(|fact| NewEvent::of_session(fact.kind().as_str(), i64::MAX, fact));
    turns.chain(steps).chain(session).collect()
}

fn digest() -> Option<Digest> {
    Some(Digest::of(b"x"))
}

fn usage() -> Option<Usage> {
    Some(Usage {
        prompt: 1,
        completion: 2,
        total: 3,
        cached: 4,
        reasoning: u64::MAX,
    })
}

fn turn_facts() -> [Fact; 3] {
    [
        TurnStarted {
            query: json!({
                "text": "Zürich 🏔\u{0}\u{202e}", "deep": [[[1.5e300, -0.0, 18_446_744_073_709_551_615_u64]]],
            }),
            instruction: Some("be brief".into()),
            model: "m".into(),
            sub_model: Some("s".into()),
            settings: json!({"max_depth": 3}),
            run_id: "r".into(),
            log_file: Some("logs/r.jsonl".into()),
            cassette: true,
            pinned: Some(Pinned {
                timezone: "UTC".into(),
                locale: "C".into(),
                hash_seed: 7,
                random_seed: u64::MAX,
            }),
        }
        .into(),
        Final { value: json!("NaN") }.into(),
        TurnEnded {
            outcome: Outcome::Limit,
            error: Some("e".into()),
            limit: Some("max_depth".into()),
        }
        .into(),
    ]
}

fn step_facts() -> [Fact; 8] {
    let asked = Asked {
        number: 1,
        question: "?".into(),
        options: vec!["yes".into()],
        schema: Some(json!({})),
    };
    let dropped = Dropped {
        name: "f".into(),
        reason: "unpicklable".into(),
    };
    [
        model_call().into(),
        StepStarted {
            code: "x = 1\r\n".into(),
            code_digest: digest(),
            tree_digest: digest(),
        }
        .into(),
        leaf_call(),
        sub_agent(),
        step_ended().into(),
        Swept {
            imports: vec!["import re".into()],
            state: digest(),
            dropped: vec![dropped],
        }
        .into(),
        asked.into(),
        Answered {
            number: 1,
            answer: json!("yes"),
        }
        .into(),
    ]
}

fn session_facts() -> [Fact; 5] {
    [
        SessionStarted {
            made_by: "fast-rlm 0.1.0".into(),
        }
        .into(),
        ForkedFrom {
            session: "s_1".into(),
            turn: 1,
            step: 2,
            origin: Origin::WhatIf,
            change: Some("x".into()),
        }
        .into(),
        Adopted {
            state: Digest::of(b"{}"),
            text: "{}".into(),
        }
        .into(),
        Cleared {
            reason: ClearReason::FileMissing,
        }
        .into(),
        Custom {
            name: "host".into(),
            data: json!([null, true]),
        }
        .into(),
    ]
}

fn model_call() -> ModelCall {
    ModelCall {
        run_id: "r".into(),
        model: "m".into(),
        guard: true,
        added: vec![Message {
            role: "user".into(),
            text: "hello".into(),
        }],
        request: digest(),
        reply: "```repl\nFINAL(1)\n```".into(),
        reasoning: Some("hm".into()),
        usage: usage(),
        cost: Cost::Known(-1),
        finish_reason: Some("stop".into()),
        error: Some("late".into()),
        started: 1,
        first_piece: Some(2),
        ended: 3,
    }
}

fn sub_agent() -> Fact {
    let step = AgentStep {
        call: model_call(),
        code: "FINAL(1)".into(),
        ended: Some(step_ended()),
        readings: vec![u64::MAX],
    };
    SubAgent {
        run_id: "c".into(),
        parent: "r".into(),
        depth: 1,
        leaf: true,
        mcp: true,
        tools: json!([{"name": "f"}]),
        seed: Some(7),
        steps: vec![step],
        guards: vec![model_call()],
        unanswered: None,
        error: Some("cancelled".into()),
    }
    .into()
}

fn leaf_call() -> Fact {
    LeafCall {
        pickle: None,
        call: "llm_query".into(),
        number: 4,
        run_id: "r".into(),
        input: digest(),
        shown_input: Some(json!("in")),
        outcome: CellOutcome::Raised {
            kind: "ValueError".into(),
            message: "no".into(),
        },
        redacted: true,
        child_run: Some("c".into()),
        usage: usage(),
        cost: Cost::Known(5),
        started: 1,
        ended: 2,
    }
    .into()
}

fn step_ended() -> StepEnded {
    let written = Written {
        name: "x".into(),
        type_name: "int".into(),
        preview: "1".into(),
        digest: digest(),
        weak: true,
    };
    StepEnded {
        seed: None,
        output: "\u{1b}[31mred\u{7}".into(),
        output_cut: true,
        exception: Some(Raised {
            kind: "KeyError".into(),
            message: "'a'".into(),
            traceback: "…".into(),
        }),
        written: vec![written],
        deleted: vec!["y".into()],
        duration_ms: 12,
    }
}
