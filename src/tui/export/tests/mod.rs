//! Exports of sessions built from events: what every format must keep and must never let through.

mod recorded;

use super::*;
use crate::model::Session;
use crate::model::{Cost, LineKind, MemoryKind, StepLine, Timings};
use recorded::Recorded;
use serde_json::Value;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Everything that acts on a terminal, misleads a reader, or is markup somewhere.
const HOSTILE: &str =
    "\u{1b}]52;c;eA==\u{7}\u{1b}[2J\u{9b}31m\u{202e}<script>alert(1)</script>\n```\n# </pre><img src=x onerror=y>\n";
const SECRET: &str = "sk-abcdefghijklmnop1234";

fn options(format: Format, raw: bool) -> Options {
    Options {
        format,
        scope: Scope::Session,
        raw,
        utc: true,
        secrets: Secrets::default(),
    }
}

/// Tags of an HTML text, each once, without their attributes.
fn tags(html: &str) -> Vec<&str> {
    let starts = html.split('<').skip(1);
    let mut tags: Vec<_> = starts.map(|tag| tag.split([' ', '>', '\n']).next().unwrap()).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

#[test]
fn nothing_that_acts_on_a_terminal_gets_through() {
    for format in Format::ALL {
        let (text, _) = Recorded::everywhere(HOSTILE).export(format, false);
        let acting = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
        assert_eq!(text.chars().find(|c| acting(*c)), None, "{format:?}");
        assert!(!text.contains("\\u001b"), "{format:?}");
    }
}

#[test]
fn raw_exports_keep_what_was_recorded() {
    let (json, _) = Recorded::everywhere(HOSTILE).export(Format::Json, true);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let code = json["runs"][0]["agents"][0]["steps"][0]["code"].as_str().unwrap();
    assert_eq!(code, format!("code {HOSTILE}"));
}

#[test]
fn html_has_no_tag_of_the_data_and_no_script() {
    let (html, _) = Recorded::everywhere(HOSTILE).export(Format::Html, false);
    let ours = [
        "!doctype", "/body", "/details", "/h1", "/h2", "/h3", "/head", "/html", "/p", "/pre", "/span", "/style",
        "/summary", "/title", "body", "details", "h1", "h2", "h3", "head", "html", "meta", "p", "pre", "span", "style",
        "summary", "title",
    ];
    assert_eq!(
        tags(&html)
            .into_iter()
            .filter(|tag| !ours.contains(tag))
            .collect::<Vec<_>>(),
        Vec::<&str>::new()
    );
    assert!(html.contains("Content-Security-Policy\" content=\"default-src 'none';"));
    for tag in ["details", "pre", "p", "summary"] {
        let (open, close) = (
            html.matches(&format!("<{tag}")).count(),
            html.matches(&format!("</{tag}>")).count(),
        );
        assert!(open == close || tag == "p" && open >= close, "{tag}: {open} {close}");
    }
}

#[test]
fn markdown_fences_hold_all_data() {
    let (text, _) = Recorded::everywhere(HOSTILE).export(Format::Markdown, false);
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => assert!(!line.contains("<script") || line.contains("\\<script"), "{line}"),
            Some(_) => {}
        }
    }
    assert_eq!(fence, None);
}

#[test]
fn a_sub_agent_is_told_within_the_step_that_started_it() {
    let mut recorded = Recorded::new("q");
    recorded.step("child", Some("root"), 1, 1, "of the child");
    recorded.step("root", None, 0, 1, "of the root");
    recorded.step("root", None, 0, 2, "after it");
    recorded.session.settle();
    let (text, report) = recorded.export(Format::Markdown, false);
    let at = |needle: &str| text.find(needle).unwrap();
    assert!(
        at("code of the root") < at("code of the child") && at("code of the child") < at("code after it"),
        "{text}"
    );
    assert!(text.contains("#### Step 2, failed"));
    assert_eq!((report.steps, report.unreadable), (3, 0));
}

