//! What a step sees, prints and reports.

use crate::desk::Desk;
use fast_rlm::repl::{InstanceState, Step, StepErrorKind};

#[tokio::test]
async fn names_persist_from_step_to_step() {
    let mut desk = Desk::open().await;
    desk.print(
        r#"
x = 41
import re, json
from collections import Counter
def add(a, b=1):
    return a + b
class P:
    def __init__(self, v): self.v = v
    def double(self): return self.v * 2
"#,
    )
    .await;
    let line =
        r#"print(x + 1, add(5), P(4).double(), *re.findall(r"\d", "a1b2"), Counter("aab")["a"], json.dumps([1]))"#;
    assert_eq!(desk.print(line).await, "42 6 8 1 2 2 [1]\n");
    let code =
        "def bump():\n    global x\n    x += 1\n    return x\nprint(bump(), (lambda q: q + x)(1), __name__)\ny = None";
    assert_eq!(desk.print(code).await, "42 43 __main__\n");
    assert_eq!(desk.print("print(x, y is None)\ndel x").await, "42 True\n");
    let gone = desk.run("print(x)").await;
    assert!(
        gone.text().ends_with("NameError: name 'x' is not defined\n"),
        "{}",
        gone.text()
    );
}

#[tokio::test]
async fn a_step_reports_what_it_bound_deleted_and_imported() {
    let mut desk = Desk::open().await;
    let first = desk
        .run("import os.path\nfrom json import dumps as d\na = b = 1\n_hidden = 2\nfor i in range(3): c = i")
        .await;
    assert_eq!(first.written, ["a", "b", "c"]);
    assert_eq!(first.imports, ["import os.path", "from json import dumps as d"]);
    let second = desk.run("del a\nb = 1\nglobals()['made'] = 5\ndef f(): pass").await;
    assert_eq!(second.written, ["b", "f", "made"]);
    assert_eq!(second.deleted, ["a"]);
    let failed = desk.run("early = 1\n1/0\nlate = 2").await;
    assert_eq!(
        failed.written,
        ["early"],
        "what a failed step did not reach is not bound"
    );
}

#[tokio::test]
async fn tracebacks_show_the_steps_source_and_not_the_engine() {
    let mut desk = Desk::open().await;
    desk.print("def inner(d):\n    return d['missing']\ndef outer():\n    return inner({'a': 1})")
        .await;
    let outcome = desk.run("outer()").await;
    let text = outcome.text();
    assert_eq!(
        text,
        "Traceback (most recent call last):\n  File \"<step 2>\", line 1, in <module>\n    outer()\n    ~~~~~^^\n  \
         File \"<step 1>\", line 4, in outer\n    return inner({'a': 1})\n  File \"<step 1>\", line 2, in inner\n    \
         return d['missing']\n           ~^^^^^^^^^^^\nKeyError: 'missing'\n"
    );
    assert_eq!(outcome.error.unwrap().kind, StepErrorKind::Exception);
    let printed = desk.run("print('before')\n1 / 0\nprint('after')").await;
    assert!(printed.text().starts_with("before\nTraceback"), "{}", printed.text());
    let syntax = desk.run("def broken(:\n    pass").await;
    assert_eq!(
        syntax.text(),
        "  File \"<step 4>\", line 1\n    def broken(:\n               ^\nSyntaxError: invalid syntax\n"
    );
    let awaited = desk.run("await llm_query('a')\nraise ValueError('after await')").await;
    assert!(!awaited.text().contains("<rlm"), "{}", awaited.text());
    let chained = desk
        .run("try:\n    int('zz')\nexcept ValueError as e:\n    raise RuntimeError('chained') from e")
        .await;
    assert!(chained.text().contains("direct cause"), "{}", chained.text());
    let own = desk
        .run("import traceback\ntry:\n    outer()\nexcept KeyError:\n    print(traceback.format_exc())")
        .await;
    assert!(own.text().contains("KeyError: 'missing'"));
    let custom = desk
        .run("class MyError(Exception): pass\nraise MyError('custom', 42)")
        .await;
    assert!(
        custom.text().ends_with("MyError: ('custom', 42)\n"),
        "{}",
        custom.text()
    );
}

