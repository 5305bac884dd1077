//! Room to work in: where the system gives the first thread a small stack, the program runs on another one.

/// Bytes of stack that the program may need, debug builds included; systems give 8 MB as a rule.
const STACK: u64 = 8 << 20;
/// With fewer, it may not get far.
const ENOUGH: u64 = 2 << 20;

/// Runs the program where it has room.
pub fn with_room<T: Send>(main: impl Fn() -> T + Sync) -> T {
    match has_room() {
        true => main(),
        false => on_a_thread(main),
    }
}

fn on_a_thread<T: Send>(main: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("main".into());
        let thread = usize::try_from(STACK).map(|bytes| builder.stack_size(bytes).spawn_scoped(scope, &main));
        match thread {
            Ok(Ok(thread)) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // Without a thread, there may still be enough for what is to be done.
            _ => main(),
        }
    })
}

#[cfg(unix)]
fn has_room() -> bool {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::Stack).current.is_none_or(|limit| limit >= ENOUGH)
}

#[cfg(not(unix))]
fn has_room() -> bool {
    true
}
