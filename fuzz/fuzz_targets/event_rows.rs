//! Fuzzes the check `event_rows`.
#![no_main]

#[path = "../checks/mod.rs"]
#[allow(dead_code)] // The others have targets of their own.
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::event_rows::check(data));
