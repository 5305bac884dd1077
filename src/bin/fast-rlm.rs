//! `fast-rlm`: run a query from the shell.

fn main() -> fast_rlm::cli::query::Exit {
    fast_rlm::cli::with_room(|| fast_rlm::cli::query::main(std::env::args_os()))
}
