//! The live step display on stderr: a line a step and a progress line on terminals; code and output too when full; in
//! pipes and files what should not be missed alone.

use super::run_args::Verbosity;
use crate::cli::terminal::one_row;
use crate::disk::lock;
use crate::engine::{AgentId, Answer, Home, RunEvent, Settings, Watch, What, resumable};
use crate::model::CostSum;
use crate::provider::{CostExpectation, Usage};
use crate::text::{SafeText, cut, duration, plural};
use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The progress line is redrawn at most this often,
const REDRAW: Duration = Duration::from_millis(100);
/// and at least this often, while nothing happens: the time passes.
const TICK: Duration = Duration::from_secs(1);

/// Cells of a query that is named.
const QUERY: usize = 60;

/// The display of one run.
pub(in crate::cli) struct Live {
    verbosity: Verbosity,
    terminal: bool,
    colours: bool,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    drawn: Option<Instant>,
    /// A progress line is on the screen.
    shown: bool,
    /// Something happened since it was drawn, or was written over it.
    stale: bool,
    /// The root is at work: what comes after its end draws nothing any more.
    running: bool,
    /// Questions that a person is answering: a line would be drawn over what is typed.
    questions: usize,
    step: u64,
    /// Sub-agents at work, with what each has done, by its run.
    sub_agents: HashMap<Arc<str>, SubAgent>,
    /// How many have started so far.
    started_sub_agents: usize,
    tokens: u128,
    cost: CostSum,
    code: Option<String>,
}

/// A question that a person is answering.
pub(super) struct Asking<'a>(&'a Live);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.questions = state.questions.saturating_sub(1);
    }
}

impl Live {
    pub(in crate::cli) fn new(verbosity: Verbosity) -> Arc<Self> {
        let terminal = io::stderr().is_terminal();
        let colours = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let state = State {
            started: Instant::now(),
            drawn: None,
            shown: false,
            stale: false,
            running: false,
            questions: 0,
            step: 0,
            sub_agents: HashMap::new(),
            started_sub_agents: 0,
            tokens: 0,
            cost: CostSum::default(),
            code: None,
        };
        let live = Arc::new(Self {
            verbosity,
            terminal,
            colours,
            state: Mutex::new(state),
        });
        if terminal && verbosity >= Verbosity::Summary {
            keep_drawing(Arc::downgrade(&live));
        }
        live
    }

    /// A money limit cannot bind calls whose price nobody knows, before they say what they cost.
    pub(in crate::cli) fn warn_of_unknown_prices(&self, settings: &Settings) {
        let unknown =
            |model: &crate::engine::Model| model.provider.cost_expectation(&model.name) == CostExpectation::Unknown;
        for model in [&settings.model, &settings.sub_model]
            .into_iter()
            .filter(|model| unknown(model))
            .take(1)
        {
            let name = SafeText::line(&model.name);
            self.notice(&format!(
                "the price of {name} is unknown: this run is bound by tokens, and by money only as far as its calls \
                 report what they cost"
            ));
        }
    }

    /// Says something above the progress line.
    pub(in crate::cli) fn say(&self, text: &str) {
        self.line(text);
    }

