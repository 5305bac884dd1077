//! `fast-rlm-log`: from arguments to text, JSON, or the terminal program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::FromArgMatches;

use crate::disk::config::{self, ConfigError, Effective, Origin};
use crate::model::Session;
use crate::source::{OpenOptions, Opened, Source, Stop, list_sessions, open};
use crate::tui::{self, TuiOptions};

use super::args::LogArgs;
use super::driving::{self, Configured};
use super::output::{WRONG, complain, note, print, unwritten};
use super::progress::ProgressLine;
use super::starting::outlive_size_limits;
use super::terminal::{self, Look};
use super::{completing, demo, facts, options, refused, stats};

/// Where sessions are looked for without a TARGET.
const PLACES: [&str; 2] = [".", "runs"];
/// What is said when there is nothing to open.
const NOTHING: &str = "\
fast-rlm-log TARGET: opens a session directory, its state.json, one run's .jsonl, or a directory of sessions
fast-rlm-log --demo --tui: a session to try it on
fast-rlm --help: ask a question of your own
";

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Stats,
    Json,
    Screens,
}

/// Runs `fast-rlm-log` with the arguments of the process, its name first.
pub fn log_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    #[cfg(feature = "engine")]
    crate::provider::keep_descriptors();
    outlive_size_limits();
    let words: Vec<OsString> = arguments.into_iter().collect();
    if let Some(text) = completing::answer(LogArgs::described, &words) {
        return print(|out| out.write_all(&text));
    }
    #[cfg(feature = "engine")]
    if words
        .get(1)
        .is_some_and(|word| word == crate::repl::prepare::CHILD_WORD)
    {
        return warmed_up();
    }
    let parsed = LogArgs::described().try_get_matches_from(&words);
    let args = match parsed.and_then(|matches| LogArgs::from_arg_matches(&matches)) {
        Ok(args) => args,
        Err(error) => {
            let code = u8::try_from(error.exit_code()).unwrap_or(WRONG);
            return match refused::tell(LogArgs::described(), &words, error) {
                Ok(()) => ExitCode::from(code),
                Err(cause) => unwritten(&cause),
            };
        }
    };
    if let Some(text) = for_the_shell(&args) {
        return print(|out| out.write_all(&text));
    }
    let mode = args.mode();
    if mode == Some(Mode::Screens)
        && let Some(reason) = terminal::refuses_screens()
    {
        return complain(&reason);
    }
    let configured = config::load_here(args.config.as_deref());
    let args = match args.with(&configured, mode == Some(Mode::Screens)) {
        Ok(args) => args,
        Err(error) => return complain(&error.to_string()),
    };
    if mode != Some(Mode::Screens)
        && let Some(trouble) = args.unusable()
    {
        return complain(&trouble);
    }
    if args.demo {
        let mode = mode.unwrap_or(Mode::Stats);
        return match demo::unpack() {
            Ok(demo) => run(&demo.session, mode, &args, configured, Some(&demo.script)),
            Err(error) => complain(&format!("cannot unpack the demo into the temporary directory: {error}")),
        };
    }
    match &args.target {
        Some(target) => run(target, mode.unwrap_or(Mode::Stats), &args, configured, None),
        None => without_target(mode, &args, configured),
    }
}

