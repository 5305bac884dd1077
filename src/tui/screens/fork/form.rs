//! How a fork is to go on, as a person says it: an input in, what is to be done out. Nothing is drawn here.

use crate::model::ForkPoint;
use crate::text::count;
use crate::tui::live::Divergence;
use crate::tui::widgets::prompt::TextBox;
use serde_json::Value;

/// Characters of a value or a text that are read before it is used.
const READ: usize = 400;

/// The ways to go on otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Way {
    /// A value takes the place of the step.
    #[default]
    Inject,
    /// The step has other code.
    Edit,
    /// The model is told something.
    Replan,
}

impl Way {
    pub(super) const ALL: [Way; 3] = [Way::Inject, Way::Edit, Way::Replan];
}

/// How far it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Stage {
    /// A way is chosen.
    #[default]
    Choosing,
    /// Values are typed.
    Values,
    /// What the model is told is typed.
    Asking,
    /// Whether the code is Python is looked at.
    Checking,
    /// Everything is said; it only has to be wanted.
    Ready(Divergence),
}

/// What a person does.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Up,
    Down,
    Accept,
    Back,
    /// An editor is wanted for what is typed.
    Editor,
    /// The editor gave this, or nothing: why.
    Edited(Result<String, String>),
    /// The code is Python, or not: why.
    Checked(Result<(), String>),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Do {
    /// Nothing.
    Nothing,
    /// The dialog goes away.
    Close,
    /// An editor opens with this text, of a file name extension.
    Edit(String, &'static str),
    /// This code is checked.
    Check(String),
    /// What is checked is not wanted any more.
    StopCheck,
    /// The fork is made.
    Fork(Divergence),
}

/// A name that the step bound, and the value that it gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    pub(super) name: String,
    /// The value that it got, in Python's words.
    pub(super) was: String,
    pub(super) edit: TextBox,
}

/// The form.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    pub(super) stage: Stage,
    pub(super) way: Way,
    pub(super) fields: Vec<Field>,
    /// Index of the field that is typed into.
    pub(super) field: usize,
    pub(super) prompt: TextBox,
    /// What is ready, by name, in so many words as can be read.
    pub(super) ready: Vec<(String, String)>,
    /// The code of the step, and what was made of it.
    code: String,
    edited: String,
    /// What is wrong.
    pub(super) trouble: Option<String>,
}

impl Form {
    /// The form of a fork that begins with `point`.
    pub(super) fn of(point: &ForkPoint) -> Self {
        let field = |(name, was): &(String, String)| Field {
            name: name.clone(),
            was: was.clone(),
            edit: TextBox::default(),
        };
        let mut form = Self {
            fields: point.bound.iter().map(field).collect(),
            code: point.code.clone(),
            edited: point.code.clone(),
            ..Self::default()
        };
        // What cannot be done here is not chosen for anyone.
        let possible = Way::ALL.into_iter().find(|way| form.lacks(*way).is_none());
        form.way = possible.unwrap_or_default();
        form
    }

    /// What is typed into.
    pub(super) fn text(&mut self) -> Option<&mut TextBox> {
        match self.stage {
            Stage::Values => self.fields.get_mut(self.field).map(|field| &mut field.edit),
            Stage::Asking => Some(&mut self.prompt),
            Stage::Choosing | Stage::Checking | Stage::Ready(_) => None,
        }
    }

    /// Keys type.
    pub(super) fn types(&self) -> bool {
        matches!(self.stage, Stage::Values | Stage::Asking)
    }

