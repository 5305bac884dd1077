//! What the run screen shows and how it moves: effects are answered as the program would answer them.

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
    let mut stage = lighthouses(3);
    stage.acts(&[
        Action::OutputDown,
        Action::NextPane,
        Action::Last,
        Action::NextPane,
        Action::NextPane,
    ]);
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
fn a_query_that_was_cut_is_shown_whole_where_it_was_kept() {
    let mut stage = Stage::new(sample::cut_query(), 0);
    stage.act(Action::Input);
    assert!(stage.frame(120, 34).contains("all of it, to the very end"));
}

#[test]
fn hostile_text_is_shown_as_marks() {
    let mut stage = Stage::new(sample::hostile(), 0);
    snapshots("hostile", &mut stage);
}

#[test]
fn keys_walk_the_tree() {
    let mut stage = lighthouses(0);
    assert_eq!(stage.title(), "Q1 › step 1");
    stage.act(Action::SiblingNext);
    assert_eq!(stage.title(), "Q1 › step 2");
    stage.acts(&[Action::SiblingPrevious; 3]);
    assert_eq!(stage.title(), "Q1 › step 5", "around the ends, past the probe");
    stage.act(Action::SiblingPrevious);
    assert_eq!(stage.title(), "Q1 › step 4");
    stage.act(Action::FirstChild);
    assert_eq!(stage.title(), "Q1 › Count the storms in the logboo…");
    stage.act(Action::FirstChild);
    assert!(stage.title().ends_with("probe"), "{}", stage.title());
    stage.acts(&[Action::Parent, Action::Parent]);
    assert_eq!(stage.title(), "Q1 › step 4");
    stage.act(Action::Parent);
    assert_eq!(stage.title(), "Q1");
}

#[test]
fn folding_hides_sub_agents_and_a_leaf_folds_its_parent() {
    let mut stage = lighthouses(0);
    let rows = stage.screen.tree.rows().len();
    stage.acts(&[
        Action::SiblingPrevious,
        Action::SiblingPrevious,
        Action::SiblingPrevious,
        Action::Fold,
    ]);
    assert_eq!(stage.title(), "Q1 › step 4");
    assert!(stage.screen.tree.rows().len() < rows);
    stage.act(Action::Open);
    assert_eq!(stage.screen.tree.rows().len(), rows, "Enter opens what is folded");
    stage.acts(&[Action::FirstChild, Action::FirstChild, Action::Fold]);
    assert_eq!(stage.title(), "Q1 › Count the storms in the logboo…");
}

#[test]
fn runs_follow_each_other() {
    let mut stage = lighthouses(0);
    let mut seen = vec![stage.title()];
    for _ in 1..stage.world.session.queries.len() {
        stage.act(Action::RunNext);
        seen.push(stage.title());
    }
    let labels: Vec<&str> = seen.iter().filter_map(|title| title.split(' ').next()).collect();
    let all: Vec<String> = stage
        .world
        .session
        .queries
        .iter()
        .map(|query| query.label.to_string())
        .collect();
    assert_eq!(labels, all);
    stage.act(Action::RunNext);
    assert!(matches!(stage.left.last(), Some(Effect::Notice(_))));
    stage.act(Action::RunPrevious);
    assert!(!stage.title().starts_with('P'), "{}", stage.title());
}

#[test]
fn a_live_run_is_followed_only_from_its_end() {
    let live = sample::lighthouses().queries.len() - 1;
    let mut stage = lighthouses(live);
    assert!(
        stage.title().ends_with("step 2"),
        "a live run opens at its newest step: {}",
        stage.title()
    );
    let grow = |stage: &mut Stage, from: u64, to: u64| {
        let mut run = sample::Transcript::new(5, 11);
        for step in from..=to {
            run.step("live", None, step, Some(1), |_| ());
        }
        run.shifted(100 * from)
            .into_iter()
            .for_each(|event| stage.world.session.apply(event));
        stage.world.session.settle();
        stage.send(&Input::ModelChanged);
    };
    grow(&mut stage, 3, 4);
    assert!(stage.title().ends_with("step 4"), "{}", stage.title());
    stage.act(Action::StepPrevious);
    grow(&mut stage, 5, 6);
    assert!(
        stage.title().ends_with("step 3"),
        "reading goes on undisturbed: {}",
        stage.title()
    );
}

#[test]
fn a_place_is_opened_even_if_it_is_folded_away() {
    let place = Place {
        agent: AgentId(3),
        step: Some(1),
    };
    let mut stage = Stage::at(sample::lighthouses(), 0, Some(place));
    assert_eq!(stage.screen.tree.place(), Some(place));
    assert!(stage.frame(120, 34).contains("code"));
}

#[test]
fn the_timeline_of_this_run_is_opened() {
    let mut stage = lighthouses(3);
    let key = stage.screen.key;
    stage.act(Action::Timeline);
    assert!(matches!(stage.left.last(), Some(Effect::Push(Route::Timeline { query })) if *query == key));
}

