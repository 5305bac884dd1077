//! Synthetic sessions for tests of screens: built from events, as everything is.

use crate::model::{
    AgentEnd, BodyRef, CodeEntry, Cost, Event, Final, FinalShape, InterruptedEntry, LedgerEntry, Line, LineKind,
    LogFacts, LogId, LogState, MemoryKind, MemoryRecord, Session, SessionFacts, StepLine, Time, Timings, Usage,
};

/// 2026-03-14 09:00:00 UTC.
const START: Time = 1_773_478_800_000;

/// Writes the lines of one transcript, each a second after the one before.
pub(in crate::tui::screens) struct Transcript {
    log: LogId,
    lines: Vec<Line>,
    now: Time,
}

impl Transcript {
    pub(in crate::tui::screens) fn new(log: u32, minute: i64) -> Self {
        Self {
            log: LogId(log),
            lines: Vec::new(),
            now: START + minute * 60_000,
        }
    }

    fn push(&mut self, run_id: &str, parent: Option<&str>, kind: LineKind) -> &mut Self {
        let line = self.lines.len() as u64 + 1;
        self.now += 1_000;
        self.lines.push(Line {
            at: BodyRef {
                log: self.log,
                line,
                offset: line * 1_000,
                len: 900,
            },
            run_id: run_id.into(),
            parent: parent.map(Into::into),
            depth: u32::from(parent.is_some()),
            time: Some(self.now),
            kind,
        });
        self
    }

    pub(in crate::tui::screens) fn start(&mut self, run_id: &str, parent: Option<&str>) -> &mut Self {
        self.push(run_id, parent, LineKind::Start)
    }

    pub(in crate::tui::screens) fn end(&mut self, run_id: &str, parent: Option<&str>, end: AgentEnd) -> &mut Self {
        self.push(run_id, parent, LineKind::End(end))
    }

    pub(in crate::tui::screens) fn result(&mut self, run_id: &str, parent: Option<&str>, result: Final) -> &mut Self {
        self.push(run_id, parent, LineKind::Final(result))
    }

    pub(in crate::tui::screens) fn probe(&mut self, run_id: &str, parent: Option<&str>, task: &str) -> &mut Self {
        let step = StepLine {
            task: Some(task.into()),
            usage: Some(Usage::default()),
            ..step_line(0, self.now)
        };
        self.push(run_id, parent, LineKind::Step(step))
    }

    /// A step of 1,000 tokens and more; `nano` is what it cost.
    pub(in crate::tui::screens) fn step(
        &mut self,
        run_id: &str,
        parent: Option<&str>,
        number: u64,
        nano: Option<i64>,
        change: impl FnOnce(&mut StepLine),
    ) -> &mut Self {
        let mut step = step_line(number, self.now);
        step.cost = nano.map_or(Cost::Unknown, Cost::Known);
        change(&mut step);
        self.push(run_id, parent, LineKind::Step(step))
    }

    /// Its lines alone, as they come in when a known transcript grows by `lines` lines and more.
    pub(in crate::tui::screens) fn shifted(mut self, lines: u64) -> Vec<Event> {
        for line in &mut self.lines {
            line.at.line += lines;
            line.at.offset += lines * 1_000;
        }
        vec![Event::Lines(self.lines)]
    }

    /// The events of a transcript that was read to its end.
    pub(in crate::tui::screens) fn events(self, state: LogState, queries: Vec<usize>) -> Vec<Event> {
        let facts = LogFacts {
            id: self.log,
            path: format!("logs/run_{}.jsonl", self.log.0),
            state,
            queries,
        };
        let read = Event::LogRead {
            log: self.log,
            unreadable: 0,
        };
        vec![Event::Log(facts), Event::Lines(self.lines), read]
    }
}

fn step_line(number: u64, now: Time) -> StepLine {
    let n = number.min(1_000);
    let usage = Usage {
        prompt: 6_700 + n * 310,
        completion: 120 + n * 7,
        total: 6_820 + n * 317,
        cached: n.saturating_sub(1) * 2_048,
        reasoning: 33,
    };
    StepLine {
        number: Some(number),
        executed: true,
        failed: false,
        usage: Some(usage),
        cost: Cost::Known(0),
        timings: Timings {
            call_start: Some(now),
            call_end: Some(now + 700),
            exec_start: Some(now + 700),
            exec_end: Some(now + 1_000),
        },
        code_digest: number,
        no_code: false,
        task: None,
    }
}

pub(in crate::tui::screens) fn text(value: &str) -> Final {
    Final::Value {
        shape: FinalShape::Text,
        text: value.into(),
    }
}

pub(in crate::tui::screens) fn object(value: &str) -> Final {
    Final::Value {
        shape: FinalShape::Object,
        text: value.into(),
    }
}

