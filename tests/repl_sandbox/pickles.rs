//! Pickles of other CPython versions: a session moves between them.

use crate::desk::Desk;
use crate::state::{names, restored, sweep};
use fast_rlm::repl::{Pickle, RestoreSet, SavedVariable, StartOptions};
use rstest::rstest;
use std::io::Write;

const CLASSES: &str = "import dataclasses, collections, enum
@dataclasses.dataclass
class Item:
    name: str
    tags: list = dataclasses.field(default_factory=list)
class Plain:
    def __init__(self, v): self.v = v
class Color(enum.Enum):
    RED = 1
class Flag(enum.Flag):
    A = 1
    B = 2
NT = collections.namedtuple('NT', 'a b')
";

/// A dict with a value of each kind, written by the version with `pickle.dumps(values, 4)`.
const PYTHON_3_11: &str = "gASVXQQAAAAAAAB9lCiMBm5lc3RlZJR9lIwBYZRdlChLAUdABAAAAAAAAE6ISwFLAoaUfZSMAWuUQwF4lHNlc4wEd2hlbpSMCGRhdGV0aW1llI\
     wIZGF0ZXRpbWWUk5RDCgfoBQYHCAkAAAqUaAqMCHRpbWV6b25llJOUaAqMCXRpbWVkZWx0YZSTlEsASwBLAIeUUpSFlFKUhpRSlIwEZGF0ZZRo\
     CowEZGF0ZZSTlEMEB+gBAZSFlFKUjARzcGFulGgRSwFLAEsAh5RSlIwBc5SPlChLAZCMAWOUjAtjb2xsZWN0aW9uc5SMB0NvdW50ZXKUk5R9lC\
     iMAWGUSwKMAWKUSwF1hZRSlIwCZGSUaCSMC2RlZmF1bHRkaWN0lJOUjAhidWlsdGluc5SMBGxpc3SUk5SFlFKUaANdlEsBYXOMAm9klGgkjAtP\
     cmRlcmVkRGljdJSTlClSlGgDSwFzjAJkcZRoJIwFZGVxdWWUk5QpSwWGlFKUKEsBSwJljANkZWOUjAdkZWNpbWFslIwHRGVjaW1hbJSTlIwEMS\
     4yNZSFlFKUjAJmcpSMCWZyYWN0aW9uc5SMCEZyYWN0aW9ulJOUSwFLA4aUUpSMBGl0ZW2UjAhfX21haW5fX5SMBEl0ZW2Uk5QpgZR9lCiMBG5h\
     bWWUjAFulIwEdGFnc5RdlIwBdJRhdWKMBXBsYWlulGhMjAVQbGFpbpSTlCmBlH2UjAF2lEsFc2KMBWNvbG9ylGhMjAVDb2xvcpSTlEsBhZRSlI\
     wEZmxhZ5RoTIwERmxhZ5STlEsDhZRSlIwCbnSUaEyMAk5UlJOUSwFLAoaUgZSMA2JpZ5SKFQAAAAAAAGS1/TQFxNKHZpL5FTtsRIwBdZSMBHV1\
     aWSUjARVVUlElJOUKYGUfZSMA2ludJRLBXNijARwYXRolIwHcGF0aGxpYpSMDVB1cmVQb3NpeFBhdGiUk5SMAS+UaAOMAWKUh5RSlIwDcGF0lI\
     wCcmWUjAhfY29tcGlsZZSTlIwCYSuUSyCGlFKUjARwYXJ0lIwJZnVuY3Rvb2xzlIwHcGFydGlhbJSTlGgvjANpbnSUk5SFlFKUKGiHKX2UjARi\
     YXNllEsCc050lGKMAmlwlIwJaXBhZGRyZXNzlIwLSVB2NEFkZHJlc3OUk5RKAQAACoWUUpSMA2FycpSMBWFycmF5lIwUX2FycmF5X3JlY29uc3\
     RydWN0b3KUk5QojAVhcnJheZSMBWFycmF5lJOUjAFplEsIQwgBAAAAAgAAAJR0lFKUjANybmeUaC+MBXJhbmdllJOUSwBLA0sBh5RSlIwEY3Bs\
     eJRoL4wHY29tcGxleJSTlEc/8AAAAAAAAEdAAAAAAAAAAIaUUpSMA2VycpRoL4wKVmFsdWVFcnJvcpSTlIwBeJSFlFKUjAJiYZRoL4wJYnl0ZW\
     FycmF5lJOUQwFxlIWUUpSMA2dldJSMCG9wZXJhdG9ylIwKaXRlbWdldHRlcpSTlEsBhZRSlHUu";
