//! A terminal that closes without a signal (`nohup`, a detached parent): its reader would spin on end of file, so a
//! thread of its own waits for the hang-up, at no cost.

/// Calls `gone` once, when the terminal hangs up. The thread lives as long as the process.
pub fn watch(gone: impl FnOnce() + Send + 'static) {
    #[cfg(unix)]
    {
        let wait = move || {
            if wait_for_hangup() {
                super::signals::exit_soon(signal_hook::consts::SIGHUP);
                gone();
            }
        };
        let _ = std::thread::Builder::new().name("hangup".into()).spawn(wait);
    }
    #[cfg(not(unix))]
    let _ = gone;
}

/// Waits; `false` where the system cannot wait for that.
#[cfg(unix)]
fn wait_for_hangup() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let stdin = std::io::stdin();
    loop {
        // No event is asked for: only hang-up and error wake us.
        let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) => {
                let seen = fds.iter().fold(PollFlags::empty(), |seen, fd| seen | fd.revents());
                return seen.intersects(PollFlags::HUP | PollFlags::ERR);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
