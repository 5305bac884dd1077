//! The guest's Python: real files under `assets/python/`, put together into the source that the snapshot is made with.

/// Modules imported before the snapshot is taken.
pub(super) const IMPORTS: &str = include_str!("../../assets/python/imports.py");
const BOOT: &str = include_str!("../../assets/python/boot.py");

/// The engine's modules, in the order in which they import each other.
const MODULES: [(&str, &str); 17] = [
    ("text", include_str!("../../assets/python/rlm/text.py")),
    ("preview", include_str!("../../assets/python/rlm/preview.py")),
    ("encode", include_str!("../../assets/python/rlm/encode.py")),
    ("traces", include_str!("../../assets/python/rlm/traces.py")),
    ("answers", include_str!("../../assets/python/rlm/answers.py")),
    ("channel", include_str!("../../assets/python/rlm/channel.py")),
    ("output", include_str!("../../assets/python/rlm/output.py")),
    ("guard", include_str!("../../assets/python/rlm/guard.py")),
    ("source", include_str!("../../assets/python/rlm/source.py")),
    ("names", include_str!("../../assets/python/rlm/names.py")),
    ("loop", include_str!("../../assets/python/rlm/loop.py")),
    ("sweep", include_str!("../../assets/python/rlm/sweep.py")),
    ("intact", include_str!("../../assets/python/rlm/intact.py")),
    ("restore", include_str!("../../assets/python/rlm/restore.py")),
    ("api", include_str!("../../assets/python/rlm/api.py")),
    ("tools", include_str!("../../assets/python/rlm/tools.py")),
    ("steps", include_str!("../../assets/python/rlm/steps.py")),
];
const KERNEL: &str = include_str!("../../assets/python/rlm/kernel.py");

/// What a session runs, in the runtime's own namespace: the call lasts as long as the session.
pub(super) const SERVE: &str = "import sys\nawait sys.modules['_rlm.kernel'].serve()\n";

/// The code of step 0: it shows the model what `context` is.
pub const PROBE: &str = include_str!("../../assets/python/probe.py");

/// The seed of Python's string hashes. It is frozen into the snapshot, so it is the same in every session.
pub const HASH_SEED: u32 = 0;

/// Modules that a worker has of its own, in place of those for the sandbox.
const WORKERS: [(&str, &str); 2] = [
    ("channel", include_str!("../../assets/python/worker/channel.py")),
    ("loop", include_str!("../../assets/python/worker/loop.py")),
];
/// Only a worker shuts itself in.
pub(super) const HARDEN: &str = include_str!("../../assets/python/worker/harden.py");
const START: &str = include_str!("../../assets/python/worker/start.py");

/// What `python3 -c` runs in a worker: it takes the rest from its standard input.
pub(super) const LAUNCH: &str = include_str!("../../assets/python/worker/launch.py");

/// What a worker runs: the same kernel, on the system's own Python, with `memory` bytes beside what that needs.
pub(super) fn worker_source(memory: u64, parent: u32) -> String {
    let modules = MODULES.iter().map(|(name, text)| {
        let own = WORKERS.iter().find(|(worker, _)| worker == name);
        (*name, own.map_or(*text, |(_, text)| text))
    });
    let all = modules.chain([("kernel", KERNEL), ("harden", HARDEN)]);
    format!("{BOOT}\n{}{START}\nstart({memory}, {parent})\n", booted(all))
}

/// Everything that is executed before the snapshot is taken.
pub(super) fn boot_source() -> String {
    let all = MODULES.into_iter().chain([("kernel", KERNEL)]);
    format!("{IMPORTS}\n{BOOT}\n{}", booted(all))
}

/// The call that loads modules.
fn booted(modules: impl Iterator<Item = (&'static str, &'static str)>) -> String {
    let mut source = String::from("boot([\n");
    for (name, text) in modules {
        // A JSON string is a Python string literal, too.
        let (name, text) = (serde_json::Value::from(name), serde_json::Value::from(text));
        source.push_str(&format!("({name}, {text}),\n"));
    }
    source.push_str("])\n");
    source
}
