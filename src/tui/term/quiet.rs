//! Nothing may write to stderr under the alternate screen: while the terminal is ours, stderr leads nowhere, unless it
//! was directed to a file.

#[cfg(unix)]
mod unix {
    use std::os::fd::OwnedFd;
    use std::sync::Mutex;

    /// The real stderr while it is put away.
    static KEPT: Mutex<Option<OwnedFd>> = Mutex::new(None);

    pub(in super::super) fn begin() {
        use std::io::IsTerminal;
        let mut kept = KEPT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if kept.is_some() || !std::io::stderr().is_terminal() {
            return;
        }
        let nowhere = std::fs::OpenOptions::new().write(true).open("/dev/null");
        let real = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stderr(), 3);
        if let (Ok(nowhere), Ok(real)) = (nowhere, real)
            && rustix::stdio::dup2_stderr(&nowhere).is_ok()
        {
            *kept = Some(real);
        }
    }

    pub(in super::super) fn end() {
        let mut kept = KEPT.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(real) = kept.take() {
            let _ = rustix::stdio::dup2_stderr(&real);
        }
    }
}

#[cfg(not(unix))]
mod other {
    pub(in super::super) fn begin() {}

    pub(in super::super) fn end() {}
}

#[cfg(not(unix))]
pub(super) use other::{begin, end};
#[cfg(unix)]
pub(super) use unix::{begin, end};