    /// Why a way cannot be gone here.
    pub(super) fn lacks(&self, way: Way) -> Option<&'static str> {
        match way {
            Way::Inject if self.fields.is_empty() => Some("the step bound no name"),
            Way::Edit if self.code.is_empty() => Some("the reply had no code"),
            Way::Inject | Way::Edit | Way::Replan => None,
        }
    }

    /// Takes what a person does.
    pub(super) fn take(&mut self, act: Act) -> Do {
        self.trouble = None;
        match (&self.stage, act) {
            (Stage::Choosing, Act::Up) => self.choose(-1),
            (Stage::Choosing, Act::Down) => self.choose(1),
            (Stage::Choosing, Act::Accept) => return self.go_on(),
            (Stage::Choosing, Act::Back) => return Do::Close,
            (Stage::Choosing, Act::Edited(Ok(code))) => return self.check(code),
            (Stage::Choosing, Act::Edited(Err(why))) => self.trouble = Some(why),
            (Stage::Values, Act::Up) => self.field = self.field.saturating_sub(1),
            (Stage::Values, Act::Down) => self.field = (self.field + 1).min(self.fields.len().saturating_sub(1)),
            (Stage::Values, Act::Accept) => self.accept_values(),
            (Stage::Asking, Act::Accept) => self.accept_prompt(),
            (Stage::Checking, Act::Checked(Ok(()))) => self.stage = Stage::Ready(Divergence::Edit(self.edited.clone())),
            (Stage::Checking, Act::Checked(Err(why))) => (self.stage, self.trouble) = (Stage::Choosing, Some(why)),
            (Stage::Ready(divergence), Act::Accept) => return Do::Fork(divergence.clone()),
            (Stage::Ready(_), Act::Back) => self.stage = self.way.stage(),
            (Stage::Values | Stage::Asking, Act::Back) => self.stage = Stage::Choosing,
            (Stage::Checking, Act::Back) => {
                self.stage = Stage::Choosing;
                return Do::StopCheck;
            }
            (Stage::Values | Stage::Asking, act) => return self.take_written(act),
            _ => {}
        }
        Do::Nothing
    }

    /// What is typed is given to an editor, and comes back.
    fn take_written(&mut self, act: Act) -> Do {
        let extension = if self.stage == Stage::Values { "json" } else { "md" };
        let Some(text) = self.text() else { return Do::Nothing };
        let trouble = match act {
            Act::Editor => return Do::Edit(text.text(), extension),
            // Editors end a file with a newline.
            Act::Edited(Ok(written)) => text.set(written.trim_end()).err().map(str::to_owned),
            Act::Edited(Err(why)) => Some(why),
            _ => None,
        };
        self.trouble = trouble;
        Do::Nothing
    }

    fn choose(&mut self, by: isize) {
        let at = Way::ALL.iter().position(|way| *way == self.way).unwrap_or(0);
        if let Some(way) = at.checked_add_signed(by).and_then(|at| Way::ALL.get(at)) {
            self.way = *way;
        }
    }

    fn go_on(&mut self) -> Do {
        if let Some(why) = self.lacks(self.way) {
            self.trouble = Some(format!("{why}: go on in another way"));
            return Do::Nothing;
        }
        if self.way == Way::Edit {
            return Do::Edit(self.edited.clone(), "py");
        }
        self.stage = self.way.stage();
        Do::Nothing
    }

    /// What an editor gave. It is kept, so that a slip need not be made good by writing everything again.
    fn check(&mut self, code: String) -> Do {
        // Editors end a file with a newline.
        self.edited = code.trim_end().to_owned();
        if self.edited == self.code.trim_end() {
            self.trouble = Some("the code is as it was: nothing to fork for".into());
            return Do::Nothing;
        }
        if self.edited.is_empty() {
            self.edited.clone_from(&self.code);
            self.trouble = Some("there was no code left: it is as it was".into());
            return Do::Nothing;
        }
        self.stage = Stage::Checking;
        Do::Check(self.edited.clone())
    }

    fn accept_values(&mut self) {
        let mut values = Vec::new();
        for (at, field) in self.fields.iter_mut().enumerate() {
            let text = field.edit.text();
            let text = text.trim_end();
            if text.is_empty() {
                continue;
            }
            match serde_json::from_str::<Value>(text) {
                Ok(value) => values.push((field.name.clone(), value)),
                Err(error) => {
                    self.field = at;
                    self.trouble = Some(not_json(text, &error));
                    return;
                }
            }
        }
        if values.is_empty() {
            self.trouble = Some("give at least one name a value".into());
            return;
        }
        let brief = |(name, value): &(String, Value)| (name.clone(), brief(&value.to_string()));
        self.ready = values.iter().map(brief).collect();
        self.stage = Stage::Ready(Divergence::Inject(values));
    }

    fn accept_prompt(&mut self) {
        let prompt = self.prompt.text().trim().to_owned();
        if prompt.is_empty() {
            self.trouble = Some("say what the model is to be told".into());
            return;
        }
        self.ready = vec![("told".into(), brief(&prompt))];
        self.stage = Stage::Ready(Divergence::Replan(prompt));
    }
}

impl Way {
    /// Where it is said how.
    fn stage(self) -> Stage {
        match self {
            Way::Inject => Stage::Values,
            Way::Edit => Stage::Choosing,
            Way::Replan => Stage::Asking,
        }
    }
}

/// The beginning of a text that is too long to be read in a dialog, and how long it is.
fn brief(text: &str) -> String {
    match text.char_indices().nth(READ).and_then(|(at, _)| text.get(..at)) {
        Some(start) => format!("{start}… ({} bytes)", count(text.len() as u128)),
        None => text.to_owned(),
    }
}

/// What most often is meant by text that is no JSON: text.
fn not_json(text: &str, error: &serde_json::Error) -> String {
    let bare = text.chars().all(|c| c.is_alphanumeric() || " _-.'".contains(c));
    match bare {
        true => "a text goes in double quotes".into(),
        false if text.contains('\n') => {
            format!("this is no JSON, at line {}, column {}", error.line(), error.column())
        }
        false => format!("this is no JSON, at column {}", error.column()),
    }
}

#[cfg(test)]
mod tests;
