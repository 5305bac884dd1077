//! Starts an instance and restores state into it, however hostile that state is: what ends, hangs or breaks the interpreter
//! is left out in the next attempt, and reported.

use super::api::{HostCalls, RestoreFailure, RestoreKind, RestoreSet, Role, StartOptions};
use super::blobs::{self, Blobs};
use super::error::{LEAST_MEGABYTES, ReplError};
use super::instance::{Instance, Spawn, encode};
use super::link::Event;
use super::wire::{self, Command, Done, Note, NoteKind, Reply, StartCommand, StartReply};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;

/// One item of a restore may take this long.
const ITEM_PATIENCE: Duration = Duration::from_secs(10);
/// After this many items that ended the interpreter, the rest is not tried.
const ATTEMPTS: usize = 16;
/// With less memory an interpreter comes up by chance, if at all: it is not tried.
const LEAST_TRIED: u64 = 16 << 20;

/// What every instance of a REPL is started with.
pub(super) struct Starter {
    pub(super) backend: Arc<dyn Spawn>,
    pub(super) options: StartOptions,
    pub(super) host: Arc<dyn HostCalls>,
    pub(super) runtime: Handle,
}

/// How an attempt ended.
enum Attempt {
    Ready(StartReply),
    /// The instance was lost, or is not to be trusted, because of this item.
    Failed(Option<Note>, String),
    /// The kernel is whole no more, because of this item or of one before it.
    Broken(Option<Note>, String),
}

impl Starter {
    /// A fresh instance with `restore` in it.
    pub(super) async fn start(&self, restore: &Arc<RestoreSet>) -> Result<(Instance, StartReply), ReplError> {
        blobs::check_context(&self.options.context)?;
        let memory = self.options.limits.memory_bytes;
        if memory < LEAST_TRIED {
            return Err(ReplError::TooLittleMemory {
                megabytes: memory >> 20,
            });
        }
        let mut culprits: Vec<RestoreFailure> = Vec::new();
        let mut careful = false;
        loop {
            if culprits.len() >= ATTEMPTS {
                give_up(restore, &mut culprits);
            }
            let options = &self.options;
            let mut instance = self
                .backend
                .spawn(&options.limits, self.host.clone(), self.runtime.clone())?;
            let blobs = Arc::new(Blobs::new(options, restore.clone()));
            *instance.link.blobs.lock().unwrap_or_else(PoisonError::into_inner) = Some(blobs);
            let number =
                instance.send(|number| encode(&self.command(number, restore_command(restore, &culprits, careful))))?;
            let (attempt, instance) = self.attempt(instance, number).await?;
            match (attempt, instance) {
                (Attempt::Ready(mut reply), Some(instance)) => {
                    *instance.link.blobs.lock().unwrap_or_else(PoisonError::into_inner) = None;
                    reply.restored.failed.append(&mut culprits);
                    return Ok((instance, reply));
                }
                // Which item it was is told by a look after each.
                (Attempt::Broken(Some(_), _), _) if !careful => careful = true,
                (Attempt::Broken(Some(note), why), _) => {
                    culprits.push(blame(note, breakage(&why))?);
                }
                (Attempt::Failed(Some(note), why), _) => culprits.push(blame(note, why)?),
                (Attempt::Failed(None, why) | Attempt::Broken(None, why), _) => return Err(self.not_started(why)),
                (Attempt::Ready(_), None) => return Err(ReplError::NotAlive),
            }
        }
    }

    /// Why nothing was started; whatever it says, too little memory is too little.
    fn not_started(&self, why: String) -> ReplError {
        match self.options.limits.memory_bytes >> 20 {
            megabytes if megabytes < LEAST_MEGABYTES => ReplError::TooLittleMemory { megabytes },
            _ => ReplError::Start(why),
        }
    }

    fn command<'a>(&'a self, number: u64, restore: wire::RestoreCommand<'a>) -> Command<'a> {
        let options = &self.options;
        let tools = options.tools.iter();
        let host_tools = options.host_tools.iter();
        Command::Start(Box::new(StartCommand {
            number,
            context: blobs::context_kind(&options.context),
            role: role_name(options.role),
            mcp: options.mcp,
            env: options
                .env
                .iter()
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect(),
            tools: tools
                .map(|tool| wire::ToolFile {
                    file: &tool.file,
                    source: &tool.source,
                    only: tool.only.as_deref(),
                })
                .collect(),
            host_tools: host_tools
                .map(|tool| wire::HostToolEntry {
                    name: &tool.name,
                    signature: &tool.signature,
                    doc: &tool.doc,
                    is_async: tool.is_async,
                })
                .collect(),
            restore,
        }))
    }

