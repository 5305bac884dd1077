//! Which names are memory, and which comment belongs to which.

use crate::desk::Desk;
use crate::poison::long_words_cost_no_other_name;
use crate::state::{names, sweep};

#[tokio::test]
async fn loop_variables_and_imported_names_are_not_memory() {
    let mut desk = Desk::open().await;
    desk.print(
        "from collections import Counter\nfrom math import *\nimport numpy_like as np\n"
            .replace("import numpy_like as np\n", "import json as js\n")
            .as_str(),
    )
    .await;
    desk.print("rows = []\nfor i, (a, *b) in enumerate([(1, 2, 3)]):\n    rows.append(i)\n    inner = a\nimport io\nwith io.StringIO() as f:\n    pass\nsquares = [q * q for q in rows]\ntry:\n    1/0\nexcept ZeroDivisionError as e:\n    pass\nif (n := 5) > 3: pass").await;
    assert_eq!(names(&sweep(&mut desk).await), ["rows", "inner", "squares", "n"]);
    desk.print("i = 'assigned'\npi = 3").await;
    assert!(names(&sweep(&mut desk).await).contains(&"i"), "also assigned otherwise");
    desk.print("for rows in [1, 2]: pass").await;
    assert!(
        names(&sweep(&mut desk).await).contains(&"rows"),
        "once memory, always memory"
    );
    desk.print("del i\nfor i in range(2): pass").await;
    assert!(
        !names(&sweep(&mut desk).await).contains(&"i"),
        "only a loop variable now"
    );
    desk.print("for k, v in {'a': 1}.items(): globals()['via_' + k] = v\ndef g():\n    global via_global\n    via_global = 1\ng()").await;
    let swept = sweep(&mut desk).await;
    assert!(names(&swept).contains(&"via_a") && names(&swept).contains(&"via_global"));
    assert!(!names(&swept).contains(&"k"));
}

#[tokio::test]
async fn a_comment_belongs_to_the_assignment_it_stands_at() {
    let mut desk = Desk::open().await;
    desk.print(
        r##"# a banner of the step

# unique guest names,
# sorted
guests = []
agi_ids = []  # episodes that mention AGI
plain = 1
first, second = 1, 2  # a pair
# above and beside
beside = 3  # wins
table = {  # name -> size
    "a": 1,
}
for x in range(2):
    # set in a loop
    looped = x
text = "# not a comment"
p = 1; q = 2  # the last on its line
"##,
    )
    .await;
    let swept = sweep(&mut desk).await;
    let comment = |name: &str| {
        swept
            .variables
            .iter()
            .find(|v| v.name == name)
            .unwrap_or_else(|| panic!("{name}"))
            .comment
            .as_deref()
    };
    assert_eq!(comment("guests"), Some("unique guest names, sorted"));
    assert_eq!(comment("agi_ids"), Some("episodes that mention AGI"));
    assert_eq!(comment("plain"), None, "not its neighbour's");
    assert_eq!((comment("first"), comment("second")), (Some("a pair"), Some("a pair")));
    assert_eq!(comment("beside"), Some("wins"));
    assert_eq!(comment("table"), Some("name -> size"));
    assert_eq!(comment("looped"), Some("set in a loop"));
    assert_eq!(comment("text"), None);
    assert_eq!((comment("p"), comment("q")), (None, Some("the last on its line")));
    desk.print("agi_ids += [1]\nguests = ['a']\nplain = 2  # now with one")
        .await;
    let later = sweep(&mut desk).await;
    let comment = |name: &str| {
        later
            .variables
            .iter()
            .find(|v| v.name == name)
            .and_then(|v| v.comment.as_deref())
    };
    assert_eq!(
        comment("agi_ids"),
        Some("episodes that mention AGI"),
        "grown, not replaced"
    );
    assert_eq!(comment("guests"), None, "a new value without a comment");
    assert_eq!(comment("plain"), Some("now with one"));
}

