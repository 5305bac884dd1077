//! The program without a terminal: its driver over a real session, with effects carried out on the spot.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use fast_rlm::model::BodyRef;
use fast_rlm::source::{OpenOptions, Opened, Source, Stop, open};
use fast_rlm::text::SafeText;
use fast_rlm::tui::action::{Abilities, Context};
use fast_rlm::tui::body::Body;
use fast_rlm::tui::compositor::Wanted;
use fast_rlm::tui::ctx::{ViewOptions, World};
use fast_rlm::tui::driver::{Msg, Opening, State};
use fast_rlm::tui::effect::Effect;
use fast_rlm::tui::input::{Answer, Reply};
use fast_rlm::tui::keymap::Keymap;
use fast_rlm::tui::screens::Route;
use fast_rlm::tui::theme::{Depth, Theme};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Screens of the demo that are snapshots: a name, and the keys that lead there from the overview.
pub(crate) const DEMO_SCREENS: [(&str, &str); 8] = [
    ("overview", ""),
    ("overview_end", "G"),
    ("run", "⏎"),
    ("run_later_step", "⏎↓↓↓↓"),
    ("run_root", "⏎←"),
    ("run_input", "⏎i"),
    ("run_reasoning", "⏎r"),
    ("run_final", "⏎o"),
];

/// A session on screen.
pub(crate) struct Viewer {
    state: State,
    source: Source,
    size: Size,
}

/// A card of the overview as it is seen.
pub(crate) struct Card {
    pub(crate) label: String,
    pub(crate) text: String,
}

/// What was seen while walking down the tree of a run.
#[derive(Default)]
pub(crate) struct Walk {
    /// Rows of the tree that are steps, and those marked as failed.
    pub(crate) steps: usize,
    pub(crate) failed: usize,
    /// The frame while the root is selected.
    pub(crate) root: String,
}

impl Viewer {
    /// Opens a session and reads all of it.
    pub(crate) fn open(path: &Path, width: u16, height: u16) -> Self {
        Self::drawn(path, width, height, false)
    }

    /// The same, in ASCII when so wished.
    pub(crate) fn drawn(path: &Path, width: u16, height: u16, ascii: bool) -> Self {
        let options = OpenOptions {
            use_cache: false,
            ..OpenOptions::default()
        };
        let Ok(Opened::Session { events, source }) = open(path, &options) else {
            panic!("{} is no session", path.display());
        };
        let size = Size::new(width, height);
        let mut viewer = Self {
            state: State::new(world(size, ascii), Arc::default()),
            source,
            size,
        };
        let can = Abilities {
            session: true,
            ..Abilities::default()
        };
        let opening = Opening {
            desk: None,
            route: Route::Overview,
            can,
            sessions: None,
            events,
        };
        viewer.send(Msg::Opened(opening));
        let source = viewer.source.clone();
        let mut lines = Vec::new();
        source.scan(&Stop::default(), &mut |events| lines.extend(events));
        viewer.send(Msg::Events(lines));
        let wanted = viewer.state.settle();
        viewer.carry_out(wanted);
        viewer
    }

    fn send(&mut self, msg: Msg) {
        let wanted = self.state.update(msg);
        self.carry_out(wanted);
        let wanted = self.state.settle();
        self.carry_out(wanted);
    }

    /// Does what can be done here; colours of code are left out, they take long and move nothing.
    fn carry_out(&mut self, mut wanted: Vec<Wanted>) {
        while let Some((layer, effect)) = wanted.pop() {
            let (token, result) = match effect {
                Effect::LoadBody { token, at, .. } => (token, self.body(at).map(|body| Reply::Body(Arc::new(body)))),
                Effect::Work { token, work } => (token, Ok(Reply::Worked((work.run)(&Default::default())))),
                _ => continue,
            };
            wanted.extend(self.state.update(Msg::Answer(layer, Answer { token, result })));
        }
    }

    fn body(&self, at: BodyRef) -> Result<Body, SafeText> {
        let body = self
            .source
            .body(at)
            .map_err(|error| SafeText::line(&error.to_string()))?;
        Ok(body.into())
    }

