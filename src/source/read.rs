//! Reading what is looked at.

use crate::disk::files::open_regular;
use crate::disk::json::Fault;
use crate::disk::transcript::read_body;
use crate::model::{BodyRef, LogId};

use super::session::read_text;
use super::{Body, BodyError, Source};

/// Ending of files with a query's whole text, beside its transcript.
const QUERY_ENDING: &str = "query";

impl Source {
    /// Code, output, reasoning and result of a line.
    ///
    /// # Errors
    /// When the transcript is gone, cannot be read, or has something else there now.
    pub fn body(&self, at: BodyRef) -> Result<Body, BodyError> {
        let path = self.log_path(at.log).ok_or(BodyError::UnknownLog)?;
        let (file, _) = open_regular(&path).map_err(|source| BodyError::Unreadable {
            path: path.clone(),
            source,
        })?;
        read_body(&file, at).map_err(|fault| match fault {
            Fault::Io(source) => BodyError::Unreadable { path, source },
            _ => BodyError::Changed {
                path,
                line: at.line,
                byte: at.offset,
            },
        })
    }

    /// The whole text of a transcript's query, where its writer put it beside it: state.json has at most 4,000
    /// characters of it.
    pub fn whole_query(&self, log: LogId) -> Option<String> {
        let path = self.log_path(log)?.with_extension(QUERY_ENDING);
        // Not a link: it could lead out of the session.
        path.symlink_metadata()
            .ok()?
            .is_file()
            .then(|| read_text(&path))
            .flatten()
    }
}
