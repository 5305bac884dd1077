//! Effects that read or compute: each runs on a thread of the pool and comes back as an answer.

use super::crew::Crew;
use super::inputs::{Incoming, Sender};
use super::work;
use crate::model::{BodyRef, Query, Session};
use crate::source::{self, Comparison, OpenOptions, SearchPattern, Source, Stop, read_session};
use crate::text::secret::Secrets;
use crate::text::{SafeText, Shared};
use crate::tui::body::{Body, Text};
use crate::tui::compositor::LayerId;
use crate::tui::content::highlight::highlight;
use crate::tui::copy::Clipboard;
use crate::tui::driver::{Msg, State};
use crate::tui::effect::{Effect, Token};
use crate::tui::export::{self, Job, Setting};
use crate::tui::input::{Answer, Reply};
use crate::tui::notice::Notice;
use crate::tui::screens::Sides;
use crate::tui::term;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Tasks that run, by whom they are for.
pub(super) struct Tasks {
    running: HashMap<(LayerId, Token), Stop>,
    crew: Crew,
    sender: Sender,
    /// Opened when something is copied for the first time.
    clipboard: Arc<Mutex<Option<Clipboard>>>,
}

/// The way back of one task.
struct Way {
    layer: LayerId,
    token: Token,
    stop: Stop,
    sender: Sender,
}

impl Way {
    fn send(&self, result: Result<Reply, SafeText>) {
        if !self.stop.is_stopped() {
            let answer = Answer {
                token: self.token,
                result,
            };
            let _ = self.sender.send(Incoming::Msg(Msg::Answer(self.layer, answer)));
        }
    }
}

impl Tasks {
    pub(super) fn new(crew: Crew, sender: Sender) -> Self {
        Self {
            running: HashMap::new(),
            crew,
            sender,
            clipboard: Arc::default(),
        }
    }

    /// Starts what an effect asks for; gives back an effect that is none of these.
    pub(super) fn start(
        &mut self,
        layer: LayerId,
        effect: Effect,
        source: Option<&Source>,
        state: &State,
    ) -> Option<Effect> {
        let source = source.cloned();
        match effect {
            Effect::LoadBody { token, at, twin } => self.spawn(layer, token, move |way| {
                way.send(load(source.as_ref(), at, twin).map(|body| Reply::Body(Arc::new(body))));
            }),
            Effect::LoadQuery { token, log } => self.spawn(layer, token, move |way| {
                let whole = source.and_then(|source| source.whole_query(log));
                way.send(Ok(Reply::Query(whole.map(Text::new))));
            }),
            Effect::Search { token, pattern } => self.spawn(layer, token, move |way| {
                search(source.as_ref(), &pattern, way);
            }),
            Effect::Compare { token, sides } => {
                let compare = comparing(sides, state.session());
                self.spawn(layer, token, move |way| {
                    let compared = source
                        .ok_or_else(no_session)
                        .and_then(|source| compare(&source, &way.stop));
                    way.send(compared.map(|comparison| Reply::Compared(Arc::new(comparison))));
                });
            }
            Effect::LoadNames { token, run_id } => self.spawn(layer, token, move |way| {
                let names = source.ok_or_else(no_session).and_then(|source| {
                    let names = source.names_after(&run_id);
                    names.map_err(|why| SafeText::line(&why))
                });
                way.send(names.map(|names| Reply::Names(Arc::new(names))));
            }),
            Effect::LoadForkPoint { token, run_id, step } => self.spawn(layer, token, move |way| {
                let point = source
                    .ok_or_else(no_session)
                    .and_then(|source| source.fork_point(&run_id, step).map_err(|why| SafeText::line(&why)));
                way.send(point.map(|point| Reply::ForkPoint(Arc::new(point))));
            }),
            Effect::Replay { token, run_id } => {
                let options = state.drive_options().clone();
                self.spawn(layer, token, move |way| {
                    let mut emit = |news| way.send(Ok(Reply::Replay(news)));
                    let replayed = source.ok_or_else(no_session).and_then(|source| {
                        let replayed = work::replay(source.dir(), &run_id, &options, &way.stop, &mut emit);
                        replayed.map_err(|why| SafeText::line(&why))
                    });
                    way.send(replayed.map(|()| Reply::Replayed));
                });
            }
            Effect::CheckCode { token, code } => {
                let options = state.drive_options().clone();
                self.spawn(layer, token, move |way| {
                    let checked = work::check(&code, &options).map_err(|why| SafeText::line(&why));
                    way.send(checked.map(|()| Reply::Checked));
                });
            }
            Effect::Work { token, work } => self.spawn(layer, token, move |way| {
                way.send(Ok(Reply::Worked((work.run)(&way.stop))));
            }),
            Effect::Highlight { token, language, text } => self.spawn(layer, token, move |way| {
                if let Some(highlights) = highlight(language, &text, &way.stop) {
                    way.send(Ok(Reply::Highlights(Arc::new(highlights))));
                }
            }),
            Effect::Export { token, job } => self.export(layer, token, job, source, state),
            Effect::Copy(text) => self.copy(text),
            Effect::Cancel(token) => {
                if let Some(stop) = self.running.remove(&(layer, token)) {
                    stop.stop();
                }
            }
            other => return Some(other),
        }
        None
    }

    /// A task's last answer arrived, or its layer is gone: forget it.
    pub(super) fn forget_finished(&mut self, layer: LayerId, token: Token) {
        self.running.remove(&(layer, token));
    }

