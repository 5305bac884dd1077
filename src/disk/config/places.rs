//! Where configuration files are looked for.

use std::path::{Path, PathBuf};

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// It was named on the command line, and is the only one.
    Named,
    /// It lies in the working directory.
    Project,
    /// It lies in the user's configuration directory.
    User,
}

impl Whose {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Whose::Named => "named",
            Whose::Project => "project",
            Whose::User => "user",
        }
    }
}

/// A place where a configuration file may lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub whose: Whose,
}

/// Names in the working directory, and in the user's configuration directory; the stronger first.
const PROJECT: [&str; 2] = ["fast-rlm.toml", "rlm_config.yaml"];
const USER: [&str; 2] = ["config.toml", "rlm_config.yaml"];

/// The places that count, the strongest first: the file that was named, and no other; else those of the working
/// directory, then the user's.
pub fn places(named: Option<&Path>) -> Vec<Place> {
    let place = |path, whose| Place { path, whose };
    if let Some(named) = named {
        return vec![place(named.to_owned(), Whose::Named)];
    }
    let project = PROJECT.iter().map(|name| place(PathBuf::from(name), Whose::Project));
    let user = user_dir().into_iter();
    let user = user.flat_map(|dir| USER.map(|name| place(dir.join(name), Whose::User)));
    project.chain(user).collect()
}

/// The user's configuration directory for this program: `~/.config/fast-rlm`, or in `XDG_CONFIG_HOME`.
pub fn user_dir() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("fast-rlm"))
}