#[tokio::test]
async fn every_way_to_exit_ends_the_step_only() {
    let mut desk = Desk::open().await;
    desk.print("kept = 1").await;
    for code in [
        "import sys; sys.exit(3)",
        "quit()",
        "exit()",
        "raise SystemExit",
        "raise KeyboardInterrupt",
        "raise GeneratorExit",
    ] {
        let outcome = desk.run(code).await;
        assert_eq!(outcome.instance, InstanceState::Alive, "{code}");
        assert!(outcome.failed(), "{code}");
        assert_eq!(desk.print("print(kept)").await, "1\n", "after {code}");
    }
    let task = desk
        .run("import asyncio, sys\nasync def f(): sys.exit(1)\nt = asyncio.create_task(f())\nawait asyncio.sleep(0.01)")
        .await;
    assert_eq!(task.instance, InstanceState::Alive, "in a task: {}", task.text());
    assert_eq!(desk.print("print(kept)").await, "1\n");
}

#[tokio::test]
async fn dicts_and_lists_print_as_indented_json_and_the_rest_as_python_does() {
    let mut desk = Desk::open().await;
    assert_eq!(
        desk.print("print({'a': [1, None, True], 'é': 'ü'})").await,
        "{\n  \"a\": [\n    1,\n    null,\n    true\n  ],\n  \"é\": \"ü\"\n}\n"
    );
    assert_eq!(
        desk.print("print([], {}, (1, 'x'), {3}, 'text', 1.5, None)").await,
        "[] {} (1, 'x') {3} text 1.5 None\n"
    );
    assert_eq!(
        desk.print("import datetime\nprint([datetime.date(2024, 1, 2)])").await,
        "[\n  \"datetime.date(2024, 1, 2)\"\n]\n"
    );
    assert_eq!(
        desk.print("print({(1, 2): 3})").await,
        "{(1, 2): 3}\n",
        "keys that JSON cannot have"
    );
    assert_eq!(desk.print("a = []; a.append(a); print(a)").await, "[[...]]\n");
    assert_eq!(desk.print("print(1, 2, sep='-', end='!')").await, "1-2!");
    assert_eq!(
        desk.print("import io\nf = io.StringIO()\nprint([1], file=f)\nprint(repr(f.getvalue()))")
            .await,
        "'[1]\\n'\n"
    );
}

#[tokio::test]
async fn output_arrives_while_the_step_runs_and_whole_at_its_end() {
    let mut desk = Desk::open().await;
    let code = "import sys\nprint('first')\nawait llm_query('x')\nprint('second', file=sys.stderr)\nawait llm_query('y')\nprint('no newline', end='')";
    let outcome = desk.run(code).await;
    assert_eq!(outcome.output.text, "first\nsecond\nno newline");
    assert_eq!(
        desk.chunks,
        ["first\n", "second\n", "no newline"],
        "one chunk between the awaits each"
    );
    assert_eq!(outcome.output.total_bytes, 23);
}

#[tokio::test]
async fn odd_text_is_printed_without_failing() {
    let mut desk = Desk::open().await;
    assert_eq!(desk.print(r"print('a\ud800b\udfffc')").await, "a\u{fffd}b\u{fffd}c\n");
    assert_eq!(
        desk.print(r"print('nul \0 esc \x1b[31m')").await,
        "nul \0 esc \u{1b}[31m\n"
    );
    assert_eq!(
        desk.print("import sys; sys.stdout.buffer.write(b'raw \\xff\\n')").await,
        "raw \u{fffd}\n"
    );
    let error = desk.run(r"raise ValueError('\ud800')").await;
    assert!(
        error.text().ends_with("ValueError: \u{fffd}\n") || error.text().contains("ud800"),
        "{}",
        error.text()
    );
    let long = desk.run("raise ValueError('x' * 10_000_000)").await;
    assert!(long.text().len() < 50_000 && long.text().contains("characters left out"));
}

