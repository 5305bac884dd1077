//! Running the agent's program: in a process group of its own, that ends with whoever waits for it.

use super::prompt::Asked;
use super::spec::AgentSpec;
use crate::disk::private_dir::PrivateDir;
use crate::provider::last_words::LastWords;
use crate::provider::process_group::{ProcessGroup, Warden};
use rustix::process::Signal;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Bytes of its standard error that are kept.
const ERROR_TAIL: usize = 4 << 10;
/// In the directory that only we can enter: where the agent runs, and the system prompt beside that.
const WORK: &str = "work";
const SYSTEM: &str = "system-prompt.txt";
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);
/// How long what it started may write on after it: what holds its output open is not waited for.
const GRACE: Duration = Duration::from_secs(2);
/// How long its last words are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A running agent. Dropping it kills its whole group.
pub(super) struct Running {
    child: Child,
    out: ChildStdout,
    /// Its last words on standard error.
    words: LastWords,
    /// For when this program is killed.
    warden: Option<Warden>,
    group: ProcessGroup,
    /// When nothing more is read, once it has ended.
    until: Option<Instant>,
    _dir: PrivateDir,
}

/// Starts the agent in an empty directory and gives it the conversation.
pub(super) fn start(spec: &AgentSpec, model: &str, asked: &Asked) -> Result<Running, String> {
    let dir = furnished(&asked.system).map_err(|error| format!("cannot make a directory for it: {error}"))?;
    let system_file = dir.path().join(SYSTEM);
    let filled = |text: &String| fill(text, model, asked, &system_file);
    let mut command = Command::new(&spec.command);
    command
        .args(spec.args.iter().map(filled))
        .current_dir(dir.path().join(WORK))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Keys of others are none of its business, and it might bill them without a word.
    let inherited = std::env::vars_os().map(|(name, _)| name);
    for name in inherited.filter(|name| !spec.is_handed(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command.envs(spec.env.iter().map(|(name, value)| (name, filled(value))));
    ProcessGroup::lead(&mut command);
    let mut child = command.spawn().map_err(|error| unstarted(spec, &error))?;
    let group = ProcessGroup::of(child.id());
    let (Some(mut input), Some(out), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("its output cannot be read".to_owned());
    };
    let prompt = if spec.takes_prompt() {
        String::new()
    } else {
        asked.prompt.clone()
    };
    tokio::spawn(async move {
        // One that does not read to the end says by its answer whether that was right.
        let _ = input.write_all(prompt.as_bytes()).await;
    });
    Ok(Running {
        child,
        out,
        words: LastWords::listen(errors, ERROR_TAIL),
        warden: Warden::of(&group),
        group,
        until: None,
        _dir: dir,
    })
}

/// A directory with what an agent finds: nothing where it runs, and the system prompt in a file.
fn furnished(system: &str) -> io::Result<PrivateDir> {
    let dir = PrivateDir::new("agent")?;
    std::fs::create_dir(dir.path().join(WORK))?;
    std::fs::write(dir.path().join(SYSTEM), system)?;
    Ok(dir)
}

/// A declared text with what it stands for. What is put in is not searched for names again.
fn fill(text: &str, model: &str, asked: &Asked, system_file: &Path) -> String {
    let system_file = system_file.to_string_lossy();
    let values = [
        ("{model}", model),
        ("{system_file}", &*system_file),
        ("{system}", &asked.system),
        ("{prompt}", &asked.prompt),
    ];
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        filled.push_str(before);
        let named = values.iter().find(|(name, _)| after.starts_with(name));
        let (name, value) = named.copied().unwrap_or(("{", "{"));
        filled.push_str(value);
        rest = after.strip_prefix(name).unwrap_or_default();
    }
    filled.push_str(rest);
    filled
}

fn unstarted(spec: &AgentSpec, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("{} is not installed, or not on PATH", spec.command),
        _ => format!("{} cannot be started: {error}", spec.command),
    }
}

impl Running {
    /// Reads what it writes; 0 at the end, which is also a while after its own where something else holds its output.
    pub(super) async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { out, group, until, .. } = self;
        tokio::select! {
            biased;
            count = out.read(buffer) => count,
            () = over(group, until) => Ok(0),
        }
    }

    /// Waits for its end, and ends what it started; what it said when it failed.
    pub(super) async fn end(&mut self) -> io::Result<Option<String>> {
        ended(&self.group).await;
        if let Some(warden) = self.warden.take() {
            warden.dismiss().await;
        }
        // The leader is still to be waited for, so that the number is its own.
        self.group.signal(Signal::KILL);
        let status = self.child.wait().await?;
        self.group.has_ended();
        if status.success() {
            return Ok(None);
        }
        let _ = timeout(LAST_WORDS, self.words.end()).await;
        Ok(Some(format!("it ended with {status}: {}", self.words.heard().trim())))
    }
}

async fn ended(group: &ProcessGroup) {
    while !group.leader_has_ended() {
        sleep(LOOK).await;
    }
}

/// Waits until the leader has ended, and what may be written after it has been.
async fn over(group: &ProcessGroup, until: &mut Option<Instant>) {
    if until.is_none() {
        ended(group).await;
    }
    sleep_until(*until.get_or_insert_with(|| Instant::now() + GRACE)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_what_is_put_in_stay() {
        let asked = Asked {
            system: "say {prompt}".to_owned(),
            prompt: "{model}".to_owned(),
        };
        let fill = |text| fill(text, "m", &asked, Path::new("/tmp/s"));
        assert_eq!(fill("--x={model} {system} {prompt}"), "--x=m say {prompt} {model}");
        assert_eq!(fill("{file:{system_file}} {} {"), "{file:/tmp/s} {} {");
    }
}