fn ledger(query: &str, result: Final, log: Option<u32>) -> LedgerEntry {
    LedgerEntry {
        query: query.into(),
        result,
        log_file: log.map(|log| format!("logs/run_{log}.jsonl")),
        run_id: None,
    }
}

fn code(q: u64, step: u64, code: &str) -> CodeEntry {
    CodeEntry {
        q,
        step,
        ok: step != 2,
        code: code.into(),
        run_id: None,
    }
}

fn memory(name: &str, kind: MemoryKind, type_name: &str, committed: bool) -> MemoryRecord {
    MemoryRecord {
        name: name.into(),
        kind,
        type_name: type_name.into(),
        text: "[1, 2, 3]".into(),
        comment: None,
        note: committed.then(|| "kept for later".into()),
        committed,
        pickle_bytes: 120,
    }
}

/// The session of the given events.
pub(in crate::tui::screens) fn session(events: impl IntoIterator<Item = Event>) -> Session {
    let mut session = Session::default();
    events.into_iter().for_each(|event| session.apply(event));
    session.settle();
    session
}

fn facts(name: &str, pending: Option<&str>) -> Event {
    Event::Session(SessionFacts {
        name: name.into(),
        dir: name.into(),
        version: Some(2),
        pending: pending.map(str::to_owned),
        ..SessionFacts::default()
    })
}

