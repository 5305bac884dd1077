//! Bodies of steps: asked for when looked at, kept while they are likely to be looked at again.

use crate::model::{BodyRef, Step};
use crate::text::SafeText;
use crate::tui::body::Body;
use crate::tui::effect::{Effect, Token};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bodies that are kept, and the bytes of text they may hold together.
const KEPT: usize = 64;
const KEPT_BYTES: usize = 16 << 20;
/// Larger ones are not read ahead.
const AHEAD_BYTES: u64 = 256 << 10;

/// Where a body stands.
#[derive(Clone, Debug)]
pub(super) enum Reading {
    /// It is on its way.
    Asked,
    /// It is here.
    Read(Arc<Body>),
    /// It cannot be read: why.
    Failed(SafeText),
}

/// The bodies of one run that were asked for, newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Bodies {
    entries: VecDeque<(BodyRef, Token, Reading)>,
}

impl Bodies {
    /// How the body at a place stands; `None` when nobody asked for it.
    pub(super) fn get(&self, at: BodyRef) -> Option<&Reading> {
        self.entries
            .iter()
            .find(|(kept, ..)| *kept == at)
            .map(|(_, _, reading)| reading)
    }

    /// Asks for the body of a step, unless that was done.
    pub(super) fn ask(&mut self, at: BodyRef, twin: Option<BodyRef>, token: &mut Token) -> Option<Effect> {
        if self.get(at).is_some() {
            return None;
        }
        let token = token.next();
        self.entries.push_back((at, token, Reading::Asked));
        Some(Effect::LoadBody { token, at, twin })
    }

    /// Asks for the body of a step that is likely to be looked at next, if it is no burden.
    pub(super) fn ask_ahead(&mut self, step: &Step, token: &mut Token) -> Option<Effect> {
        let at = step.body.filter(|at| at.len <= AHEAD_BYTES)?;
        self.ask(at, step.twin, token)
    }

    /// Takes an answer; `false` when nobody waits for it.
    pub(super) fn take(&mut self, token: Token, body: Result<Arc<Body>, SafeText>) -> bool {
        let Some((_, _, reading)) = self.entries.iter_mut().find(|(_, asked, _)| *asked == token) else {
            return false;
        };
        *reading = match body {
            Ok(body) => Reading::Read(body),
            Err(why) => Reading::Failed(why),
        };
        true
    }

    /// Lets go of the oldest ones that are too many or too large together; never of those in `keep`.
    pub(super) fn trim(&mut self, keep: &[BodyRef]) {
        while self.entries.len() > KEPT || self.bytes() > KEPT_BYTES {
            let Some(oldest) = self.entries.iter().position(|(at, ..)| !keep.contains(at)) else {
                return;
            };
            self.entries.remove(oldest);
        }
    }

    fn bytes(&self) -> usize {
        let size = |body: &Body| body.code.raw.len() + body.output.raw.len() + body.reasoning.raw.len();
        let read = self.entries.iter().filter_map(|(_, _, reading)| match reading {
            Reading::Read(body) => Some(size(body)),
            Reading::Asked | Reading::Failed(_) => None,
        });
        read.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LogId;
    use crate::tui::body::Text;

    fn at(line: u64) -> BodyRef {
        BodyRef {
            log: LogId(0),
            line,
            offset: line,
            len: 10,
        }
    }

    #[test]
    fn a_body_is_asked_for_once_and_late_answers_find_nobody() {
        let (mut bodies, mut token) = (Bodies::default(), Token::default());
        assert!(bodies.ask(at(1), None, &mut token).is_some());
        assert!(bodies.ask(at(1), None, &mut token).is_none());
        assert!(!bodies.take(Token(9), Ok(Arc::default())));
        assert!(bodies.take(token, Err(SafeText::literal("gone"))));
        assert!(matches!(bodies.get(at(1)), Some(Reading::Failed(_))));
    }

    #[test]
    fn what_is_kept_is_bounded_but_what_is_shown_stays() {
        let (mut bodies, mut token) = (Bodies::default(), Token::default());
        for line in 0..5 {
            bodies.ask(at(line), None, &mut token);
            let body = Body {
                output: Text::new("x".repeat(6 << 20)),
                ..Body::default()
            };
            bodies.take(token, Ok(Arc::new(body)));
        }
        bodies.trim(&[at(0)]);
        let kept: Vec<bool> = (0..5).map(|line| bodies.get(at(line)).is_some()).collect();
        assert_eq!(kept, [true, false, false, false, true]);
    }
}
