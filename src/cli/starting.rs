//! What a program does before anything else.

/// Makes a write to a file that may grow no further an error, which is told, like any other. Unasked, the system would
/// end the program without a word.
#[cfg(unix)]
pub(super) fn outlive_size_limits() {
    // A handler, though there is nothing to do: what is ignored stays ignored in everything that is started, while a
    // handler is the default there again. Without it, too, a program can go on.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

#[cfg(not(unix))]
pub(super) fn outlive_size_limits() {}