/// The first run: five steps, a failing one, one without code and cost; three sub-agents, one with a child of its own.
fn lighthouse_run() -> Transcript {
    let mut run = Transcript::new(0, 0);
    run.start("root", None)
        .probe("root", None, "Here are the logbooks of twelve lighthouses");
    run.step("root", None, 1, Some(4_268_200), |_| ())
        .step("root", None, 2, Some(1_773_640), |step| step.failed = true)
        .step("root", None, 3, None, |step| {
            (step.no_code, step.executed) = (true, false)
        });
    for (agent, task) in [
        ("a", "Count the storms in the logbooks of 1901 to 1904"),
        ("b", "数える：灯台の日誌 🌊 の嵐"),
        ("c", "Which keeper wrote the longest entries?"),
    ] {
        run.start(agent, Some("root")).probe(agent, Some("root"), task);
        run.step(agent, Some("root"), 1, Some(950_000), |_| ());
        if agent == "b" {
            run.start("ba", Some("b"))
                .probe("ba", Some("b"), "Read the pages of March");
            run.step("ba", Some("b"), 1, Some(420_000), |step| step.failed = true);
            run.step("ba", Some("b"), 2, None, |step| step.executed = false);
            run.result("ba", Some("b"), text("7 storms in March"))
                .end("ba", Some("b"), AgentEnd::default());
        }
        run.step(agent, Some("root"), 2, Some(880_000), |step| step.executed = false);
        run.result(agent, Some("root"), object(r#"{"storms": 31, "calm": 9}"#));
        run.end(agent, Some("root"), AgentEnd::default());
    }
    let early = run.now - 30_000;
    run.step("root", None, 4, Some(2_100_000), |step| {
        (step.timings.exec_start, step.timings.call_start) = (Some(early), Some(early - 900));
        step.timings.call_end = Some(early);
    });
    run.step("root", None, 5, Some(1_900_000), |step| step.executed = false);
    run.result("root", None, text(ANSWER))
        .end("root", None, AgentEnd::default());
    run
}

const ANSWER: &str = "The winter of 1903 was the stormiest: 31 storms, nine of them in March.\n\nBy keeper:\n- Aksel Brandt: \
    12 storms\n- Signe Dahl: 19 storms\n- 佐藤: 0 storms";

fn small_run(log: u32, minute: i64, run_id: &str, steps: u64, nano: Option<i64>, result: Final) -> Transcript {
    let mut run = Transcript::new(log, minute);
    run.start(run_id, None).probe(run_id, None, "the task");
    for step in 1..=steps {
        run.step(run_id, None, step, nano, |_| ());
    }
    if result != Final::Unset {
        run.result(run_id, None, result);
    }
    run
}

/// A session with something of everything: answered queries, one with its transcript missing, one that failed, one
/// that runs; wide characters; memory.
pub(in crate::tui::screens) fn lighthouses() -> Session {
    let ledger = vec![
        ledger(
            "Here are the logbooks of twelve lighthouses. Which winter was the stormiest, and what did each keeper \
             write about it?\n\n=== LOGBOOK 1 ===\n[1901-01-04] Wind from the north, the lamp was lit at four.",
            text(ANSWER),
            Some(0),
        ),
        ledger("Is there anything about whales?", Final::None, Some(3)),
        ledger(
            "Draw the storms of each year as a bar chart.",
            text("1901 ███ 3\n1902 █████ 5\n1903 ██████ 6"),
            Some(1),
        ),
        ledger(
            "嵐の多い月はいつですか？ 🌊🏮 Answer as JSON, please.",
            object(r#"{"month":"3月","storms":9}"#),
            Some(2),
        ),
    ];
    let mut events = vec![
        facts("lighthouses", Some("Compare the keepers' handwriting over the years.")),
        Event::State {
            ledger,
            code: vec![
                code(1, 1, "whales = find('whale')"),
                code(1, 2, "print(whales[0])"),
                code(1, 3, "FINAL(None)"),
            ],
            memory: vec![
                memory("storms", MemoryKind::Variable, "dict", true),
                memory("keepers", MemoryKind::Variable, "list", false),
                memory("count_storms", MemoryKind::Function, "function", false),
                memory("stream", MemoryKind::Dropped, "generator", false),
            ],
            interrupted: vec![InterruptedEntry {
                query: "Translate every logbook into Old Norse.".into(),
                log_file: Some("logs/run_4.jsonl".into()),
                run_id: Some("norse".into()),
                outcome: Some("limit".into()),
            }],
        },
    ];
    events.extend(lighthouse_run().events(LogState::Found, vec![0]));
    let chart = text("1901 ███ 3");
    events.extend(small_run(1, 3, "chart", 2, Some(570_320), chart).events(LogState::Moved, vec![2]));
    let json = object(r#"{"month":"3月","storms":9}"#);
    events.extend(small_run(2, 5, "month", 3, None, json).events(LogState::Found, vec![3]));
    events.push(Event::Log(LogFacts {
        id: LogId(3),
        path: "logs/run_3.jsonl".into(),
        state: LogState::Missing(vec!["logs/run_3.jsonl: no such file".into()]),
        queries: vec![1],
    }));
    let mut norse = small_run(4, 6, "norse", 4, Some(9_100_000), Final::Unset);
    let end = AgentEnd {
        outcome: Some("limit".into()),
        error: None,
        limit: Some("20 model calls".into()),
        unanswered: Vec::new(),
    };
    norse.end("norse", None, end);
    events.extend(norse.events(LogState::Stray, Vec::new()));
    let live = small_run(5, 9, "live", 2, Some(1_200_000), Final::Unset);
    events.extend(live.events(LogState::Stray, Vec::new()));
    events.push(Event::Writer { alive: true });
    session(events)
}

/// Everything a terminal must not get, in every field.
pub(in crate::tui::screens) fn hostile() -> Session {
    let nasty = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\u{200b}\r\tA\u{300}\u{301}👨\u{200d}👩\u{200d}👧 ⚠️\u{85}\0";
    let mut run = Transcript::new(0, 0);
    run.start(nasty, None).probe(nasty, None, nasty);
    run.step(nasty, None, u64::MAX, Some(i64::MAX), |step| step.failed = true);
    run.step(nasty, None, u64::MAX, None, |step| step.code_digest = 1);
    run.start("child", Some(nasty))
        .probe("child", Some(nasty), &nasty.repeat(40));
    run.start("orphan", Some("nobody"))
        .step("orphan", Some("nobody"), 7, Some(-5), |_| ());
    run.result(nasty, None, text(&nasty.repeat(100)));
    let mut events = vec![
        facts(nasty, Some(nasty)),
        Event::State {
            ledger: vec![
                ledger(&nasty.repeat(300), text(nasty), Some(0)),
                ledger("", Final::Null, None),
            ],
            code: Vec::new(),
            memory: vec![memory(nasty, MemoryKind::Variable, nasty, true)],
            interrupted: Vec::new(),
        },
    ];
    events.extend(run.events(LogState::Found, vec![0]));
    session(events)
}

/// Many queries with transcripts that are not there.
pub(in crate::tui::screens) fn many(queries: usize) -> Session {
    let ledger = (0..queries)
        .map(|n| ledger(&format!("query number {n}"), text("done"), None))
        .collect();
    session([
        facts("many", None),
        Event::State {
            ledger,
            code: Vec::new(),
            memory: Vec::new(),
            interrupted: Vec::new(),
        },
    ])
}

/// One query that its writer cut.
pub(in crate::tui::screens) fn cut_query() -> Session {
    let query = format!("{}...[truncated]", "word ".repeat(800));
    let mut events = vec![
        facts("cut", None),
        Event::State {
            ledger: vec![ledger(&query, text("done"), Some(0))],
            code: Vec::new(),
            memory: Vec::new(),
            interrupted: Vec::new(),
        },
    ];
    events.extend(small_run(0, 0, "root", 1, Some(1), text("done")).events(LogState::Found, vec![0]));
    session(events)
}
