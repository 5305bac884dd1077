//! Embeds the parts of the Python interpreter, where the engine is built.
//!
//! The parts are data files of two crates that `python-parts/Cargo.lock` pins and that are never compiled. A nested
//! `cargo metadata --locked` downloads and checksums them where needed and says where they are (the registry cache, or a
//! vendor directory that `.cargo/config.toml` names). `PYTHON_PARTS_DIR` skips it: a directory with the two crates
//! unpacked, as `eryx` and `eryx-runtime`, with or without the version in the name.
//!
//! It also tells the program what it is built from (commit, target, profile, features), and the linker what to fold.
//!
//! The output is `parts.rs` in OUT_DIR, which `src/repl/parts.rs` includes. Nothing is compiled or unpacked here.

use sha2::{Digest, Sha256};
use std::fmt::{self, Debug, Display, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The crate with the wasm libraries, and the one with the standard library.
const RUNTIME: &str = "eryx-runtime";
const STDLIB: &str = "eryx";

/// (crate, file), the libraries first, in link order. None of them is written in C++: the crate's libc++ stays out.
const FILES: [(&str, &str); 10] = [
    (RUNTIME, "libs/libwasi-emulated-process-clocks.so.zst"),
    (RUNTIME, "libs/libwasi-emulated-signal.so.zst"),
    (RUNTIME, "libs/libwasi-emulated-mman.so.zst"),
    (RUNTIME, "libs/libwasi-emulated-getpid.so.zst"),
    (RUNTIME, "libs/libc.so.zst"),
    (RUNTIME, "libs/libpython3.14.so.zst"),
    (RUNTIME, "prebuilt/liberyx_runtime.so.zst"),
    (RUNTIME, "prebuilt/liberyx_bindings.so.zst"),
    (RUNTIME, "libs/wasi_snapshot_preview1.reactor.wasm.zst"),
    (STDLIB, "python-stdlib.tar.zst"),
];

/// SHA-256 over all the files, in that order: this program was written for exactly these.
const DIGEST: &str = "af070c8576bbf094ade4dad59dcdf3885992ca052a4ada6ea2a5c7df496d265f";

/// Why the build stops. `main` prints errors with `Debug`, and the message has lines.
struct Failure(String);

impl Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

fn main() -> Result<(), Failure> {
    let mut directives = String::from("cargo::rerun-if-changed=build.rs\n");
    facts(&mut directives)?;
    fold_alike(&mut directives)?;
    if env::var_os("CARGO_FEATURE_ENGINE").is_some() {
        directives += "cargo::rerun-if-changed=python-parts/Cargo.toml\n\
                       cargo::rerun-if-changed=python-parts/Cargo.lock\n\
                       cargo::rerun-if-env-changed=PYTHON_PARTS_DIR\n";
        embed()?;
    }
    std::io::Write::write_all(&mut std::io::stdout(), directives.as_bytes())?;
    Ok(())
}

/// In released programs, functions that came out alike are there once, where the linker can do that: generics make a
/// twentieth of a program alike. Whether it can is tried.
fn fold_alike(directives: &mut String) -> Result<(), Failure> {
    const FOLD: &str = "-Wl,--icf=all";
    let is = |name: &str, wanted: &str| env::var(name).is_ok_and(|value| value == wanted);
    let native = env::var_os("HOST") == env::var_os("TARGET");
    if !(is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && native) {
        return Ok(());
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let probe = out.join("linker_probe.rs");
    fs::write(&probe, "fn main() {}\n")?;
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let linker = env::var("RUSTC_LINKER").map(|linker| format!("-Clinker={linker}"));
    let tried = Command::new(env::var_os("RUSTC").ok_or("RUSTC is not set")?)
        .args(flags.split('\x1f').filter(|flag| !flag.is_empty()))
        .args(linker)
        .arg(format!("-Clink-arg={FOLD}"))
        .arg(&probe)
        .arg("-o")
        .arg(out.join("linker_probe"))
        .output();
    if tried.is_ok_and(|tried| tried.status.success()) {
        writeln!(directives, "cargo::rustc-link-arg-bins={FOLD}")?;
    }
    Ok(())
}

/// What `--version` tells of this build.
fn facts(directives: &mut String) -> Result<(), Failure> {
    let features: Vec<String> = env::vars_os()
        .filter_map(|(name, _)| Some(name.to_str()?.strip_prefix("CARGO_FEATURE_")?.to_lowercase()))
        .filter(|feature| feature != "default")
        .collect();
    let features = if features.is_empty() {
        "none".to_owned()
    } else {
        features.join(", ")
    };
    let (target, profile) = (env::var("TARGET")?, env::var("PROFILE")?);
    let commit = commit(&profile, directives).unwrap_or_else(|| "unknown".to_owned());
    writeln!(directives, "cargo::rerun-if-env-changed=FAST_RLM_COMMIT")?;
    let python = match env::var_os("CARGO_FEATURE_ENGINE") {
        Some(_) => "CPython 3.14, compiled to WebAssembly, in a sandbox",
        None => "none, this build is the viewer alone",
    };
    for (name, value) in [
        ("COMMIT", commit),
        ("TARGET", target),
        ("PROFILE", profile),
        ("FEATURES", features),
        ("PYTHON", python.to_owned()),
    ] {
        writeln!(directives, "cargo::rustc-env=FAST_RLM_{name}={value}")?;
    }
    Ok(())
}

/// `FAST_RLM_COMMIT`, else what git says: in release builds only, because others would be built anew at every commit.
fn commit(profile: &str, directives: &mut String) -> Option<String> {
    if let Ok(commit) = env::var("FAST_RLM_COMMIT") {
        return Some(commit).filter(|commit| !commit.is_empty());
    }
    if profile != "release" {
        return None;
    }
    let root = env::var_os("CARGO_MANIFEST_DIR")?;
    let git = |args: &[&str]| {
        let output = Command::new("git").current_dir(&root).args(args).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    // Not of another repository that this directory happens to lie in.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != Path::new(&root).canonicalize().ok()? {
        return None;
    }
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    writeln!(directives, "cargo::rerun-if-changed={head}").ok()?;
    git(&["rev-parse", "--short", "HEAD"])
}

fn embed() -> Result<(), Failure> {
    let roots = match env::var_os("PYTHON_PARTS_DIR") {
        Some(directory) => unpacked_roots(Path::new(&directory))?,
        None => cargo_roots()?,
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let mut hash = Sha256::new();
    let mut list = String::new();
    for (owner, file) in FILES {
        let root = if owner == STDLIB { &roots.stdlib } else { &roots.runtime };
        let path = root.join(file);
        let bytes = fs::read(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        hash.update(&bytes);
        let name = file.rsplit('/').next().unwrap_or(file);
        // A copy, so that emptying the registry cache does not break incremental builds.
        fs::write(out.join(name), &bytes)?;
        writeln!(
            list,
            "    ({name:?}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}\"))),"
        )?;
    }
    let digest = hash
        .finalize()
        .iter()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    if digest != DIGEST {
        return Err(Failure(format!(
            "the Python parts have the SHA-256 {digest}, but this program was written for {DIGEST}"
        )));
    }
    let count = FILES.len();
    fs::write(
        out.join("parts.rs"),
        format!(
            "static FILES: [(&str, &[u8]); {count}] = [\n{list}];\n\
             /// SHA-256 over all embedded files, in hexadecimal.\npub(crate) const DIGEST: &str = {digest:?};\n"
        ),
    )?;
    Ok(())
}

/// Where the two crates are unpacked.
struct Roots {
    runtime: PathBuf,
    stdlib: PathBuf,
}

fn unpacked_roots(directory: &Path) -> Result<Roots, Failure> {
    let find = |name: &str| {
        let candidates = [format!("{name}-0.5.0"), name.to_owned()].map(|name| directory.join(name));
        let missing = || format!("PYTHON_PARTS_DIR: there is no {name} in {}", directory.display());
        candidates.into_iter().find(|path| path.is_dir()).ok_or_else(missing)
    };
    Ok(Roots {
        runtime: find(RUNTIME)?,
        stdlib: find(STDLIB)?,
    })
}

fn cargo_roots() -> Result<Roots, Failure> {
    // Without the network first: a build that has the files must never open a connection.
    let json = metadata(&["--offline"]).or_else(|offline| {
        metadata(&[]).map_err(|online| {
            format!(
                "cannot get the Python parts.\nWithout network: {offline}\nWith network: {online}\nFetch them once with \
                 `cargo fetch --locked --manifest-path python-parts/Cargo.toml`, or set PYTHON_PARTS_DIR."
            )
        })
    })?;
    let metadata: serde_json::Value = serde_json::from_slice(&json)?;
    let find = |name: &str| {
        let packages = metadata.get("packages")?.as_array()?;
        let package = packages
            .iter()
            .find(|package| package.get("name").is_some_and(|found| found == name))?;
        Some(Path::new(package.get("manifest_path")?.as_str()?).parent()?.to_owned())
    };
    let missing = "cargo metadata does not list the Python parts";
    Ok(Roots {
        runtime: find(RUNTIME).ok_or(missing)?,
        stdlib: find(STDLIB).ok_or(missing)?,
    })
}

fn metadata(extra: &[&str]) -> Result<Vec<u8>, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let root = env::var_os("CARGO_MANIFEST_DIR").ok_or("cargo sets CARGO_MANIFEST_DIR")?;
    let output = Command::new(cargo)
        // The current directory decides which .cargo/config.toml counts (vendoring, proxies).
        .current_dir(root)
        .args([
            "metadata",
            "--locked",
            "--format-version",
            "1",
            "--manifest-path",
            "python-parts/Cargo.toml",
        ])
        .args(extra)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}
