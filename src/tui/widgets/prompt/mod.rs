//! The input box: where a question is written, its settings are chosen, and a run's questions are answered.
//!
//! Pure: an [`Input`] in, a [`Reaction`] out. What is to be done with a question, an answer or a setting is the
//! caller's; reading and writing files (kept drafts, paths to attach, the configuration) happens in the effects of a
//! reaction. It knows nothing of the engine.
//!
//! A query has one file at most: the engine takes one file as the context, and the text as what is to be done with
//! it. To attach a second one is refused, so that nobody believes that the model sees both.

mod at_path;
mod burst;
mod chip;
mod complete;
mod content;
mod dialog;
mod draw;
mod editor;
mod field;
mod history;
mod keeping;
mod keys;
mod layout;
mod letters;
mod over;
mod plan;
mod question;
mod recall;
mod resolve;
mod settings;
mod standing;
#[cfg(test)]
mod tests;
mod text_box;
mod undo;
mod wording;
mod write;

pub use field::Keyed;
pub use question::Question;
pub use settings::Settings;
pub use standing::Standing;
pub use text_box::TextBox;

use self::content::Content;
use self::field::Field;
use self::history::History;
use self::keeping::{Keeping, Loaded, Saved, put_together};
use self::over::Over;
use self::question::Asked;
use self::resolve::Resolving;
use crate::source::drafts;
use crate::text::SafeText;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome, Token};
use crate::tui::input::{Answer, Input, Reply};
use crate::tui::notice::Notice;
use ratatui::layout::{Position, Rect};
use std::path::PathBuf;

/// Where things lie that the box has to do with.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The session's directory: drafts are kept for it. `None` keeps none.
    pub session: Option<PathBuf>,
    /// The configuration file in which settings are saved; `None` for the usual one.
    pub config: Option<PathBuf>,
    /// The user's home directory: `~/` in an `@path`.
    pub user: Option<PathBuf>,
}

/// A question as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its text, whole and raw: pastes are in it, an attached file is spoken of by its name.
    pub text: String,
    /// The file that is the query's context; the text is then what to do with it.
    pub file: Option<PathBuf>,
}

/// What a person said by the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// This is to be asked. The box is empty now; [`InputBox::refused`] gives the text back.
    Send(Request),
    /// The answer to a question.
    Answer {
        /// The question's.
        id: u64,
        /// The answer: one of the options, unless others are taken.
        text: String,
    },
    /// The box was left; it has lost the focus already.
    Leave,
    /// The box was clicked; it has the focus already.
    Focus,
    /// This text is to be edited in a person's own editor and given to [`InputBox::edited`]. Raw.
    Editor(String),
    /// Settings were changed: for the next query.
    Settings(Settings),
}

/// What came of an input.
#[derive(Debug, Default)]
pub struct Reaction {
    /// Whether it was taken, and effects to be done as those of a screen.
    pub outcome: Outcome,
    /// What was said by it.
    pub said: Vec<Said>,
}

impl Reaction {
    fn ignored() -> Self {
        Self::default()
    }

    fn taken() -> Self {
        Outcome::consumed().into()
    }

    fn says(said: Said) -> Self {
        let mut reaction = Self::taken();
        reaction.said.push(said);
        reaction
    }

    fn trouble(why: &str) -> Self {
        Outcome::with(Effect::Notice(Notice::trouble(why))).into()
    }

    fn effect(mut self, effect: impl IntoIterator<Item = Effect>) -> Self {
        self.outcome.effects.extend(effect);
        self
    }
}

impl From<Outcome> for Reaction {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            said: Vec::new(),
        }
    }
}