const PYTHON_3_12: &str = "gASVdQQAAAAAAAB9lCiMBm5lc3RlZJR9lIwBYZRdlChLAUdABAAAAAAAAE6ISwFLAoaUfZSMAWuUQwF4lHNlc4wEd2hlbpSMCGRhdGV0aW1llI\
     wIZGF0ZXRpbWWUk5RDCgfoBQYHCAkAAAqUaAqMCHRpbWV6b25llJOUaAqMCXRpbWVkZWx0YZSTlEsASwBLAIeUUpSFlFKUhpRSlIwEZGF0ZZRo\
     CowEZGF0ZZSTlEMEB+gBAZSFlFKUjARzcGFulGgRSwFLAEsAh5RSlIwBc5SPlChLAZCMAWOUjAtjb2xsZWN0aW9uc5SMB0NvdW50ZXKUk5R9lC\
     iMAWGUSwKMAWKUSwF1hZRSlIwCZGSUjAtjb2xsZWN0aW9uc5SMC2RlZmF1bHRkaWN0lJOUjAhidWlsdGluc5SMBGxpc3SUk5SFlFKUaANdlEsB\
     YXOMAm9klGgkjAtPcmRlcmVkRGljdJSTlClSlGgDSwFzjAJkcZSMC2NvbGxlY3Rpb25zlIwFZGVxdWWUk5QpSwWGlFKUKEsBSwJljANkZWOUjA\
     dkZWNpbWFslIwHRGVjaW1hbJSTlIwEMS4yNZSFlFKUjAJmcpSMCWZyYWN0aW9uc5SMCEZyYWN0aW9ulJOUSwFLA4aUUpSMBGl0ZW2UjAhfX21h\
     aW5fX5SMBEl0ZW2Uk5QpgZR9lCiMBG5hbWWUjAFulIwEdGFnc5RdlIwBdJRhdWKMBXBsYWlulGhOjAVQbGFpbpSTlCmBlH2UjAF2lEsFc2KMBW\
     NvbG9ylGhOjAVDb2xvcpSTlEsBhZRSlIwEZmxhZ5RoTowERmxhZ5STlEsDhZRSlIwCbnSUaE6MAk5UlJOUSwFLAoaUgZSMA2JpZ5SKFQAAAAAA\
     AGS1/TQFxNKHZpL5FTtsRIwBdZSMBHV1aWSUjARVVUlElJOUKYGUfZSMA2ludJRLBXNijARwYXRolIwHcGF0aGxpYpSMDVB1cmVQb3NpeFBhdG\
     iUk5SMAS+UaAOMAWKUh5RSlIwDcGF0lIwCcmWUjAhfY29tcGlsZZSTlIwCYSuUSyCGlFKUjARwYXJ0lIwJZnVuY3Rvb2xzlIwHcGFydGlhbJST\
     lGgwjANpbnSUk5SFlFKUKGiJKX2UjARiYXNllEsCc050lGKMAmlwlIwJaXBhZGRyZXNzlIwLSVB2NEFkZHJlc3OUk5RKAQAACoWUUpSMA2Fycp\
     SMBWFycmF5lIwUX2FycmF5X3JlY29uc3RydWN0b3KUk5QojAVhcnJheZSMBWFycmF5lJOUjAFplEsIQwgBAAAAAgAAAJR0lFKUjANybmeUaDCM\
     BXJhbmdllJOUSwBLA0sBh5RSlIwEY3BseJRoMIwHY29tcGxleJSTlEc/8AAAAAAAAEdAAAAAAAAAAIaUUpSMA2VycpRoMIwKVmFsdWVFcnJvcp\
     STlIwBeJSFlFKUjAJiYZRoMIwJYnl0ZWFycmF5lJOUQwFxlIWUUpSMA2dldJSMCG9wZXJhdG9ylIwKaXRlbWdldHRlcpSTlEsBhZRSlHUu";
