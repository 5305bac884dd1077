//! Which names Python code may read: every word of it, those in texts included, as an f-string reads what it names. More
//! than it does read, never less, but for names that it puts together.

use std::collections::HashSet;

use super::program_text;

/// The words of `code`, and of those of `functions` (name, source) that it names, at whatever remove.
///
/// ```
/// # use fast_rlm::model::names_read;
/// let functions = [("shown".to_owned(), "def shown():\n    return f'{rows}'".to_owned())];
/// assert!(names_read("print(shown())  # not this", &functions).contains("rows"));
/// assert!(!names_read("print(1)  # shown", &functions).contains("rows"));
/// ```
pub fn names_read(code: &str, functions: &[(String, String)]) -> HashSet<String> {
    let mut read = words(code);
    let mut left: Vec<&(String, String)> = functions.iter().collect();
    loop {
        let (named, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|(name, _)| read.contains(name));
        if named.is_empty() {
            return read;
        }
        named.iter().for_each(|(_, source)| read.extend(words(source)));
        left = others;
    }
}

fn words(code: &str) -> HashSet<String> {
    let program = program_text(code);
    let is_apart = |c: char| !(c == '_' || c.is_alphanumeric());
    let words = program.split(is_apart).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}
