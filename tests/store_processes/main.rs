//! Nothing is lost, doubled or torn when several processes use one store, or when one of them is killed.
//!
//! The other processes are this same test binary, started again for the test `child`, which plays the role that an
//! environment variable names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stderr
)]

mod crashes;
mod roles;
mod sharing;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fast_rlm::disk::fault;
use fast_rlm::store::{Select, Store};

use crate::roles::{ARG, DIR, ROLE};

fn start(role: &str, dir: &Path, arg: u64, armed: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["roles::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(DIR, dir)
        .env(ARG, arg.to_string())
        .env(fault::VARIABLE, armed)
        .stdout(Stdio::piped())
        .stderr(if armed.is_empty() {
            Stdio::inherit()
        } else {
            Stdio::null()
        })
        .spawn()
        .unwrap()
}

fn finish(children: Vec<Child>) {
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

fn hear(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines
        .map_while(Result::ok)
        .filter_map(|line| line.strip_prefix('@').map(str::to_owned))
}

fn ids(store: &Store, session: &str) -> Vec<String> {
    let page = store.events.read_all(session, &Select::all()).unwrap();
    assert_eq!(page.skipped, []);
    let seqs: Vec<u64> = page.events.iter().map(|event| event.stream_seq).collect();
    assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "a gap in {session}");
    page.events.into_iter().map(|event| event.id).collect()
}