#[test]
fn json_is_one_object_with_every_step_once() {
    let (text, _) = Recorded::everywhere("word").export(Format::Json, false);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["format"], "fast-rlm-export");
    let run = &json["runs"][0];
    assert_eq!(run["label"], "Q1");
    assert_eq!(
        run["final"],
        serde_json::json!({"kind": "object", "value": {"answer": "word"}})
    );
    let agents = run["agents"].as_array().unwrap();
    let steps: usize = agents
        .iter()
        .map(|agent| agent["steps"].as_array().unwrap().len())
        .sum();
    assert_eq!((agents.len(), steps), (2, 3));
    assert_eq!(agents[1]["parent"], 0);
    assert_eq!(run["totals"]["cost"]["nano_usd"], 3_000_000);
    assert_eq!(json["memory"][0]["committed"], true);
}

#[test]
fn an_empty_session_is_a_whole_document_in_every_format() {
    let (json, _) = Recorded {
        session: Session::default(),
        bodies: HashMap::new(),
        lines: 0,
    }
    .export(Format::Json, false);
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
    let (html, _) = Recorded {
        session: Session::default(),
        bodies: HashMap::new(),
        lines: 0,
    }
    .export(Format::Html, false);
    assert!(html.ends_with("</html>\n"));
}

#[test]
fn secrets_are_masked_in_every_text_and_reported_by_place() {
    for format in Format::ALL {
        for raw in [false, true] {
            let (text, report) = Recorded::everywhere(SECRET).export(format, raw);
            assert!(!text.contains("abcdefghijklmnop1234"), "{format:?}: {text}");
            let places: Vec<_> = report.masked.iter().map(|m| m.place.as_str()).collect();
            for place in [
                "Q1 query",
                "Q1 FINAL",
                "Q1 step 1 code",
                "Q1 agent 2 step 1 output",
                "session name",
            ] {
                assert!(places.contains(&place), "{place} in {places:?}");
            }
            assert!(places.iter().all(|place| !place.contains("abcdefghijklmnop1234")));
        }
    }
}

