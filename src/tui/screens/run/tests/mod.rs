//! What the run screen shows and how it moves: effects are answered as the program would answer them.

mod live;
mod panes;
mod walking;

use super::*;
use crate::model::{AgentId, BodyRef, Session};
use crate::tui::body::Body;
use crate::tui::content::highlight::highlight;
use crate::tui::effect::Stop;
use crate::tui::input::{Mouse, MouseKind};
use crate::tui::screens::Route;
use crate::tui::screens::overview::sample;
use crate::tui::testing::{World, text_of};
use proptest::prelude::*;
use ratatui::layout::Position;
use std::sync::Arc;

const CODE: &str = "import re\n# the winters, by year\nwinters = {}\nfor page in logbook.split(\"===\"):\n    year = \
    re.search(r\"19\\d\\d\", page)\n    if year:\n        winters.setdefault(int(year[0]), []).append(page)\n\
    print(len(winters), \"winters\")";
const OUTPUT: &str = "12 winters\n1901: 3 storms\n1902: 5 storms\n1903: 31 storms — 嵐の年 🌊\n";
const TRACEBACK: &str = "Traceback (most recent call last):\n  File \"<exec>\", line 2, in <module>\nKeyError: 1907";
const JSON: &str = r#"{"storms": {"1901": 3, "1902": 5}, "keepers": ["Aksel", "Signe"], "calm": true}"#;

/// A body for every place: the third line holds JSON, the fourth a traceback.
fn body(at: BodyRef) -> Body {
    let output = match at.line {
        3 => JSON,
        4 => TRACEBACK,
        _ => OUTPUT,
    };
    Body {
        code: Text::new(CODE),
        output: Text::new(output),
        reasoning: Text::new("The pages are separated by ===, so split there first."),
        ..Body::default()
    }
}

struct Stage {
    world: World,
    screen: RunScreen,
    /// Effects that nobody but the program can answer.
    left: Vec<Effect>,
}

impl Stage {
    fn new(session: Session, query: usize) -> Self {
        Self::at(session, query, None)
    }

    fn at(session: Session, query: usize, at: Option<Place>) -> Self {
        let mut world = World::new();
        world.session = session;
        let key = QueryKey::of(&world.session.queries[query]);
        let mut stage = Self {
            world,
            screen: RunScreen::new(key, at),
            left: Vec::new(),
        };
        stage.send(&Input::Opened);
        stage
    }

    fn send(&mut self, input: &Input<'_>) -> bool {
        let outcome = self.screen.update(input, &self.world.ctx());
        let mut effects = outcome.effects;
        while let Some(effect) = effects.pop() {
            let (token, reply) = match effect {
                Effect::LoadBody { token, at, .. } => (token, Reply::Body(Arc::new(body(at)))),
                Effect::Highlight { token, language, text } => {
                    let found = highlight(language, &text, &Stop::default()).unwrap();
                    (token, Reply::Highlights(Arc::new(found)))
                }
                Effect::LoadQuery { token, .. } => (token, Reply::Query(Some(Text::new("all of it, to the very end")))),
                Effect::Work { token, work } => (token, Reply::Worked((work.run)(&Stop::default()))),
                other => {
                    self.left.push(other);
                    continue;
                }
            };
            let answer = Answer {
                token,
                result: Ok(reply),
            };
            effects.extend(self.screen.update(&Input::Answer(&answer), &self.world.ctx()).effects);
        }
        outcome.consumed
    }

    fn act(&mut self, action: Action) -> bool {
        self.send(&Input::Action(action))
    }

    fn acts(&mut self, actions: &[Action]) {
        actions.iter().for_each(|action| {
            self.act(*action);
        });
    }

    fn frame(&mut self, width: u16, height: u16) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        self.screen.draw(area, &mut buf, &self.world.ctx());
        text_of(&buf)
    }

    fn title(&self) -> String {
        self.screen.title(&self.world.ctx()).to_string()
    }

    fn mouse(&mut self, kind: MouseKind, x: u16, y: u16) -> bool {
        self.send(&Input::Mouse(Mouse {
            kind,
            at: Position { x, y },
        }))
    }
}

