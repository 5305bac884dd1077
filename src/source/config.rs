//! Configuration for the terminal program: saving options, and the named values that keys come from.

use crate::disk::config::save::set_options;
use crate::disk::config::{Whose, find, places};
use std::path::{Path, PathBuf};

pub use crate::disk::config::save::{SaveError, Scalar};
pub use crate::disk::config::{
    ConfigError, Effective, Node, is_name, model_path, nearest, parse_nodes, read_nodes, read_small, user_dir,
};

/// Saves options in the named file; else in the strongest one that is there, of the working directory or the user's; else
/// in a new one of the user's. `None` takes an option out. Returns the file.
///
/// # Errors
///
/// [`SaveError`]: the file is as it was.
pub fn save_options(named: Option<&Path>, options: &[(&str, Option<Scalar>)]) -> Result<PathBuf, SaveError> {
    let path = usual(named);
    let options: Vec<_> = options
        .iter()
        .map(|(name, value)| (*name, value.clone().map(|value| meant(&path, name, value))))
        .collect();
    set_options(&path, &options)?;
    Ok(path)
}

/// A path that was typed starts in the working directory, and one in a file where the file lies.
fn meant(path: &Path, name: &str, value: Scalar) -> Scalar {
    let lies_here = path.parent().is_none_or(|dir| dir.as_os_str().is_empty());
    match (value, find(name), std::env::current_dir()) {
        (Scalar::Text(text), Some(option), Ok(here)) if !lies_here => {
            let anchored = option.kind.anchored(text.as_str().into(), &here);
            Scalar::Text(anchored.as_str().unwrap_or(&text).to_owned())
        }
        (value, ..) => value,
    }
}

fn usual(named: Option<&Path>) -> PathBuf {
    let places = places(named);
    let chosen = places
        .iter()
        .find(|place| place.path.is_file())
        .or_else(|| places.iter().find(|place| place.whose != Whose::Project))
        // Without a home there is the working directory.
        .or(places.first());
    chosen.map_or_else(|| PathBuf::from("fast-rlm.toml"), |place| place.path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_was_typed_is_saved_as_it_is_meant() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.toml");
        let text = |value: &str| Some(Scalar::Text(value.to_owned()));
        let options = [("primary_agent", text("scripted:a.yaml")), ("theme", text("dusk"))];
        save_options(Some(&file), &options).unwrap();
        let saved = read_nodes(&file).unwrap();
        let here = std::env::current_dir().unwrap();
        let script = format!("scripted:{}", here.join("a.yaml").display());
        let values: Vec<_> = saved.iter().map(|node| node.value.as_str().unwrap()).collect();
        assert_eq!(values, [script.as_str(), "dusk"]);
    }
}
