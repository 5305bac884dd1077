//! From what was typed to a session.

use super::Failure;
use super::args::{Live, Target};
use crate::cli::query::config::Config;
use crate::client::Session;
use crate::store::{SessionRow, Store, check_session_id};
use std::path::{Path, PathBuf};

impl Target {
    pub(super) fn open(&self) -> Result<Session, Failure> {
        open(&self.session, &self.dir)
    }

    /// The session, with the models that it had, or those that are given.
    pub(super) fn open_live(&self, live: &Live) -> Result<Session, Failure> {
        let session = self.open()?;
        let last = session.turns()?.pop();
        let recorded = last.map(|turn| turn.model).filter(|model| !model.is_empty());
        let model = live.primary_agent.clone().or(recorded);
        let set = Config::find(live.config.as_deref())?;
        let mut config = set.whole()?;
        config = live.tools.iter().fold(config, |config, file| config.tool_file(file));
        config = live.mcp.iter().fold(config, |config, file| config.mcp_file(file));
        config = match live.repl {
            Some(repl) => config.repl(repl),
            None => config,
        };
        if let Some(model) = model {
            config = config.primary_agent(model);
        }
        let sub = live.sub_agent.clone().or(session.last_sub_model()?);
        if let Some(sub) = sub {
            config = config.sub_agent(sub);
        }
        Ok(session.config(config))
    }
}

/// `last`, an id in `dir`, or a session's directory.
pub(super) fn open(text: &str, dir: &Path) -> Result<Session, Failure> {
    let path = match text {
        "last" => last(dir)?,
        id if check_session_id(id).is_ok() && is_session(&dir.join(id)) => dir.join(id),
        path if is_session(Path::new(path)) => PathBuf::from(path),
        id => match known(id, dir)? {
            Some(path) => path,
            None => {
                return Err(Failure::Usage(format!(
                    "no session {id:?} in {0}: `fast-rlm sessions {0}` lists those there are",
                    dir.display()
                )));
            }
        },
    };
    Ok(Session::open(path, None)?)
}

fn is_session(path: &Path) -> bool {
    path.join("state.json").is_file() || path.join("logs").is_dir() || path.join("events.db").is_file()
}

/// Where a session of the store in `dir` has its files.
pub(super) fn place(dir: &Path, row: &SessionRow) -> PathBuf {
    if row.in_root { dir.to_owned() } else { dir.join(&row.id) }
}

fn known(id: &str, dir: &Path) -> Result<Option<PathBuf>, Failure> {
    if check_session_id(id).is_err() || !dir.is_dir() {
        return Ok(None);
    }
    let store = Store::open_read_only(dir)?;
    Ok(store.events.session(id).ok().map(|row| place(dir, &row)))
}

fn last(dir: &Path) -> Result<PathBuf, Failure> {
    let none = || {
        Failure::Usage(format!(
            "no session in {}: --dir names the directory that holds them",
            dir.display()
        ))
    };
    if !dir.is_dir() {
        return Err(none());
    }
    let row = Store::open_read_only(dir)?.events.latest_session()?;
    row.map(|row| place(dir, &row)).ok_or_else(none)
}
