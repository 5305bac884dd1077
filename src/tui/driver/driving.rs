//! Driving the sessions: what is said in the box, news of runs, and what comes of both. The box on the screen is `ask_box`'s.

use super::State;
use crate::model::{Event, Label, LiveEvent, Outcome, Query};
use crate::text::{SafeText, money};
use crate::tui::action::Action;
use crate::tui::compositor::{LayerId, Wanted};
use crate::tui::effect::Effect;
use crate::tui::effect::Token;
use crate::tui::input::Input;
use crate::tui::live::{Desk, Drive, Errand, Found, In, Out, Told};
use crate::tui::notice::Notice;
use crate::tui::screens::Route;
use crate::tui::widgets::prompt::{Question, Reaction, Said, Settings};
use std::path::Path;
use std::time::Duration;

/// While a run goes on, its clock moves so often.
const SECOND: Duration = Duration::from_secs(1);

/// What is said where there is nothing to resume.
const NOT_CUT: &str = "nothing to resume: only the last run can be, when it was interrupted";
/// What is said of a query that rests for another reason.
const WAITS: &str = "it waits for an answer: give it in the box, and the run goes on";

/// Who pressed a key within this time is busy.
const BUSY: Duration = Duration::from_secs(2);

/// Effects of the box and of machines are nobody's layer: their answers go to the box.
const NOBODY: fn() -> LayerId = LayerId::default;

pub(super) fn errand(errand: Errand) -> Wanted {
    (NOBODY(), Effect::Errand(errand))
}

impl State {
    /// Another session is shown, or none: what of its run is not on disk comes back to the model.
    pub(super) fn sit_down(&mut self, desk: Option<&Desk>, session: &mut crate::model::Session) -> Vec<Wanted> {
        let live = self.drives.show(desk, &mut self.world.session);
        if let Some(live) = live {
            session.apply(Event::Live(crate::model::LiveEvent::Back(Box::new(live))));
        }
        self.note_running();
        desk.map(|desk| errand(Errand::Look { dir: desk.dir.clone() }))
            .into_iter()
            .collect()
    }

    /// What the box wants, and what was said in it.
    pub(super) fn react(&mut self, reaction: Reaction) -> Vec<Wanted> {
        let effects = reaction.outcome.effects.into_iter();
        let mut wanted: Vec<Wanted> = effects.map(|effect| (NOBODY(), effect)).collect();
        for said in reaction.said {
            wanted.extend(self.said(said));
        }
        self.frames.dirty();
        wanted
    }

    fn said(&mut self, said: Said) -> Vec<Wanted> {
        match said {
            Said::Send(request) => {
                self.tell_of_cut();
                self.drive_here(|settings| In::Send(request, settings))
            }
            Said::Answer { id, text } => self.drive_here(|settings| In::Answer { id, text, settings }),
            Said::Editor(text) => vec![errand(Errand::Edit(text))],
            Said::Leave | Said::Focus | Said::Settings(_) => Vec::new(),
        }
    }

    /// What was written in an editor.
    pub(super) fn edited(&mut self, text: Result<String, SafeText>) -> Vec<Wanted> {
        let ctx = self.world.ctx();
        let reaction = self.drives.current_mut().map(|drive| drive.prompt.edited(text, &ctx));
        reaction.map_or_else(Vec::new, |reaction| self.react(reaction))
    }

    /// An event for the machine of the session that is shown.
    fn drive_here(&mut self, event: impl FnOnce(Settings) -> In) -> Vec<Wanted> {
        let Some(dir) = self.drives.dir().map(Path::to_owned) else {
            return Vec::new();
        };
        let settings = self.drives.current().map(|drive| drive.prompt.settings().clone());
        let event = event(settings.unwrap_or_default());
        self.drive(&dir, event)
    }

