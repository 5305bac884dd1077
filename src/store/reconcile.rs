//! What the state.json of a session means, given what the log says was written: other programs write that file too.
//! Pure decisions; doing what they say is the engine's.

use super::{Digest, Fact, StoredEvent};

/// What the log says of state.json, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A file of this digest was to be written next, or was taken over.
    Wrote(Digest),
    /// The session went on, and the file was put off.
    PutOff,
    /// The session was cleared: there is to be no file.
    Cleared,
}

/// The file as it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileState {
    /// There is none.
    Missing,
    /// It is no whole JSON object.
    Torn,
    /// It is whole, and has this digest.
    Whole(Digest),
}

/// What to do before writing to the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing: file and log agree.
    InStep,
    /// The log is ahead (its writer died in between): write the file anew, or remove it if the session was cleared.
    RewriteProjection,
    /// The file is torn: write it anew from the log.
    Rebuild,
    /// Another program wrote the file, or the log lost its end: the file wins, and one `adopted` event carries it.
    Adopt,
    /// The file was removed: the session counts as cleared, and one `cleared` event says so.
    Cleared,
    /// The file is torn and the log holds nothing to write it from: touch neither, and refuse to write.
    Damaged,
}

/// Decides what to do about a file, given everything that the log recorded of it, oldest first.
pub fn reconcile(recorded: &[Recorded], file: FileState) -> Action {
    let last = recorded.last();
    match file {
        FileState::Missing => missing(recorded),
        FileState::Torn => match last {
            None | Some(Recorded::Cleared) => Action::Damaged,
            Some(_) => Action::Rebuild,
        },
        FileState::Whole(digest) if last == Some(&Recorded::Wrote(digest)) => Action::InStep,
        FileState::Whole(digest) if recorded.contains(&Recorded::Wrote(digest)) => Action::RewriteProjection,
        FileState::Whole(_) => Action::Adopt,
    }
}

/// A write is recorded before it is made. The first one since the session began (or was cleared) may therefore never
/// have been made; any later one shows that the one before it was.
fn missing(recorded: &[Recorded]) -> Action {
    let since_clear = recorded.iter().rev().take_while(|r| **r != Recorded::Cleared);
    let (writes, all) = since_clear.fold((0, 0), |(writes, all), recorded| {
        (writes + u32::from(matches!(recorded, Recorded::Wrote(_))), all + 1)
    });
    match (all, writes) {
        (0, _) => Action::InStep,
        (_, 0 | 1) => Action::RewriteProjection,
        _ => Action::Cleared,
    }
}

/// What `events` say of state.json, in their order; events of other kinds say nothing.
pub fn recorded(events: &[StoredEvent]) -> Vec<Recorded> {
    let of = |event: &StoredEvent| match &event.fact {
        Fact::Swept(swept) => Some(swept.state.map_or(Recorded::PutOff, Recorded::Wrote)),
        Fact::Adopted(adopted) => Some(Recorded::Wrote(adopted.state)),
        Fact::Cleared(_) => Some(Recorded::Cleared),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn digest(name: &str) -> Digest {
        Digest::of(name.as_bytes())
    }

    /// `a b - x`: wrote a, wrote b, put off, cleared.
    fn log(text: &str) -> Vec<Recorded> {
        let one = |word: &str| match word {
            "-" => Recorded::PutOff,
            "x" => Recorded::Cleared,
            name => Recorded::Wrote(digest(name)),
        };
        text.split_whitespace().map(one).collect()
    }

    fn file(text: &str) -> FileState {
        match text {
            "missing" => FileState::Missing,
            "torn" => FileState::Torn,
            name => FileState::Whole(digest(name)),
        }
    }

    #[rstest]
    #[case::new_session("", "missing", Action::InStep)]
    #[case::foreign_session("", "f", Action::Adopt)]
    #[case::foreign_and_torn("", "torn", Action::Damaged)]
    #[case::usual("a b", "b", Action::InStep)]
    #[case::died_before_the_write("a b", "a", Action::RewriteProjection)]
    #[case::died_before_the_first_write("a", "missing", Action::RewriteProjection)]
    #[case::put_off("a b -", "b", Action::RewriteProjection)]
    #[case::put_off_before_the_first_write("- -", "missing", Action::RewriteProjection)]
    #[case::far_behind("a b c d", "a", Action::RewriteProjection)]
    #[case::same_bytes_again("a b a", "a", Action::InStep)]
    #[case::torn_file("a b", "torn", Action::Rebuild)]
    #[case::other_program("a b", "f", Action::Adopt)]
    #[case::log_lost_its_tail("a", "b", Action::Adopt)]
    #[case::adopted_before("a f", "f", Action::InStep)]
    #[case::removed("a b", "missing", Action::Cleared)]
    #[case::removed_while_put_off("a b -", "missing", Action::Cleared)]
    #[case::cleared("a b x", "missing", Action::InStep)]
    #[case::died_before_the_unlink("a b x", "b", Action::RewriteProjection)]
    #[case::cleared_then_foreign("a b x", "f", Action::Adopt)]
    #[case::cleared_then_torn("a b x", "torn", Action::Damaged)]
    #[case::began_again("a b x c", "c", Action::InStep)]
    #[case::began_again_and_died("a b x c", "missing", Action::RewriteProjection)]
    #[case::began_again_and_removed("a b x c d", "missing", Action::Cleared)]
    fn decides(#[case] recorded: &str, #[case] found: &str, #[case] action: Action) {
        assert_eq!(reconcile(&log(recorded), file(found)), action);
    }
}
