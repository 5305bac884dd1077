//! How a fork is to go on, as a person says it: an input in, what is to be done out. Nothing is drawn here.

use crate::model::ForkPoint;
use crate::tui::live::Divergence;
use crate::tui::widgets::LineEdit;
use serde_json::Value;

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
    /// An editor opens with this code.
    Edit(String),
    /// This code is checked.
    Check(String),
    /// The fork is made.
    Fork(Divergence),
}

/// A name that the step bound, and the value that it gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    /// The value that it got, in Python's words.
    pub(super) was: String,
    pub(super) edit: LineEdit,
}

/// The form.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    pub(super) stage: Stage,
    pub(super) way: Way,
    pub(super) fields: Vec<Field>,
    /// Index of the field that is typed into.
    pub(super) field: usize,
    pub(super) prompt: LineEdit,
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
            edit: LineEdit::default(),
        };
        Self {
            fields: point.bound.iter().map(field).collect(),
            code: point.code.clone(),
            edited: point.code.clone(),
            ..Self::default()
        }
    }

    /// The line that is typed into.
    pub(super) fn line(&mut self) -> Option<&mut LineEdit> {
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
            (Stage::Values | Stage::Asking | Stage::Checking, Act::Back) => self.stage = Stage::Choosing,
            _ => {}
        }
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
            return Do::Edit(self.edited.clone());
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
        for (at, field) in self.fields.iter().enumerate() {
            let text = field.edit.text().trim();
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
        match values.is_empty() {
            true => self.trouble = Some("give at least one name a value".into()),
            false => self.stage = Stage::Ready(Divergence::Inject(values)),
        }
    }

    fn accept_prompt(&mut self) {
        let prompt = self.prompt.text().trim();
        match prompt.is_empty() {
            true => self.trouble = Some("say what the model is to be told".into()),
            false => self.stage = Stage::Ready(Divergence::Replan(prompt.to_owned())),
        }
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

/// What most often is meant by text that is no JSON: text.
fn not_json(text: &str, error: &serde_json::Error) -> String {
    let bare = text.chars().all(|c| c.is_alphanumeric() || " _-.'".contains(c));
    match bare {
        true => "a text goes in double quotes".into(),
        false => format!("this is no JSON, at column {}", error.column()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn point(names: &[&str], code: &str) -> ForkPoint {
        ForkPoint {
            code: code.into(),
            bound: names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect(),
            following: 2,
        }
    }

    fn form() -> Form {
        Form::of(&point(&["count", "longest"], "count = 3"))
    }

    fn type_in(form: &mut Form, text: &str) {
        form.line().unwrap().insert(text);
    }

    #[test]
    fn values_are_json_and_names_without_one_stay_unbound() {
        let mut form = form();
        assert_eq!(form.take(Act::Accept), Do::Nothing);
        assert_eq!(form.stage, Stage::Values);
        form.take(Act::Accept);
        assert_eq!(form.trouble.as_deref(), Some("give at least one name a value"));
        form.take(Act::Down);
        for (text, trouble) in [
            ("Bo", "a text goes in double quotes"),
            ("[1, ", "this is no JSON, at column 3"),
        ] {
            form.line().unwrap().clear();
            type_in(&mut form, text);
            form.take(Act::Accept);
            assert_eq!(form.trouble.as_deref(), Some(trouble), "{text}");
        }
        form.line().unwrap().clear();
        type_in(&mut form, r#" {"a": [1, null]} "#);
        form.take(Act::Accept);
        let divergence = Divergence::Inject(vec![("longest".into(), json!({"a": [1, null]}))]);
        assert_eq!(form.stage, Stage::Ready(divergence.clone()));
        assert_eq!(form.take(Act::Accept), Do::Fork(divergence));
    }

    #[test]
    fn back_leads_one_stage_back_and_keeps_what_was_typed() {
        let mut form = form();
        form.take(Act::Down);
        form.take(Act::Down);
        form.take(Act::Accept);
        type_in(&mut form, "be brief");
        form.take(Act::Accept);
        assert_eq!(form.stage, Stage::Ready(Divergence::Replan("be brief".into())));
        form.take(Act::Back);
        assert_eq!((&form.stage, form.prompt.text()), (&Stage::Asking, "be brief"));
        form.take(Act::Back);
        assert_eq!((&form.stage, form.way), (&Stage::Choosing, Way::Replan));
        assert_eq!(form.take(Act::Back), Do::Close);
    }

    #[test]
    fn edited_code_is_checked_and_a_slip_is_not_lost() {
        let mut form = form();
        form.way = Way::Edit;
        assert_eq!(form.take(Act::Accept), Do::Edit("count = 3".into()));
        for unchanged in ["count = 3\n", "count = 3"] {
            assert_eq!(form.take(Act::Edited(Ok(unchanged.into()))), Do::Nothing);
            assert!(form.trouble.as_ref().is_some_and(|why| why.contains("as it was")));
        }
        assert_eq!(form.take(Act::Edited(Ok("  \n".into()))), Do::Nothing);
        assert_eq!(
            form.take(Act::Edited(Ok("count = (\n".into()))),
            Do::Check("count = (".into())
        );
        form.take(Act::Checked(Err("'(' was never closed".into())));
        assert_eq!(form.stage, Stage::Choosing);
        assert_eq!(form.take(Act::Accept), Do::Edit("count = (".into()), "as it was left");
        assert_eq!(
            form.take(Act::Edited(Ok("count = 4".into()))),
            Do::Check("count = 4".into())
        );
        form.take(Act::Checked(Ok(())));
        assert_eq!(form.take(Act::Accept), Do::Fork(Divergence::Edit("count = 4".into())));
    }

    #[test]
    fn ways_that_cannot_be_gone_say_why() {
        let mut form = Form::of(&point(&[], ""));
        for way in [Way::Inject, Way::Edit] {
            form.way = way;
            assert_eq!(form.take(Act::Accept), Do::Nothing);
            assert_eq!(form.stage, Stage::Choosing);
            assert!(form.trouble.is_some());
        }
        form.way = Way::Replan;
        form.take(Act::Accept);
        assert_eq!(form.stage, Stage::Asking);
    }

    fn any_act() -> impl Strategy<Value = Act> {
        prop_oneof![
            Just(Act::Up),
            Just(Act::Down),
            Just(Act::Accept),
            Just(Act::Back),
            "[a-z(= ]{0,6}".prop_map(|text| Act::Edited(Ok(text))),
            Just(Act::Edited(Err("gave up".into()))),
            Just(Act::Checked(Ok(()))),
            Just(Act::Checked(Err("no Python".into()))),
        ]
    }

    proptest! {
        /// A fork is made of nothing that was not shown as ready, and of no code that was not checked.
        #[test]
        fn only_what_is_ready_is_forked(acts in proptest::collection::vec((any_act(), "[0-9\"]{0,2}"), 0..40)) {
            let mut form = form();
            let mut checked = None;
            for (act, typed) in acts {
                if let Some(line) = form.line() {
                    line.insert(&typed);
                }
                let passes = matches!(act, Act::Checked(Ok(()))) && form.stage == Stage::Checking;
                let before = form.stage.clone();
                let done = form.take(act);
                if passes {
                    checked = Some(form.edited.clone());
                }
                if let Do::Fork(divergence) = done {
                    prop_assert_eq!(before, Stage::Ready(divergence.clone()));
                    if let Divergence::Edit(code) = divergence {
                        prop_assert_eq!(Some(code), checked.clone());
                    }
                }
                prop_assert!(form.field < form.fields.len());
                prop_assert_eq!(form.types(), form.line().is_some());
            }
        }
    }
}