    /// An event for the machine of a session.
    fn drive(&mut self, dir: &Path, event: In) -> Vec<Wanted> {
        let (now, wall) = (self.world.now, self.world.wall);
        let out = self.drives.of_mut(dir).map(|drive| drive.take(event, now, wall));
        let mut wanted = Vec::new();
        for out in out.into_iter().flatten() {
            wanted.extend(self.carry(dir, out));
        }
        self.note_running();
        self.tick();
        wanted
    }

    /// News of a run.
    pub(super) fn told(&mut self, dir: &Path, token: Token, told: Told) -> Vec<Wanted> {
        self.drive(dir, In::Told(token, told))
    }

    /// What was found in a session that was opened.
    pub(super) fn found(&mut self, dir: &Path, found: Found) -> Vec<Wanted> {
        let options = self.drives.options().clone();
        if self.drives.dir() == Some(dir) {
            self.world.can.foreign = found.foreign;
            self.frames.dirty();
        }
        if let Some(drive) = self.drives.of_mut(dir) {
            drive.take_found(&found, &options);
        }
        self.drive(dir, In::Found(found))
    }

    fn carry(&mut self, dir: &Path, out: Out) -> Vec<Wanted> {
        let shown = self.drives.dir() == Some(dir);
        let dir = dir.to_owned();
        let errand_of = |e: Errand| vec![errand(e)];
        match out {
            Out::Start(order) => errand_of(Errand::Start { dir, order }),
            Out::Cancel(token) => errand_of(Errand::Cancel { dir, token }),
            Out::Answer { token, id, text } => errand_of(Errand::Answer { dir, token, id, text }),
            Out::Allow(token, nano) => errand_of(Errand::Allow { dir, token, nano }),
            Out::Look => errand_of(Errand::Look { dir }),
            Out::Nudge if shown => errand_of(Errand::Nudge),
            Out::Nudge => Vec::new(),
            Out::Live(event) if shown => {
                let event = self.without_secrets(event);
                self.world.session.apply(Event::Live(event));
                self.unsettled = true;
                self.frames.dirty();
                Vec::new()
            }
            Out::Live(event) => {
                let event = self.without_secrets(event);
                self.with(&dir, |drive| drive.note_away(event))
            }
            Out::Say(notice) => self.say_of(&dir, shown, notice),
            Out::Ask(question) => self.put_question(&dir, shown, question),
            Out::Withdraw => self.with(&dir, |drive| drive.prompt.withdraw()),
            Out::Overtake(why) => self.with(&dir, |drive| drive.prompt.overtake(SafeText::literal(why))),
            Out::Refuse(why) => self.with(&dir, |drive| drive.prompt.refused(SafeText::line(&why))),
            Out::Limit(nano) => self.with(&dir, |drive| {
                let settings = Settings {
                    max_money_nano: nano,
                    ..drive.prompt.settings().clone()
                };
                drive.prompt.set_settings(settings);
            }),
            Out::Ended { long, words } => self.ended(&dir, long, &words),
        }
    }

    /// Until its query has begun, the card of a run shows what was typed, which may hold a key.
    fn without_secrets(&self, event: LiveEvent) -> LiveEvent {
        match event {
            LiveEvent::Began { query, time, resumes } => LiveEvent::Began {
                query: self.drives.options().secrets.redact(&query).into_owned(),
                time,
                resumes,
            },
            event => event,
        }
    }

    /// The box turns into the answer field. It takes the keys only from who writes in it or does nothing: what is
    /// pressed while reading must not become an answer.
    fn put_question(&mut self, dir: &Path, shown: bool, question: Question) -> Vec<Wanted> {
        let now = self.world.now;
        let busy = self.last_key.is_some_and(|last| now < last + BUSY) && !self.box_types();
        let ctx = self.world.ctx();
        let again = self.drives.of_mut(dir).is_some_and(|drive| {
            let again = drive.prompt.asked().is_some_and(|asked| asked.id == question.id);
            drive.prompt.ask(question, &ctx);
            if shown && !busy {
                drive.prompt.focus(true);
            }
            again
        });
        self.frames.dirty();
        if again || (shown && !busy) {
            return Vec::new();
        }
        let words = format!("the run asks: {} answers", self.world.ctx().key(Action::Ask));
        self.say_of(dir, shown, Notice::info(&words))
    }

