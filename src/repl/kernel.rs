//! The guest's Python: real files under `assets/python/`, put together into the source that the snapshot is made with.

/// Modules imported before the snapshot is taken.
pub(super) const IMPORTS: &str = include_str!("../../assets/python/imports.py");
const BOOT: &str = include_str!("../../assets/python/boot.py");

/// The engine's modules, in the order in which they import each other.
const MODULES: [(&str, &str); 15] = [
    ("text", include_str!("../../assets/python/rlm/text.py")),
    ("preview", include_str!("../../assets/python/rlm/preview.py")),
    ("encode", include_str!("../../assets/python/rlm/encode.py")),
    ("traces", include_str!("../../assets/python/rlm/traces.py")),
    ("channel", include_str!("../../assets/python/rlm/channel.py")),
    ("output", include_str!("../../assets/python/rlm/output.py")),
    ("guard", include_str!("../../assets/python/rlm/guard.py")),
    ("source", include_str!("../../assets/python/rlm/source.py")),
    ("names", include_str!("../../assets/python/rlm/names.py")),
    ("loop", include_str!("../../assets/python/rlm/loop.py")),
    ("sweep", include_str!("../../assets/python/rlm/sweep.py")),
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

/// Everything that is executed before the snapshot is taken.
pub(super) fn boot_source() -> String {
    let mut source = format!("{IMPORTS}\n{BOOT}\nboot([\n");
    for (name, text) in MODULES.iter().chain([&("kernel", KERNEL)]) {
        // A JSON string is a Python string literal, too.
        let name = serde_json::Value::from(*name);
        let text = serde_json::Value::from(*text);
        source.push_str(&format!("({name}, {text}),\n"));
    }
    source.push_str("])\n");
    source
}
