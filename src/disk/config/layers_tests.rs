//! Tests of how sources of options come together.

use super::*;
use serde_json::json;

/// A file of this name and text, read with these variables.
fn loaded(name: &str, text: &str, variables: &[(&str, &str)]) -> Result<Effective, ConfigError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    load(Some(&path), |wanted| {
        let found = variables.iter().find(|(variable, _)| *variable == wanted);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn a_variable_wins_over_a_file_and_a_file_over_a_default() {
    let text = "primary_agent = \"of the file\"\nmax_depth = 2\n";
    let effective = loaded("c.toml", text, &[("FAST_RLM_MODEL", "of the variable")]).unwrap();
    assert_eq!(effective.text("primary_agent"), Some("of the variable"));
    assert_eq!(
        (effective.value("max_depth"), effective.value("max_calls_per_subagent")),
        (&json!(2), &json!(20))
    );
    let origins: Vec<_> = effective.settings.iter().map(|setting| &setting.origin).collect();
    assert_eq!(origins[0], &Origin::Variable("FAST_RLM_MODEL".into()));
    assert_eq!(
        effective.set_values().keys().collect::<Vec<_>>(),
        ["primary_agent", "max_depth"]
    );
}

#[test]
fn names_that_are_no_options_are_told_with_place_and_advice() {
    let effective = loaded("c.yaml", "max_dept: 1\nacp_agents: {a: {}}\nnew_thing: 1\n", &[]).unwrap();
    let told: Vec<String> = effective.unknown.iter().map(ToString::to_string).collect();
    assert!(
        told[0].ends_with("c.yaml:1: max_dept is no option and is ignored; did you mean max_depth?"),
        "{told:?}"
    );
    assert!(told[1].contains(":2:") && told[1].contains("cli_agents"), "{told:?}");
    assert!(told[2].ends_with("new_thing is no option and is ignored"), "{told:?}");
}

#[test]
fn an_option_of_other_builds_that_asks_for_nothing_is_no_trouble() {
    let text = "cli_minimal: false\nacp_agents: {}\ncli_native_tools: []\nmax_parallel_children:\nnew_thing: false\n";
    let effective = loaded("rlm_config.yaml", text, &[]).unwrap();
    let names: Vec<&str> = effective.unknown.iter().map(|unknown| unknown.name.as_str()).collect();
    assert_eq!(names, ["new_thing"]);
    let effective = loaded("rlm_config.yaml", "cli_minimal: true\n", &[]).unwrap();
    assert_eq!(effective.unknown.len(), 1);
}

#[test]
fn values_of_the_wrong_kind_are_errors_with_file_and_line() {
    let error = loaded("c.toml", "\nmax_depth = \"deep\"\n", &[])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("c.toml:2: max_depth: \"deep\" is not a whole number from 0 to 64"),
        "{error}"
    );
    let error = loaded("c.toml", "", &[("FAST_RLM_ANIMATION", "maybe")])
        .unwrap_err()
        .to_string();
    assert_eq!(error, "FAST_RLM_ANIMATION: \"maybe\" is not true or false");
    let error = load(Some(Path::new("/nonexistent.toml")), |_| None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("/nonexistent.toml"), "{error}");
}

#[test]
fn nothing_behind_a_name_sets_nothing() {
    let effective = loaded("rlm_config.yaml", "sub_agent:\nmax_global_calls: null\n", &[]).unwrap();
    assert!(effective.set_values().is_empty() && effective.unknown.is_empty());
}

#[test]
fn long_values_are_cut_in_errors() {
    let error = loaded("c.yaml", &format!("max_depth: {}\n", "é".repeat(10_000)), &[]).unwrap_err();
    assert!(error.to_string().len() < 400);
}
