//! FINAL takes any value: each becomes the JSON that docs/formats-final.md says.

use crate::desk::Desk;
use serde_json::{Value, json};

async fn encoded(desk: &mut Desk, code: &str) -> (Value, bool) {
    let outcome = desk.run(code).await;
    assert_eq!(outcome.error, None, "of {code}");
    let value = outcome
        .final_value
        .unwrap_or_else(|| panic!("no final value of {code}"));
    (value.value, value.converted)
}

#[tokio::test]
async fn what_is_json_by_nature_stays_as_it_is() {
    let mut desk = Desk::open().await;
    for (code, value) in [
        ("None", Value::Null),
        ("True", json!(true)),
        ("0", json!(0)),
        ("''", json!("")),
        ("[]", json!([])),
        ("2.75", json!(2.75)),
        ("2**53 + 1", json!(9_007_199_254_740_993_i64)),
        ("-2**63", json!(i64::MIN)),
        ("2**64 - 1", json!(u64::MAX)),
        (
            "{'a': {'b': [1, {'c': None, 'd': 1.0}]}}",
            json!({ "a": { "b": [1, { "c": null, "d": 1.0 }] } }),
        ),
        ("'日本語 👩‍👩‍👧 \\x1b[31m'", json!("日本語 👩‍👩‍👧 \u{1b}[31m")),
    ] {
        assert_eq!(
            encoded(&mut desk, &format!("FINAL({code})")).await,
            (value, false),
            "{code}"
        );
    }
}

#[tokio::test]
async fn everything_else_is_converted_and_flagged() {
    let mut desk = Desk::open().await;
    desk.print(
        "import collections, dataclasses, datetime, decimal, enum, fractions, pathlib, uuid\n\
         class Point:\n    def __init__(self, x, y):\n        self.x, self.y, self._secret = x, y, 1\n\
         class Slotted:\n    __slots__ = ('a', 'b')\n    def __init__(self):\n        self.a = 1\n\
         class Bare:\n    def __repr__(self): return 'a bare one'\n\
         @dataclasses.dataclass\nclass Data:\n    n: int\n    tags: list\n\
         NT = collections.namedtuple('NT', 'a b')\n\
         class Color(enum.Enum):\n    RED = 1\n    BLUE = 'blue'\n\
         class Broken:\n    @property\n    def __dict__(self): raise ValueError\n    def __repr__(self): raise ValueError",
    )
    .await;
    for (code, value) in [
        ("float('nan')", json!("NaN")),
        ("[float('inf'), -float('inf')]", json!(["Infinity", "-Infinity"])),
        ("2 ** 70", json!("1180591620717411303424")),
        ("{'n': -2 ** 70}", json!({ "n": "-1180591620717411303424" })),
        ("(1, 'two', None)", json!([1, "two", null])),
        ("{3, 1, 2}", json!([1, 2, 3])),
        ("frozenset({'b', 'a'})", json!(["a", "b"])),
        ("{1, 'a'}", json!([1, "a"])),
        ("b'abc'", json!({ "base64": "YWJj" })),
        ("bytearray(b'abc')", json!({ "base64": "YWJj" })),
        ("{1: 'one', 2: {'x': None}}", json!({ "1": "one", "2": { "x": null } })),
        (
            "{None: 1, True: 2, (1, 2): 3}",
            json!({ "null": 1, "true": 2, "[1,2]": 3 }),
        ),
        ("{1: 'a', '1': 'b'}", json!({ "1": "a", "1 (2)": "b" })),
        ("datetime.date(2024, 5, 6)", json!("2024-05-06")),
        ("datetime.datetime(2024, 5, 6, 7, 8, 9)", json!("2024-05-06T07:08:09")),
        ("datetime.time(7, 8)", json!("07:08:00")),
        ("datetime.timedelta(days=1)", json!("1 day, 0:00:00")),
        ("decimal.Decimal('1.10')", json!("1.10")),
        ("fractions.Fraction(1, 3)", json!("1/3")),
        ("uuid.UUID(int=5)", json!("00000000-0000-0000-0000-000000000005")),
        ("pathlib.PurePosixPath('/a/b')", json!("/a/b")),
        ("[Color.RED, Color.BLUE]", json!(["RED", "blue"])),
        ("1 + 2j", json!("(1+2j)")),
        ("range(3)", json!([0, 1, 2])),
        ("collections.deque([1])", json!([1])),
        ("collections.Counter('aab')", json!({ "a": 2, "b": 1 })),
        ("Point(1, 2)", json!({ "x": 1, "y": 2 })),
        ("Slotted()", json!({ "a": 1 })),
        ("Bare()", json!("a bare one")),
        ("Data(1, ['t'])", json!({ "n": 1, "tags": ["t"] })),
        ("NT(1, {2})", json!({ "a": 1, "b": [2] })),
        ("'a\\ud800b'", json!("a\u{fffd}b")),
        ("ValueError('bad')", json!("ValueError: bad")),
        ("int", json!("<class 'int'>")),
    ] {
        assert_eq!(
            encoded(&mut desk, &format!("FINAL({code})")).await,
            (value, true),
            "{code}"
        );
    }
    let (broken, _) = encoded(&mut desk, "FINAL([Broken()])").await;
    assert!(broken[0].as_str().unwrap().contains("Broken"), "{broken}");
}