/// The box of one session.
#[derive(Clone, Debug)]
pub struct InputBox {
    home: Home,
    draft: Field,
    /// What was sent last, for when it is refused.
    sent: Content,
    /// A draft that is about to be sent.
    resolving: Option<Resolving>,
    /// Why it was refused; until something is written.
    refusal: Option<SafeText>,
    history: History,
    settings: Settings,
    /// Questions that may be asked, and which one Tab writes next.
    suggestions: (Vec<String>, usize),
    standing: Standing,
    asked: Option<Asked>,
    /// A question was gone before it was answered: `Enter` says so once before it sends.
    overtaken: bool,
    over: Over,
    focused: bool,
    keeping: Keeping,
    token: Token,
    cursor: Option<Position>,
    /// Where it was drawn, for the mouse.
    area: Rect,
    over_area: Rect,
}

impl InputBox {
    /// The box of a session, empty.
    pub fn new(home: Home) -> Self {
        Self {
            keeping: Keeping::new(home.session.clone()),
            home,
            draft: Field::default(),
            sent: Content::default(),
            resolving: None,
            refusal: None,
            history: History::default(),
            settings: Settings::default(),
            suggestions: (Vec::new(), 0),
            standing: Standing::default(),
            asked: None,
            overtaken: false,
            over: Over::None,
            focused: false,
            // Screens count their own tokens from 1: these never meet them.
            token: Token(1 << 63),
            cursor: None,
            area: Rect::default(),
            over_area: Rect::default(),
        }
    }

    /// Says how things stand.
    pub fn stand(&mut self, standing: Standing, ctx: &Ctx<'_>) -> Reaction {
        self.standing = standing;
        if !self.can_focus() {
            self.focus(false);
        }
        Reaction::ignored().effect(self.standing.next_change(ctx.now).map(Effect::FrameAt))
    }

    /// How things stand, as last said.
    pub fn standing(&self) -> &Standing {
        &self.standing
    }

    /// Whether one can type into it at all.
    pub fn can_focus(&self) -> bool {
        self.standing.is_open() || self.asked.is_some()
    }

    /// Whether it has the focus: keys are looked up in [`Context::Box`](crate::tui::action::Context) then.
    pub fn is_focused(&self) -> bool {
        self.focused
    }

    /// Gives it the focus, or takes it away.
    pub fn focus(&mut self, focused: bool) {
        self.focused = focused && self.can_focus();
        if !self.focused {
            self.over = Over::None;
            self.overtaken = false;
            self.draft.flush();
        }
    }

