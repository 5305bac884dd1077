//! The resume preamble: what a resumed agent is told of the queries before it.
//!
//! A session may go on for thousands of queries, a model's context does not: queries and code have a budget each, and
//! the oldest are left out, with a mark.

use super::truncate::head;
use crate::text::plural;

/// Characters of an earlier FINAL that are shown.
const FINAL_LEN: usize = 1_500;
/// Characters of an earlier query that are shown.
const QUERY_LEN: usize = 1_500;
/// Characters of all earlier queries with their answers.
const QUERIES_LEN: usize = 20_000;
/// Characters of all code.
const CODE_LEN: usize = 40_000;
/// Characters of one step's code.
const STEP_LEN: usize = CODE_LEN / 4;

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
        let (left_out, shown) = newest(&listed, QUERIES_LEN);
        let mark = mark(left_out, "older query", "older queries")
            .map(|mark| format!("[{mark}]\n\n"))
            .unwrap_or_default();
        (!shown.is_empty()).then(|| format!("Earlier queries and their answers:\n\n{mark}{}", shown.join("\n\n")))
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
        let (left_out, shown) = newest(&code, CODE_LEN);
        let mark = mark(left_out, "older step", "older steps")
            .map(|mark| format!("# [{mark}: what it bound is in your REPL]\n\n"))
            .unwrap_or_default();
        (!shown.is_empty()).then(|| {
            format!(
                "The code that earlier queries ran, for you to read; it has run and is not run again:\n```python\n\
                 {mark}{}\n```",
                shown.join("\n\n")
            )
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
            cut(self.code.trim_end(), STEP_LEN)
        } else {
            format!("# failed: {}", cut(first, 120))
        })
    }
}

fn mark(left_out: usize, one: &str, many: &str) -> Option<String> {
    (left_out > 0).then(|| format!("not shown: {}", plural(left_out as u128, one, many)))
}

/// The newest of `parts` that fit into `budget` characters, and how many older ones are left out.
///
/// They are left out by half a budget at once, so that the beginning of what is told stays the same for many queries:
/// model servers charge less for a prompt that begins like the one before.
fn newest(parts: &[String], budget: usize) -> (usize, &[String]) {
    let lengths: Vec<usize> = parts.iter().map(|part| part.chars().count() + 2).collect();
    let (mut sum, mut left_out) = (0_usize, 0_usize);
    for length in &lengths {
        sum += length;
        if sum <= budget {
            continue;
        }
        for oldest in lengths.iter().skip(left_out) {
            if sum <= budget / 2 {
                break;
            }
            sum -= oldest;
            left_out += 1;
        }
    }
    (left_out, parts.get(left_out..).unwrap_or_default())
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

    fn step_of(length: usize, number: usize) -> EarlierStep {
        EarlierStep {
            ok: true,
            code: format!("step_{number} = '{}'", "x".repeat(length)),
        }
    }

    #[test]
    fn however_long_a_session_is_its_preamble_keeps_to_its_budget() {
        let query = |number: usize| Earlier {
            query: format!("question {number}"),
            result: Some("y".repeat(number % 2_000)),
        };
        let past = Past {
            queries: (0..5_000).map(query).collect(),
            interrupted: None,
            steps: (0..5_000).map(|number| step_of(number % 1_000, number)).collect(),
        };
        let told = past.preamble().unwrap();
        assert!(told.chars().count() < QUERIES_LEN + CODE_LEN + 1_000);
        assert!(
            told.contains("Query 5000: question 4999\n") && told.contains("step_4999 ="),
            "the newest are told"
        );
        assert!(!told.contains("Query 1: ") && !told.contains("step_0 ="));
        assert!(told.contains("older queries]\n\nQuery 4"), "{told}");
        assert!(told.contains("```python\n# [not shown: 4,9"), "{told}");
    }

    #[test]
    fn a_preamble_begins_for_many_queries_as_the_one_before() {
        let parts: Vec<String> = (0..1_000).map(|number| step_of(300, number).told().unwrap()).collect();
        let starts: Vec<usize> = (1..=parts.len())
            .map(|count| newest(&parts[..count], CODE_LEN).0)
            .collect();
        let moves = starts.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(starts.is_sorted() && (5..20).contains(&moves), "{moves}");
    }

    #[test]
    fn code_of_one_step_never_takes_the_place_of_all_others() {
        let past = Past {
            steps: vec![step_of(10, 0), step_of(1_000_000, 1), step_of(10, 2)],
            ..Past::default()
        };
        let told = past.preamble().unwrap();
        assert!(
            ["step_0 =", "step_1 =", "x… [cut]", "step_2 ="]
                .iter()
                .all(|part| told.contains(part))
        );
        assert!(told.chars().count() < STEP_LEN + 1_000);
    }
}