    /// Presses keys: characters, `⏎`, `⎋` and arrows.
    pub(crate) fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            let code = match key {
                '⏎' => KeyCode::Enter,
                '⎋' => KeyCode::Esc,
                '↑' => KeyCode::Up,
                '↓' => KeyCode::Down,
                '←' => KeyCode::Left,
                '→' => KeyCode::Right,
                '⇟' => KeyCode::PageDown,
                c => KeyCode::Char(c),
            };
            let modifiers = if key.is_ascii_uppercase() {
                KeyModifiers::SHIFT
            } else {
                KeyModifiers::NONE
            };
            self.send(Msg::Key(KeyEvent::new(code, modifiers)));
        }
    }

    /// What is on screen.
    pub(crate) fn frame(&mut self) -> Buffer {
        let mut buf = Buffer::empty(Rect::new(0, 0, self.size.width, self.size.height));
        self.state.draw(&mut buf);
        buf
    }

    fn labels(&self) -> Vec<String> {
        self.state
            .session()
            .queries
            .iter()
            .map(|query| query.label.to_string())
            .collect()
    }

    /// Walks over the overview; each card as it is seen while it is selected.
    pub(crate) fn cards(&mut self) -> Vec<Card> {
        let labels = self.labels();
        self.keys("g");
        let card = |label: String| {
            let text = selected_card(&crate::frame::text(&self.frame()));
            self.keys("↓");
            Card { label, text }
        };
        labels.into_iter().map(card).collect()
    }

    /// Opens the run with a name.
    pub(crate) fn open_run(&mut self, label: &str) {
        let place = self.labels().iter().position(|known| known == label);
        self.keys("g");
        self.keys(&"↓".repeat(place.unwrap_or_else(|| panic!("there is no {label}"))));
        self.keys("⏎");
    }

    /// From the root of the run that is open down to the last row.
    pub(crate) fn walk(&mut self) -> Walk {
        self.keys("←");
        let mut walk = Walk {
            root: crate::frame::text(&self.frame()),
            ..Walk::default()
        };
        let mut before = self.pointed_at();
        loop {
            self.keys("↓");
            let at = self.pointed_at();
            if at == before {
                return walk;
            }
            let row = at
                .split('❯')
                .nth(1)
                .and_then(|row| row.split('│').next())
                .unwrap_or_default();
            let is_step = row.contains("step ");
            walk.steps += usize::from(is_step);
            walk.failed += usize::from(is_step && row.contains('✕'));
            before = at;
        }
    }

    /// The selected row of the tree, behind the header and its place on screen: two rows can say the same.
    fn pointed_at(&mut self) -> String {
        let text = crate::frame::text(&self.frame());
        let header = text.lines().next().unwrap_or_default();
        let pointed = text
            .lines()
            .enumerate()
            .find_map(|(y, row)| Some((y, row.split_once('❯')?.1)));
        let (y, row) = pointed.unwrap_or_default();
        let row = row.split(['│', '┃']).next().unwrap_or_default();
        format!("{header} {y} ❯{row}")
    }

    /// Visits every screen and every place of every run.
    pub(crate) fn tour(&mut self, see: &mut dyn FnMut(&str, &Buffer)) {
        let runs = self.labels().len();
        self.visit(see, "overview", &vec!["↓"; runs]);
        for screen in ["m", "t", "!", "?", ":"] {
            self.visit(see, screen, &[screen, "↓↓↓", "⇟", "G", "⎋"]);
        }
        self.keys("g⏎");
        for run in 0..runs {
            self.tour_run(see, &format!("run {run}"));
            self.keys("]");
        }
    }

    fn tour_run(&mut self, see: &mut dyn FnMut(&str, &Buffer), name: &str) {
        self.visit(see, name, &["", "w", "w", "w", "w", "←"]);
        let mut before = String::new();
        while self.pointed_at() != before {
            before = self.pointed_at();
            self.visit(see, name, &["↓", "w"]);
        }
        self.visit(see, name, &["r", "rkk", "v", "vz", "#", "+", "0"]);
        self.visit(see, name, &["i", "G", "io", "v", "vo", "t", "↓→+", "⎋"]);
    }

    /// Presses keys, group by group, and looks after each.
    fn visit(&mut self, see: &mut dyn FnMut(&str, &Buffer), name: &str, groups: &[&str]) {
        for (place, keys) in groups.iter().enumerate() {
            self.keys(keys);
            let so_far = groups.get(..=place).unwrap_or_default().concat();
            see(&format!("{name} after {so_far}"), &self.frame());
        }
    }
}

/// Everything that a session's files say.
pub(crate) fn all_text(session: &Path) -> String {
    let logs = std::fs::read_dir(session.join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files = logs.chain([session.join("state.json")]);
    files.map(|file| std::fs::read_to_string(file).unwrap()).collect()
}

/// The rows of the card whose node is the selected one.
fn selected_card(text: &str) -> String {
    let rows = text.lines().skip_while(|row| !row.contains('◉'));
    let below = |row: &&str| row.trim_start().starts_with(['│', '┃']) || row.starts_with("     ");
    let mut rows = rows;
    let first = rows.next().unwrap_or_default().to_owned();
    rows.take_while(below).fold(first, |card, row| card + "\n" + row)
}

fn world(size: Size, ascii: bool) -> World {
    World {
        session: Default::default(),
        theme: Theme::built_in(true, Depth::True),
        keymap: Keymap::default(),
        options: ViewOptions {
            utc: true,
            animation: false,
            ascii,
            ..ViewOptions::default()
        },
        can: Abilities::default(),
        base: Context::Everywhere,
        here: Default::default(),
        exports: "/home/ada/work".into(),
        sort: Default::default(),
        sessions: None,
        running: Arc::default(),
        lab: fast_rlm::tui::live::LabDesk::default(),
        size,
        now: Duration::ZERO,
        wall: 1_800_000_000_000,
    }
}
