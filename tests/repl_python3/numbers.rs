//! What the filter denies is written as numbers, of both architectures: they are the kernel's.

use std::collections::HashMap;
use std::path::Path;

/// Names of calls and their numbers as `harden.py` has them: on x86-64, and on AArch64.
fn denied(source: &str) -> Vec<(&str, [&str; 2])> {
    let mut calls = Vec::new();
    for piece in source.split("\": (").collect::<Vec<_>>().windows(2) {
        let name = piece[0].rsplit('"').next().unwrap();
        let (numbers, _) = piece[1].split_once(')').unwrap();
        let (intel, arm) = numbers.split_once(", ").unwrap();
        // The table of architectures has the same form.
        if !arm.starts_with("0x") {
            calls.push((name, [intel, arm]));
        }
    }
    calls
}

fn header(path: &str) -> Option<HashMap<String, String>> {
    let text = std::fs::read_to_string(path).ok()?;
    let defined = text.lines().filter_map(|line| {
        let line = line.strip_prefix("#define __NR")?;
        let (name, number) = line
            .strip_prefix("3264")
            .unwrap_or(line)
            .trim_start_matches('_')
            .split_once(char::is_whitespace)?;
        // Some are defined as other names.
        number.trim().parse::<u32>().ok()?;
        Some((name.to_owned(), number.trim().to_owned()))
    });
    Some(defined.collect())
}

#[test]
fn calls_have_the_numbers_of_the_kernels_headers() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/python/worker/harden.py");
    let source = std::fs::read_to_string(source).unwrap();
    let calls = denied(&source);
    assert!(calls.len() > 90, "{}", calls.len());
    let headers = [
        "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        "/usr/include/asm-generic/unistd.h",
    ];
    for (column, path) in headers.iter().enumerate() {
        let Some(numbers) = header(path) else {
            eprintln!("{path} is not installed: its numbers are not compared");
            continue;
        };
        for (name, known) in &calls {
            match numbers.get(*name) {
                Some(number) => assert_eq!(known[column], number, "{name} in {path}"),
                // There is none on this architecture, or the header is older than it.
                None => assert!(known[column] == "None" || *name == "fchmodat2", "{name} in {path}"),
            }
        }
    }
}
