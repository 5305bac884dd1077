//! What the next query is run with, as far as it can be chosen in the box, and how it is shown there.

use crate::model::CostSum;
use crate::text::{SafeText, exact_money, money, parse_nano};
use crate::tui::action::Action;
use crate::tui::ctx::Ctx;
use crate::tui::theme::Role;
use crate::tui::widgets::Styled;
use std::borrow::Cow;
use std::path::Path;

/// Sub-agents nest no deeper than this.
const DEEPEST: u32 = 64;

/// Whether the code of earlier queries is shown to the model.
pub(super) const SHOWN: &str = "shown";
pub(super) const HIDDEN: &str = "hidden";

/// What the next query is run with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The root's model; `None` when none is chosen.
    pub model: Option<String>,
    /// The sub-agents' model; `None` for the root's.
    pub sub_model: Option<String>,
    /// Nano-dollars that the query may spend.
    pub max_money_nano: i64,
    /// Depth of the deepest sub-agent.
    pub max_depth: u32,
    /// The model is shown the code of earlier queries.
    pub code_in_context: bool,
}

impl Default for Settings {
    /// The limits that hold where nobody says otherwise; no model.
    fn default() -> Self {
        Self {
            model: None,
            sub_model: None,
            max_money_nano: 200_000_000,
            max_depth: 3,
            code_in_context: true,
        }
    }
}

/// A setting that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knob {
    Model,
    SubModel,
    Money,
    Depth,
    Code,
}

/// All, in the order of the dialog.
pub(super) const KNOBS: [Knob; 5] = [Knob::Model, Knob::SubModel, Knob::Money, Knob::Depth, Knob::Code];

impl Knob {
    /// What the dialog calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::SubModel => "sub-agents",
            Self::Money => "may spend US$",
            Self::Depth => "depth",
            Self::Code => "earlier code",
        }
    }

    /// Its value, to be edited.
    pub(super) fn written(self, settings: &Settings) -> String {
        match self {
            Self::Model => settings.model.clone().unwrap_or_default(),
            Self::SubModel => settings.sub_model.clone().unwrap_or_default(),
            Self::Money => exact_money(settings.max_money_nano.into()).replace(['$', ','], ""),
            Self::Depth => settings.max_depth.to_string(),
            Self::Code => if settings.code_in_context { SHOWN } else { HIDDEN }.into(),
        }
    }

    /// Takes what was written, or says what it should be.
    pub(super) fn read(self, text: &str, into: &mut Settings) -> Result<(), &'static str> {
        let text = text.trim();
        let named = || Some(text.to_owned()).filter(|text| !text.is_empty());
        match self {
            Self::Model => into.model = named(),
            Self::SubModel => into.sub_model = named(),
            Self::Money => {
                let nano = parse_nano(text.trim_start_matches('$')).filter(|nano| *nano >= 0);
                into.max_money_nano = nano.ok_or("like 0.20")?;
            }
            Self::Depth => {
                let depth = text.parse().ok().filter(|depth| *depth <= DEEPEST);
                into.max_depth = depth.ok_or("0 to 64")?;
            }
            Self::Code => {
                into.code_in_context = match text {
                    SHOWN => true,
                    HIDDEN => false,
                    _ => return Err("shown or hidden"),
                }
            }
        }
        Ok(())
    }

    /// Its name and value in a configuration file; `None` takes it out.
    pub(super) fn option(self, settings: &Settings) -> (&'static str, Option<crate::source::config::Scalar>) {
        use crate::source::config::Scalar;
        let text = |text: &Option<String>| text.clone().map(Scalar::Text);
        match self {
            Self::Model => ("primary_agent", text(&settings.model)),
            Self::SubModel => ("sub_agent", text(&settings.sub_model)),
            Self::Money => ("max_money_spent", Some(Scalar::Plain(self.written(settings)))),
            Self::Depth => ("max_depth", Some(Scalar::Plain(self.written(settings)))),
            Self::Code => {
                let on = settings.code_in_context.to_string();
                ("add_session_code_to_context", Some(Scalar::Plain(on)))
            }
        }
    }
}

/// The row under the draft: model, spend, limits, and the key that changes them. What does not fit is left out, the
/// least important first. While a query goes on, whose limit may have been raised, they are the `next` one's.
pub(super) fn row(
    (settings, next): (&Settings, bool),
    spent: [CostSum; 2],
    width: u16,
    focused: bool,
    ctx: &Ctx<'_>,
) -> (Styled, Styled) {
    let key = Styled::of(SafeText::line(&ctx.key(Action::Settings)), ctx.style(Role::Key))
        .then(SafeText::literal(" changes"), ctx.style(Role::Dim));
    let mut room = usize::from(width);
    let aside = if room > 60 && focused { key } else { Styled::new() };
    room = room.saturating_sub(aside.width() + 2);
    let mut shown = parts(settings, next, spent);
    while shown.len() > 1 && length(&shown) > room {
        let least = shown.iter().enumerate().max_by_key(|(_, part)| part.rank);
        let least = least.map_or(0, |(index, _)| index);
        shown.remove(least);
    }
    let mut line = Styled::new();
    for (index, part) in shown.iter().enumerate() {
        if index > 0 {
            line.push(SafeText::literal(SEPARATOR), ctx.style(Role::Border));
        }
        line.push(SafeText::line(&part.text), ctx.style(part.role));
    }
    (line, aside)
}

