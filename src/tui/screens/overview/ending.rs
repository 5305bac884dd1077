//! How a query ended, in one line: its FINAL, or why there is none. Also used as the title of what a run gave.

use crate::model::{Final, FinalShape, Label, Link, Outcome, Query};
use crate::text::Glyphs;
use crate::tui::theme::Role;

/// What a node of the spine says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui::screens) enum Mark {
    /// Its transcript is there.
    Linked,
    /// Its transcript is missing.
    Missing,
    /// It failed.
    Failed,
    /// It is alive.
    Running,
}

impl Mark {
    /// The mark of a query.
    pub(in crate::tui::screens) fn of(query: &Query) -> Self {
        match (&query.outcome, query.label) {
            (Outcome::Running | Outcome::Parked(_), _) => Self::Running,
            (_, Label::Lost(_)) => Self::Failed,
            (Outcome::Error(_) | Outcome::Limit(_), _) => Self::Failed,
            _ if query.link.log().is_none() || matches!(query.link, Link::Taken(..)) => Self::Missing,
            _ => Self::Linked,
        }
    }

    /// Its glyph.
    pub(in crate::tui::screens) fn glyph(self, glyphs: &Glyphs) -> &'static str {
        match self {
            Self::Linked => glyphs.linked,
            Self::Missing => glyphs.missing,
            Self::Failed => glyphs.failed,
            Self::Running => glyphs.running,
        }
    }

    /// Its colour.
    pub(in crate::tui::screens) fn role(self) -> Role {
        match self {
            Self::Linked => Role::Accent,
            Self::Missing => Role::Warning,
            Self::Failed => Role::Failure,
            Self::Running => Role::Running,
        }
    }
}

/// What of a run's state is worth a word beside its name; `""` for the usual.
pub(in crate::tui::screens) fn state_word(query: &Query) -> &'static str {
    match (&query.outcome, &query.link) {
        (Outcome::Running, _) => "running",
        (Outcome::Parked(_), _) => "waits for an answer",
        (Outcome::Interrupted, _) => "interrupted",
        (Outcome::Cancelled, _) => "cancelled",
        (Outcome::Error(_) | Outcome::Limit(_), _) => "failed",
        // How it ended is not known.
        (Outcome::Lost, _) => "no FINAL",
        (Outcome::Done, Link::Missing(_)) => "log missing",
        (Outcome::Done, Link::Unlinked) => "no log linked",
        (Outcome::Done, Link::Moved(_)) => "log moved",
        (Outcome::Done, Link::Taken(..)) => "log of another",
        (Outcome::Done, _) => "",
    }
}

/// A line about how a query ended. `text` is raw: it quotes data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui::screens) struct Ending<'a> {
    /// The program's own words before the data.
    pub(in crate::tui::screens) words: &'static str,
    /// The data; may be empty.
    pub(in crate::tui::screens) text: &'a str,
    /// Its colour.
    pub(in crate::tui::screens) role: Role,
}

impl<'a> Ending<'a> {
    /// Of what still works.
    pub(in crate::tui::screens) const NOT_YET: Ending<'static> = Ending::words("no FINAL yet", Role::Running);

    const fn words(words: &'static str, role: Role) -> Self {
        Self { words, text: "", role }
    }

    const fn text(words: &'static str, text: &'a str, role: Role) -> Self {
        Self { words, text, role }
    }

    /// The FINAL of a query, or why there is none.
    pub(in crate::tui::screens) fn of(query: &'a Query) -> Self {
        match &query.result {
            Final::Unset => Self::without_final(&query.outcome),
            result => Self::of_final(result),
        }
    }

    /// A FINAL value.
    pub(in crate::tui::screens) fn of_final(result: &'a Final) -> Self {
        match result {
            Final::Unset => Self::words("no FINAL", Role::Dim),
            Final::None => Self::words("None", Role::Dim),
            Final::Null => Self::words("null: None, or a value that its writer lost", Role::Dim),
            Final::Value { shape, text } if text.is_empty() && *shape == FinalShape::Text => {
                Self::words("an empty text", Role::Dim)
            }
            Final::Value { text, .. } => Self::text("", text, Role::Text),
        }
    }

    fn without_final(outcome: &'a Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::words("no FINAL was recorded", Role::Dim),
            Outcome::Running => Ending::NOT_YET,
            Outcome::Interrupted => Self::words("interrupted before FINAL", Role::Warning),
            Outcome::Parked(question) if question.is_empty() => Self::words("waits for an answer", Role::Warning),
            Outcome::Parked(question) => Self::text("waits for an answer: ", question, Role::Warning),
            Outcome::Error(error) => Self::text("error: ", error, Role::Failure),
            Outcome::Limit(limit) => Self::text("stopped by a limit: ", limit, Role::Failure),
            Outcome::Cancelled => Self::words("cancelled", Role::Warning),
            Outcome::Lost => Self::words("no FINAL, and no record of how it ended", Role::Failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_look_alike_are_told_apart() {
        let text = |text: &str| Final::Value {
            shape: FinalShape::Text,
            text: text.into(),
        };
        let words = [Final::Unset, Final::None, Final::Null, text("")].map(|result| Ending::of_final(&result).words);
        assert_eq!(
            words,
            [
                "no FINAL",
                "None",
                "null: None, or a value that its writer lost",
                "an empty text"
            ]
        );
        assert_eq!(Ending::of_final(&text("None")), Ending::text("", "None", Role::Text));
    }

    #[test]
    fn only_what_is_known_to_have_failed_is_called_so() {
        let mut query = crate::tui::screens::sample::world().session.queries.remove(0);
        let mut word = |outcome: Outcome| {
            query.outcome = outcome;
            state_word(&query)
        };
        assert_eq!(word(Outcome::Lost), "no FINAL");
        assert_eq!(word(Outcome::Error(String::new())), "failed");
        assert_eq!(word(Outcome::Limit(String::new())), "failed");
    }

    #[test]
    fn why_there_is_no_final_is_said_with_its_reason() {
        let limit = Outcome::Limit("max_calls".into());
        assert_eq!(
            Ending::without_final(&limit),
            Ending::text("stopped by a limit: ", "max_calls", Role::Failure)
        );
    }
}
