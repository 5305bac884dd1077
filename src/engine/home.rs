//! Where a session is: its files, its transcripts, its log.

use super::begin_error::BeginError;
use crate::store::Store;
use crate::text::secret::Secrets;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of a transcript's prefix: what follows it must fit in a file name, too.
const LONGEST_PREFIX: usize = 100;

/// Where a session's files are.
#[derive(Clone, Debug)]
pub struct Home {
    /// The session directory: `state.json`, `logs/`.
    pub dir: PathBuf,
    /// Transcripts somewhere else than in `logs/`.
    pub log_dir: Option<PathBuf>,
    /// First part of a transcript's name; `run` where none is given.
    pub prefix: String,
    /// Link transcripts by absolute path, for viewers that follow only those.
    pub absolute_logs: bool,
    /// Where the session's store is, if there is none in or beside its directory; `None` keeps no store.
    pub storage: Option<PathBuf>,
    /// The session's log where its store is open already; counts before `storage`.
    pub log: Option<SessionLog>,
    /// How long a busy session is waited for.
    pub wait: Duration,
}

/// A session in a store that is open.
#[derive(Clone)]
pub struct SessionLog {
    /// The store.
    pub store: Store,
    /// The session's id there.
    pub session: String,
}

impl std::fmt::Debug for SessionLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SessionLog").field(&self.session).finish()
    }
}

impl Home {
    /// A session in `dir` with its store there, and the usual names.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        Self {
            storage: Some(dir.clone()),
            dir,
            log_dir: None,
            prefix: "run".into(),
            absolute_logs: false,
            log: None,
            wait: Duration::ZERO,
        }
    }

    /// Names become names of files, which nothing can be taken out of: a prefix is the beginning of one, and leads
    /// nowhere else, and no name holds a secret.
    ///
    /// # Errors
    ///
    /// [`BeginError::Prefix`], [`BeginError::SecretName`].
    pub fn check_names(&self, secrets: &Secrets) -> Result<(), BeginError> {
        let named = |what: &'static str, bytes: &[u8]| match secrets.find_in(bytes) {
            Some(secret) => Err(BeginError::SecretName { what, secret }),
            None => Ok(()),
        };
        named("prefix of the transcripts", self.prefix.as_bytes())?;
        let leads_on = |c: char| c.is_control() || matches!(c, '/' | '\\');
        if self.prefix.len() > LONGEST_PREFIX || self.prefix.contains(leads_on) {
            return Err(BeginError::Prefix {
                prefix: self.prefix.clone(),
            });
        }
        // As state.json links them.
        named("path of the transcripts", self.link("").as_bytes())?;
        // One that is there already tells nothing new.
        let new = self.dir.file_name().filter(|_| !self.dir.exists());
        named("name of the session", new.unwrap_or_default().as_encoded_bytes())
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.log_dir.clone().unwrap_or_else(|| self.dir.join("logs"))
    }

    /// A transcript's path as the ledger links it.
    pub(super) fn link(&self, name: &str) -> String {
        match (&self.log_dir, self.absolute_logs) {
            (None, false) => format!("logs/{name}"),
            _ => std::path::absolute(self.logs().join(name))
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }
}