    /// Waits for the instance to be ready. Gives it back if it is usable.
    async fn attempt(&self, mut instance: Instance, number: u64) -> Result<(Attempt, Option<Instance>), ReplError> {
        let mut note: Option<Note> = None;
        // Reading a large context is one item without a note.
        let mut patience = self.options.limits.housekeeping_timeout;
        loop {
            match tokio::time::timeout(patience, instance.event()).await {
                Ok(Some(Event::Note(data))) => {
                    note = serde_json::from_slice(&data).ok();
                    patience = ITEM_PATIENCE.min(self.options.limits.housekeeping_timeout);
                }
                Ok(Some(Event::Done(data))) => {
                    let done: Done<StartReply> =
                        serde_json::from_slice(&data).map_err(|error| ReplError::Protocol(error.to_string()))?;
                    if done.number == number {
                        return self.judge(done.reply, note, instance).await;
                    }
                }
                Ok(Some(Event::Final(_) | Event::Value(_))) => {}
                Ok(None) => {
                    return Ok((
                        Attempt::Failed(note, format!("it ended the interpreter: {}", instance.end().await)),
                        None,
                    ));
                }
                Err(_) => {
                    instance.end().await;
                    let why = format!("it took more than {} s", patience.as_secs());
                    return Ok((Attempt::Failed(note, why), None));
                }
            }
        }
    }

    /// An instance that was denied memory is not kept: the item that asked for it is left out. Nor is one whose kernel
    /// broke while it was `doing` something.
    async fn judge(
        &self,
        reply: Reply<StartReply>,
        doing: Option<Note>,
        instance: Instance,
    ) -> Result<(Attempt, Option<Instance>), ReplError> {
        let reply = match reply {
            Reply::Good(reply) => reply,
            Reply::Broken { broken } => {
                instance.end().await;
                return Ok((Attempt::Broken(doing, broken), None));
            }
        };
        if !instance.memory.denied() {
            return Ok((Attempt::Ready(reply), Some(instance)));
        }
        let limit = self.options.limits.memory_bytes >> 20;
        let hungry = reply
            .restored
            .failed
            .iter()
            .find(|failure| failure.reason.starts_with("MemoryError"));
        let note = hungry.map(|failure| Note {
            kind: note_kind(failure.kind),
            name: failure.name.clone(),
        });
        instance.end().await;
        Ok((
            Attempt::Failed(
                note,
                format!("MemoryError: it needs more memory than the limit of {limit} MB"),
            ),
            None,
        ))
    }
}

fn restore_command<'a>(
    restore: &'a RestoreSet,
    culprits: &'a [RestoreFailure],
    careful: bool,
) -> wire::RestoreCommand<'a> {
    let variables = restore.variables.iter().enumerate();
    wire::RestoreCommand {
        imports: &restore.imports,
        import_sources: &restore.import_sources,
        functions: &restore.functions,
        variables: variables
            .map(|(index, variable)| wire::VariableEntry {
                name: &variable.name,
                index,
                comment: variable.comment.as_deref(),
                note: variable.note.as_deref(),
                committed: variable.committed,
            })
            .collect(),
        skip: culprits
            .iter()
            .map(|culprit| (culprit.kind, culprit.name.as_str()))
            .collect(),
        careful,
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::Root => "root",
        Role::SubAgent => "sub_agent",
        Role::Leaf => "leaf",
    }
}

fn note_kind(kind: RestoreKind) -> NoteKind {
    match kind {
        RestoreKind::Import => NoteKind::Import,
        RestoreKind::Function => NoteKind::Function,
        RestoreKind::Variable => NoteKind::Variable,
    }
}

/// The item that a failed attempt is put down to. A tool file is the user's own: that is an error.
fn blame(note: Note, reason: String) -> Result<RestoreFailure, ReplError> {
    let kind = match note.kind {
        NoteKind::Tools => return Err(ReplError::Start(format!("the tool file {}: {reason}", note.name))),
        NoteKind::Import => RestoreKind::Import,
        NoteKind::Function => RestoreKind::Function,
        NoteKind::Variable => RestoreKind::Variable,
    };
    Ok(RestoreFailure {
        name: note.name,
        kind,
        reason,
    })
}

/// How an item broke the kernel. In words of the kernel's own that is what it changed; else where the kernel fell.
fn breakage(why: &str) -> String {
    match why.strip_prefix("Damaged: ") {
        Some(what) => format!("restoring it breaks the interpreter: {what}"),
        None => format!("restoring it breaks the interpreter ({why})"),
    }
}

/// Leaves out everything that is not left out yet.
fn give_up(restore: &RestoreSet, culprits: &mut Vec<RestoreFailure>) {
    let imports = restore.imports.iter().map(|statement| (RestoreKind::Import, statement));
    let functions = restore.functions.iter().map(|(name, _)| (RestoreKind::Function, name));
    let variables = restore
        .variables
        .iter()
        .map(|variable| (RestoreKind::Variable, &variable.name));
    for (kind, name) in imports.chain(functions).chain(variables) {
        if !culprits
            .iter()
            .any(|culprit| culprit.kind == kind && culprit.name == *name)
        {
            let reason = format!("not tried: {ATTEMPTS} others ended the interpreter");
            culprits.push(RestoreFailure {
                name: name.clone(),
                kind,
                reason,
            });
        }
    }
}