/// As `fast-rlm warmup`: in a process of its own, since that would keep what it needed.
#[cfg(feature = "engine")]
fn warmed_up() -> ExitCode {
    use std::io::Write;
    // Whoever started it shows these lines as they are.
    let mut tell = |line: &str| drop(writeln!(std::io::stderr(), "{line}"));
    match crate::repl::prepare::prepare(&mut tell) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

/// Completions or the manual page, where one of them is asked for.
fn for_the_shell(args: &LogArgs) -> Option<Vec<u8>> {
    if let Some(shell) = args.completions {
        return Some(completing::script(LogArgs::described(), shell));
    }
    let pages = args.man.then(|| options::pages(LogArgs::described()))?.ok()?;
    pages
        .into_iter()
        .find(|page| page.file == "fast-rlm-log.1")
        .map(|page| page.text)
}

impl LogArgs {
    /// With what the configuration says of text, flags being stronger. One that is not named keeps nobody from looking;
    /// on the screens its trouble is told there.
    fn with(mut self, configured: &Configured, screens: bool) -> Result<Self, &ConfigError> {
        match configured {
            Ok(set) => {
                self.utc |= set.is_on("utc");
                self.ascii |= set.is_on("ascii");
            }
            Err(_) if screens => {}
            Err(error) if self.config.is_some() => return Err(error),
            Err(error) => note(&error.to_string()),
        }
        Ok(self)
    }

    /// What is named for the screens is checked where it is not needed, too: a script that names it is to learn that
    /// here.
    fn unusable(&self) -> Option<String> {
        let named = TuiOptions {
            theme: self.theme.clone(),
            keymap: self.keymap.clone(),
            ..TuiOptions::default()
        };
        let theme = self.theme.as_ref().and_then(|_| tui::check_theme(&named).err());
        let keymap = self.keymap.as_ref().and_then(|_| tui::check_keys(&named).err());
        theme
            .map(|error| error.to_string())
            .or(keymap.map(|error| error.to_string()))
    }

    fn mode(&self) -> Option<Mode> {
        let modes = [
            (self.stats, Mode::Stats),
            (self.json, Mode::Json),
            (self.tui, Mode::Screens),
        ];
        modes.into_iter().find(|(asked, _)| *asked).map(|(_, mode)| mode)
    }

    fn open_options(&self) -> OpenOptions {
        OpenOptions {
            use_cache: !self.no_cache,
            tree: None,
        }
    }

    fn look(&self) -> Look {
        Look::new(self.ascii, self.utc)
    }
}

/// `script` answers questions about the demo.
fn run(target: &Path, mode: Mode, args: &LogArgs, configured: Configured, script: Option<&Path>) -> ExitCode {
    match open(target, &args.open_options()) {
        Ok(opened) if mode == Mode::Screens => screens(opened, args, configured, script),
        Ok(opened) => show(opened, mode, args),
        Err(error) => complain(&error.to_string()),
    }
}

fn show(opened: Opened, mode: Mode, args: &LogArgs) -> ExitCode {
    match opened {
        Opened::Session { events, source } => {
            let mut session = Session::default();
            events.into_iter().for_each(|event| session.apply(event));
            read_all(&mut session, &source);
            let code = match mode {
                Mode::Json => print(|out| facts::write_session(out, &session)),
                _ => print(|out| stats::write_session(out, &session, args.look())),
            };
            // The process ends now: taking a large session apart first would only cost time.
            std::mem::forget(session);
            code
        }
        Opened::Picker { dir, sessions } => {
            let rows = stats::measure(sessions, &args.open_options());
            match mode {
                Mode::Json => print(|out| facts::write_sessions(out, &dir, &rows)),
                _ => print(|out| stats::write_sessions(out, &dir, &rows, args.look())),
            }
        }
    }
}

fn read_all(session: &mut Session, source: &Source) {
    let mut line = ProgressLine::new();
    source.scan(&Stop::default(), &mut |events| {
        events.into_iter().for_each(|event| session.apply(event));
        line.show(source.progress());
    });
    session.settle();
}

/// Without a TARGET: the sessions around, on a terminal.
fn without_target(mode: Option<Mode>, args: &LogArgs, configured: Configured) -> ExitCode {
    let asked_for_text = mode.is_some_and(|mode| mode != Mode::Screens);
    let around = if terminal::is_interactive() && !asked_for_text {
        around()
    } else {
        None
    };
    match around {
        Some(opened) if terminal::refuses_screens().is_none() => screens(opened, args, configured, None),
        Some(opened) => show(opened, Mode::Stats, args),
        None => {
            let _ = std::io::Write::write_all(&mut std::io::stderr(), NOTHING.as_bytes());
            ExitCode::from(WRONG)
        }
    }
}

fn around() -> Option<Opened> {
    let stop = Stop::default();
    let mut found = PLACES
        .into_iter()
        .map(|place| (PathBuf::from(place), list_sessions(Path::new(place), &stop)));
    let (dir, sessions) = found.find(|(_, sessions)| sessions.iter().any(|session| session.health.is_session()))?;
    Some(Opened::Picker { dir, sessions })
}

/// A configuration that cannot be used keeps nobody from looking: its trouble is told on screen. Keys that mean two
/// things do: whatever was left of them, a key would do something else than its file says.
fn screens(opened: Opened, args: &LogArgs, configured: Configured, script: Option<&Path>) -> ExitCode {
    let drive = driving::options(args, &configured, script);
    let set = configured.unwrap_or_default();
    let theme_named = args.theme.is_some() || by_variable(&set, "theme");
    // Stays in the terminal when the screens are gone.
    set.unknown.iter().for_each(|unknown| note(&unknown.to_string()));
    let options = TuiOptions {
        note: drive.trouble.clone(),
        view: args.view(&set),
        theme: args.theme.clone().or_else(|| set.text("theme").map(str::to_owned)),
        keymap: args.keymap.clone(),
        keys: Vec::new(),
        open: args.open_options(),
        drive,
    };
    let options = usable(options.keys_of(&set), theme_named);
    match tui::run(opened, &options) {
        Ok(code) => ExitCode::from(code),
        Err(error) => complain(&error.to_string()),
    }
}

/// A theme of a configuration file that cannot be used keeps nobody from looking; that of a flag or a variable does.
fn usable(mut options: TuiOptions, theme_named: bool) -> TuiOptions {
    if let (false, Err(error)) = (theme_named, tui::check_theme(&options)) {
        let told = format!("{error}; the usual one is used instead");
        note(&told);
        options.note.get_or_insert(told);
        options.theme = None;
    }
    options
}

fn by_variable(set: &Effective, name: &str) -> bool {
    let mut settings = set.settings.iter();
    settings.any(|setting| setting.option.name == name && matches!(setting.origin, Origin::Variable(_)))
}

impl LogArgs {
    /// Flags win over files and environment.
    fn view(&self, set: &Effective) -> tui::ctx::ViewOptions {
        let is_off = |name| set.value(name).as_bool() == Some(false);
        tui::ctx::ViewOptions {
            utc: self.utc,
            ascii: self.ascii,
            animation: !self.no_animation && !is_off("animation"),
            mouse: !self.no_mouse && !is_off("mouse"),
            read_only: self.read_only,
            cache: !self.no_cache,
        }
    }
}