    fn with(&mut self, dir: &Path, change: impl FnOnce(&mut Drive)) -> Vec<Wanted> {
        if let Some(drive) = self.drives.of_mut(dir) {
            change(drive);
        }
        self.frames.dirty();
        Vec::new()
    }

    /// Of another session than the one that is shown, with its name.
    fn say_of(&mut self, dir: &Path, shown: bool, notice: Notice) -> Vec<Wanted> {
        let name = self
            .drives
            .of_mut(dir)
            .map(|drive| drive.name.clone())
            .filter(|_| !shown);
        let text = name.map(|name| SafeText::line(&format!("{name}: {}", notice.text)));
        self.say(Notice {
            text: text.unwrap_or_else(|| notice.text.clone()),
            ..notice
        });
        Vec::new()
    }

    fn ended(&mut self, dir: &Path, long: bool, words: &str) -> Vec<Wanted> {
        let name = self
            .drives
            .of_mut(dir)
            .map(|drive| drive.name.clone())
            .unwrap_or_default();
        // A session of another program may have been looked at in vain before: its log is there now.
        let looked = Errand::Look { dir: dir.to_owned() };
        let mut wanted = vec![errand(looked)];
        if long && self.unfocused {
            wanted.push(errand(Errand::Alert(format!("{name}: {words}"))));
        }
        wanted
    }

    /// Screens are told in which sessions a run goes on.
    pub(super) fn note_running(&mut self) {
        let mut running = self.drives.running_as_opened();
        running.extend(self.forked_dir());
        self.world.running = running.into();
    }

    /// The next second of the runs that go on.
    pub(super) fn tick(&mut self) {
        if self.any_running() && self.next_tick.is_none() {
            let at = self.world.now + SECOND;
            self.next_tick = Some(at);
            self.frames.want_at(at);
        }
    }

    /// A moment has come: the clocks of runs move.
    pub(super) fn ticked(&mut self) -> Vec<Wanted> {
        let mut wanted = self.tell_box(&Input::Frame);
        if self.next_tick.take_if(|at| *at <= self.world.now).is_none() {
            return wanted;
        }
        for dir in self.drives.running() {
            wanted.extend(self.drive(&dir, In::Tick));
        }
        if self.fork_runs() {
            self.frames.dirty();
        }
        self.tick();
        wanted
    }

    /// Tells the box how things stand, after whatever happened.
    pub(super) fn restand(&mut self) -> Vec<Wanted> {
        self.note_lab();
        let options = self.drives.options().clone();
        let ctx = self.world.ctx();
        let Some(drive) = self.drives.current_mut() else {
            return Vec::new();
        };
        let was_held = drive.was_held();
        let reaction = drive.restand(&options, &ctx);
        let let_go = was_held && !drive.was_held();
        let mut wanted = reaction.map_or_else(Vec::new, |reaction| self.react(reaction));
        if let Some(dir) = self.drives.dir().filter(|_| let_go) {
            // Whoever had it may have left a question.
            wanted.push(errand(Errand::Look { dir: dir.to_owned() }));
        }
        wanted
    }

    /// The box gets the focus, on a screen that has one.
    pub(super) fn ask(&mut self) -> Vec<Wanted> {
        let Some(drive) = self.drives.current() else {
            return Vec::new();
        };
        if !drive.prompt.can_focus() {
            let why = drive.why_closed().unwrap_or("nothing can be asked here").to_owned();
            self.say(Notice::trouble(&why));
            return Vec::new();
        }
        let wanted = match self.shown_box() {
            Some(_) => Vec::new(),
            None => self.go_to(Route::Overview),
        };
        if let Some(drive) = self.drives.current_mut() {
            drive.prompt.focus(true);
        }
        self.warn_of_cut();
        self.frames.dirty();
        wanted
    }