#[test]
fn the_focused_pane_is_the_one_last_scrolled_clicked_or_cycled_to() {
    let mut stage = lighthouses(0);
    stage.frame(120, 34);
    let title = |stage: &Stage| stage.screen.focused(&stage.world.ctx()).unwrap().title.to_string();
    assert_eq!(title(&stage), "code of Q1 › step 1");
    stage.act(Action::OutputDown);
    assert_eq!(title(&stage), "output of Q1 › step 1");
    stage.mouse(MouseKind::Wheel(3), 3, 10);
    assert_eq!(title(&stage), "tree of Q1 › step 1");
    stage.act(Action::NextPane);
    assert_eq!(title(&stage), "figures of Q1 › step 1");
    let code = stage.screen.areas.code.unwrap();
    stage.mouse(MouseKind::Press, code.x + 2, code.y + 2);
    let focused = stage.screen.focused(&stage.world.ctx()).unwrap();
    assert_eq!(
        (&*focused.text.raw, focused.raw_shown, focused.extension),
        (CODE, false, "py")
    );
    stage.act(Action::Raw);
    assert!(stage.screen.focused(&stage.world.ctx()).unwrap().raw_shown);
}

#[test]
fn json_output_folds_and_can_be_seen_raw() {
    let mut stage = lighthouses(0);
    stage.acts(&[Action::OutputDown, Action::OutputUp]);
    let lines = |stage: &mut Stage| stage.screen.output.text().lines().count();
    let unfolded = lines(&mut stage);
    assert!(unfolded > 6);
    stage.act(Action::Fold);
    assert!(lines(&mut stage) < unfolded);
    stage.act(Action::Raw);
    assert_eq!(stage.screen.output.text().as_str(), JSON);
}

#[test]
fn a_press_on_a_folded_row_of_json_unfolds_it() {
    let mut stage = lighthouses(0);
    stage.frame(120, 34);
    let output = stage.screen.areas.output.unwrap();
    let before = stage.screen.output.text().lines().count();
    stage.mouse(MouseKind::Press, output.x + 5, output.y + 2);
    assert!(stage.screen.output.text().lines().count() < before);
}

#[test]
fn figures_can_be_seen_to_the_last_digit() {
    let mut stage = lighthouses(0);
    assert!(stage.frame(120, 34).contains("$0.0042682") || stage.frame(120, 34).contains("$0.00427"));
    stage.acts(&[Action::NextPane, Action::NextPane, Action::NextPane, Action::Raw]);
    let exact = stage.frame(120, 34);
    assert!(exact.contains("$0.0042682"), "{exact}");
}

#[test]
fn a_search_counts_in_the_focused_pane() {
    let mut stage = lighthouses(0);
    let pattern = Pattern::new("winter");
    stage.send(&Input::Search(pattern.as_ref()));
    assert_eq!(stage.screen.matches().map(|matches| matches.total), Some(5));
    stage.acts(&[Action::NextPane, Action::NextPane]);
    assert_eq!(
        stage.screen.matches().map(|matches| matches.total),
        Some(0),
        "the tree names none"
    );
    let pattern = Pattern::new("STEP");
    stage.send(&Input::Search(pattern.as_ref()));
    let pattern = Pattern::new("step");
    stage.send(&Input::Search(pattern.as_ref()));
    stage.act(Action::SearchNext);
    assert_eq!(stage.title(), "Q1 › step 2");
}

#[test]
fn what_takes_long_is_said_to_be_on_its_way_only_after_a_while() {
    let mut world = World::new();
    world.session = sample::lighthouses();
    let mut screen = RunScreen::new(QueryKey::of(&world.session.queries[0]), None);
    let outcome = screen.update(&Input::Opened, &world.ctx());
    let asks = |effect: &Effect| matches!(effect, Effect::LoadBody { .. });
    assert!(
        outcome.effects.iter().filter(|effect| asks(effect)).count() >= 2,
        "and the next one ahead"
    );
    let mut stage = Stage {
        world,
        screen,
        left: Vec::new(),
    };
    assert!(!stage.frame(80, 22).contains("reading"));
    stage.world.now += PATIENCE;
    assert!(stage.frame(80, 22).contains("reading…"));
}

#[test]
fn a_body_that_cannot_be_read_says_why() {
    let mut world = World::new();
    world.session = sample::lighthouses();
    let mut screen = RunScreen::new(QueryKey::of(&world.session.queries[0]), None);
    let effects = screen.update(&Input::Opened, &world.ctx()).effects;
    for effect in effects {
        if let Effect::LoadBody { token, .. } = effect {
            let answer = Answer {
                token,
                result: Err(SafeText::literal("the file shrank")),
            };
            screen.update(&Input::Answer(&answer), &world.ctx());
        }
    }
    let mut stage = Stage {
        world,
        screen,
        left: Vec::new(),
    };
    assert!(stage.frame(80, 22).contains("cannot be read: the file shrank"));
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
