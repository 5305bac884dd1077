//! Small identifiers: logs, agents, instants, and where a step's body lies.

/// An instant in unix milliseconds, UTC.
pub type Time = i64;

/// A transcript of the session, by its place in [`Session::logs`](super::Session::logs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct LogId(pub u32);

/// An agent of a run, by its place in [`Run::agents`](super::Run::agents).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct AgentId(pub u32);

/// Where the body (code, output, reasoning) of one transcript line lies: it is read when looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct BodyRef {
    /// The transcript.
    pub log: LogId,
    /// Line number, from 1.
    pub line: u64,
    /// Byte offset of the line's first byte.
    pub offset: u64,
    /// Bytes of the line, without its newline.
    pub len: u64,
}
