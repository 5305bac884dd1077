//! The program without a terminal: its state, and its effects answered at once from the session's files.

use super::Error;
use super::scenes::Scene;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use fast_rlm::model::{BodyRef, Session};
use fast_rlm::source::{self, OpenOptions, Opened, SearchPattern, Source, Stop};
use fast_rlm::store::StoreRows;
use fast_rlm::text::SafeText;
use fast_rlm::tui::action::{Abilities, Context};
use fast_rlm::tui::body::Body;
use fast_rlm::tui::compositor::Wanted;
use fast_rlm::tui::content::highlight;
use fast_rlm::tui::ctx::{SessionList, ViewOptions, World};
use fast_rlm::tui::driver::{Msg, Opening, State};
use fast_rlm::tui::effect::{Effect, Token};
use fast_rlm::tui::input::{Answer, Reply};
use fast_rlm::tui::keymap::Keymap;
use fast_rlm::tui::live::{Desk, DriveOptions};
use fast_rlm::tui::screens::{QueryKey, Route, Sides};
use fast_rlm::tui::theme::Theme;
use fast_rlm::tui::widgets::prompt::Settings;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const DEMO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo");
/// A quarter of an hour after the demo's last run: 2026-03-15T08:00:00Z.
const WALL: i64 = 1_773_561_600_000;
/// Long after any animation.
const NOW: Duration = Duration::from_secs(60);

/// A program in the middle of a scene.
pub(crate) struct Stage {
    state: State,
    source: Option<Source>,
    size: Size,
    /// Sessions that were copied for the scene.
    _copies: Option<tempfile::TempDir>,
}

impl Stage {
    /// Opens what the scene shows, read to its end.
    pub(crate) fn open(scene: &Scene, theme: Theme) -> Result<Self, Error> {
        let copies = match scene {
            Scene { several: true, .. } => Some(copies()?),
            Scene { log: true, .. } => Some(with_log()?),
            _ => None,
        };
        let target = match &copies {
            Some(dir) if scene.log => dir.path().join("demo"),
            // From there its path is short, and the same every time.
            Some(dir) => {
                std::env::set_current_dir(dir.path())?;
                PathBuf::from("sessions")
            }
            None => PathBuf::from(DEMO),
        };
        let size = Size::new(scene.size.0, scene.size.1);
        let options = OpenOptions {
            use_cache: false,
            ..OpenOptions::default()
        };
        let mut stage = Self {
            state: State::new(world(size, theme), Arc::new(offline())),
            source: None,
            size,
            _copies: copies,
        };
        stage.state.set_time(NOW, WALL);
        let opening = stage.opening(source::open(&target, &options)?);
        stage.tell(Msg::Opened(opening));
        Ok(stage)
    }

    fn opening(&mut self, opened: Opened) -> Opening {
        match opened {
            Opened::Session { mut events, source } => {
                source.scan(&Stop::default(), &mut |more| events.extend(more));
                let desk = Some(Desk {
                    dir: source.dir().to_owned(),
                    opened: source.dir().to_owned(),
                    closed: None,
                });
                self.source = Some(source);
                Opening {
                    desk,
                    route: Route::Overview,
                    can: Abilities {
                        session: true,
                        ask: true,
                        lab: true,
                        ..Abilities::default()
                    },
                    sessions: None,
                    events,
                }
            }
            Opened::Picker { dir, sessions } => Opening {
                desk: None,
                route: Route::Picker,
                can: Abilities::default(),
                sessions: Some(SessionList {
                    dir,
                    found: sessions.into(),
                }),
                events: Vec::new(),
            },
        }
    }

    /// Presses a key, by its name or character.
    pub(crate) fn press(&mut self, key: &str) -> Result<(), Error> {
        let code = match key {
            "enter" => KeyCode::Enter,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "right" => KeyCode::Right,
            one => KeyCode::Char(one.chars().next().ok_or("an empty key")?),
        };
        self.tell(Msg::Key(KeyEvent::new(code, KeyModifiers::NONE)));
        Ok(())
    }

    /// What is on the screen.
    pub(crate) fn frame(&mut self) -> Result<Buffer, Error> {
        let wanted = self.state.settle();
        self.perform(wanted);
        // The second drawing knows what the first one measured, and asked for.
        let mut frame = Buffer::empty(Rect::new(0, 0, self.size.width, self.size.height));
        self.state.draw(&mut frame);
        self.tell(Msg::Time);
        self.state.draw(&mut frame);
        Ok(frame)
    }

    fn tell(&mut self, msg: Msg) {
        let wanted = self.state.update(msg);
        self.perform(wanted);
        let wanted = self.state.settle();
        self.perform(wanted);
    }

    /// Answers effects, and those that the answers lead to.
    fn perform(&mut self, mut wanted: Vec<Wanted>) {
        while let Some((layer, effect)) = wanted.pop() {
            for answer in self.answers(effect) {
                wanted.extend(self.state.update(Msg::Answer(layer, answer)));
            }
        }
    }

