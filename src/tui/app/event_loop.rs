//! The loop: drain what came in, then draw, then wait. Nothing ticks: without news or a wanted frame it sleeps.

use super::TuiOptions;
use super::crew::Crew;
use super::errands;
use super::feed::{Feed, FeedId};
use super::inputs::{Incoming, Inputs, Sender};
use super::pace::Pace;
use super::startup::wall_clock;
use super::tasks::Tasks;
use super::work::Work;
use crate::source::{self, OpenOptions, Opened};
use crate::tui::action::Abilities;
use crate::tui::compositor::Wanted;
use crate::tui::ctx::{SessionList, World};
use crate::tui::driver::{Msg, Opening, State};
use crate::tui::effect::Effect;
use crate::tui::notice::Notice;
use crate::tui::screens::Route;
use crate::tui::term::{self, Ground, GroundListener, Heard, Signal, Signals, Terminal};
use crate::tui::theme::{Depth, Theme};
use crossterm::event::Event;
use ratatui::layout::Size;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Inputs taken before a frame is drawn, at most: a flood must not starve the screen.
const BATCH: usize = 512;

/// The terminal's answer about its ground counts for this long.
const GROUND_LIMIT: Duration = Duration::from_millis(200);

/// The exit code after the terminal went away, as for SIGHUP.
const GONE: u8 = 129;

/// The running program.
pub(super) struct App {
    state: State,
    terminal: Terminal,
    inputs: Inputs,
    pub(super) sender: Sender,
    tasks: Tasks,
    pub(super) crew: Crew,
    pub(super) feed: Option<Feed>,
    pace: Pace,
    /// Runs of sessions, this one's and those of others.
    pub(super) work: Work,
    /// Nothing may be written.
    read_only: bool,
    last_feed: FeedId,
    pub(super) open: OpenOptions,
    started: Instant,
    ground: GroundListener,
    /// The theme follows the terminal's ground.
    auto_theme: Option<Depth>,
    /// When the ground was asked for.
    asked: Instant,
    exit: Option<u8>,
}

impl App {
    pub(super) fn new(world: World, terminal: Terminal, crew: Crew, options: &TuiOptions) -> Self {
        let auto = matches!(options.theme.as_deref(), None | Some("auto"));
        let auto_theme = Some(world.theme.depth()).filter(|depth| auto && *depth != Depth::Mono);
        let (inputs, sender) = Inputs::new();
        Self {
            state: State::new(world, options.drive.clone()).telling(options.note.as_deref()),
            work: Work::new(options.drive.clone(), crew.clone(), sender.clone()),
            read_only: options.view.read_only,
            terminal,
            inputs,
            tasks: Tasks::new(crew.clone(), sender.clone()),
            crew,
            sender,
            feed: None,
            pace: Pace::default(),
            last_feed: FeedId::default(),
            open: options.open.clone(),
            started: Instant::now(),
            ground: GroundListener::default(),
            auto_theme,
            asked: Instant::now(),
            exit: None,
        }
    }

    /// Runs until it is quit. The first frame is drawn before anything else happens.
    pub(super) async fn run(mut self, opened: Opened) -> io::Result<u8> {
        let _signals = self.watch()?;
        self.opened(opened)?;
        self.draw()?;
        if self.auto_theme.is_some() {
            self.terminal.ask_ground()?;
            self.asked = Instant::now();
        }
        self.inputs.listen(true)?;
        while self.exit.is_none() {
            self.turn().await?;
        }
        if self.exit == Some(0) {
            self.work.wind_up();
        }
        Ok(self.exit.unwrap_or(0))
    }

    /// Signals and a hang-up arrive like everything else.
    fn watch(&self) -> io::Result<Signals> {
        let sender = self.sender.clone();
        term::watch_hangup(move || {
            let _ = sender.send(Incoming::Signal(Signal::HungUp));
        });
        let sender = self.sender.clone();
        Signals::catch(move |signal| {
            let _ = sender.send(Incoming::Signal(signal));
        })
    }

