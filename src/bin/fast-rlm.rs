//! `fast-rlm`: run a query from the shell.
fn main() {}