    fn answers(&self, effect: Effect) -> Vec<Answer> {
        let answer = |token: Token, result| vec![Answer { token, result }];
        match effect {
            Effect::LoadBody { token, at, twin } => {
                answer(token, self.body(at, twin).map(|body| Reply::Body(Arc::new(body))))
            }
            Effect::Highlight { token, language, text } => {
                let found = highlight::highlight(language, &text, &Stop::default());
                found.map_or_else(Vec::new, |found| answer(token, Ok(Reply::Highlights(Arc::new(found)))))
            }
            Effect::Search { token, pattern } => {
                let hits = self.search(&pattern);
                answer(token, Ok(Reply::Hits { hits, done: true }))
            }
            Effect::Compare {
                token,
                sides: Sides::Runs(left, right),
            } => answer(token, self.compared(left, right)),
            Effect::LoadForkPoint { token, run_id, step } => answer(token, self.fork_point(&run_id, step)),
            Effect::LoadNames { token, run_id } => answer(token, self.names(&run_id)),
            Effect::Work { token, work } => answer(token, Ok(Reply::Worked((work.run)(&Stop::default())))),
            _ => Vec::new(),
        }
    }

    fn body(&self, at: BodyRef, twin: Option<BodyRef>) -> Result<Body, SafeText> {
        let source = self.source.as_ref().ok_or(SafeText::literal("no session"))?;
        let read = |at| source.body(at).map(Body::from);
        let mut body = read(at).map_err(|error| SafeText::line(&error.to_string()))?;
        if let Some(Ok(other)) = twin.map(read) {
            body.complete_from(other);
        }
        Ok(body)
    }

    fn compared(&self, left: QueryKey, right: QueryKey) -> Result<Reply, SafeText> {
        let source = self.source.as_ref().ok_or(SafeText::literal("no session"))?;
        let session = self.state.session();
        let runs = left.find(session).zip(right.find(session));
        let (left, right) = runs.ok_or(SafeText::literal("no such run"))?;
        let compared = source.compare_runs(left, right, &Stop::default());
        Ok(Reply::Compared(Arc::new(compared)))
    }

    fn names(&self, run_id: &str) -> Result<Reply, SafeText> {
        let source = self.source.as_ref().ok_or(SafeText::literal("no session"))?;
        let names = source.names_after(run_id);
        names
            .map(|names| Reply::Names(Arc::new(names)))
            .map_err(|why| SafeText::line(&why))
    }

    fn fork_point(&self, run_id: &str, step: u64) -> Result<Reply, SafeText> {
        let source = self.source.as_ref().ok_or(SafeText::literal("no session"))?;
        let point = source.fork_point(run_id, step);
        point
            .map(|point| Reply::ForkPoint(Arc::new(point)))
            .map_err(|why| SafeText::line(&why))
    }

    fn search(&self, pattern: &str) -> Vec<source::Hit> {
        let mut found = Vec::new();
        if let (Some(source), Some(pattern)) = (&self.source, SearchPattern::new(pattern)) {
            source.search(&pattern, &Stop::default(), &mut |hits| found.extend(hits));
        }
        found
    }
}

/// Follow-ups are answered by the demo's own script.
fn offline() -> DriveOptions {
    DriveOptions {
        settings: Settings {
            model: Some("scripted:demo".into()),
            ..Settings::default()
        },
        ..DriveOptions::default()
    }
}

fn world(size: Size, theme: Theme) -> World {
    World {
        session: Session::default(),
        theme,
        keymap: Keymap::default(),
        options: ViewOptions {
            utc: true,
            animation: false,
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
        now: NOW,
        wall: WALL,
    }
}

/// Three sessions in one directory.
fn copies() -> Result<tempfile::TempDir, Error> {
    let dir = tempfile::tempdir()?;
    for (name, hours) in [
        ("tern-rock", 1),
        ("tern-rock-second-reading", 26),
        ("harbour-office", 200),
    ] {
        let to = dir.path().join("sessions").join(name);
        copy(&Path::new(DEMO).join("logs"), &to.join("logs"), hours)?;
        copy_file(&Path::new(DEMO).join("state.json"), &to.join("state.json"), hours)?;
    }
    Ok(dir)
}

/// The demo as `--demo` unpacks it: with its event log.
fn with_log() -> Result<tempfile::TempDir, Error> {
    let dir = tempfile::tempdir()?;
    let to = dir.path().join("demo");
    copy(&Path::new(DEMO).join("logs"), &to.join("logs"), 1)?;
    copy_file(&Path::new(DEMO).join("state.json"), &to.join("state.json"), 1)?;
    let rows = |name: &str| std::fs::read_to_string(Path::new(DEMO).join(name));
    let rows = StoreRows {
        events: rows("events.sql")?,
        flow: rows("flow.sql")?,
    };
    rows.write(&to)?;
    Ok(dir)
}

fn copy(from: &Path, to: &Path, hours: u64) -> Result<(), Error> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        copy_file(&entry.path(), &to.join(entry.file_name()), hours)?;
    }
    Ok(())
}

/// The copy was written some hours ago on the picture's clock, so that the picture is the same every time.
fn copy_file(from: &Path, to: &Path, hours: u64) -> Result<(), Error> {
    std::fs::copy(from, to)?;
    let written =
        std::time::UNIX_EPOCH + Duration::from_millis(WALL.unsigned_abs()) - Duration::from_secs(hours * 3600);
    std::fs::File::options().write(true).open(to)?.set_modified(written)?;
    Ok(())
}
