//! `fast-rlm-log`: look into sessions, and drive them.

fn main() -> std::process::ExitCode {
    fast_rlm::cli::with_room(|| fast_rlm::cli::log_main(std::env::args_os()))
}
