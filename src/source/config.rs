//! Which configuration file options are saved in.

use crate::disk::config_file::set_options;
use std::path::{Path, PathBuf};

pub use crate::disk::config_file::{SaveError, Scalar};

/// Its name, in the working directory or the user's configuration directory.
const NAME: &str = "rlm_config.yaml";

/// Saves options in the named file, else in the one of the working directory if there is one, else in the user's;
/// `None` takes an option out. Returns the file.
///
/// # Errors
///
/// [`SaveError`]: the file is as it was.
pub fn save_options(named: Option<&Path>, options: &[(&str, Option<Scalar>)]) -> Result<PathBuf, SaveError> {
    let path = named.map_or_else(usual, Path::to_owned);
    set_options(&path, options)?;
    Ok(path)
}

fn usual() -> PathBuf {
    use etcetera::BaseStrategy;
    let here = PathBuf::from(NAME);
    let user = etcetera::choose_base_strategy().map(|base| base.config_dir().join("fast-rlm").join(NAME));
    match user {
        Ok(user) if !here.is_file() => user,
        _ => here,
    }
}