#[test]
fn a_registered_secret_is_masked_whatever_it_looks_like() {
    let recorded = Recorded::everywhere("the keeper's cat is called Soot-and-Ash");
    let options = options(Format::Markdown, false);
    options.secrets.register("CAT", "Soot-and-Ash").unwrap();
    let mut out = Vec::new();
    let (session, mut bodies) = (recorded.session.clone(), recorded);
    let report = write(&session, &mut bodies, &options, &mut out, &mut |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(!String::from_utf8(out).unwrap().contains("Soot-and-Ash"));
    assert!(report.masked.iter().any(|m| m.kind == SecretKind::Registered));
}

#[test]
fn a_step_that_cannot_be_read_says_why_and_the_rest_is_there() {
    let mut recorded = Recorded::everywhere("word");
    recorded.bodies.remove(&1);
    let (text, report) = recorded.export(Format::Markdown, false);
    assert_eq!(report.unreadable, 1);
    assert!(
        text.contains("could not be read: line 1 is gone") && text.matches("code word").count() == 2,
        "{text}"
    );
}

#[test]
fn a_deep_chain_of_agents_is_a_document_that_nests_only_so_far() {
    let mut recorded = Recorded::new("q");
    for depth in 0..400u32 {
        let parent = depth.checked_sub(1).map(|n| format!("a{n}"));
        recorded.step(&format!("a{depth}"), parent.as_deref(), depth, 1, "x");
    }
    recorded.session.settle();
    let (html, report) = recorded.export(Format::Html, false);
    assert_eq!(report.steps, 400);
    let mut open = 0i32;
    let mut deepest = 0;
    for part in html.split('<') {
        open += i32::from(part.starts_with("details")) - i32::from(part.starts_with("/details"));
        deepest = deepest.max(open);
    }
    assert_eq!(open, 0);
    assert!(deepest < 32, "{deepest}");
}

#[test]
fn a_file_appears_whole_and_never_replaces_another() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = Recorded::everywhere("word");
    let (session, mut bodies) = (recorded.session.clone(), recorded);
    let options = options(Format::Markdown, false);
    let mut names = Vec::new();
    for _ in 0..3 {
        let saved = save(&session, &mut bodies, &options, dir.path(), &mut |_| {
            ControlFlow::Continue(())
        })
        .unwrap();
        names.push(saved.path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    assert_eq!(names, ["demo-word.md", "demo-word-2.md", "demo-word-3.md"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 3);
    assert_eq!(default_name(&session, Scope::Run(0), Format::Html), "demo-word-Q1.html");
}

#[test]
fn a_cancelled_export_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = Recorded::everywhere("word");
    let (session, mut bodies) = (recorded.session.clone(), recorded);
    let mut seen = Vec::new();
    let result = save(
        &session,
        &mut bodies,
        &options(Format::Html, false),
        dir.path(),
        &mut |progress| {
            seen.push(progress);
            if progress.done == 2 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        },
    );
    assert!(matches!(result, Err(ExportError::Cancelled)));
    assert_eq!(seen, [Progress { done: 1, all: 3 }, Progress { done: 2, all: 3 }]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let recorded = Recorded::everywhere("word");
    let (session, mut bodies) = (recorded.session.clone(), recorded);
    let missing = std::path::Path::new("/nowhere/at/all");
    let error = save(
        &session,
        &mut bodies,
        &options(Format::Json, false),
        missing,
        &mut |_| ControlFlow::Continue(()),
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .starts_with("cannot write /nowhere/at/all: ")
    );
}

#[test]
fn a_job_tells_its_end_and_a_stopped_one_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = Recorded::everywhere("word");
    let (session, mut bodies) = (recorded.session.clone(), recorded);
    let setting = Setting {
        dir: dir.path().to_owned(),
        utc: true,
        secrets: Secrets::default(),
    };
    let query = session.queries.first().map(crate::tui::screens::QueryKey::of);
    let mut run_it = |query, stop: &crate::tui::effect::Stop| {
        let job = Job {
            query,
            format: Format::Html,
            raw: false,
        };
        let mut news = Vec::new();
        run(job, &setting, &session, &mut bodies, stop, &mut |told| news.push(told));
        news
    };
    let news = run_it(query, &crate::tui::effect::Stop::default());
    assert!(
        matches!(news.as_slice(), [News::Progress(_), .., News::Done(Ok(_))]),
        "{news:?}"
    );
    let stopped = crate::tui::effect::Stop::default();
    stopped.stop();
    assert!(matches!(
        run_it(None, &stopped).as_slice(),
        [News::Done(Err(ExportError::Cancelled))]
    ));
    let names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|file| file.unwrap().file_name())
        .collect();
    assert_eq!(names, ["demo-word-Q1.html"]);
}

#[test]
fn tokens_that_nobody_reported_are_not_zero() {
    let export = |format| {
        let mut recorded = Recorded::new("q");
        let unmeasured = StepLine {
            number: Some(1),
            executed: true,
            failed: false,
            usage: None,
            cost: Cost::Unknown,
            timings: Timings::default(),
            code_digest: 0,
            no_code: false,
            task: None,
        };
        recorded.line("root", None, 0, LineKind::Step(unmeasured));
        recorded.session.settle();
        recorded.export(format, false).0
    };
    for format in [Format::Markdown, Format::Html] {
        let text = export(format);
        assert!(text.contains("tokens unknown, cost unknown"), "{text}");
        assert!(!text.contains("0 tokens"), "{text}");
    }
    let json: Value = serde_json::from_str(&export(Format::Json)).unwrap();
    let run = &json["runs"][0];
    assert_eq!(run["totals"]["usage"], Value::Null);
    assert_eq!(run["agents"][0]["steps"][0]["usage"], Value::Null);
    assert_eq!(run["totals"]["cost"]["steps_without_cost"], 1);
}

#[test]
fn a_name_that_was_dropped_is_told_so_and_a_function_as_one() {
    for (kind, told) in [
        (MemoryKind::Variable, "word"),
        (MemoryKind::Function, "function"),
        (MemoryKind::Dropped, "dropped"),
    ] {
        let export = |format| {
            let mut recorded = Recorded::everywhere("word");
            recorded
                .session
                .memory
                .entries
                .iter_mut()
                .for_each(|entry| entry.kind = kind);
            recorded.export(format, false).0
        };
        assert!(export(Format::Markdown).contains(&format!("### word ★ ({told})")));
        assert!(export(Format::Html).contains(&format!("<span class=\"facts\">{told} · ")));
    }
}

#[test]
fn a_probe_is_told_and_is_no_step() {
    let mut recorded = Recorded::new("q");
    recorded.step("root", None, 0, 0, "of the probe");
    recorded.step("root", None, 0, 1, "of the root");
    recorded.session.settle();
    let (text, report) = recorded.export(Format::Markdown, false);
    assert!(text.contains("code of the probe"), "{text}");
    assert_eq!(report.steps, 1);
}
