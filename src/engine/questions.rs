//! The questions of one step, as its log has them. A step that waited runs again from its start, and may ask in another
//! order: a question keeps its number, and so its answer, by what it asks.

use crate::store::payload::{Answered, Asked};
use std::collections::{BTreeMap, BTreeSet};

/// What was asked and answered, by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    asked: BTreeMap<u32, String>,
    answers: BTreeMap<u32, String>,
}

impl Questions {
    /// Of questions and answers by number.
    pub fn new(asked: BTreeMap<u32, String>, answers: BTreeMap<u32, String>) -> Self {
        Self { asked, answers }
    }

    /// A question is in the log.
    pub(super) fn ask(&mut self, asked: Asked) {
        self.asked.insert(asked.number, asked.question);
    }

    /// An answer is in the log.
    pub(super) fn answered(&mut self, answered: Answered) {
        self.answer_with(answered.number, answered.into_text());
    }

    /// The answer to the question of a number.
    pub(super) fn answer_with(&mut self, number: u32, answer: String) {
        self.answers.insert(number, answer);
    }

    /// The answer to the question of a number, if there is one.
    pub fn answer(&self, number: u32) -> Option<&str> {
        self.answers.get(&number).map(String::as_str)
    }

    /// Questions that have answers, with them.
    pub fn answered_ones(&self) -> impl Iterator<Item = (&str, &str)> {
        let asked = |number| self.asked.get(number).map(String::as_str).unwrap_or_default();
        self.answers
            .iter()
            .map(move |(number, answer)| (asked(number), answer.as_str()))
    }

    /// The number of a question that is asked now, while those of the numbers `taken` are.
    pub fn number(&self, text: &str, taken: &BTreeSet<u32>) -> u32 {
        let same = self.asked.iter().filter(|(_, asked)| *asked == text);
        let mut same = same.map(|(number, _)| *number).filter(|number| !taken.contains(number));
        let is_new = |number: &u32| !taken.contains(number) && !self.asked.contains_key(number);
        same.next().or_else(|| (0..).find(is_new)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn questions(asked: &[(u32, &str)], answers: &[(u32, &str)]) -> Questions {
        let owned = |rows: &[(u32, &str)]| {
            rows.iter()
                .map(|(number, text)| (*number, (*text).to_owned()))
                .collect()
        };
        Questions::new(owned(asked), owned(answers))
    }

    /// The numbers that questions get one after the other.
    fn numbers(questions: &Questions, texts: &[&str]) -> Vec<u32> {
        let mut taken = BTreeSet::new();
        let number = |text: &&str| {
            let number = questions.number(text, &taken);
            taken.insert(number);
            number
        };
        texts.iter().map(number).collect()
    }

    #[test]
    fn questions_keep_their_numbers_in_whatever_order_they_come() {
        let known = questions(&[(0, "two"), (1, "one")], &[(0, "b")]);
        assert_eq!(numbers(&known, &["one", "two", "three"]), [1, 0, 2]);
        assert_eq!(numbers(&known, &["three", "two", "one"]), [2, 0, 1]);
        assert_eq!((known.answer(0), known.answer(1)), (Some("b"), None));
    }

    #[test]
    fn one_that_is_asked_twice_is_two() {
        assert_eq!(numbers(&Questions::default(), &["a", "a", "b"]), [0, 1, 2]);
        assert_eq!(
            numbers(&questions(&[(0, "a"), (1, "a")], &[]), &["a", "a", "a"]),
            [0, 1, 2]
        );
    }
}