const PYTHON_3_13: &str = "gASVdwQAAAAAAAB9lCiMBm5lc3RlZJR9lIwBYZRdlChLAUdABAAAAAAAAE6ISwFLAoaUfZSMAWuUQwF4lHNlc4wEd2hlbpSMCGRhdGV0aW1llI\
     wIZGF0ZXRpbWWUk5RDCgfoBQYHCAkAAAqUaAqMCHRpbWV6b25llJOUaAqMCXRpbWVkZWx0YZSTlEsASwBLAIeUUpSFlFKUhpRSlIwEZGF0ZZRo\
     CowEZGF0ZZSTlEMEB+gBAZSFlFKUjARzcGFulGgRSwFLAEsAh5RSlIwBc5SPlChLAZCMAWOUjAtjb2xsZWN0aW9uc5SMB0NvdW50ZXKUk5R9lC\
     hoA0sCjAFilEsBdYWUUpSMAmRklIwLY29sbGVjdGlvbnOUjAtkZWZhdWx0ZGljdJSTlIwIYnVpbHRpbnOUjARsaXN0lJOUhZRSlGgDXZRLAWFz\
     jAJvZJRoJIwLT3JkZXJlZERpY3SUk5QpUpRoA0sBc4wCZHGUjAtjb2xsZWN0aW9uc5SMBWRlcXVllJOUKUsFhpRSlChLAUsCZYwDZGVjlIwHZG\
     VjaW1hbJSMB0RlY2ltYWyUk5SMBDEuMjWUhZRSlIwCZnKUjAlmcmFjdGlvbnOUjAhGcmFjdGlvbpSTlEsBSwOGlFKUjARpdGVtlIwIX19tYWlu\
     X1+UjARJdGVtlJOUKYGUfZQojARuYW1llIwBbpSMBHRhZ3OUXZSMAXSUYXVijAVwbGFpbpRoTYwFUGxhaW6Uk5QpgZR9lIwBdpRLBXNijAVjb2\
     xvcpRoTYwFQ29sb3KUk5RLAYWUUpSMBGZsYWeUaE2MBEZsYWeUk5RLA4WUUpSMAm50lGhNjAJOVJSTlEsBSwKGlIGUjANiaWeUihUAAAAAAABk\
     tf00BcTSh2aS+RU7bESMAXWUjAR1dWlklIwEVVVJRJSTlCmBlH2UjANpbnSUSwVzYowEcGF0aJSMDnBhdGhsaWIuX2xvY2FslIwNUHVyZVBvc2\
     l4UGF0aJSTlIwEL2EvYpSFlFKUjANwYXSUjAJyZZSMCF9jb21waWxllJOUjAJhK5RLIIaUUpSMBHBhcnSUjAlmdW5jdG9vbHOUjAdwYXJ0aWFs\
     lJOUaC+MA2ludJSTlIWUUpQoaIcpfZSMBGJhc2WUSwJzTnSUYowCaXCUjAlpcGFkZHJlc3OUjAtJUHY0QWRkcmVzc5STlEoBAAAKhZRSlIwDYX\
     JylIwFYXJyYXmUjBRfYXJyYXlfcmVjb25zdHJ1Y3RvcpSTlCiMBWFycmF5lIwFYXJyYXmUk5SMAWmUSwhDCAEAAAACAAAAlHSUUpSMA3JuZ5Ro\
     L4wFcmFuZ2WUk5RLAEsDSwGHlFKUjARjcGx4lGgvjAdjb21wbGV4lJOURz/wAAAAAAAAR0AAAAAAAAAAhpRSlIwDZXJylGgvjApWYWx1ZUVycm\
     9ylJOUjAF4lIWUUpSMAmJhlGgvjAlieXRlYXJyYXmUk5RDAXGUhZRSlIwDZ2V0lIwIb3BlcmF0b3KUjAppdGVtZ2V0dGVylJOUSwGFlFKUdS4=";

#[rstest]
#[case::of_3_11(PYTHON_3_11)]
#[case::of_3_12(PYTHON_3_12)]
#[case::of_3_13(PYTHON_3_13)]
#[tokio::test]
async fn pickles_of_older_versions_are_read(#[case] pickle: &str) {
    let variable = SavedVariable {
        name: "values".into(),
        pickle: Pickle::Base64(pickle.into()),
        comment: None,
        note: None,
        committed: false,
    };
    // The classes come as functions do, and before the values.
    let functions = vec![("Item".to_owned(), CLASSES.to_owned())];
    let restore = RestoreSet {
        functions,
        variables: vec![variable],
        ..RestoreSet::default()
    };
    let (mut desk, report) = restored(restore).await;
    assert_eq!(report.failed, []);
    let check = "v = values
assert v['nested'] == {'a': [1, 2.5, None, True, (1, 2), {'k': b'x'}]}
assert v['when'].isoformat() == '2024-05-06T07:08:09.000010+00:00' and v['span'].days == 1 and v['date'].year == 2024
assert (v['s'], v['c']['a'], v['dd']['new'], v['od']['a'], v['dq'].maxlen) == ({1}, 2, [], 1, 5)
assert (str(v['dec']), str(v['fr']), v['item'], v['plain'].v) == ('1.25', '1/3', Item('n', ['t']), 5)
assert v['color'] is Color.RED and v['flag'] == Flag.A | Flag.B and v['nt'] == NT(1, 2) and v['big'] == 10**50
assert (v['u'].int, str(v['path']), v['pat'].pattern, v['part']('101'), str(v['ip'])) == (5, '/a/b', 'a+', 5, '10.0.0.1')
assert (list(v['arr']), v['rng'], v['cplx'], v['err'].args, v['ba'], v['get']('ab')) == ([1, 2], range(3), 1 + 2j, ('x',), b'q', 'b')
print(len(v))";
    assert_eq!(desk.print(check).await, "28\n");
}

