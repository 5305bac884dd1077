//! A person at the terminal, who answers `ask`; in pipes there is nobody, and the query parks.

use super::live::Live;
use super::run_args::Verbosity;
use crate::engine::{Person, Question};
use crate::text::SafeText;
use async_trait::async_trait;
use std::io::{self, IsTerminal};
use std::sync::Arc;

struct AtTerminal {
    live: Arc<Live>,
    /// The session is there afterwards: the question can wait.
    kept: bool,
}

/// The person at the terminal, if there is one.
pub(super) fn at_terminal(verbosity: Verbosity, live: &Arc<Live>, kept: bool) -> Option<Arc<dyn Person>> {
    let there = io::stdin().is_terminal() && io::stderr().is_terminal() && verbosity != Verbosity::Silent;
    let live = Arc::clone(live);
    there.then(|| Arc::new(AtTerminal { live, kept }) as _)
}

#[async_trait]
impl Person for AtTerminal {
    /// Asks until the answer is one of the options; an empty line parks the query, where its session is kept.
    async fn ask(&self, question: &Question) -> Option<String> {
        let shown = SafeText::block(&question.to_string());
        let empty = match self.kept {
            true => "leaves it open for `fast-rlm answer`",
            false => "gives no answer, which its code is told: the session is not kept (--session-dir keeps it)",
        };
        let _asking = self.live.ask(&format!("? {shown}\n  (an empty line {empty})"));
        loop {
            let line = tokio::task::spawn_blocking(read_line).await.ok().flatten()?;
            match line.as_str() {
                "" => return None,
                answer if question.takes(answer) => return Some(line),
                _ => self.live.say("  That is none of the answers to choose from."),
            }
        }
    }
}

fn read_line() -> Option<String> {
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
}