const SEPARATOR: &str = " · ";

struct Part {
    text: String,
    role: Role,
    /// How easily it is missed.
    rank: u8,
}

/// What the session has cost: completed queries and runs without FINAL as the banner above has them, side by side. Each
/// is rounded there: a sum rounded anew would contradict them.
fn spent_words([completed, lost]: [CostSum; 2]) -> (String, Role) {
    let mut all = completed;
    all.merge(&lost);
    let role = if all.unknown > 0 { Role::Unknown } else { Role::Text };
    match completed.unknown == 0 && completed.nano != 0 && lost.nano != 0 {
        true => (format!("spent {completed} + {lost}"), role),
        false => (format!("spent {all}"), role),
    }
}

fn parts(settings: &Settings, next: bool, spent: [CostSum; 2]) -> Vec<Part> {
    let part = |text: String, role, rank| Part { text, role, rank };
    let model = match &settings.model {
        Some(model) => part(short(model).into_owned(), Role::Text, 0),
        None => part("no model".into(), Role::Warning, 0),
    };
    let sub = settings.sub_model.as_deref().map_or("same".into(), short);
    let code = format!("earlier code {}", Knob::Code.written(settings));
    let limit = money(settings.max_money_nano.into());
    let (spent, spent_role) = spent_words(spent);
    vec![
        model,
        part(format!("sub-agents {sub}"), Role::Dim, 5),
        part(spent, spent_role, 1),
        part(
            format!("{}may spend {limit}", if next { "next " } else { "" }),
            Role::Dim,
            2,
        ),
        part(format!("depth {}", settings.max_depth), Role::Dim, 3),
        part(code, Role::Dim, 4),
    ]
}

/// A model as it is shown: of a file or a directory that answers only the name. The dialog has all of it.
fn short(model: &str) -> Cow<'_, str> {
    let name = crate::source::config::model_path(model)
        .and_then(|(scheme, path)| Some((scheme, Path::new(path).file_name()?)));
    name.map_or(model.into(), |(scheme, name)| {
        format!("{scheme}{}", name.to_string_lossy()).into()
    })
}

fn length(parts: &[Part]) -> usize {
    let cells: usize = parts
        .iter()
        .map(|part| crate::text::cell_width(SafeText::line(&part.text).as_str()))
        .sum();
    cells + (parts.len().saturating_sub(1)) * crate::text::cell_width(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let settings = Settings {
            model: Some("z-ai/glm-5".into()),
            sub_model: None,
            max_money_nano: 1_234_500_000_000,
            max_depth: 0,
            code_in_context: false,
        };
        let mut read = Settings::default();
        for knob in KNOBS {
            knob.read(&knob.written(&settings), &mut read).unwrap();
        }
        assert_eq!(read, settings);
    }

    #[test]
    fn what_was_spent_does_not_contradict_the_sums_above_it() {
        let sum = |nano, unknown| CostSum {
            nano,
            known: 1,
            unknown,
        };
        let words = |completed, lost| spent_words([completed, lost]).0;
        assert_eq!(words(sum(34_000_000, 0), sum(13_200_000, 0)), "spent $0.03 + $0.01");
        assert_eq!(words(sum(34_000_000, 0), sum(0, 0)), "spent $0.03");
        assert_eq!(words(sum(34_000_000, 1), sum(13_200_000, 1)), "spent $0.05 + 2 unknown");
    }

    #[test]
    fn of_a_model_that_is_a_file_the_name_is_shown() {
        for (model, shown) in [
            ("scripted:/tmp/fast-rlm-x/demo.yaml", "scripted:demo.yaml"),
            ("scripted:scripts/one.yaml#small", "scripted:one.yaml#small"),
            ("scripted:demo.yaml", "scripted:demo.yaml"),
            ("cassette:runs/harbour/", "cassette:harbour"),
            ("scripted:", "scripted:"),
            ("z-ai/glm-5", "z-ai/glm-5"),
            ("cli:claude?model=some/model", "cli:claude?model=some/model"),
        ] {
            assert_eq!(short(model), shown);
        }
    }

    #[test]
    fn nonsense_says_what_it_should_be() {
        let mut settings = Settings::default();
        for (knob, text) in [
            (Knob::Money, "-1"),
            (Knob::Money, "a lot"),
            (Knob::Money, "1e400"),
            (Knob::Depth, "65"),
            (Knob::Depth, ""),
            (Knob::Code, "maybe"),
        ] {
            assert!(knob.read(text, &mut settings).is_err(), "{knob:?} {text}");
        }
        assert_eq!(settings, Settings::default());
    }
}
