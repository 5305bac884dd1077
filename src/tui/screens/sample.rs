//! A session made up for tests of screens: three runs with nested sub-agents, a memory of every kind, hostile text.

use crate::model::{
    BodyRef, CodeEntry, Cost, Event, Final, FinalShape, LedgerEntry, Line, LineKind, LogFacts, LogId, LogState,
    MemoryKind, MemoryRecord, Problem, ProblemKind, SessionFacts, StepLine, Time, Timings, Usage, code_digest,
};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::Outcome;
use crate::tui::input::Input;
use crate::tui::screens::Screen;
use crate::tui::testing::{World, text_of};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Escapes, bidi tricks, controls, wide and joined characters.
pub(super) const HOSTILE: &str = "\u{1b}]0;own\u{7}\u{202e}evil \u{9b}31m 日本語 👩‍👩‍👧 e\u{301}\r\n\ttab";

/// When the first run starts.
pub(super) const START: Time = 1_700_000_000_000;

/// A world with the sample session in it.
pub(super) fn world() -> World {
    let mut world = World::new();
    for event in events() {
        world.session.apply(event);
    }
    world.session.settle();
    world
}

/// A world with a session that holds only what `events` say.
pub(super) fn world_of(events: Vec<Event>) -> World {
    let mut world = World::new();
    events.into_iter().for_each(|event| world.session.apply(event));
    world.session.settle();
    world
}

fn events() -> Vec<Event> {
    let facts = SessionFacts {
        name: "podcasts".into(),
        dir: "/tmp/podcasts".into(),
        version: Some(2),
        ..SessionFacts::default()
    };
    let mut events = vec![
        Event::Session(facts),
        Event::State {
            ledger: ledger(),
            code: code(),
            memory: memory(),
            interrupted: Vec::new(),
        },
    ];
    events.extend((0..3).map(log));
    events.push(Event::Lines(lines()));
    events.extend((0..3).map(|log| Event::LogRead {
        log: LogId(log),
        unreadable: 0,
    }));
    events.extend(problems().into_iter().map(Event::Problem));
    events
}

fn ledger() -> Vec<LedgerEntry> {
    let entry = |(at, query): (usize, &str)| LedgerEntry {
        query: query.into(),
        result: Final::Value {
            shape: FinalShape::Text,
            text: "done".into(),
        },
        log_file: Some(format!("logs/run{at}.jsonl")),
        run_id: Some(format!("root{at}")),
    };
    [
        "How many episodes mention AGI?",
        "誰が一番楽観的ですか 🎙️ and why?",
        HOSTILE,
    ]
    .into_iter()
    .enumerate()
    .map(entry)
    .collect()
}

fn code() -> Vec<CodeEntry> {
    let entry = |q, step, code: &str| CodeEntry {
        q,
        step,
        ok: true,
        code: code.into(),
        run_id: Some(format!("root{q}")),
    };
    vec![
        entry(0, 1, "episode_index = parse(context)"),
        entry(0, 2, "agi_ids = [1, 3]\ndef find_quotes(p):\n    pass"),
        entry(1, 1, "stances = ask_all()"),
    ]
}

fn log(id: u32) -> Event {
    Event::Log(LogFacts {
        id: LogId(id),
        path: format!("/tmp/podcasts/logs/run{id}.jsonl"),
        state: LogState::Found,
        queries: vec![id as usize],
    })
}

/// An agent's line of a step that calls its model and then runs code.
pub(super) struct StepAt<'a> {
    pub(super) log: u32,
    pub(super) line: u64,
    pub(super) agent: &'a str,
    pub(super) parent: Option<&'a str>,
    pub(super) depth: u32,
    pub(super) number: u64,
    /// Start of the call, of the execution, and its end, in milliseconds from [`START`].
    pub(super) times: [Time; 3],
}

impl StepAt<'_> {
    pub(super) fn line(&self) -> Line {
        let [call, exec, end] = self.times.map(|time| START + time);
        let timings = Timings {
            call_start: Some(call),
            call_end: Some(exec),
            exec_start: Some(exec),
            exec_end: Some(end),
        };
        Line {
            at: BodyRef {
                log: LogId(self.log),
                line: self.line,
                offset: self.line * 100,
                len: 99,
            },
            run_id: self.agent.into(),
            parent: self.parent.map(Into::into),
            depth: self.depth,
            time: Some(end),
            kind: LineKind::Step(StepLine {
                number: Some(self.number),
                executed: true,
                failed: false,
                usage: Some(Usage {
                    prompt: 100,
                    completion: 10,
                    total: 110,
                    ..Usage::default()
                }),
                cost: Cost::Known(1_000_000),
                timings,
                code_digest: code_digest(&format!("{}{}", self.agent, self.number)),
                no_code: false,
                task: (self.number == 0).then(|| format!("task of {}", self.agent)),
            }),
        }
    }
}