    /// Stops everything: the session is left.
    pub(super) fn stop_all(&mut self) {
        self.running.drain().for_each(|(_, stop)| stop.stop());
    }

    /// Stops the tasks of layers that are gone.
    pub(super) fn keep(&mut self, is_there: impl Fn(LayerId) -> bool) {
        self.running.retain(|(layer, _), stop| {
            let keep = is_there(*layer);
            if !keep {
                stop.stop();
            }
            keep
        });
    }

    /// Exports the model as it is now: a copy, for it may grow meanwhile.
    fn export(&mut self, layer: LayerId, token: Token, job: Job, source: Option<Source>, state: &State) {
        let session = state.session().clone();
        let (utc, dir) = (state.options().utc, state.exports_dir().to_owned());
        self.spawn(layer, token, move |way| {
            let Some(mut source) = source else {
                return way.send(Err(no_session()));
            };
            let setting = Setting {
                dir,
                utc,
                secrets: Secrets::of_environment(),
            };
            let mut emit = |news| way.send(Ok(Reply::Export(news)));
            export::run(job, &setting, &session, &mut source, &way.stop, &mut emit);
        });
    }

    /// Copies on a thread: a desktop's clipboard may take its time.
    fn copy(&self, text: Shared) {
        let (clipboard, sender) = (self.clipboard.clone(), self.sender.clone());
        self.crew.take(move || {
            let mut clipboard = clipboard.lock().unwrap_or_else(PoisonError::into_inner);
            let clipboard = clipboard.get_or_insert_with(|| Clipboard::open(|name| std::env::var_os(name)));
            let mut sequence = Vec::new();
            let copied = clipboard.copy(&text, &mut sequence);
            let sent = copied.and_then(|copied| Ok(term::send(&sequence).map(|()| copied)?));
            let notice = match sent {
                Ok(copied) => Notice::done(&copied.to_string()),
                Err(error) => Notice::trouble(&error.to_string()),
            };
            let _ = sender.send(Incoming::Msg(Msg::Notice(notice)));
        });
    }

    fn spawn(&mut self, layer: LayerId, token: Token, task: impl FnOnce(&Way) + Send + 'static) {
        let stop = Stop::default();
        self.running.insert((layer, token), stop.clone());
        let way = Way {
            layer,
            token,
            stop,
            sender: self.sender.clone(),
        };
        self.crew.take(move || task(&way));
    }
}

fn no_session() -> SafeText {
    SafeText::literal("no session is open")
}

fn load(source: Option<&Source>, at: BodyRef, twin: Option<BodyRef>) -> Result<Body, SafeText> {
    let source = source.ok_or_else(no_session)?;
    let read = |at| source.body(at).map(Body::from);
    let mut body = read(at).map_err(|error: source::BodyError| SafeText::line(&error.to_string()))?;
    if let Some(Ok(other)) = twin.map(read) {
        body.complete_from(other);
    }
    Ok(body)
}

/// A comparison that is to be made.
type Comparing = Box<dyn FnOnce(&Source, &Stop) -> Result<Comparison, SafeText> + Send>;

/// What a comparison does off the screen's thread. Of the model it takes what it needs: two runs, or all of them.
fn comparing(sides: Sides, session: &Session) -> Comparing {
    match sides {
        Sides::Runs(left, right) => {
            let runs = left.find(session).cloned().zip(right.find(session).cloned());
            Box::new(move |source, stop| {
                let (left, right) = runs.ok_or_else(|| SafeText::literal("that run is gone"))?;
                Ok(source.compare_runs(&left, &right, stop))
            })
        }
        Sides::Branch(query, path) => {
            let run = query.find(session).cloned();
            Box::new(move |source, stop| {
                let run = run.ok_or_else(|| SafeText::literal("that run is gone"))?;
                let (other, its) = read_other(&path, stop)?;
                let root = run.run.root().map(|root| &root.run_id);
                let same = |query: &&Query| query.run.root().map(|root| &root.run_id) == root;
                // It goes on with the run; where its ids are lost, the run is its last one.
                let its_run = other.queries.iter().rfind(same).or(other.queries.last());
                let its_run = its_run.ok_or_else(|| SafeText::literal("there is no run in that branch"))?;
                let left = source.side_of_run(&run, run.label.to_string(), stop);
                let name = format!("{} {}", other.facts.name, its_run.label);
                Ok(Comparison::of(left, its.side_of_run(its_run, name, stop)))
            })
        }
        Sides::Session(path) => {
            let session = session.clone();
            Box::new(move |source, stop| {
                let (other, its) = read_other(&path, stop)?;
                let right = its.side_of_session(&other, stop);
                Ok(Comparison::of(source.side_of_session(&session, stop), right))
            })
        }
    }
}

/// Another session, whole.
fn read_other(path: &Path, stop: &Stop) -> Result<(Session, Source), SafeText> {
    let read = read_session(path, &OpenOptions::default(), stop);
    let read = read.map_err(|error| SafeText::line(&error.to_string()))?;
    read.ok_or_else(|| SafeText::literal("there are several sessions in there"))
}

fn search(source: Option<&Source>, pattern: &str, way: &Way) {
    if let (Some(source), Some(pattern)) = (source, SearchPattern::new(pattern)) {
        source.search(&pattern, &way.stop, &mut |hits| {
            way.send(Ok(Reply::Hits { hits, done: false }))
        });
    }
    way.send(Ok(Reply::Hits {
        hits: Vec::new(),
        done: true,
    }));
}