#[tokio::test]
async fn the_standard_library_is_there() {
    let mut desk = Desk::open().await;
    let modules = "re json collections dataclasses datetime statistics itertools asyncio ast tokenize pickle difflib csv hashlib \
        textwrap random math decimal fractions functools string unicodedata urllib.parse sqlite3 typing enum abc copy \
        operator heapq bisect io os sys time calendar zoneinfo uuid base64 binascii struct zlib gzip zipfile tarfile html \
        html.parser xml.etree.ElementTree configparser tomllib logging pprint inspect traceback types contextlib \
        contextvars weakref array queue threading concurrent.futures tempfile pathlib shutil glob fnmatch secrets hmac \
        argparse cmath numbers reprlib graphlib dis symtable codecs keyword pickletools unittest timeit email ipaddress";
    let code = format!(
        "import importlib\nfor m in '{modules}'.split():\n    importlib.import_module(m)\nimport sys, sqlite3\n\
         c = sqlite3.connect(':memory:')\nprint(sys.version_info[:2], c.execute('select 6 * 7').fetchone()[0])"
    );
    assert_eq!(desk.print(&code).await, "(3, 14) 42\n");
    let zone = "import datetime, zoneinfo\nprint(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Paris')).isoformat())";
    assert_eq!(desk.print(zone).await, "2024-07-01T00:00:00+02:00\n");
    assert_eq!(
        desk.print("import random; random.seed(42); print(random.random())")
            .await,
        "0.6394267984578837\n"
    );
}

#[tokio::test]
async fn two_sessions_draw_different_numbers_and_a_seed_repeats_them() {
    let draw =
        "import random, uuid, secrets, os\nprint(random.random(), uuid.uuid4(), secrets.token_hex(4), os.urandom(3))";
    let (mut one, mut other) = (Desk::open().await, Desk::open().await);
    assert_ne!(one.print(draw).await, other.print(draw).await);
    let seeded = || Step {
        seed: Some(7),
        ..Step::new(1, draw)
    };
    let first = one.run_step(seeded()).await.output.text;
    assert_eq!(first, other.run_step(seeded()).await.output.text);
    // The steps after it go on from there: `random.seed(…)` in one step holds in the next.
    let next = one.print(draw).await;
    assert_ne!(first, next);
    assert_eq!(next, other.print(draw).await);
}

#[tokio::test]
async fn a_pinned_clock_repeats_too() {
    let code = "import time, datetime\nprint(datetime.datetime.now(), time.time_ns(), time.perf_counter())";
    let pinned = || Step {
        clock: Some(1_700_000_000_000_000_000),
        ..Step::new(1, code)
    };
    let mut desk = Desk::open().await;
    let first = desk.run_step(pinned()).await.output.text;
    assert!(first.starts_with("2023-11-14 22:13:20"), "{first}");
    assert_eq!(first, desk.run_step(pinned()).await.output.text);
    let year = desk.print("import datetime\nprint(datetime.datetime.now().year)").await;
    assert!(year.trim().parse::<u32>().unwrap() > 2023, "the real clock again");
}

#[tokio::test]
async fn code_that_looks_for_the_machines_files_is_told_that_there_are_none() {
    let mut desk = Desk::open().await;
    for code in [
        "open('/proc/self/mem', 'rb')",
        "import os\nos.listdir('/data')",
        "open('out.txt', 'w')",
    ] {
        let told = desk.run(code).await.error.expect("there is no such file").text;
        let (hint, traceback) = told.split_once('\n').unwrap();
        assert!(
            hint.contains("no files of the machine") && hint.contains("`context`"),
            "{told}"
        );
        assert!(
            traceback.starts_with("Traceback") && traceback.trim_end().ends_with('\''),
            "{told}"
        );
    }
    for code in ["raise FileNotFoundError('of its own')", "1 / 0"] {
        let told = desk.run(code).await.error.unwrap().text;
        assert!(told.starts_with("Traceback"), "{told}");
    }
}
