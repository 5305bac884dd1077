//! What persists: sweeps, and restores of them into another REPL.

use crate::desk::{Desk, saved};
use fast_rlm::repl::{
    Limits, Pickle, RestoreKind, RestoreSet, SavedVariable, StartOptions, Sweep, SweptPickle, SweptVariable,
};
use std::collections::HashMap;
use std::sync::Arc;

/// What an owner of a REPL keeps of its sweeps.
#[derive(Default)]
pub(crate) struct Shelf {
    values: HashMap<String, Arc<[u8]>>,
}

impl Shelf {
    /// The state to restore, with the sweep taken in.
    pub(crate) fn keep(&mut self, sweep: &Sweep) -> RestoreSet {
        let variables = sweep.variables.iter().map(|variable| SavedVariable {
            name: variable.name.clone(),
            pickle: Pickle::Bytes(self.value(variable)),
            comment: variable.comment.clone(),
            note: variable.note.clone(),
            committed: variable.committed,
        });
        RestoreSet {
            variables: variables.collect(),
            imports: sweep.imports.clone(),
            import_sources: Vec::new(),
            functions: sweep
                .functions
                .iter()
                .map(|f| (f.name.clone(), f.source.clone()))
                .collect(),
        }
    }

    fn value(&mut self, variable: &SweptVariable) -> Arc<[u8]> {
        if let SweptPickle::Changed(bytes) = &variable.pickle {
            self.values.insert(variable.name.clone(), bytes.clone());
        }
        self.values[&variable.name].clone()
    }
}

pub(crate) async fn sweep(desk: &mut Desk) -> Sweep {
    desk.repl.sweep().await.expect("the sweep succeeds")
}

pub(crate) fn names(sweep: &Sweep) -> Vec<&str> {
    sweep.variables.iter().map(|variable| variable.name.as_str()).collect()
}

fn is_unchanged(sweep: &Sweep, name: &str) -> bool {
    sweep
        .variables
        .iter()
        .any(|v| v.name == name && v.pickle == SweptPickle::Unchanged)
}

pub(crate) async fn restored(restore: RestoreSet) -> (Desk, fast_rlm::repl::RestoreReport) {
    let (desk, report) = Desk::start(StartOptions {
        restore,
        ..StartOptions::default()
    })
    .await;
    (desk, report.restored)
}

#[tokio::test]
async fn values_functions_classes_and_imports_come_back() {
    let mut desk = Desk::open().await;
    desk.print(
        r#"
import re, datetime, dataclasses, collections, decimal, enum
from collections import Counter
LIMIT = 3  # most hits to show
def find(pattern, text, limit=LIMIT):
    # needs re
    return re.findall(pattern, text)[:limit]
class Base:
    kind = "base"
@dataclasses.dataclass
class Item(Base):
    name: str
    tags: list = dataclasses.field(default_factory=list)
NT = collections.namedtuple("NT", "a b")
class Color(enum.Enum):
    RED = 1
item = Item("n", ["t"])
when = datetime.datetime(2024, 5, 6, tzinfo=datetime.timezone.utc)
odd = [{1, 2}, frozenset([1]), collections.deque([1], maxlen=5), decimal.Decimal("1.25"), 10**50, 1+2j, b"x", range(5), float("nan")]
counts = Counter("hello")
color = Color.RED
alias = find
"#,
    )
    .await;
    let swept = sweep(&mut desk).await;
    assert_eq!(
        swept.dropped.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(),
        Vec::<&str>::new()
    );
    let functions: Vec<_> = swept.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(functions, ["find", "Base", "Item", "NT", "Color"]);
    assert!(swept.functions[0].source.contains("# needs re"));
    assert!(
        swept.functions[2]
            .source
            .starts_with("@dataclasses.dataclass\nclass Item")
    );

    let (mut other, report) = restored(Shelf::default().keep(&swept)).await;
    assert_eq!(report.failed, []);
    let line = "print(*find('l', 'hello llama'), item, when.year, odd[0], odd[4] == 10**50, counts['l'], color is Color.RED, item.kind, alias is find)";
    assert_eq!(
        other.print(line).await,
        "l l l Item(name='n', tags=['t']) 2024 {1, 2} True 2 True base True\n"
    );
    let again = sweep(&mut other).await;
    assert!(
        again.variables.iter().all(|v| v.pickle == SweptPickle::Unchanged),
        "{:?}",
        names(&again)
    );
    let by_name = |sweep: &Sweep| {
        sweep
            .functions
            .iter()
            .map(|f| (f.name.clone(), f.source.clone()))
            .collect::<HashMap<_, _>>()
    };
    assert_eq!(by_name(&again), by_name(&swept));
    assert_eq!(again.imports, swept.imports);
}

