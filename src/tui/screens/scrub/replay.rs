//! The run run again from its record: begun, stopped, and what came of it in a row under the steps.

use super::ScrubScreen;
use crate::model::Query;
use crate::text::{SafeText, fit};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::effect::{Effect, Outcome};
use crate::tui::input::Reply;
use crate::tui::live::{Mismatch, ReplayStanding as Standing, Replaying};
use crate::tui::notice::Notice;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

impl ScrubScreen {
    /// A replay goes on.
    pub(super) fn replays(&self) -> bool {
        self.replay.as_ref().is_some_and(Replaying::is_running)
    }

    /// What a replay found at the step that is shown.
    pub(super) fn mismatch_here(&self) -> Option<&Mismatch> {
        let mismatch = self.replay.as_ref()?.mismatch()?;
        (mismatch.step == self.step).then_some(mismatch)
    }

    /// Runs the run again.
    pub(super) fn run_again(&mut self, ctx: &Ctx<'_>) -> Outcome {
        if self.replays() {
            return Outcome::consumed();
        }
        let root = self.query(ctx).and_then(|query: &Query| query.run.root());
        let Some(run_id) = root.map(|root| root.run_id.clone()) else {
            return Outcome::with(Effect::Notice(Notice::trouble("this run has no transcript")));
        };
        self.asked_replay = self.token.next();
        self.replay = Some(Replaying::default());
        self.refresh();
        let token = self.asked_replay;
        Outcome::with(Effect::Replay { token, run_id })
    }

    /// Stops it; what has come out so far stays.
    pub(super) fn stop_replay(&mut self) -> Outcome {
        if let Some(replay) = &mut self.replay {
            replay.stop();
        }
        Outcome::with(Effect::Cancel(self.asked_replay))
    }

    /// News of it. The first mismatch is gone to.
    pub(super) fn replayed(&mut self, news: &Result<Reply, SafeText>, ctx: &Ctx<'_>) -> Vec<Effect> {
        let Some(replay) = &mut self.replay else {
            return Vec::new();
        };
        match news {
            Ok(Reply::Replay(news)) => replay.take(news.clone()),
            // It ended without a verdict: it was stopped.
            Ok(_) => replay.stop(),
            Err(why) => replay.refuse(why.as_str()),
        }
        let found = replay.mismatch().map(|mismatch| mismatch.step);
        let Some(step) = found.filter(|_| matches!(news, Ok(Reply::Replay(_)))) else {
            return Vec::new();
        };
        let effects = self.go(step, ctx).effects;
        self.rows.clear();
        self.refresh();
        effects
    }

    /// How a replay stands, in the first row of `area`; returns the rest.
    pub(super) fn paint_replay(&self, area: Rect, buf: &mut Buffer, ctx: &Ctx<'_>) -> Rect {
        let Some(replay) = &self.replay else {
            return area;
        };
        let (mark, words, role) = told(replay, ctx);
        let room = usize::from(area.width).saturating_sub(4);
        let words = SafeText::line(&words);
        Styled::words("  ", ctx.style(Role::Text))
            .then(SafeText::literal(mark), ctx.style(role))
            .then(SafeText::literal(" "), ctx.style(role))
            .then(SafeText::line(fit(words.as_str(), room).trim_end()), ctx.style(role))
            .draw(
                Rect {
                    height: area.height.min(1),
                    ..area
                },
                buf,
            );
        let rows = area.height.min(1);
        Rect {
            y: area.y + rows,
            height: area.height - rows,
            ..area
        }
    }
}

fn told(replay: &Replaying, ctx: &Ctx<'_>) -> (&'static str, String, Role) {
    let glyphs = ctx.glyphs();
    let stops = || format!("{} stops it", ctx.key(Action::Interrupt));
    match replay.standing() {
        Standing::Starting => (glyphs.running, format!("starting Python; {}", stops()), Role::Running),
        Standing::Preparing(line) => (glyphs.running, format!("{line}; {}", stops()), Role::Running),
        Standing::Running(step) => (
            glyphs.running,
            format!(
                "step {step} runs again, from the record: no model, no cost; {}",
                stops()
            ),
            Role::Running,
        ),
        Standing::Stopped => (glyphs.separator, "stopped: nothing was changed".into(), Role::Dim),
        Standing::Refused(why) => (glyphs.cross, why.clone(), Role::Failure),
        Standing::Done(verdict) if verdict.faithful => (glyphs.check, verdict.words(), Role::Success),
        Standing::Done(verdict) => (glyphs.differs, verdict.words(), Role::Failure),
    }
}
