//! Whether the root of a turn may wait for its model, as far as the log tells: a call is there when it was answered, so
//! one that was cut shows by what is not.

use super::Fact;

/// What the events of a turn say of it, taken in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asks {
    may_be: bool,
    /// Its replies come from a script, or it has its answer.
    is_over: bool,
}

impl Asks {
    /// The next event of the turn.
    pub(crate) fn take(&mut self, fact: &Fact) {
        match fact {
            Fact::TurnStarted(_) | Fact::StepEnded(_) => self.may_be = true,
            Fact::ModelCall(call) if call.is_reply() => (self.may_be, self.is_over) = (false, !call.was_asked()),
            // A call that failed or was cut is there already.
            Fact::ModelCall(call) if !call.guard => self.may_be = false,
            Fact::Final(_) => self.is_over = true,
            _ => {}
        }
    }

    /// It may wait for its model after the last event.
    pub(crate) fn may_be(self) -> bool {
        self.may_be && !self.is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cost;
    use crate::store::payload::{Final, ModelCall, StepEnded, TurnStarted};

    fn after(facts: &[Fact]) -> bool {
        let mut asks = Asks::default();
        facts.iter().for_each(|fact| asks.take(fact));
        asks.may_be()
    }

    #[test]
    fn a_root_waits_from_the_end_of_a_step_until_its_reply() {
        let call = |change: fn(&mut ModelCall)| {
            let mut call = ModelCall {
                cost: Cost::Known(3),
                ..ModelCall::default()
            };
            change(&mut call);
            Fact::from(call)
        };
        let (began, ended) = (Fact::from(TurnStarted::default()), Fact::from(StepEnded::default()));
        let reply = call(|_| {});
        assert!(!after(&[]));
        assert!(after(std::slice::from_ref(&began)));
        assert!(!after(&[began.clone(), reply.clone()]), "its code runs");
        assert!(after(&[began.clone(), reply.clone(), ended.clone()]));
        let guard = call(|call| call.guard = true);
        assert!(after(&[began.clone(), reply.clone(), ended.clone(), guard]));
        let cut = call(|call| call.error = Some("cut".into()));
        assert!(
            !after(&[began.clone(), reply.clone(), ended.clone(), cut]),
            "it is counted"
        );
        let scripted = call(|call| call.cost = Cost::Known(0));
        assert!(!after(&[began.clone(), scripted, ended.clone()]));
        let answer = Fact::from(Final::default());
        assert!(!after(&[began, reply, ended, answer]));
    }
}