    /// A query that is about to be asked takes from the one before it that it can be resumed: said while there is time.
    fn warn_of_cut(&mut self) {
        if let Some(label) = self.resumable() {
            let key = self.world.ctx().key(Action::Resume);
            let words = format!("{label} was interrupted: {key} (outside of the box) resumes it, until you ask");
            self.say(Notice::info(&words));
        }
    }

    /// It was asked: said once more, as on the command line.
    fn tell_of_cut(&mut self) {
        if let Some(label) = self.resumable() {
            let words = format!("{label} was interrupted: it stays in the list, and can no longer be resumed");
            self.say(Notice::info(&words));
        }
    }

    /// The query that can go on.
    fn resumable(&self) -> Option<Label> {
        let cut = self.world.session.cut().filter(|_| !self.world.can.foreign);
        cut.map(|query| query.label)
    }

    /// Twice as much may be spent; a query that a limit stopped is asked again with twice the limit.
    pub(super) fn raise(&mut self) -> Vec<Wanted> {
        let can_go_on = self.drives.current().is_some_and(|drive| drive.machine.can_raise());
        if let Some(words) = self.met_limit().filter(|_| !can_go_on) {
            self.say(Notice::info(&words));
            return Vec::new();
        }
        self.drive_here(In::Raise)
    }

    /// Of a run that a limit stopped some time ago, the one on screen or the last one: which, and what can be done. Its
    /// process is gone, and with it what the query was asked with.
    fn met_limit(&self) -> Option<String> {
        let session = &self.world.session;
        let shown = self.stack.base().and_then(|screen| screen.run());
        let met = |query: &&Query| matches!(query.outcome, Outcome::Limit(_));
        let shown = shown.and_then(|key| key.find(session)).filter(met);
        let query = shown.or_else(|| session.queries.iter().rev().find(met))?;
        let Outcome::Limit(limit) = &query.outcome else {
            return None;
        };
        let raise = match limit.as_str() {
            "max_money_spent" => return Some(self.met_money(query.label)),
            "max_calls_per_subagent" => "raise it (fast-rlm --max-calls N)",
            "max_global_calls" => "raise it (fast-rlm --max-global-calls N)",
            _ => "raise it (configuration)",
        };
        Some(format!("{} met {limit}: {raise} and ask again", query.label))
    }

    /// What it might spend is not known any more: what it may when it is asked again is.
    fn met_money(&self, label: Label) -> String {
        let settings = self
            .drives
            .current()
            .map(|drive| drive.prompt.settings().max_money_nano);
        let allowed = money(settings.unwrap_or_default().into());
        let key = self.world.ctx().key(Action::Settings);
        format!("{label} met max_money_spent: asked again it may spend {allowed} ({key} in the box changes that)")
    }

    /// The query that a crash cut goes on.
    pub(super) fn resume(&mut self) -> Vec<Wanted> {
        let why = self
            .drives
            .current()
            .and_then(|drive| drive.why_closed().map(str::to_owned));
        let last = self.world.session.queries.last();
        let cut = self.world.session.cut().is_some();
        let waits = last.is_some_and(|query| matches!(query.outcome, Outcome::Parked(_)));
        let rests = || if waits { WAITS } else { NOT_CUT }.to_owned();
        if let Some(why) = why.or_else(|| (!cut).then(rests)) {
            self.say(Notice::trouble(&why));
            return Vec::new();
        }
        self.say(Notice::info("it goes on: finished steps are not run again"));
        self.drive_here(In::Resume)
    }

    /// Stops the run of the session that is shown; `None` when there is none.
    pub(super) fn cancel_run(&mut self) -> Option<Vec<Wanted>> {
        let running = self.drives.current().is_some_and(|drive| drive.machine.is_running());
        running.then(|| self.drive_here(|_| In::Cancel))
    }
}
