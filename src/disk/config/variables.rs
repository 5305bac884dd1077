//! Variables that are named as options' are, and set none: mistyped ones, mostly.

use super::layers::Unknown;
use super::suggest::nearest;
use super::table::{OPTIONS, find};

/// Begins the name of every variable of the programs.
const PREFIX: &str = "FAST_RLM_";
/// Variables that set no option: of the programs, of their tests, and of whoever builds them.
const OTHERS: [&str; 9] = [
    "FAST_RLM_CACHE_DIR",
    "FAST_RLM_COMMIT",
    "FAST_RLM_COMPAT_DIR",
    "FAST_RLM_FAULT",
    "FAST_RLM_FEATURES",
    "FAST_RLM_PROFILE",
    "FAST_RLM_PYTHON",
    "FAST_RLM_REDUCED_MOTION",
    "FAST_RLM_TARGET",
];
/// Begins those of tests alone.
const TESTS: &str = "FAST_RLM_TEST_";

/// Whether the variable of the environment is set to bytes that are no text: it counts as neither set nor unset.
pub(crate) fn is_no_text(name: &str) -> bool {
    matches!(std::env::var(name), Err(std::env::VarError::NotUnicode(_)))
}

/// Those of the environment's `names` that nobody reads, with what was probably meant.
pub(super) fn unknown(names: impl Iterator<Item = String>) -> Vec<Unknown> {
    let known: Vec<String> = OPTIONS.iter().filter_map(|option| option.variable()).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).chain(OTHERS).collect();
    let is_read = |name: &str| known.contains(&name) || name.starts_with(TESTS);
    let mut unknown: Vec<Unknown> = names
        .filter(|name| name.starts_with(PREFIX) && !is_read(name))
        .map(|name| Unknown {
            place: None,
            is_known: false,
            advice: advice(&name, &known),
            name,
        })
        .collect();
    // The environment has no order.
    unknown.sort_by(|one, other| one.name.cmp(&other.name));
    unknown
}

fn advice(name: &str, known: &[&str]) -> String {
    let option = name.strip_prefix(PREFIX).map(str::to_ascii_lowercase);
    match option.as_deref().and_then(find).map(|option| option.variable()) {
        Some(Some(variable)) => format!("{variable} sets that option"),
        Some(None) => "that option can stand in a file only".to_owned(),
        None => nearest_of(name, known).map_or_else(String::new, |meant| format!("did you mean {meant}?")),
    }
}

/// By what follows the prefix: that all of them begin alike makes none of them near.
fn nearest_of<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let rest = |name| str::strip_prefix(name, PREFIX);
    let meant = nearest(rest(name)?, known.iter().filter_map(|known| rest(known)))?;
    known.iter().find(|known| rest(known) == Some(meant)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(names: &[&str]) -> Vec<String> {
        let unknown = unknown(names.iter().map(|name| (*name).to_owned()));
        unknown.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn mistyped_variables_are_told_with_what_was_meant() {
        assert_eq!(
            told(&[
                "FAST_RLM_MAX_DPETH",
                "FAST_RLM_CACHEDIR",
                "FAST_RLM_PRIMARY_AGENT",
                "FAST_RLM_KEYS",
                "FAST_RLM_ZZZZZZ"
            ]),
            [
                "the variable FAST_RLM_CACHEDIR is no option and is ignored; did you mean FAST_RLM_CACHE_DIR?",
                "the variable FAST_RLM_KEYS is no option and is ignored; that option can stand in a file only",
                "the variable FAST_RLM_MAX_DPETH is no option and is ignored; did you mean FAST_RLM_MAX_DEPTH?",
                "the variable FAST_RLM_PRIMARY_AGENT is no option and is ignored; FAST_RLM_MODEL sets that option",
                "the variable FAST_RLM_ZZZZZZ is no option and is ignored",
            ]
        );
    }

    #[test]
    fn variables_that_are_read_and_those_of_others_are_not_told() {
        let known: Vec<String> = OPTIONS.iter().filter_map(|option| option.variable()).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).chain(OTHERS).collect();
        assert!(told(&known).is_empty());
        assert!(told(&["FAST_RLM_TEST_PANIC", "HOME", "RLM_MODEL_API_KEY", "fast_rlm_model"]).is_empty());
    }
}
