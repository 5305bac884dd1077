//! Tests of the writer: what it writes is read as existing programs read it.

use super::*;
use serde_json::{Value, json};

fn agent() -> AgentRef {
    AgentRef {
        run_id: "7-a".into(),
        parent_run_id: None,
        depth: 0,
    }
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_reads_as_existing_programs_write_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    let writer = TranscriptWriter::open(&path).unwrap();
    let now = 1_795_956_470_415;
    let usage = UsageRecord {
        prompt_tokens: 9,
        completion_tokens: 1,
        total_tokens: 10,
        ..Default::default()
    };
    let step = StepRecord {
        number: 1,
        code: "FINAL(1)",
        output: None,
        reasoning: None,
        usage: usage.with_cost(Cost::Known(37_800)),
        guard: None,
        instants: Instants {
            call: Some((now, now + 5)),
            execution: None,
        },
    };
    writer.start(&agent(), now).unwrap();
    writer.step(&agent(), now, &step).unwrap();
    writer.result(&agent(), now, None).unwrap();
    writer.end(&agent(), now, &EndRecord::default()).unwrap();
    let common = |event: Value| {
        let mut line = json!({"level": 30, "time": "2026-11-29T12:47:50.415Z", "run_id": "7-a", "depth": 0});
        line.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        line
    };
    let expected = [
        common(json!({"event_type": "agent_start"})),
        common(json!({"event_type": "code_generated", "step": 1, "code": "FINAL(1)",
            "usage": {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, "cached_tokens": 0,
                      "reasoning_tokens": 0, "cost": 0.0000378},
            "timestamps": {"llm_call_start": "2026-11-29T12:47:50.415Z", "llm_call_end": "2026-11-29T12:47:50.420Z"}})),
        common(json!({"event_type": "final_result"})),
        common(json!({"event_type": "agent_end"})),
    ];
    assert_eq!(lines(&path), expected);
}

#[test]
fn unknown_cost_is_an_absent_key_and_zero_is_zero() {
    let unknown = serde_json::to_value(UsageRecord::default().with_cost(Cost::Unknown)).unwrap();
    assert!(unknown.get("cost").is_none());
    let zero = serde_json::to_value(UsageRecord::default().with_cost(Cost::Known(0))).unwrap();
    assert_eq!(zero["cost"], json!(0));
}

#[test]
fn parallel_agents_never_mix_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    let writer = TranscriptWriter::open(&path).unwrap();
    std::thread::scope(|scope| {
        for id in 0..8 {
            let agent = AgentRef {
                run_id: format!("{id}-{}", "x".repeat(5_000)),
                ..agent()
            };
            let writer = &writer;
            scope.spawn(move || (0..50).for_each(|_| writer.start(&agent, 0).unwrap()));
        }
    });
    assert_eq!(lines(&path).len(), 400);
}

#[test]
fn a_torn_line_is_closed_before_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    std::fs::write(&path, "{\"level\":30,\"ti").unwrap();
    TranscriptWriter::open(&path).unwrap().start(&agent(), 0).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(serde_json::from_str::<Value>(text.lines().last().unwrap()).is_ok());
}

#[test]
fn the_error_names_the_file() {
    let error = TranscriptWriter::open(Path::new("/nonexistent/run.jsonl")).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/run.jsonl"), "{error}");
}

#[test]
fn a_cost_of_any_size_is_a_number() {
    for (nano, written) in [
        (9_000_000_000_000_000_000, "9000000000"),
        (1_234_500_000_001, "1234.500000001"),
    ] {
        let usage = UsageRecord::default().with_cost(Cost::Known(nano));
        assert_eq!(usage.cost.unwrap().get(), written);
    }
}
