//! A run's figures in one line: steps, tokens, cost, in as many cells as there are.

use crate::model::{CostSum, Link, Query};
use crate::text::{cell_width, compact_count, count, plural};

/// Why nothing is known of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nothing {
    /// Its transcript is still being read.
    Reading,
    /// There is no transcript of its own, and `code_log` has none of its steps.
    Missing,
}

/// Steps, tokens and cost of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    /// Steps of its root.
    steps: u64,
    /// Steps of its other agents.
    more: u64,
    /// Roots beside its own.
    other_roots: u64,
    /// Tokens; `None` when no step reported any.
    tokens: Option<u64>,
    cost: CostSum,
    /// Nothing is known of it: why.
    nothing: Option<Nothing>,
}

impl Figures {
    /// The figures of a query's run.
    pub(super) fn of(query: &Query) -> Self {
        let run = &query.run;
        let all = &run.totals;
        let steps = run.root_steps();
        Self {
            steps,
            more: all.steps.saturating_sub(steps),
            other_roots: run.other_roots().0,
            tokens: all.tokens_known().then_some(all.usage.total),
            cost: all.cost,
            nothing: match (&run.agents[..], query.link.log()) {
                ([_, ..], _) => None,
                ([], Some(_)) if !run.complete => Some(Nothing::Reading),
                ([], Some(_)) if !matches!(query.link, Link::Taken(..)) => None,
                ([], _) => Some(Nothing::Missing),
            },
        }
    }

    /// The fullest form that fits `cells`; the shortest when none does.
    pub(super) fn fitting(&self, cells: usize) -> String {
        match self.nothing {
            Some(Nothing::Reading) => return "reading…".into(),
            Some(Nothing::Missing) if cells < 30 => return "unknown".into(),
            Some(Nothing::Missing) => return "steps, tokens and cost unknown".into(),
            None => (),
        }
        let mut forms = self.forms().into_iter().peekable();
        while let Some(form) = forms.next() {
            if cell_width(&form) <= cells || forms.peek().is_none() {
                return form;
            }
        }
        String::new()
    }

    fn forms(&self) -> [String; 6] {
        let steps = plural(self.steps.into(), "step", "steps");
        let more = if self.more > 0 {
            format!(" +{}", count(self.more.into()))
        } else {
            String::new()
        };
        let bare = count(self.steps.into());
        let cost = self.cost.to_string();
        let long = self.words(|tokens| plural(tokens, "token", "tokens"));
        let short = self.words(|tokens| format!("{} tokens", compact_count(tokens)));
        let shortest = self.tokens.map_or("?".into(), |tokens| compact_count(tokens.into()));
        let roots = match self.other_roots {
            0 => String::new(),
            others => format!(" ({})", plural(others.into(), "other root", "other roots")),
        };
        [
            format!("{steps}{more}{roots} · {long}{}", self.cost_after_tokens()),
            format!("{steps}{more} · {long}{}", self.cost_after_tokens()),
            format!("{steps}{more} · {short}{}", self.cost_after_tokens()),
            format!("{bare}{more} · {shortest} · {cost}"),
            format!("{shortest} · {cost}"),
            cost,
        ]
    }

    fn words(&self, known: impl Fn(u128) -> String) -> String {
        match self.tokens {
            Some(tokens) => known(tokens.into()),
            None if self.cost.is_unknown() => "tokens and cost".into(),
            None => "tokens unknown".into(),
        }
    }

    /// One `unknown` for both where neither is known.
    fn cost_after_tokens(&self) -> String {
        if self.tokens.is_none() && self.cost.is_unknown() {
            return " unknown".into();
        }
        format!(" · {}", self.cost.named())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures() -> Figures {
        let cost = CostSum {
            nano: 410_000_000,
            known: 3,
            unknown: 2,
        };
        Figures {
            steps: 8,
            more: 16,
            other_roots: 0,
            tokens: Some(166_708),
            cost,
            nothing: None,
        }
    }

    #[test]
    fn the_fullest_form_that_fits_is_taken() {
        let figures = figures();
        assert_eq!(figures.fitting(80), "8 steps +16 · 166,708 tokens · $0.41 + 2 unknown");
        assert_eq!(figures.fitting(46), "8 steps +16 · 167k tokens · $0.41 + 2 unknown");
        assert_eq!(figures.fitting(35), "8 +16 · 167k · $0.41 + 2 unknown");
        assert_eq!(figures.fitting(25), "167k · $0.41 + 2 unknown");
        assert_eq!(figures.fitting(3), "$0.41 + 2 unknown");
        let foreign = Figures {
            other_roots: 2,
            ..figures
        };
        assert_eq!(
            foreign.fitting(80),
            "8 steps +16 (2 other roots) · 166,708 tokens · $0.41 + 2 unknown"
        );
        assert_eq!(foreign.fitting(50), figures.fitting(50));
    }

    #[test]
    fn unknown_is_said_and_never_zero() {
        let unknown = CostSum {
            unknown: 8,
            ..CostSum::default()
        };
        let lost = Figures {
            more: 0,
            tokens: None,
            cost: unknown,
            ..figures()
        };
        assert_eq!(lost.fitting(80), "8 steps · tokens and cost unknown");
        let unpriced = Figures {
            cost: unknown,
            ..figures()
        };
        assert_eq!(unpriced.fitting(80), "8 steps +16 · 166,708 tokens · cost unknown");
        let reading = Figures {
            nothing: Some(Nothing::Reading),
            ..figures()
        };
        assert_eq!(reading.fitting(80), "reading…");
    }
}
