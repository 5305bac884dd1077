//! The table of options as part of a page of the documentation.

use super::option::{Opt, Part};
use super::table::OPTIONS;

/// All options with their defaults, flags and variables, as Markdown.
pub fn markdown() -> String {
    let mut out = String::new();
    for part in Part::ALL {
        out.push_str(&format!(
            "### {}\n\n| option | default | flag, variable | |\n| --- | --- | --- | --- |\n",
            part.title()
        ));
        let rows = OPTIONS.iter().filter(|option| option.part == part);
        rows.for_each(|option| out.push_str(&row(option)));
        out.push('\n');
    }
    out
}

fn row(option: &Opt) -> String {
    let default = match option.default.trim_matches('"') {
        "" => String::new(),
        default => format!("`{default}`"),
    };
    let flag = option.flag.map(|flag| format!("`--{}`", flag.long));
    let variable = option.variable().map(|variable| format!("`{variable}`"));
    let set_by: Vec<String> = [flag, variable].into_iter().flatten().collect();
    format!(
        "| `{}` | {default} | {} | {} |\n",
        option.name,
        set_by.join(" "),
        option.doc.replace('|', "\\|")
    )
}
