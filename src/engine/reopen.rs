//! A recorded query that goes on: what its start said, its transcript and its memory, ready to be written on.

use super::begin_error::BeginError;
use super::home::Home;
use super::input::{Input, Prepared};
use super::memory::{RunRef, SessionMemory};
use super::schema::OutputSchema;
use super::session::Query;
use crate::disk::transcript_writer::TranscriptWriter;
use crate::store::payload::TurnStarted;

/// What a query that goes on needs beside its log.
pub(super) struct Reopened {
    pub(super) prepared: Prepared,
    pub(super) schema: Option<OutputSchema>,
    pub(super) reference: RunRef,
    pub(super) lines: TranscriptWriter,
    pub(super) memory: SessionMemory,
}

impl Reopened {
    /// The query that `started` began, asked with the settings of `query`.
    pub(super) fn of(home: &Home, query: &Query, started: &TurnStarted) -> Result<Self, BeginError> {
        let prepared = Input::from_record(&started.query, &started.settings).prepare()?;
        let schema = query.settings.schema.as_ref().map(OutputSchema::compile).transpose()?;
        let reference = RunRef {
            run_id: started.run_id.clone(),
            log_file: started.log_file.clone().unwrap_or_default(),
            query: prepared.query.clone(),
        };
        Ok(Self {
            schema,
            lines: TranscriptWriter::open(&home.dir.join(&reference.log_file))?,
            memory: SessionMemory::open(&home.dir, query.settings.secrets.clone())?,
            prepared,
            reference,
        })
    }
}
