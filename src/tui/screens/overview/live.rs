//! What a card says of a run that goes on: what it does, and the end of what its model or its code says.

use super::head::head;
use crate::model::{LiveRun, LiveStep, Phase, Query, Session};
use crate::text::{SafeText, plural, seconds};

/// Lines that the card of a live run takes where there is room: what it does, and the end of what is said.
pub(super) const LINES: u16 = 4;

/// What a live run does, in a few words; also used by the run screen.
pub(in crate::tui::screens) fn phase_words(live: &LiveRun, run_id: &str) -> String {
    let step = live.agent(run_id).and_then(|agent| agent.steps.last());
    let number = step.map_or_else(String::new, |step| format!("step {}, ", step.number));
    match live.phase(run_id) {
        None | Some(Phase::Ended) => "ended".into(),
        Some(Phase::Starting) if number.is_empty() => "starting".into(),
        Some(Phase::Starting) => format!("{number}done"),
        Some(Phase::Calling) => {
            let call = step.map(LiveStep::call_state).unwrap_or_default();
            format!("{number}{call}")
        }
        Some(Phase::Running) => format!("{number}its code runs"),
        Some(Phase::Awaiting(agents)) => {
            format!("{number}{} at work", plural(agents as u128, "sub-agent", "sub-agents"))
        }
        Some(Phase::Asking) => format!("{number}it asks"),
    }
}

/// Lines for the card of a query that is answered right now, `most` of `cells`; `None` for any other.
pub(super) fn lines(session: &Session, query: &Query, wall: i64, cells: usize, most: usize) -> Option<Vec<String>> {
    let live = session.live_of(query)?;
    let ms = u64::try_from(wall.saturating_sub(live.began)).unwrap_or(0);
    let elapsed = seconds(ms / 1_000);
    let root = live.root();
    let words = root.map_or_else(|| "starting".to_owned(), |root| phase_words(live, &root.run_id));
    let said = root.and_then(|root| root.in_flight()).map_or("", said);
    let mut first = format!("{elapsed}  {words}");
    let asks = root.is_some_and(|root| live.phase(&root.run_id) == Some(Phase::Asking));
    if let (1, Some(last), false) = (most, telling(said).next(), asks) {
        first = format!("{first}: {}", head(last, cells).as_str());
    }
    let mut lines = vec![first];
    let room = most.saturating_sub(1);
    let tail: Vec<&str> = telling(said).take(room).collect();
    lines.extend(tail.into_iter().rev().map(|line| head(line, cells).to_string()));
    Some(
        lines
            .into_iter()
            .map(|line| SafeText::line(&line).to_string())
            .collect(),
    )
}

/// Its lines that say something, the last one first: neither empty nor what fences code.
fn telling(said: &str) -> impl Iterator<Item = &str> {
    let fences = |line: &str| line.strip_prefix("```").is_some_and(|rest| !rest.contains('`'));
    said.lines()
        .rev()
        .filter(move |line| !line.trim().is_empty() && !fences(line.trim()))
}

/// The newest of what a step has to show.
fn said(step: &LiveStep) -> &str {
    [step.output.text(), step.text.text(), step.reasoning.text()]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fences_code_is_no_line_of_it() {
        let lines = |said| telling(said).collect::<Vec<_>>();
        assert_eq!(lines("I look.\n```python\nx = 1\n```\n"), ["x = 1", "I look."]);
        assert_eq!(lines("```"), Vec::<&str>::new());
        assert_eq!(lines("```a``` is code\n\n"), ["```a``` is code"]);
    }
}
