//! What one backend saves the other restores: the same pickles, both ways.

use crate::desk::{Desk, factory, saved};
use crate::poison::{long_words_cost_no_other_name, only_poisons_failed, poisoned_start};
use crate::worker;
use fast_rlm::repl::{Pickle, ReplFactory, RestoreSet, SavedVariable, StartOptions, Sweep, SweptPickle};

const STATE: &str = r#"
import datetime, decimal, collections, re
from dataclasses import dataclass
# what was found
found = {"é": [1, 2.5, None, True], ("t",): {1, 2}, "b": b"\x00\xff"}
when = datetime.datetime(2024, 5, 6, tzinfo=datetime.timezone.utc)
price = decimal.Decimal("1.20")
counts = collections.Counter("abca")
large = 2 ** 200
@dataclass
class Item:
    name: str
    def loud(self): return self.name.upper()
items = [Item("a"), Item("b")]
def words(text): return re.findall(r"\w+", text)
commit("found", note="the findings")
"#;

const CHECK: &str = r#"
print(found == {"é": [1, 2.5, None, True], ("t",): {1, 2}, "b": b"\x00\xff"}, when.isoformat(), price, counts["a"],
      large == 2 ** 200, [item.loud() for item in items], words("one two"))
"#;

fn restored_from(sweep: Sweep) -> RestoreSet {
    let variables = sweep.variables.into_iter().map(|variable| SavedVariable {
        name: variable.name,
        pickle: match variable.pickle {
            SweptPickle::Changed(bytes) => Pickle::Bytes(bytes),
            SweptPickle::Unchanged => panic!("a first sweep"),
        },
        comment: variable.comment,
        note: variable.note,
        committed: variable.committed,
    });
    RestoreSet {
        imports: sweep.imports,
        functions: sweep.functions.into_iter().map(|f| (f.name, f.source)).collect(),
        variables: variables.collect(),
        ..RestoreSet::default()
    }
}

async fn carried(from: &dyn ReplFactory, to: &dyn ReplFactory) {
    let (mut desk, _) = Desk::start_on(from, StartOptions::default()).await;
    desk.print(STATE).await;
    let sweep = desk.repl.sweep().await.unwrap();
    assert_eq!(sweep.dropped, []);
    let options = StartOptions {
        restore: restored_from(sweep.clone()),
        ..StartOptions::default()
    };
    let (mut other, report) = Desk::start_on(to, options).await;
    assert_eq!(report.restored.failed, []);
    let printed = other.print(CHECK).await;
    assert!(
        printed.starts_with("True 2024-05-06T00:00:00+00:00 1.20 2 True [\n  \"A\",\n  \"B\"\n] [\n  \"one\""),
        "{printed}"
    );
    let again = other.repl.sweep().await.unwrap();
    assert!(
        again
            .variables
            .iter()
            .any(|variable| variable.note.as_deref() == Some("the findings"))
    );
    let digest = |sweep: &Sweep, name: &str| sweep.variables.iter().find(|v| v.name == name).unwrap().digest;
    for name in ["when", "price", "large", "items"] {
        assert_eq!(digest(&sweep, name), digest(&again, name), "{name} is the same pickle");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_the_sandbox_to_python3_and_back() {
    carried(&factory(), &worker()).await;
    carried(&worker(), &factory()).await;
    carried(&worker(), &worker()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_pickle_is_left_out_and_named() {
    let restore = RestoreSet {
        functions: vec![("bomb".into(), "import os\nos._exit(3)".into())],
        variables: vec![
            saved("first", b"K\x01."),
            saved("exits", b"cos\n_exit\n(K\x07tR."),
            saved("raises", b"csys\nexit\n(tR."),
            saved("last", b"K\x02."),
        ],
        ..RestoreSet::default()
    };
    let options = StartOptions {
        restore,
        ..StartOptions::default()
    };
    let (mut desk, report) = crate::start(options).await;
    let mut failed: Vec<_> = report.restored.failed.iter().map(|f| f.name.as_str()).collect();
    failed.sort_unstable();
    assert_eq!(failed, ["bomb", "exits", "raises"]);
    assert_eq!(desk.print("print(first, last)").await, "1 2\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poisoned_value_costs_itself_alone() {
    let (desk, report) = crate::start(poisoned_start()).await;
    only_poisons_failed(desk, &report.restored).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_nobody_could_read_costs_itself_alone() {
    long_words_cost_no_other_name(crate::start(StartOptions::default()).await.0).await;
}
