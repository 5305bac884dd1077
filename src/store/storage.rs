//! Where sessions are kept, and the two open stores.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sqlite::{EVENTS_FILE, FLOW_FILE};
use super::{EventStore, FlowStore, SqliteEvents, SqliteFlow, StoreError};

/// Where sessions are kept.
#[derive(Clone, Default)]
pub enum Storage {
    /// In memory: nothing outlives the store.
    #[default]
    Memory,
    /// In a directory, with one directory a session.
    Dir(PathBuf),
    /// In any other implementation of the two traits.
    Custom(Arc<dyn EventStore>, Arc<dyn FlowStore>),
}

impl Storage {
    /// In memory: nothing outlives the store.
    pub fn memory() -> Self {
        Self::Memory
    }

    /// In the directory `path`, which is made when the store is opened.
    pub fn dir(path: impl Into<PathBuf>) -> Self {
        Self::Dir(path.into())
    }

    /// In other stores.
    pub fn custom(events: Arc<dyn EventStore>, flow: Arc<dyn FlowStore>) -> Self {
        Self::Custom(events, flow)
    }

    /// Opens the two stores for writing, and makes what is not there.
    ///
    /// # Errors
    ///
    /// [`StoreError`] naming the file and the cause.
    pub fn open(&self) -> Result<Store, StoreError> {
        match self {
            Self::Memory => Ok(Store {
                events: Arc::new(SqliteEvents::in_memory()?),
                flow: Arc::new(SqliteFlow::in_memory()?),
                root: None,
            }),
            Self::Dir(path) => Store::open_dir(path),
            Self::Custom(events, flow) => Ok(Store {
                events: events.clone(),
                flow: flow.clone(),
                root: None,
            }),
        }
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("Memory"),
            Self::Dir(path) => f.debug_tuple("Dir").field(path).finish(),
            Self::Custom(..) => f.write_str("Custom"),
        }
    }
}

/// The two open stores; a cheap clone shares them.
#[derive(Clone)]
pub struct Store {
    /// The log.
    pub events: Arc<dyn EventStore>,
    /// What is not a log.
    pub flow: Arc<dyn FlowStore>,
    /// The storage directory, canonical; `None` where there is none.
    pub root: Option<PathBuf>,
}

impl Store {
    fn open_dir(path: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Io {
            path: path.to_owned(),
            doing: "creating",
            source,
        };
        fs::create_dir_all(path).map_err(failed)?;
        let root = path.canonicalize().map_err(failed)?;
        Ok(Self {
            events: Arc::new(SqliteEvents::open(&root.join(EVENTS_FILE))?),
            flow: Arc::new(SqliteFlow::open(&root.join(FLOW_FILE))?),
            root: Some(root),
        })
    }

    /// Opens the stores of a storage directory for reading. No byte of their files changes, and no writer is disturbed.
    /// A file that is not there reads as an empty store.
    ///
    /// # Errors
    ///
    /// [`StoreError`] naming the file and the cause.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Io {
            path: path.to_owned(),
            doing: "opening",
            source,
        };
        let root = path.canonicalize().map_err(failed)?;
        let (events, flow) = (root.join(EVENTS_FILE), root.join(FLOW_FILE));
        let events = match is_there(&events) {
            true => SqliteEvents::open_read_only(&events),
            false => SqliteEvents::absent(),
        };
        let flow = match is_there(&flow) {
            true => SqliteFlow::open_read_only(&flow),
            false => SqliteFlow::absent(),
        };
        Ok(Self {
            events: Arc::new(events?),
            flow: Arc::new(flow?),
            root: Some(root),
        })
    }

    /// The directory of the session `id`, whether or not it is there; `None` without a storage directory.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadSessionId`], [`StoreError::UnknownSession`].
    pub fn session_dir(&self, id: &str) -> Result<Option<PathBuf>, StoreError> {
        let session = self.events.session(id)?;
        let place = |root: &PathBuf| {
            if session.in_root {
                root.clone()
            } else {
                root.join(&session.id)
            }
        };
        Ok(self.root.as_ref().map(place))
    }
}

/// An empty file is one that a writer is about to fill.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file() || metadata.len() > 0)
}
