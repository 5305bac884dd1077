//! How long it takes to make content: colours of code, laid out values, JSON trees, Markdown.
//!
//! `cargo bench --bench content`

use std::time::Duration;

use fast_rlm::text::SafeText;
use fast_rlm::tui::content::{highlight, json_tree::JsonTree, markdown, python_literal};
use fast_rlm::tui::effect::Stop;

fn main() {
    divan::main();
}

fn python(code: &str) -> usize {
    let text = SafeText::block(code);
    let highlights = highlight::python(&text, Duration::from_secs(60), &Stop::default());
    highlights.map_or(0, |highlights| highlights.within(&(0..text.as_str().len())).count())
}

/// The line that makes grammars of regular expressions quadratic.
#[divan::bench(args = [1, 10, 100, 1_000])]
fn base64_line_kb(bencher: divan::Bencher<'_, '_>, kb: usize) {
    let code = format!("data = '{}'\nprint(data)\n", "QUJDRA+/".repeat(kb * 128));
    bencher.bench(|| python(&code));
}

/// The same without quotes around it, as one long word.
#[divan::bench(args = [10])]
fn bare_base64_line_kb(bencher: divan::Bencher<'_, '_>, kb: usize) {
    let code = format!("{}\n", "QUJDRAab".repeat(kb * 128));
    bencher.bench(|| python(&code));
}

#[divan::bench(args = [100, 1_000])]
fn ordinary_code_lines(bencher: divan::Bencher<'_, '_>, lines: usize) {
    let line = "    out.append((n, f\"{episode_index[n]['guest']}: {line.strip()}\"))  # keep it\n";
    let code = line.repeat(lines);
    bencher.bench(|| python(&code));
}

#[divan::bench]
fn preview_of_2000_chars(bencher: divan::Bencher<'_, '_>) {
    let repr = format!("{{{}}}", "'Ada Vogel': ['ep23 says little', 1, 2.5, None], ".repeat(40));
    bencher.bench(|| python_literal::pretty(&repr, 80));
}

#[divan::bench(args = [1_000, 100_000])]
fn json_depth(bencher: divan::Bencher<'_, '_>, depth: usize) {
    let text = "[".repeat(depth) + &"]".repeat(depth);
    bencher.bench(|| JsonTree::new(text.as_str()).styled());
}

#[divan::bench(args = [1, 10])]
fn json_mb(bencher: divan::Bencher<'_, '_>, mb: usize) {
    let item = r#"{"name": "Ada Vogel", "quotes": ["one", "two"], "score": 0.5},"#;
    let text = format!("[{}0]", item.repeat(mb * (1 << 20) / item.len()));
    bencher.bench(|| JsonTree::new(text.as_str()).styled());
}

#[divan::bench]
fn markdown_of_10_kb(bencher: divan::Bencher<'_, '_>) {
    let source = "## Title\n\nSome *text* with `code` and a [link](http://x.y).\n\n- one\n- two\n\n".repeat(140);
    bencher.bench(|| markdown::render(&source, 80));
}