/// The fourth query's last step, its output in sight.
fn at_the_last_step() -> Stage {
    let mut stage = lighthouses(3);
    stage.acts(&[
        Action::OutputDown,
        Action::NextPane,
        Action::Last,
        Action::NextPane,
        Action::NextPane,
    ]);
    stage
}

fn lighthouses(query: usize) -> Stage {
    Stage::new(sample::lighthouses(), query)
}

fn snapshots(name: &str, stage: &mut Stage) {
    for (width, height) in [(120, 34), (80, 22), (40, 10)] {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), stage.frame(width, height));
    }
}

#[test]
fn a_run_with_sub_agents() {
    let mut stage = lighthouses(0);
    snapshots("first_step", &mut stage);
    stage.acts(&[Action::PageDown, Action::OutputDown]);
    stage.act(Action::StepNext);
    snapshots("failed_step", &mut stage);
}

#[test]
fn the_last_step_shows_the_final_result_under_its_output() {
    let mut stage = at_the_last_step();
    snapshots("last_step", &mut stage);
    assert!(stage.title().ends_with("step 3"), "{}", stage.title());
    assert!(stage.frame(120, 34).contains("── FINAL ──"));
}

#[test]
fn an_agent_shows_what_it_was_given_and_what_it_gave() {
    let mut stage = lighthouses(0);
    stage.acts(&[Action::Parent]);
    snapshots("root", &mut stage);
}

#[test]
fn a_run_without_its_transcript_shows_the_code_that_is_known() {
    let mut stage = lighthouses(1);
    snapshots("log_missing", &mut stage);
    assert!(stage.frame(120, 34).contains("whales = find('whale')"));
}

#[test]
fn panes_over_it() {
    let mut stage = lighthouses(0);
    stage.act(Action::Input);
    snapshots("input", &mut stage);
    stage.act(Action::Reasoning);
    assert!(stage.frame(80, 22).contains("separated by ==="));
    stage.act(Action::Final);
    assert!(stage.frame(80, 22).contains("The winter of 1903"));
    assert!(stage.act(Action::Final), "the same key closes it");
    assert!(stage.screen.over.is_none());
    stage.act(Action::Input);
    assert!(stage.act(Action::Back) && stage.screen.over.is_none());
    assert!(
        !stage.act(Action::Back),
        "nothing of its own is open: the program goes back"
    );
}

#[test]
fn hostile_text_is_shown_as_marks() {
    let mut stage = Stage::new(sample::hostile(), 0);
    snapshots("hostile", &mut stage);
}

const KEYS: [Action; 28] = [
    Action::StepPrevious,
    Action::StepNext,
    Action::Parent,
    Action::FirstChild,
    Action::SiblingNext,
    Action::SiblingPrevious,
    Action::CodeUp,
    Action::CodeDown,
    Action::OutputUp,
    Action::OutputDown,
    Action::Input,
    Action::Reasoning,
    Action::Final,
    Action::RunNext,
    Action::RunPrevious,
    Action::NextPane,
    Action::Fold,
    Action::Raw,
    Action::LineNumbers,
    Action::Wrap,
    Action::PageDown,
    Action::First,
    Action::Last,
    Action::Open,
    Action::ZoomIn,
    Action::Back,
    Action::SearchNext,
    Action::Interrupt,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_size_and_any_keys_draw_with_the_selection_in_sight(
        keys in proptest::collection::vec(0usize..28, 0..14),
        width in 0u16..31,
        height in 0u16..13,
        hostile: bool,
        query in 0usize..2,
    ) {
        let session = if hostile { sample::hostile() } else { sample::lighthouses() };
        let mut stage = Stage::new(session, query);
        for key in keys {
            stage.frame(width, height);
            stage.act(KEYS[key]);
            let frame = stage.frame(80, 22);
            let Some(place) = stage.screen.tree.place().filter(|_| stage.screen.over.is_none()) else { continue };
            let query = stage.screen.query(&stage.world.ctx()).unwrap();
            let name = match place.step {
                Some(step) => query.run.agent(place.agent).unwrap().steps[step].label(),
                None => String::new(),
            };
            let name: String = name.chars().take(8).collect();
            prop_assert!(frame.contains(&name), "{}\n{}", name, frame);
        }
    }
}
