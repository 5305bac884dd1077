//! The resume preamble: what a resumed agent is told of the queries before it.

use super::truncate::head;

/// Characters of an earlier FINAL that are shown.
const FINAL_LEN: usize = 1_500;
/// Characters of an earlier query that are shown.
const QUERY_LEN: usize = 1_500;

/// An earlier query, as far as the preamble tells of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Earlier {
    /// Its text.
    pub(super) query: String,
    /// Its FINAL as JSON (a string as its text); `None` for `FINAL(None)`.
    pub(super) result: Option<String>,
}

/// A root step that ran in an earlier query.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlierStep {
    /// It did not raise.
    pub(super) ok: bool,
    /// Its code.
    pub(super) code: String,
}

/// Everything a preamble is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    /// Completed queries, in order.
    pub(super) queries: Vec<Earlier>,
    /// The query that was interrupted, and how many of its steps ran.
    pub(super) interrupted: Option<(String, usize)>,
    /// Code of all steps; empty when it is not to be shown.
    pub(super) steps: Vec<EarlierStep>,
}

impl Past {
    /// The preamble, or `None` when there is nothing to tell.
    pub(super) fn preamble(&self) -> Option<String> {
        let told = !self.queries.is_empty() || self.interrupted.is_some() || !self.steps.is_empty();
        told.then(|| {
            let parts = [self.queries_part(), self.interrupted_part(), self.code_part()];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            format!(
                "You resume a session. Its variables, functions and imports are in your REPL again.\n\n{}",
                parts.join("\n\n")
            )
        })
    }

    fn queries_part(&self) -> Option<String> {
        let listed: Vec<String> = self
            .queries
            .iter()
            .enumerate()
            .map(|(i, earlier)| earlier.told(i + 1))
            .collect();
        (!listed.is_empty()).then(|| format!("Earlier queries and their answers:\n\n{}", listed.join("\n\n")))
    }

    fn interrupted_part(&self) -> Option<String> {
        let (query, steps) = self.interrupted.as_ref()?;
        let far = match steps {
            0 => "before its first step was done".to_owned(),
            1 => "after 1 step".to_owned(),
            n => format!("after {n} steps"),
        };
        Some(format!(
            "The query before this one was interrupted {far} and has no answer:\n{}",
            cut(query, QUERY_LEN)
        ))
    }

    fn code_part(&self) -> Option<String> {
        let code: Vec<String> = self.steps.iter().filter_map(EarlierStep::told).collect();
        (!code.is_empty()).then(|| {
            format!("The code that earlier queries ran, for you to read; it has run and is not run again:\n```python\n{}\n```", code.join("\n\n"))
        })
    }
}

impl Earlier {
    fn told(&self, number: usize) -> String {
        let answer = self.result.as_deref().unwrap_or("None");
        format!(
            "Query {number}: {}\nFINAL: {}",
            cut(&self.query, QUERY_LEN),
            cut(answer, FINAL_LEN)
        )
    }
}

impl EarlierStep {
    /// A failed step is told in one line: its code did not do what it says.
    fn told(&self) -> Option<String> {
        let first = self.code.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(if self.ok {
            self.code.trim_end().to_owned()
        } else {
            format!("# failed: {}", cut(first, 120))
        })
    }
}

fn cut(text: &str, limit: usize) -> String {
    match head(text, limit) {
        (all, false) => all.to_owned(),
        (start, true) => format!("{start}… [cut]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_has_nothing_to_tell() {
        assert_eq!(Past::default().preamble(), None);
    }

    #[test]
    fn tells_answers_interruption_and_code() {
        let past = Past {
            queries: vec![
                Earlier {
                    query: "Count".into(),
                    result: Some("3".into()),
                },
                Earlier::default(),
            ],
            interrupted: Some(("Square".into(), 2)),
            steps: vec![
                EarlierStep {
                    ok: true,
                    code: "a = 1  # one\n".into(),
                },
                EarlierStep {
                    ok: false,
                    code: "\n  b = c\nd".into(),
                },
            ],
        };
        let told = past.preamble().unwrap();
        assert!(
            told.contains("Query 1: Count\nFINAL: 3\n\nQuery 2: \nFINAL: None"),
            "{told}"
        );
        assert!(
            told.contains("interrupted after 2 steps and has no answer:\nSquare"),
            "{told}"
        );
        assert!(
            told.ends_with("```python\na = 1  # one\n\n# failed: b = c\n```"),
            "{told}"
        );
    }

    #[test]
    fn long_answers_are_cut_at_1500_characters() {
        let past = Past {
            queries: vec![Earlier {
                query: "q".into(),
                result: Some("日".repeat(1_501)),
            }],
            ..Past::default()
        };
        let told = past.preamble().unwrap();
        assert!(told.contains(&format!("{}… [cut]", "日".repeat(1_500))));
    }
}