#[tokio::test]
async fn definitions_are_saved_as_they_were_written() {
    let mut desk = Desk::open().await;
    desk.print("import functools\nif True:\n    @functools.lru_cache(maxsize=None)\n    def cached(n):\n        '''Doc.'''\n        return n  # same\nasync def fetch(x):\n    return await llm_query(x)").await;
    desk.print("def gone(): pass\ndef changed(): return 1").await;
    desk.print("del gone\nchanged = 5").await;
    let failed = desk.run("def reached(): pass\n1/0\ndef never(): pass").await;
    assert!(failed.failed());
    let swept = sweep(&mut desk).await;
    let sources: Vec<_> = swept
        .functions
        .iter()
        .map(|f| (f.name.as_str(), f.source.as_str()))
        .collect();
    assert_eq!(
        sources,
        [
            (
                "cached",
                "@functools.lru_cache(maxsize=None)\ndef cached(n):\n    '''Doc.'''\n    return n  # same"
            ),
            ("fetch", "async def fetch(x):\n    return await llm_query(x)"),
            ("reached", "def reached(): pass"),
        ]
    );
    assert_eq!(names(&swept), ["changed"]);
}

#[tokio::test]
async fn previews_are_short_however_large_or_broken_the_value() {
    let mut desk = Desk::open().await;
    desk.print(
        "import collections\nbig = {i: 'v' * 10 for i in range(200_000)}\nsmall = {'a': [1, (2,), {3}, frozenset(), None, b'x', 'it\\'s']}\n\
         class Bad:\n    def __repr__(self): raise RuntimeError('no')\n    def __reduce__(self): return (int, ())\nbad = [Bad()]\n\
         class Long:\n    def __repr__(self): return 'x' * 10_000\nlong = Long()\nme = []\nme.append(me)\nnumber = 10 ** 50_000\n\
         mixed = (collections.Counter('aab'), collections.deque([1], maxlen=2), collections.defaultdict(list, a=[1]), collections.OrderedDict(a=1))",
    )
    .await;
    let swept = sweep(&mut desk).await;
    let preview = |name: &str| {
        swept
            .variables
            .iter()
            .find(|v| v.name == name)
            .unwrap()
            .preview
            .as_str()
    };
    assert_eq!(
        preview("small"),
        "{'a': [1, (2,), {3}, frozenset(), None, b'x', \"it's\"]}"
    );
    assert_eq!(preview("big").chars().count(), 2_000);
    assert!(preview("big").starts_with("{0: 'vvvvvvvvvv', 1: "));
    assert_eq!(preview("bad"), "[<Bad object whose repr failed: RuntimeError>]");
    assert_eq!(preview("long").len(), 2_000);
    assert_eq!(preview("me"), "[...]");
    assert!(preview("number").starts_with("<int of"));
    assert_eq!(
        preview("mixed"),
        "(Counter({'a': 2, 'b': 1}), deque([1], maxlen=2), defaultdict(<class 'list'>, {'a': [1]}), OrderedDict({'a': 1}))"
    );
}

#[tokio::test]
async fn a_name_of_the_engine_is_put_back_and_the_users_value_kept_aside() {
    let mut desk = Desk::open().await;
    desk.print("FINAL = 'my answer'\ndel commit\nprint = None").await;
    let next = desk.run("FINAL(FINAL_saved)\nx = 1\ncommit('x')").await;
    assert_eq!(next.error, None);
    assert!(next.output.text.contains("`FINAL`"), "it is said: {}", next.output.text);
    assert_eq!(next.final_value.unwrap().value, "my answer");
    assert!(
        desk.run("print('shadowed by the user, as in any Python')")
            .await
            .failed()
    );
    desk.print("del print\nprint('back')").await;
}

#[tokio::test]
async fn a_name_that_nobody_could_read_costs_itself_alone() {
    long_words_cost_no_other_name(Desk::open().await).await;
}