    /// What the next query is run with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Says what the next query is run with.
    pub fn set_settings(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Questions to offer while nothing is written: Tab writes the first one, then the next. Raw.
    pub fn suggest(&mut self, questions: Vec<String>) {
        self.suggestions = (questions, 0);
    }

    /// A run asks something: the box becomes the answer's. The draft waits beneath it.
    pub fn ask(&mut self, question: Question, ctx: &Ctx<'_>) {
        let same = self
            .asked
            .as_ref()
            .is_some_and(|asked| asked.question().id == question.id);
        if !same {
            self.over = Over::None;
            self.draft.flush();
            self.asked = Some(Asked::new(question, ctx.now));
        }
    }

    /// The question that waits for an answer.
    pub fn asked(&self) -> Option<&Question> {
        self.asked.as_ref().map(Asked::question)
    }

    /// The question is settled by what a person did here.
    pub fn withdraw(&mut self) {
        self.asked = None;
    }

    /// The question is settled in another way: what is still typed as its answer must not become a query.
    pub fn overtake(&mut self, why: SafeText) {
        if self.asked.take().is_some() && self.focused {
            self.overtaken = true;
            self.refusal = Some(why);
        }
    }

    /// What was sent could not be asked: it is the draft again, if nothing else was written meanwhile.
    pub fn refused(&mut self, why: SafeText) {
        if self.draft.content().is_empty() {
            let sent = std::mem::take(&mut self.sent);
            self.draft.editor().replace_all(sent);
        }
        self.refusal = Some(why);
    }

    /// The cell of the caret, as last drawn.
    pub fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    /// Takes an input. Actions, keys and pastes count only while it has the focus.
    pub fn update(&mut self, input: &Input<'_>, ctx: &Ctx<'_>) -> Reaction {
        let before = self.draft.revision();
        let reaction = match input {
            Input::Opened => self.opened(ctx),
            Input::ModelChanged => self.model_changed(ctx),
            Input::Frame => self.frame(ctx),
            Input::Answer(answer) => self.answered(answer, ctx),
            Input::Mouse(mouse) => self.touch(*mouse, ctx),
            Input::Action(action) if self.focused => self.act(*action, ctx),
            Input::Key(key) if self.focused => self.key(*key, ctx),
            Input::Paste(text) if self.focused => self.paste(text, ctx),
            _ => Reaction::ignored(),
        };
        if before == self.draft.revision() {
            return reaction;
        }
        self.refusal = None;
        let burst = self.draft.burst_over_at().map(Effect::FrameAt);
        let due = self.keeping.touch(ctx.now);
        reaction.effect(burst).effect(due)
    }

    fn next_token(&mut self) -> Token {
        self.token.next()
    }

    fn opened(&mut self, ctx: &Ctx<'_>) -> Reaction {
        let token = self.next_token();
        let load = self.keeping.load(token);
        self.model_changed(ctx).effect(load)
    }

    fn model_changed(&mut self, ctx: &Ctx<'_>) -> Reaction {
        let queries = ctx.session.queries.iter().map(|query| query.text.as_str());
        self.history.set_queries(queries);
        Reaction::ignored()
    }

    /// A moment has come: a burst is over, drafts are due, another second of the run has passed.
    fn frame(&mut self, ctx: &Ctx<'_>) -> Reaction {
        if self.draft.burst_over_at().is_some_and(|at| at <= ctx.now) {
            self.draft.flush();
        }
        let next = self.standing.next_change(ctx.now).map(Effect::FrameAt);
        Reaction::ignored().effect(next).effect(self.save(ctx))
    }

    fn save(&mut self, ctx: &Ctx<'_>) -> Option<Effect> {
        let Self {
            keeping,
            draft,
            history,
            token,
            ..
        } = self;
        keeping.save(ctx.now, draft.content(), history.earlier(), || token.next())
    }

    fn answered(&mut self, answer: &Answer, ctx: &Ctx<'_>) -> Reaction {
        let Ok(Reply::Worked(worked)) = &answer.result else {
            return Reaction::ignored();
        };
        if self.keeping.is_loaded(answer.token) {
            return match worked.downcast_ref::<Loaded>() {
                Some(Ok(kept)) => self.take_kept(kept, ctx),
                Some(Err(why)) => {
                    self.keeping.give_up();
                    Reaction::trouble(why.as_str())
                }
                None => Reaction::taken(),
            };
        }
        if self.keeping.is_saved(answer.token) {
            let failed = worked.downcast_ref::<Saved>().and_then(|saved| saved.as_ref().err());
            let told = failed.map(|why| Effect::Notice(Notice::trouble(why.as_str())));
            return Reaction::taken().effect(told).effect(self.save(ctx));
        }
        let resolved = self.resolved(answer.token, worked.as_ref(), ctx);
        resolved.unwrap_or_else(|| self.over_answered(answer.token, worked.as_ref()))
    }

    /// What was kept is there again. What was written since then is not overwritten: the kept draft is history then.
    fn take_kept(&mut self, kept: &drafts::Kept, ctx: &Ctx<'_>) -> Reaction {
        let draft = put_together(&kept.draft);
        self.history
            .set_earlier(kept.earlier.iter().map(put_together).collect());
        if draft.is_empty() {
            // Nothing to take.
        } else if self.draft.content().is_empty() {
            self.draft.editor().reset(draft);
        } else {
            self.history.remember(draft);
        }
        Reaction::taken().effect(self.save(ctx))
    }
}
