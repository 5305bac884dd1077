//! Transcripts: lines to headers, in chunks on any number of threads; bodies when they are looked at.
//!
//! A transcript is one JSON object a line. Reading one never keeps more than a chunk: what the model needs of a line
//! (its header) is taken, and where the line lies.

mod body;
mod damage;
mod line_reader;
mod names;
mod part;
mod record;
mod segment;
mod shares;
mod task;

pub use body::{Body, BodyError, Field};
pub(crate) use body::{Owner, read_body, read_fields};
pub(crate) use line_reader::{LineReader, RawLine};
pub(crate) use part::{Part, scan_part};
use segment::{Findings, scan_segment};
pub(crate) use segment::{Segment, SegmentEnd};
