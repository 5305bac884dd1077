//! The story as it was written: queries in `story.toml`, one script of the model's replies for each.

use super::Error;
use serde::Deserialize;

const INDEX: &str = include_str!("../story/story.toml");
const LOGBOOK: &str = include_str!("../story/logbook.txt");

const SCRIPTS: [(&str, &str); 8] = [
    ("01_winter", include_str!("../story/01_winter.yaml")),
    ("02_dark", include_str!("../story/02_dark.yaml")),
    ("03_life", include_str!("../story/03_life.yaml")),
    ("04_glass", include_str!("../story/04_glass.yaml")),
    ("05_letter", include_str!("../story/05_letter.yaml")),
    ("06_ships", include_str!("../story/06_ships.yaml")),
    ("07_knocking", include_str!("../story/07_knocking.yaml")),
    ("08_board", include_str!("../story/08_board.yaml")),
];

/// One query.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    /// Name of the script that answers it.
    pub(crate) script: String,
    /// When the session says it started, RFC 3339.
    starts: String,
    /// What is asked.
    pub(crate) text: String,
    /// The limit of model calls that stops it.
    pub(crate) max_calls: Option<u64>,
    /// Its process is killed.
    #[serde(default)]
    pub(crate) killed: bool,
}

impl Query {
    /// When the session says it started, in unix milliseconds.
    pub(crate) fn starts(&self) -> Result<i64, Error> {
        Ok(self.starts.parse::<jiff::Timestamp>()?.as_millisecond())
    }

    /// The model's replies, as docs/scripted.md describes them.
    pub(crate) fn script(&self) -> Result<&'static str, Error> {
        let found = SCRIPTS.iter().find(|(name, _)| *name == self.script);
        Ok(found.ok_or_else(|| format!("no script {}", self.script))?.1)
    }
}

/// Every query, in order.
pub(crate) fn queries() -> Result<Vec<Query>, Error> {
    #[derive(Deserialize)]
    struct Index {
        query: Vec<Query>,
    }
    let mut queries = toml::from_str::<Index>(INDEX)?.query;
    for query in &mut queries {
        query.text = query.text.replace("{logbook}", LOGBOOK);
    }
    Ok(queries)
}
