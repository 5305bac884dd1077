//! Choosing an option by what is typed: its first letters, else its number. What is typed chooses only as long as it
//! begins an option: an answer that is none of them must not become one.

/// What was typed to choose an option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Letters(String);

impl Letters {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn push(&mut self, c: char) {
        self.0.push(c);
    }

    /// Takes the last one back.
    pub(super) fn pop(&mut self) {
        self.0.pop();
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The option that is typed whole, else the first that begins so, else the one of that number.
    pub(super) fn choice(&self, options: &[String]) -> Option<usize> {
        let typed = self.0.to_lowercase();
        if typed.is_empty() {
            return None;
        }
        let by = |fits: &dyn Fn(&str) -> bool| options.iter().position(|option| fits(&option.to_lowercase()));
        let named = by(&|option| option == typed).or_else(|| by(&|option| option.starts_with(&typed)));
        named.or_else(|| {
            let number = typed.parse::<usize>().ok()?.checked_sub(1)?;
            (number < options.len()).then_some(number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("n", Some("not now"))]
    #[case("no", Some("no"))]
    #[case("NOT", Some("not now"))]
    #[case("not today", None)]
    #[case("maybe", None)]
    #[case("y", Some("yes"))]
    #[case("yn", None)]
    #[case("3", Some("no"))]
    #[case("4", Some("42"))]
    #[case("43", None)]
    #[case("0", None)]
    #[case("", None)]
    fn only_what_begins_an_option_chooses_it(#[case] typed: &str, #[case] chosen: Option<&str>) {
        let options = ["yes", "not now", "no", "42"].map(str::to_owned);
        let mut letters = Letters::default();
        typed.chars().for_each(|c| letters.push(c));
        let index = letters.choice(&options);
        assert_eq!(index.map(|index| options[index].as_str()), chosen);
    }

    #[test]
    fn numbers_of_two_digits_are_numbers() {
        let options: Vec<String> = (0..12).map(|n| format!("option {n}")).collect();
        let mut letters = Letters::default();
        letters.push('1');
        assert_eq!(letters.choice(&options), Some(0));
        letters.push('2');
        assert_eq!(letters.choice(&options), Some(11));
        letters.pop();
        assert_eq!(letters.choice(&options), Some(0));
    }
}