    /// Asks, and keeps the progress line away until it is answered.
    pub(super) fn ask(&self, text: &str) -> Asking<'_> {
        let mut state = self.lock();
        state.questions += 1;
        self.put(&mut state, text);
        Asking(self)
    }

    /// How far the preparation of Python is, which takes minutes on some machines: in pipes and files, too.
    pub(in crate::cli) fn preparing(&self, line: &str) {
        self.put_from(Verbosity::Notices, &mut self.lock(), line);
    }

    /// Who is waited for, where someone holds the session now and may be waited for.
    pub(in crate::cli) fn waiting(&self, home: &Home) {
        if home.wait.is_zero() {
            return;
        }
        if let Some(holder) = lock::holder(&home.dir) {
            let longest = duration(u64::try_from(home.wait.as_millis()).unwrap_or(u64::MAX));
            let holder = SafeText::line(&holder.to_string());
            self.notice(&format!("the session is busy: waiting up to {longest} for {holder}"));
        }
    }

    /// That a query is about to be asked in a session whose last one could still be resumed, and can no more then.
    pub(in crate::cli) fn gives_up(&self, home: &Home) {
        // What cannot be read is told when it is opened; whoever has the lock goes on with it.
        let last = resumable(&home.dir).ok().flatten();
        let Some(last) = last.filter(|_| lock::holder(&home.dir).is_none()) else {
            return;
        };
        let (dir, query) = (home.dir.to_string_lossy(), last.query.replace('\n', " "));
        let (head, _) = cut(&query, QUERY);
        let dots = if head == query { "" } else { " …" };
        let text = format!(
            "the query {head:?}{dots} was interrupted: it stays in the list, and can no longer be resumed once this \
             one begins (`fast-rlm resume {dir}` would have)"
        );
        self.notice(SafeText::line(&text).as_str());
    }

    /// Removes the progress line.
    pub(in crate::cli) fn done(&self) {
        let mut state = self.lock();
        state.running = false;
        self.clear(&mut state);
    }

    /// What it took.
    pub(in crate::cli) fn took(&self) {
        let state = self.lock();
        let (took, cost) = (elapsed(&state), state.cost);
        let tokens = cost.with_tokens(state.tokens);
        drop(state);
        self.line(&self.dim(&format!("{took} · {tokens} · {}", cost.named())));
    }

    /// What the run took, and where its transcript is.
    pub(in crate::cli) fn closing(&self, answer: &Answer, transcript: bool) {
        self.took();
        if transcript {
            let path = SafeText::line(&answer.transcript.to_string_lossy());
            self.line(&self.dim(&format!("transcript: {path}")));
        }
    }

    fn step(&self, state: &mut State, failed: bool, output: Option<&str>) {
        let mark = if failed { "✗" } else { "✓" };
        let code = state.code.take().unwrap_or_default();
        let first = code
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .unwrap_or("(no code)");
        let told = SafeText::line(first);
        self.put(
            state,
            &format!("{mark} step {}  {}", state.step, cut(told.as_str(), 100).0),
        );
        if self.verbosity == Verbosity::Full {
            self.put(state, &self.dim(&indented(&code)));
            self.put(state, &indented(output.unwrap_or_default()));
        }
    }

    fn sub_agent_starts(&self, state: &mut State, agent: &AgentId, task: &str) {
        state.started_sub_agents += 1;
        let number = state.started_sub_agents;
        let begun = SubAgent {
            number,
            ..SubAgent::default()
        };
        state.sub_agents.insert(Arc::clone(&agent.run_id), begun);
        if self.verbosity == Verbosity::Full {
            let (indent, task) = (indent(agent), SafeText::line(task));
            self.put(
                state,
                &format!("{indent}▶ sub-agent {number}  {}", cut(task.as_str(), 100).0),
            );
        }
    }

    fn sub_agent_ends(&self, state: &mut State, agent: &AgentId, error: Option<&str>) {
        let Some(ended) = state.sub_agents.remove(&agent.run_id) else {
            return;
        };
        if self.verbosity == Verbosity::Full {
            let mark = if error.is_some() { "✗" } else { "✓" };
            let (indent, steps) = (indent(agent), plural(u128::from(ended.steps), "step", "steps"));
            let tokens = ended.cost.with_tokens(ended.tokens);
            let why = error.map(|error| format!(" · {}", cut(SafeText::line(error).as_str(), 100).0));
            let line = format!(
                "{indent}{mark} sub-agent {}  {steps} · {tokens} · {}{}",
                ended.number,
                ended.cost.named(),
                why.unwrap_or_default()
            );
            self.put(state, &line);
        }
    }

    fn progress(&self, state: &mut State) {
        if !self.terminal || self.verbosity < Verbosity::Summary || !state.is_due() {
            return;
        }
        state.drawn = Some(Instant::now());
        (state.shown, state.stale) = (true, false);
        let line = state.line();
        let _ = write!(io::stderr(), "\r\x1b[K{}", self.dim(one_row(&line)));
    }

    fn clear(&self, state: &mut State) {
        if std::mem::take(&mut state.shown) {
            state.stale = true;
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }

    fn line(&self, text: &str) {
        self.put(&mut self.lock(), text);
    }

    /// Says what should not be missed.
    fn notice(&self, text: &str) {
        self.warn(&mut self.lock(), text);
    }

    /// Among lines of other programs, a warning says whose it is, as an error does.
    fn warn(&self, state: &mut State, text: &str) {
        self.put_from(Verbosity::Notices, state, &format!("fast-rlm: {text}"));
    }

    fn put(&self, state: &mut State, text: &str) {
        self.put_from(Verbosity::Summary, state, text);
    }

    /// Puts a line where at least so much is shown.
    fn put_from(&self, least: Verbosity, state: &mut State, text: &str) {
        if self.verbosity < least || text.is_empty() {
            return;
        }
        self.clear(state);
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn dim(&self, text: &str) -> String {
        if self.colours {
            format!("\x1b[2m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a sub-agent at work has done.
#[derive(Default)]
struct SubAgent {
    number: usize,
    steps: u64,
    tokens: u128,
    cost: CostSum,
}

impl State {
    fn is_due(&self) -> bool {
        let pace = if self.stale { REDRAW } else { TICK };
        self.running && self.questions == 0 && self.drawn.is_none_or(|at| at.elapsed() >= pace)
    }

    fn line(&self) -> String {
        let sub_agents = match self.sub_agents.len() {
            0 => String::new(),
            some => format!(" · {}", plural(some as u128, "sub-agent", "sub-agents")),
        };
        let (tokens, took) = (self.cost.with_tokens(self.tokens), elapsed(self));
        format!(
            "step {}{sub_agents} · {tokens} · {} · {took}",
            self.step,
            self.cost.named()
        )
    }
}

/// Draws the progress line whenever it is due, for as long as somebody has the display.
fn keep_drawing(live: Weak<Live>) {
    let drawing = move || {
        while let Some(live) = live.upgrade() {
            live.progress(&mut live.lock());
            drop(live);
            std::thread::sleep(REDRAW);
        }
    };
    // Without a thread it is drawn by events alone.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(drawing);
}

impl Watch for Live {
    fn event(&self, event: RunEvent) {
        let mut state = self.lock();
        let root = event.agent.depth == 0;
        state.stale = true;
        match &event.what {
            What::Started { .. } if root => state.running = true,
            What::Started { task } => self.sub_agent_starts(&mut state, &event.agent, task),
            What::Ended { error } if !root => self.sub_agent_ends(&mut state, &event.agent, error.as_deref()),
            What::CallStarted { step } if root => state.step = *step,
            What::CallEnded { code, usage } => {
                add(&mut state, usage);
                if let Some(agent) = state.sub_agents.get_mut(&event.agent.run_id) {
                    agent.steps += 1;
                    agent.tokens += u128::from(usage.total_tokens);
                    agent.cost.add(usage.cost());
                }
                if root {
                    state.code.clone_from(code);
                }
            }
            What::Guarded { usage, .. } => add(&mut state, usage),
            What::StepEnded { step, failed, output } if root => {
                // A step that is not the model's, but a fork's own, was preceded by no call.
                state.step = *step;
                self.step(&mut state, *failed, output.as_deref());
            }
            What::Notice(text) => self.warn(&mut state, SafeText::line(text).as_str()),
            _ => {}
        }
        self.progress(&mut state);
    }
}

fn add(state: &mut State, usage: &Usage) {
    state.tokens += u128::from(usage.total_tokens);
    state.cost.add(usage.cost());
}

fn elapsed(state: &State) -> String {
    duration(u64::try_from(state.started.elapsed().as_millis()).unwrap_or(u64::MAX))
}

/// Two cells a level.
fn indent(agent: &AgentId) -> String {
    "  ".repeat(usize::try_from(agent.depth).unwrap_or_default())
}

fn indented(text: &str) -> String {
    let safe = SafeText::block(text);
    safe.lines()
        .map(|line| format!("    {line}"))
        .collect::<Vec<_>>()
        .join("\n")
}