    /// Waits for something, takes all that is there, draws if it is time.
    async fn turn(&mut self) -> io::Result<()> {
        let now = self.started.elapsed();
        let mut next = self.inputs.next(self.state.frames().wait(now)).await;
        let mut taken = 0;
        while let Some(incoming) = next.take() {
            self.tell_time();
            self.take(incoming)?;
            taken += 1;
            if taken < BATCH && self.exit.is_none() {
                next = self.inputs.ready().await;
            }
        }
        self.tell_time();
        self.update(Msg::Time)?;
        let now = self.started.elapsed();
        if self.exit.is_none() && self.state.frames().is_due(now) {
            self.draw()?;
        }
        Ok(())
    }

    fn tell_time(&mut self) {
        self.state.set_time(self.started.elapsed(), wall_clock());
    }

    fn draw(&mut self) -> io::Result<()> {
        let now = self.started.elapsed();
        if self.pace.is_due(now) {
            let wanted = self.state.settle();
            self.perform(wanted)?;
            let settled = self.started.elapsed();
            self.pace.took(settled, settled.saturating_sub(now));
        } else if let Some(due) = self.pace.next() {
            // What this frame shows may not be all that is known.
            self.state.frames().want_at(due);
        }
        let mut frame = Terminal::blank(self.state.size());
        let cursor = self.state.draw(&mut frame);
        self.terminal.paint(&frame, cursor)?;
        if let Some(feed) = self.feed.as_ref().filter(|_| self.pace.next().is_none()) {
            feed.shown();
        }
        let now = self.started.elapsed();
        self.state.frames().drawn(now);
        Ok(())
    }

    pub(super) fn update(&mut self, msg: Msg) -> io::Result<()> {
        let wanted = self.state.update(msg);
        self.perform(wanted)
    }

    fn take(&mut self, incoming: Incoming) -> io::Result<()> {
        match incoming {
            Incoming::Terminal(event) => self.terminal_event(event),
            Incoming::NoTerminal => {
                self.exit = Some(GONE);
                Ok(())
            }
            Incoming::Msg(msg) => {
                if let Msg::Answer(layer, answer) = &msg
                    && answer.is_last()
                {
                    self.tasks.forget_finished(*layer, answer.token);
                }
                self.update(msg)
            }
            Incoming::Read(id, events) if self.is_fed_by(id) => {
                self.state.read(events);
                let due = self.pace.next().unwrap_or_default();
                self.state.frames().want_at(due);
                Ok(())
            }
            Incoming::AllRead(id) if self.is_fed_by(id) => {
                self.pace.end();
                self.state.frames().dirty();
                // Whoever opened it waits for its totals.
                self.state.frames().hurry();
                Ok(())
            }
            Incoming::Events(id, events) if self.is_fed_by(id) => self.update(Msg::Events(events)),
            Incoming::Read(..) | Incoming::AllRead(_) | Incoming::Events(..) => Ok(()),
            Incoming::Opened(result) => match *result {
                Ok(opened) => self.opened(opened),
                Err(error) => self.update(Msg::Notice(Notice::trouble(&error.to_string()))),
            },
            Incoming::Signal(signal) => self.signal(signal),
        }
    }

    /// What another session tells is late.
    fn is_fed_by(&self, id: FeedId) -> bool {
        self.feed.as_ref().is_some_and(|feed| feed.id() == id)
    }

    fn terminal_event(&mut self, event: Event) -> io::Result<()> {
        match self.ground.hear(event) {
            Heard::Part => Ok(()),
            Heard::Answer(ground) => self.adopt_ground(ground),
            Heard::Event(Event::Key(key)) => {
                #[cfg(debug_assertions)]
                super::provoke::panic_if_asked(key, &self.crew);
                self.update(Msg::Key(key))
            }
            Heard::Event(Event::Mouse(mouse)) => self.update(Msg::Mouse(mouse)),
            Heard::Event(Event::Paste(text)) => self.update(Msg::Paste(text)),
            Heard::Event(Event::Resize(width, height)) => {
                self.terminal.resized();
                self.update(Msg::Resize(Size { width, height }))
            }
            Heard::Event(Event::FocusGained) => self.update(Msg::Focus(true)),
            Heard::Event(Event::FocusLost) => self.update(Msg::Focus(false)),
        }
    }

