//! How things stand between a person and the session: whether something can be asked now, and what is going on.

use crate::text::{SafeText, seconds};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use std::time::Duration;

/// What can be done with the box now. All texts are raw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// A question can be asked.
    #[default]
    Ready,
    /// There is no box, for this reason: a single transcript, a read-only directory.
    Closed(String),
    /// One can write, but not send, for this reason: another process holds the session, no model is set.
    Blocked(String),
    /// A run is going on.
    Running {
        /// What it does: `step 3, the model writes`.
        what: String,
        /// When it began, on the clock of [`Ctx::now`].
        since: Duration,
    },
    /// It was cancelled, and winds up.
    Cancelling,
    /// The last run failed, for this reason.
    Failed(String),
}

impl Standing {
    /// One can type.
    pub(super) fn is_open(&self) -> bool {
        !matches!(self, Self::Closed(_))
    }

    /// Settings can change whether something can be sent: nothing goes on.
    pub(super) fn may_be_set(&self) -> bool {
        matches!(self, Self::Ready | Self::Failed(_) | Self::Blocked(_))
    }

    /// Why nothing can be sent now; `None` when it can.
    pub(super) fn refusal(&self) -> Option<String> {
        match self {
            Self::Ready | Self::Failed(_) => None,
            Self::Closed(why) | Self::Blocked(why) => Some(why.clone()),
            Self::Running { .. } => Some("a run is going on: the draft waits".into()),
            Self::Cancelling => Some("the run is being cancelled: the draft waits".into()),
        }
    }

    /// When what is shown of it changes by itself: the next second of a run.
    pub(super) fn next_change(&self, now: Duration) -> Option<Duration> {
        match self {
            Self::Running { since, .. } => {
                let elapsed = now.saturating_sub(*since).as_secs();
                Some(*since + Duration::from_secs(elapsed + 1))
            }
            _ => None,
        }
    }

    /// Why something cannot be done, or failed.
    pub(super) fn trouble(&self) -> Option<(SafeText, Role)> {
        match self {
            Self::Closed(why) => Some((SafeText::line(why), Role::Dim)),
            Self::Blocked(why) => Some((SafeText::line(why), Role::Warning)),
            Self::Failed(why) => Some((SafeText::line(&format!("failed: {why}")), Role::Failure)),
            _ => None,
        }
    }

    /// What goes on, and what ends it.
    pub(super) fn activity(&self, ctx: &Ctx<'_>) -> (Styled, Styled) {
        match self {
            Self::Running { what, since } => {
                let elapsed = seconds(ctx.now.saturating_sub(*since).as_secs());
                let text = format!("{} {what} {elapsed} ", ctx.glyphs().running);
                let key = SafeText::line(&ctx.key(Action::Interrupt));
                let ends =
                    Styled::of(key, ctx.style(Role::Key)).then(SafeText::literal(" cancels"), ctx.style(Role::Dim));
                (Styled::of(SafeText::line(&text), ctx.style(Role::Running)), ends)
            }
            Self::Cancelling => {
                let text = Styled::words("cancelling …", ctx.style(Role::Warning));
                (text, Styled::new())
            }
            _ => Default::default(),
        }
    }
}