#[tokio::test]
async fn only_changed_values_are_sent_again() {
    let mut desk = Desk::open().await;
    desk.print("text = 'x' * 4_000_000\nnumbers = {i: i for i in range(1000)}\nother = [1]")
        .await;
    let first = sweep(&mut desk).await;
    assert!(
        ["text", "numbers", "other"]
            .iter()
            .all(|name| !is_unchanged(&first, name))
    );
    desk.print("numbers[5] = 'five'").await;
    let second = sweep(&mut desk).await;
    assert!(is_unchanged(&second, "text") && is_unchanged(&second, "other"));
    assert!(!is_unchanged(&second, "numbers"), "changed in place");
    desk.print("text = text[:-1] + 'y'").await;
    assert!(
        !is_unchanged(&sweep(&mut desk).await, "text"),
        "another value of the same length"
    );
    desk.print("del text").await;
    assert_eq!(names(&sweep(&mut desk).await), ["numbers", "other"]);
}

#[tokio::test]
async fn what_cannot_be_saved_is_named_with_the_reason() {
    let mut desk = Desk::with_limits(Limits {
        memory_bytes: 1 << 30,
        ..Limits::default()
    })
    .await;
    desk.print(
        "import sys, io\nstream = (c for c in 'abc')\nby_date = lambda x: x\nbig = 'x' * 6_000_000\nhandle = io.StringIO()\n\
         exec('def made(): pass')\nmodule = sys\nfine = 1\nhuge = [b'y' * 1_000_000 + bytes([i]) for i in range(20)]\nmine = FINAL\nlocked = __import__('threading').Lock()",
    )
    .await;
    let swept = sweep(&mut desk).await;
    let reason = |name: &str| {
        swept
            .dropped
            .iter()
            .find(|d| d.name == name)
            .map(|d| (d.reason.as_str(), d.size))
    };
    assert_eq!(
        reason("stream"),
        Some(("not picklable: TypeError: cannot pickle 'generator' object", None))
    );
    assert!(reason("by_date").unwrap().0.starts_with("not picklable: PicklingError"));
    assert_eq!(reason("big").unwrap().1, Some(6_000_009));
    assert_eq!(
        reason("big").unwrap().0,
        "too large to save: 6000009 bytes (the limit is 5000000)"
    );
    assert!(reason("huge").unwrap().1.unwrap() > 20_000_000);
    assert!(reason("made").unwrap().0.contains("source is not known"));
    assert!(reason("mine").unwrap().0.contains("engine"));
    assert!(reason("locked").is_some());
    assert_eq!(reason("module"), None, "modules are skipped silently");
    assert!(names(&swept).contains(&"fine") && names(&swept).contains(&"handle"));
    desk.print("big = 'small'").await;
    let later = sweep(&mut desk).await;
    assert!(
        names(&later).contains(&"big") && later.dropped.iter().all(|d| d.name != "big"),
        "saved after all"
    );
}

#[tokio::test]
async fn a_commit_forces_a_name_and_carries_a_note() {
    let options = StartOptions {
        context: fast_rlm::repl::Context::Text("the question".into()),
        ..StartOptions::default()
    };
    let (mut desk, _) = Desk::start(options).await;
    desk.print("x = 1\n_hidden = 2").await;
    let mut shelf = Shelf::default();
    let plain = sweep(&mut desk).await;
    assert_eq!(names(&plain), ["x"], "context and _names are not saved by themselves");
    shelf.keep(&plain);
    desk.print("commit('context', note='kept on purpose')\ncommit('_hidden')\ncommit('x', 'one')")
        .await;
    let swept = sweep(&mut desk).await;
    assert_eq!(names(&swept), ["context", "x", "_hidden"]);
    assert_eq!(swept.variables[0].note.as_deref(), Some("kept on purpose"));
    assert!(swept.variables[0].committed && swept.variables[2].committed);
    for (code, message) in [
        ("commit('nope')", "NameError: there is no variable 'nope' to commit"),
        (
            "commit(x)",
            "TypeError: commit() takes the variable's name as a string, not its value (int)",
        ),
        ("commit('FINAL')", "ValueError: 'FINAL' is the REPL's own"),
    ] {
        assert!(desk.run(code).await.text().contains(message), "{code}");
    }
    let (mut other, report) = restored(shelf.keep(&swept)).await;
    assert_eq!(report.renamed, [("context".into(), "context_saved".into())]);
    assert_eq!(
        other.print("print(context, context_saved, x, _hidden)").await,
        "None the question 1 2\n"
    );
    let again = sweep(&mut other).await;
    assert_eq!(names(&again), ["context_saved", "x", "_hidden"]);
    assert_eq!(again.variables[0].note.as_deref(), Some("kept on purpose"));
}

#[tokio::test]
async fn engine_names_are_never_overwritten_by_a_restore() {
    let restore = RestoreSet {
        variables: vec![
            saved("FINAL", b"K\x01."),
            saved("llm_query", b"K\x02."),
            saved("llm_query_saved", b"K\x03."),
        ],
        functions: vec![("commit".into(), "def commit(x):\n    return 'old'".into())],
        ..RestoreSet::default()
    };
    let (mut desk, report) = restored(restore).await;
    assert_eq!(report.failed, []);
    assert_eq!(
        desk.print("print(FINAL_saved, llm_query_saved, commit_saved(1))").await,
        "1 3 old\n"
    );
    assert!(!desk.run("x = 1\ncommit('x')").await.failed());
}