    /// One repaint in the other theme, if the ground is light and the answer came in time.
    fn adopt_ground(&mut self, ground: Option<Ground>) -> io::Result<()> {
        let in_time = self.asked.elapsed() < GROUND_LIMIT;
        match (self.auto_theme.take(), ground) {
            (Some(depth), Some(Ground::Light)) if in_time => self.update(Msg::Theme(Theme::built_in(false, depth))),
            _ => Ok(()),
        }
    }

    fn signal(&mut self, signal: Signal) -> io::Result<()> {
        match signal {
            Signal::End(code) => {
                self.exit = Some(u8::try_from(code).unwrap_or(GONE));
                Ok(())
            }
            Signal::HungUp => {
                self.exit = Some(GONE);
                Ok(())
            }
            Signal::Stop => self.suspend(),
            Signal::Continued => {
                self.terminal.take_back()?;
                self.update(Msg::Resize(Terminal::size()))
            }
        }
    }

    fn perform(&mut self, wanted: Vec<Wanted>) -> io::Result<()> {
        for (layer, effect) in wanted {
            let source = self.feed.as_ref().map(Feed::source);
            match self.tasks.start(layer, effect, source, &self.state) {
                Some(Effect::Quit) => self.exit = Some(0),
                Some(Effect::Suspend) => self.suspend()?,
                Some(Effect::OpenTarget(path)) => self.open(path),
                Some(Effect::Errand(errand)) => self.errand(errand)?,
                Some(Effect::Edit { token, text, extension }) => self.edit_for(layer, token, &text, extension)?,
                Some(Effect::OpenExternally(focused)) => self.open_externally(&focused)?,
                _ => {}
            }
        }
        self.tasks.keep(|layer| self.state.has_layer(layer));
        Ok(())
    }

    /// Back to the shell until it continues us.
    fn suspend(&mut self) -> io::Result<()> {
        self.lend(term::stop_group)
    }

    /// Lends the terminal: nobody reads its events meanwhile, and everything is drawn anew afterwards.
    pub(super) fn lend<T>(&mut self, meanwhile: impl FnOnce() -> T) -> io::Result<T> {
        self.inputs.listen(false)?;
        let result = self.terminal.lend(meanwhile)?;
        self.inputs.listen(true)?;
        self.update(Msg::Resize(Terminal::size()))?;
        Ok(result)
    }

    /// Opens another session in the background; the present one stays until it is there.
    fn open(&mut self, path: PathBuf) {
        let (sender, options) = (self.sender.clone(), self.open.clone());
        self.crew.take(move || {
            let _ = sender.send(Incoming::Opened(Box::new(source::open(&path, &options))));
        });
    }

    /// Shows what was opened, and reads on in the background.
    fn opened(&mut self, opened: Opened) -> io::Result<()> {
        self.tasks.stop_all();
        self.feed = None;
        let suspend = term::has_job_control();
        let opening = match opened {
            Opened::Session { events, source } => {
                let desk = Some(errands::desk_of(&source, self.read_only));
                let feed = Feed::start(self.last_feed, source, self.sender.clone())?;
                self.last_feed = feed.id();
                self.feed = Some(feed);
                self.pace.begin(self.started.elapsed());
                Opening {
                    route: Route::Overview,
                    can: Abilities {
                        session: true,
                        ask: true,
                        lab: cfg!(feature = "engine"),
                        resume: cfg!(feature = "engine"),
                        suspend,
                        ..Abilities::default()
                    },
                    sessions: None,
                    events,
                    desk,
                }
            }
            Opened::Picker { dir, sessions } => {
                self.pace.end();
                self.open.tree = Some(dir.clone());
                Opening {
                    route: Route::Picker,
                    can: Abilities {
                        suspend,
                        ..Abilities::default()
                    },
                    sessions: Some(SessionList {
                        dir,
                        found: sessions.into(),
                    }),
                    events: Vec::new(),
                    desk: None,
                }
            }
        };
        self.update(Msg::Opened(opening))
    }
}