fn lines() -> Vec<Line> {
    let step = |log, line, agent, parent, depth, number, times| {
        StepAt {
            log,
            line,
            agent,
            parent,
            depth,
            number,
            times,
        }
        .line()
    };
    vec![
        step(0, 1, "root0", None, 0, 1, [0, 8_000, 9_000]),
        step(0, 2, "kid-a", Some("root0"), 1, 1, [13_000, 21_000, 22_500]),
        step(0, 3, "kid-b", Some("root0"), 1, 1, [13_200, 30_000, 30_100]),
        step(0, 4, "grandkid", Some("kid-b"), 2, 1, [16_000, 19_000, 24_000]),
        step(0, 5, "root0", None, 0, 2, [9_500, 12_000, 31_000]),
        step(0, 6, "root0", None, 0, 3, [31_000, 46_000, 46_200]),
        step(1, 1, "root1", None, 0, 1, [7_200_000, 7_230_000, 7_232_000]),
        step(1, 2, "要約", Some("root1"), 1, 1, [7_230_500, 7_231_000, 7_231_900]),
        step(2, 1, "root2", None, 0, 1, [7_260_000, 7_290_000, 7_300_000]),
    ]
}

fn memory() -> Vec<MemoryRecord> {
    let variable = |name: &str, kind: &str, text: &str| MemoryRecord {
        name: name.into(),
        kind: MemoryKind::Variable,
        type_name: kind.into(),
        text: text.into(),
        comment: None,
        note: None,
        committed: false,
        pickle_bytes: 12_345,
    };
    let commented = |comment: &str, record: MemoryRecord| MemoryRecord {
        comment: Some(comment.into()),
        ..record
    };
    let committed = |note: &str, record: MemoryRecord| MemoryRecord {
        note: Some(note.into()),
        committed: true,
        ..record
    };
    let index = "{1: {'guest': 'Chen Petrov', 'topic': 'robotics', 'date': '2018-02-06', 'text': '[00:00] HOST: That train.\\n[00:47] CHEN: I wrote t...[truncated, 55962 chars total]";
    let source = "def find_quotes(pattern, ids=None):\n    \"\"\"Every line that matches.\"\"\"\n    return [n for n in ids if pattern in n]";
    vec![
        committed(
            "episode number -> guest, topic, date, text (40 episodes)",
            commented(
                "dict: episode number -> {guest, topic}",
                variable("episode_index", "dict", index),
            ),
        ),
        committed(
            "",
            variable(
                "agi_ids",
                "list",
                "[1, 3, 7, 8, 10, 14, 16, 17, 18, 21, 23, 28, 32, 34, 36, 38, 40]",
            ),
        ),
        commented(
            "first episode where AGI comes up",
            variable("first_ref", "EpisodeRef", "EpisodeRef(ep01, Chen Petrov)"),
        ),
        variable(
            "日本語の変数名がとても長い場合もある",
            "str",
            "'誰が一番楽観的ですか 🎙️'",
        ),
        variable("hostile", HOSTILE, HOSTILE),
        MemoryRecord {
            kind: MemoryKind::Function,
            type_name: "function".into(),
            pickle_bytes: 0,
            ..variable("find_quotes", "", source)
        },
        MemoryRecord {
            kind: MemoryKind::Dropped,
            pickle_bytes: 0,
            ..variable("search_blob", "", "too large to save: 7784109 bytes (cap 5000000)")
        },
    ]
}

fn problems() -> Vec<Problem> {
    let problem = |kind, log, line, byte, what: &str| Problem {
        kind,
        log,
        line,
        byte,
        what: what.into(),
    };
    vec![
        problem(
            ProblemKind::Unreadable,
            Some(LogId(0)),
            Some(5),
            Some(400),
            "not JSON: expected value at column 3; skipped",
        ),
        problem(
            ProblemKind::Incomplete,
            Some(LogId(1)),
            Some(812),
            Some(1_234_567),
            "the last line has no end yet",
        ),
        problem(
            ProblemKind::State,
            None,
            None,
            Some(88),
            "leftovers of an older state after the first value; ignored",
        ),
        problem(ProblemKind::Notice, None, None, None, HOSTILE),
    ]
}

/// Draws a screen at a size.
pub(super) fn frame(screen: &mut dyn Screen, world: &World, width: u16, height: u16) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buf = Buffer::empty(area);
    screen.draw(area, &mut buf, &world.ctx());
    let text = text_of(&buf);
    assert_eq!(
        text.find(|c: char| c.is_control() && c != '\n'),
        None,
        "a control character reached the screen"
    );
    text
}

/// Does an action.
pub(super) fn act(screen: &mut dyn Screen, action: Action, ctx: &Ctx<'_>) -> Outcome {
    screen.update(&Input::Action(action), ctx)
}

/// The sizes of the body of a 120×36, an 80×24 and a 40×12 terminal, between header and footer.
pub(super) const SIZES: [(u16, u16); 3] = [(120, 34), (80, 22), (40, 10)];
