//! Which crates there are, under which licences, and the texts that they carry, each text once.

use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// File names that hold licences and notices begin with one of these, in any case.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// One dependency.
struct Crate {
    /// `serde 1.0.2`.
    name: String,
    /// SPDX expression, or where its text is.
    licence: String,
    authors: String,
    texts: Vec<String>,
}

/// The notices of every crate in the Cargo.lock of `root`, and of what the program embeds.
///
/// # Errors
///
/// cargo does not list them (those that were not downloaded yet are, over the network), or a file cannot be read.
pub(crate) fn notices(root: &Path) -> Result<String, Box<dyn Error>> {
    let mut crates = crates(root)?;
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    let mut out = String::from("Licences of what fast-rlm is made with.\n\n");
    out.push_str("Every crate in its Cargo.lock, also those that only tests, builds or other systems need.\n\n");
    for one in &crates {
        writeln!(out, "{}: {}", one.name, one.licence)?;
    }
    let bare: Vec<&Crate> = crates.iter().filter(|one| one.texts.is_empty()).collect();
    out.push_str("\nThese crates carry no text of their licence; the texts stand below, under other crates.\n\n");
    for one in bare {
        writeln!(out, "{}: {}; {}", one.name, one.licence, one.authors)?;
    }
    let mut by_text: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (text, name) in crates
        .iter()
        .flat_map(|one| one.texts.iter().map(|text| (text, &one.name)))
    {
        by_text.entry(text).or_default().push(name);
    }
    // Texts of many crates first.
    let mut texts: Vec<_> = by_text.into_iter().collect();
    texts.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.1.cmp(&b.1)));
    for (text, names) in texts {
        let rule = "-".repeat(80);
        writeln!(out, "\n{rule}\n{}\n{rule}\n\n{text}", names.join(", "))?;
    }
    let embedded = std::fs::read_to_string(root.join("NOTICE"))?;
    writeln!(out, "\n{}\n\n{embedded}", "=".repeat(80))?;
    Ok(out)
}

fn crates(root: &Path) -> Result<Vec<Crate>, Box<dyn Error>> {
    // A build downloads what its own system needs: the crates of others may be missing still.
    let listed = list(root, &["--offline"]).or_else(|_| list(root, &[]))?;
    let metadata: Value = serde_json::from_slice(&listed)?;
    let packages = metadata
        .get("packages")
        .and_then(Value::as_array)
        .ok_or("cargo lists no packages")?;
    // The package itself comes from no registry.
    let foreign = packages
        .iter()
        .filter(|package| package.get("source").is_some_and(|source| !source.is_null()));
    foreign.map(read).collect()
}

/// What cargo lists, as JSON; without `--offline` it downloads what is missing.
fn list(root: &Path, extra: &[&str]) -> Result<Vec<u8>, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .args(["metadata", "--locked", "--format-version", "1"]);
    let output = command.args(extra).output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(output.stdout)
}

fn read(package: &Value) -> Result<Crate, Box<dyn Error>> {
    let text = |key: &str| package.get(key).and_then(Value::as_str).unwrap_or_default();
    let manifest = PathBuf::from(text("manifest_path"));
    let directory = manifest.parent().ok_or("a manifest lies in a directory")?;
    let licence = match (text("license"), text("license_file")) {
        ("", "") => return Err(format!("{} states no licence", text("name")).into()),
        ("", file) => format!("see its {file}"),
        (licence, _) => licence.to_owned(),
    };
    let authors = package.get("authors").and_then(Value::as_array).into_iter().flatten();
    let authors: Vec<&str> = authors.filter_map(Value::as_str).collect();
    Ok(Crate {
        name: format!("{} {}", text("name"), text("version")),
        licence,
        authors: if authors.is_empty() {
            text("repository").to_owned()
        } else {
            authors.join(", ")
        },
        texts: texts(directory)?,
    })
}

/// The texts in a crate's directory, with one kind of line end and no space around.
fn texts(directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    let holds_one = |path: &&PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().to_uppercase())
            .unwrap_or_default();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let mut texts = Vec::new();
    for path in paths.iter().filter(holds_one) {
        let text = String::from_utf8_lossy(&std::fs::read(path)?).replace("\r\n", "\n");
        let lines: Vec<&str> = text.trim_matches('\n').lines().map(str::trim_end).collect();
        texts.push(lines.join("\n"));
    }
    texts.dedup();
    Ok(texts)
}
