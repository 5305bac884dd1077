//! A recorded query that goes on: what its start said, its transcript and its memory, ready to be written on.

use super::begin_error::BeginError;
use super::home::Home;
use super::input::{Input, Prepared};
use super::journal::transcript_of;
use super::memory::{RunRef, SessionMemory, new_run};
use super::schema::OutputSchema;
use super::session::{Query, make_dir};
use crate::disk::state_doc::StateDoc;
use crate::disk::transcript_writer::TranscriptWriter;
use crate::store::payload::TurnStarted;
use std::path::PathBuf;

/// What a query that goes on needs beside its log.
pub(super) struct Reopened {
    pub(super) prepared: Prepared,
    pub(super) schema: Option<OutputSchema>,
    pub(super) reference: RunRef,
    pub(super) lines: TranscriptWriter,
    pub(super) memory: SessionMemory,
}

impl Reopened {
    /// The query that `started` began, asked with the settings of `query`; `doc` is what was read of state.json
    /// already.
    pub(super) fn of(
        home: &Home,
        query: &Query,
        started: &TurnStarted,
        doc: Option<StateDoc>,
    ) -> Result<Self, BeginError> {
        home.check_names(&query.settings.secrets)?;
        let input = Input::recorded_in(started, &home.dir, query.input.file())?;
        let prepared = input.prepare(query.settings.structured_io)?;
        let schema = query.settings.output_schema()?;
        let (log_file, transcript) = transcript(home, started)?;
        let reference = RunRef {
            run_id: started.run_id.clone(),
            log_file,
            query: prepared.query.clone(),
        };
        Ok(Self {
            schema,
            lines: TranscriptWriter::open(&transcript)?,
            memory: SessionMemory::of_read(&home.dir, doc, query.settings.secrets.clone())?,
            prepared,
            reference,
        })
    }
}

/// Its transcript, linked as the ledger links it; a new one where the recorded name leads elsewhere.
fn transcript(home: &Home, started: &TurnStarted) -> Result<(String, PathBuf), BeginError> {
    if let (Some(path), Some(link)) = (transcript_of(&home.dir, started), &started.log_file) {
        return Ok((link.clone(), path));
    }
    make_dir(&home.logs())?;
    let (_, name) = new_run(&home.prefix, |name| home.logs().join(name).exists());
    Ok((home.link(&name), home.logs().join(name)))
}