#[tokio::test]
async fn cycles_depth_and_size_have_bounds() {
    let mut desk = Desk::open().await;
    assert_eq!(
        encoded(&mut desk, "a = [1]; a.append(a); FINAL(a)").await.0,
        json!([1, "<cycle: list>"])
    );
    assert_eq!(
        encoded(&mut desk, "s = [1]; FINAL([s, s])").await,
        (json!([[1], [1]]), false),
        "shared is no cycle"
    );
    let (deep, converted) = encoded(&mut desk, "d = 0\nfor _ in range(100_000): d = [d]\nFINAL(d)").await;
    assert!(converted && deep.to_string().starts_with("[[[["));
    let (huge, _) = encoded(&mut desk, "FINAL(10 ** 100_000)").await;
    assert!(
        huge.as_str().unwrap().starts_with("0x"),
        "more digits than Python writes in decimal"
    );
    let (long, _) = encoded(&mut desk, "FINAL('x' * 20_000_000)").await;
    assert_eq!(long.as_str().unwrap().len(), 20_000_000);
}

#[tokio::test]
async fn the_last_final_of_a_step_counts_and_the_step_goes_on() {
    let mut desk = Desk::open().await;
    let outcome = desk.run("FINAL(1)\nFINAL(2)\nprint('after')").await;
    assert_eq!(outcome.final_value.unwrap().value, json!(2));
    assert_eq!(outcome.output.text, "after\n");
    let failing = desk.run("FINAL('kept')\n1/0").await;
    assert!(failing.failed());
    assert_eq!(failing.final_value.unwrap().value, json!("kept"));
    assert_eq!(desk.run("x = 1").await.final_value, None);
}

#[tokio::test]
async fn a_call_that_was_not_awaited_is_no_answer() {
    let mut desk = Desk::open().await;
    for (code, told) in [
        ("FINAL({'answer': llm_query('what?')})", "write `await llm_query(...)`"),
        ("FINAL(batch_llm_query('a', 'b'))", "await it first"),
        ("async def f(): return 1\nFINAL([f()])", "await it first"),
    ] {
        let outcome = desk.run(code).await;
        let error = outcome.error.map(|error| error.text).unwrap_or_default();
        assert!(error.contains("Unawaited") && error.contains(told), "{code}: {error}");
        assert!(outcome.final_value.is_none(), "{code}");
    }
    assert_eq!(encoded(&mut desk, "FINAL(7)").await.0, json!(7));
}