#[tokio::test]
async fn ours_are_written_with_protocol_4() {
    let (mut desk, _) = Desk::start(StartOptions::default()).await;
    desk.print("x = {'a': 1}").await;
    let sweep = desk.repl.sweep().await.unwrap();
    let fast_rlm::repl::SweptPickle::Changed(bytes) = &sweep.variables[0].pickle else {
        panic!("new")
    };
    assert_eq!(bytes.get(..2), Some(&b"\x80\x04"[..]));
}

/// A session that the existing Python program wrote.
#[tokio::test]
async fn a_session_of_the_existing_program_is_restored() {
    let Some(directory) = std::env::var_os("FAST_RLM_COMPAT_DIR") else {
        // Past the test harness, so that it is seen.
        let _ = std::io::stderr().write_all(b"skipped: FAST_RLM_COMPAT_DIR is not set\n");
        return;
    };
    let text = std::fs::read_to_string(std::path::Path::new(&directory).join("podcasts/state.json")).unwrap();
    let state: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (mut desk, report) = restored(saved_state(&state)).await;
    assert_eq!(report.failed, []);
    assert_eq!((report.variables.len(), report.functions.len()), (36, 2));
    let line = "print(len(find_quotes(r'AGI')) > 0, first_ref, agi_pattern.pattern, len(episode_index))";
    assert_eq!(
        desk.print(line).await,
        "True EpisodeRef(ep01, Chen Petrov) \\bAGI\\b 40\n"
    );
    let swept = sweep(&mut desk).await;
    assert!(
        names(&swept).contains(&"agi_stance") && swept.dropped.is_empty(),
        "{:?}",
        swept.dropped
    );
}

fn saved_state(state: &serde_json::Value) -> RestoreSet {
    let string = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let entries = |key: &str| state[key].as_object().unwrap().iter();
    let variables = entries("variables").map(|(name, entry)| SavedVariable {
        name: name.clone(),
        pickle: Pickle::Base64(entry["pickle_b64"].as_str().unwrap().into()),
        comment: string(&entry["comment"]),
        note: string(&entry["note"]),
        committed: entry["committed"].as_bool().unwrap_or(false),
    });
    let steps = state["code_log"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["ok"] == true);
    RestoreSet {
        imports: Vec::new(),
        import_sources: steps.map(|step| step["code"].as_str().unwrap().to_owned()).collect(),
        functions: entries("functions")
            .map(|(name, source)| (name.clone(), string(source).unwrap()))
            .collect(),
        variables: variables.collect(),
    }
}

/// They travel together, as far as they fit: each is itself all the same, and in its place.
#[tokio::test]
async fn many_names_come_each_with_its_value_and_in_order() {
    let (mut desk, _) = Desk::start(StartOptions::default()).await;
    let code = "\
for i in range(3000): globals()[f'v{i}'] = str(i) * 50
wide = 'ü\\n' * 400_000
v1500 = [v1, 2.5, None]
class Own:
    def __init__(self): self.a = 1
own = Own()
empty = ''
v7 = 'last'";
    desk.print(code).await;
    let swept = sweep(&mut desk).await;
    let numbered: Vec<String> = (0..3000).map(|i| format!("v{i}")).collect();
    let (first, rest) = (&names(&swept)[..3000], &names(&swept)[3000..]);
    assert_eq!(
        (first, rest),
        (
            &*numbered.iter().map(String::as_str).collect::<Vec<_>>(),
            &["wide", "own", "empty"][..]
        )
    );
    let (mut again, report) = restored(crate::state::Shelf::default().keep(&swept)).await;
    assert_eq!(report.failed, []);
    let check = "\
assert all(globals()[f'v{i}'] == str(i) * 50 for i in range(3000) if i not in (7, 1500))
print(v7, v1500 == ['1' * 50, 2.5, None], wide == 'ü\\n' * 400_000, own.a, repr(empty))";
    assert_eq!(again.print(check).await, "last True True 1 ''\n");
    desk.print("v20 = 'other'").await;
    let later = sweep(&mut desk).await;
    let changed = later
        .variables
        .iter()
        .filter(|v| v.pickle != fast_rlm::repl::SweptPickle::Unchanged);
    assert_eq!(changed.map(|v| v.name.as_str()).collect::<Vec<_>>(), ["v20"]);
    assert_eq!(names(&later), names(&swept));
}
