//! `fast-rlm-log`: look into sessions, and drive them.
fn main() {}