#[tokio::test]
async fn a_failed_item_does_not_take_the_others_with_it() {
    let good = b"\x80\x04K\x2a.";
    let saved = |name: &str, pickle: Pickle| SavedVariable {
        name: name.into(),
        pickle,
        comment: Some("kept".into()),
        note: None,
        committed: false,
    };
    let restore = RestoreSet {
        imports: vec![
            "import no_such_module".into(),
            "import re".into(),
            "print('not an import')".into(),
        ],
        import_sources: vec![
            "from json import dumps, loads\nx = 1\nraise SystemExit".into(),
            "not python (".into(),
        ],
        functions: vec![
            ("Child".into(), "class Child(Parent):\n    pass".into()),
            ("Parent".into(), "class Parent:\n    pass".into()),
            ("late".into(), "def late(n=answer):\n    return n".into()),
            ("broken".into(), "def broken(:".into()),
            ("needs".into(), "@no_such_decorator\ndef needs(): pass".into()),
        ],
        variables: vec![
            saved("bad64", Pickle::Base64("***".into())),
            saved("truncated", Pickle::Bytes(b"\x80\x04\x95"[..].into())),
            saved("unknown", Pickle::Bytes(b"cno_such\nThing\n."[..].into())),
            saved("answer", Pickle::Bytes(good[..].into())),
        ],
    };
    let (mut desk, report) = restored(restore).await;
    let failed: Vec<_> = report.failed.iter().map(|f| (f.kind, f.name.as_str())).collect();
    assert_eq!(
        failed,
        [
            (RestoreKind::Import, "import no_such_module"),
            (RestoreKind::Import, "print('not an import')"),
            (RestoreKind::Function, "broken"),
            (RestoreKind::Function, "needs"),
            (RestoreKind::Variable, "bad64"),
            (RestoreKind::Variable, "truncated"),
            (RestoreKind::Variable, "unknown"),
        ]
    );
    assert!(
        report.failed[0].reason.contains("No module named"),
        "{:?}",
        report.failed[0]
    );
    assert_eq!(
        desk.print("print(answer, late(), Child().__class__.__mro__[1] is Parent, re.sub('a', 'b', 'a'), dumps([1]))")
            .await,
        "42 42 True b [1]\n"
    );
    assert!(
        desk.run("x").await.failed(),
        "saved step code is not run, but for its imports"
    );
    assert_eq!(sweep(&mut desk).await.variables[0].comment.as_deref(), Some("kept"));
}

#[tokio::test]
async fn a_repl_that_was_lost_comes_back_with_its_last_sweep() {
    let mut desk = Desk::open().await;
    desk.print("import re\nkept = [1, 2]  # two numbers\ndef f(): return re.sub('a', 'b', 'a')")
        .await;
    let saved = Shelf::default().keep(&sweep(&mut desk).await);
    let lost = desk.run("kept.append(3)\nimport os\nos._exit(7)").await;
    assert!(
        !desk.repl.is_alive() && lost.text().contains("os._exit"),
        "{}",
        lost.text()
    );
    assert!(
        desk.run("print(1)").await.text().contains("restart"),
        "nothing runs without an instance"
    );
    let report = desk.repl.restart(saved).await.unwrap();
    assert_eq!(
        (report.variables, report.functions),
        (vec!["kept".into()], vec!["f".to_owned()])
    );
    assert_eq!(desk.print("print(tuple(kept), f())").await, "(1, 2) b\n");
    assert_eq!(
        sweep(&mut desk).await.variables[0].comment.as_deref(),
        Some("two numbers")
    );
}

/// Values whose own code runs when somebody looks, and keys that are no names.
#[tokio::test]
async fn a_name_that_cannot_be_looked_at_costs_itself_alone() {
    let hostile = [
        "class D:\n    @property\n    def __class__(self): raise RuntimeError('unbound')\nd = D()",
        "globals()[5] = 7",
        "class S(str):\n    def __eq__(self, other): raise RuntimeError('no')\n    __hash__ = str.__hash__\n\
         globals()[S('other')] = 1",
        "class M(type):\n    def __getattribute__(cls, name): raise RuntimeError('no')\nclass C(metaclass=M): pass\nc = C",
    ];
    for code in hostile {
        let mut desk = Desk::open().await;
        let outcome = desk.run(&format!("paid = 'answer'\n{code}\nlater = 1")).await;
        assert!(outcome.error.is_none(), "{code}: {:?}", outcome.error);
        let swept = sweep(&mut desk).await;
        let kept = names(&swept);
        assert!(kept.contains(&"paid") && kept.contains(&"later"), "{code}: {swept:?}");
        desk.print("print(paid, later)").await;
    }
}
