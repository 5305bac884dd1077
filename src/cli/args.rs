//! Arguments of `fast-rlm-log`.

use std::path::PathBuf;

use clap::{CommandFactory, Parser};

const EXAMPLES: &str = "\
Examples:
  fast-rlm-log runs/podcasts             facts of a session, as text
  fast-rlm-log runs/podcasts --tui       look around in it
  fast-rlm-log runs                      every session of a directory, a line each
  fast-rlm-log runs/podcasts --json | jq .totals.completed.cost_nano_usd
  fast-rlm-log --demo --tui              a session to try it on

Exit codes: 0 done; 1 standard output cannot be written; 2 wrong usage, or a target that is missing or cannot be read.";

/// Heading of options of the terminal program.
const SCREENS: &str = "Terminal program";
/// Heading of what shells and manuals need.
const SHELL: &str = "Shell";

/// Look into recorded sessions: every query, run, step, sub-agent, token and cost in them.
#[derive(Clone, Debug, Default, Parser)]
#[command(name = "fast-rlm-log", after_help = EXAMPLES, max_term_width = 100)]
pub struct LogArgs {
    /// A session directory, its state.json, one run's .jsonl, or a directory of sessions
    pub target: Option<PathBuf>,

    /// Print the facts as text (the default with a TARGET)
    #[arg(long, group = "mode")]
    pub stats: bool,

    /// Open the terminal program
    #[arg(long, group = "mode")]
    pub tui: bool,

    /// Print the facts as JSON, for scripts
    #[arg(long, group = "mode")]
    pub json: bool,

    /// Use a session that comes with the program
    #[arg(long, conflicts_with = "target")]
    pub demo: bool,

    /// The option `primary_agent`, for queries asked in the terminal program
    #[arg(long, help_heading = SCREENS, value_name = "MODEL")]
    pub primary_agent: Option<String>,

    /// The option `sub_agent`
    #[arg(long, help_heading = SCREENS, value_name = "MODEL")]
    pub sub_agent: Option<String>,

    /// Read options from this file instead of the usual ones (`fast-rlm config path`)
    #[arg(long, help_heading = SCREENS, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The option `theme`
    #[arg(long, help_heading = SCREENS, value_name = "THEME")]
    pub theme: Option<String>,

    /// The option `keymap`
    #[arg(long, help_heading = SCREENS, value_name = "KEYMAP")]
    pub keymap: Option<String>,

    /// The option `animation`, off
    #[arg(long, help_heading = SCREENS)]
    pub no_animation: bool,

    /// The option `ascii`
    #[arg(long)]
    pub ascii: bool,

    /// The option `mouse`, off
    #[arg(long, help_heading = SCREENS)]
    pub no_mouse: bool,

    /// Never write into the session
    #[arg(long, help_heading = SCREENS)]
    pub read_only: bool,

    /// The option `utc`
    #[arg(long)]
    pub utc: bool,

    /// Neither use nor keep results of earlier scans
    #[arg(long)]
    pub no_cache: bool,

    /// Print completions for a shell
    #[arg(long, help_heading = SHELL, value_name = "SHELL", exclusive = true)]
    pub completions: Option<clap_complete::Shell>,

    /// Print the manual page
    #[arg(long, help_heading = SHELL, exclusive = true)]
    pub man: bool,
}

impl LogArgs {
    /// The arguments, with flags told as the table of options tells them.
    pub fn described() -> clap::Command {
        super::options::described(Self::command())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_consistent() {
        LogArgs::described().debug_assert();
    }

    #[test]
    fn one_mode_at_a_time_and_no_target_beside_the_demo() {
        for args in [
            &["--stats", "--tui"][..],
            &["--json", "--stats"],
            &["--demo", "dir"],
            &["--nonsense"],
            &["a", "b"],
        ] {
            let line = std::iter::once("fast-rlm-log").chain(args.iter().copied());
            assert_eq!(LogArgs::try_parse_from(line).unwrap_err().exit_code(), 2, "{args:?}");
        }
    }
}
