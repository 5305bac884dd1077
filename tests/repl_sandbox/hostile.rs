//! User code that attacks the sandbox, the kernel or the host: the next step runs, and the program goes on.

use crate::desk::{Desk, saved};
use crate::poison::{only_poisons_failed, poisoned_start};
use crate::state::restored;
use fast_rlm::repl::{InstanceState, Limits, RestoreSet, StepErrorKind, StepOutcome, SweptPickle};
use std::time::Duration;

/// A REPL whose steps may take a second and 256 MB.
async fn small() -> Desk {
    Desk::with_limits(Limits {
        step_timeout: Duration::from_secs(1),
        memory_bytes: 256 << 20,
        flood_bytes: 8 << 20,
        ..Limits::default()
    })
    .await
}

/// Runs the code, replaces the instance where it is gone, and checks that the next step works.
async fn contained(desk: &mut Desk, code: &str) -> StepOutcome {
    let outcome = desk.run(code).await;
    if outcome.instance != InstanceState::Alive {
        desk.repl.restart(RestoreSet::default()).await.expect("a new instance");
    }
    // A kernel whose tasks were cancelled ends a moment after the step: one of the next notices, and is replaced.
    for _ in 0..3 {
        if desk.run("print(6 * 7)").await.instance == InstanceState::Lost {
            desk.repl.restart(RestoreSet::default()).await.expect("a new instance");
        }
    }
    let printed = desk.run("print(6 * 7)").await;
    assert_eq!(
        (printed.error, printed.output.text.as_str()),
        (None, "42\n"),
        "after {code}"
    );
    outcome
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_does_not_end_is_stopped() {
    let mut desk = small().await;
    for code in [
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
        "x = 10 ** 10 ** 8",
        "[0] * 3 in iter(int, 1)",
        "import asyncio\nwhile True:\n    try:\n        await asyncio.sleep(9)\n    except BaseException:\n        pass",
        "class A:\n    def __del__(self):\n        while True: pass\na = A()\ndel a",
    ] {
        let outcome = contained(&mut desk, code).await;
        let error = outcome.error.expect(code);
        assert_eq!(
            (error.kind, outcome.instance),
            (StepErrorKind::Timeout, InstanceState::Lost),
            "{code}: {}",
            error.text
        );
        assert!(error.text.contains("longer than 1 s"), "{}", error.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_waits_too_long_keeps_its_state() {
    let mut desk = small().await;
    for code in [
        "import time; time.sleep(60)",
        "import asyncio; await asyncio.sleep(60)",
        "await asyncio.Event().wait()",
    ] {
        let outcome = desk.run(&format!("kept = 'yes'\nimport asyncio\n{code}")).await;
        let error = outcome.error.expect(code);
        assert_eq!(
            (error.kind, outcome.instance),
            (StepErrorKind::Timeout, InstanceState::Alive),
            "{code}: {}",
            error.text
        );
        assert_eq!(desk.print("print(kept)\ndel kept").await, "yes\n", "{code}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_bombs_become_memory_errors() {
    let limits = Limits {
        memory_bytes: 256 << 20,
        ..Limits::default()
    };
    let mut desk = Desk::with_limits(limits).await;
    for code in [
        "b = bytearray(1 << 30)",
        "s = 'a'\nwhile True: s += s",
        "l = []\nwhile True: l.append('x' * 10_000_000 + str(len(l)))",
        "d = {}\ni = 0\nwhile True:\n    d[i] = [i] * 100; i += 1",
        "FINAL(['x' * 1_000_000] * 1_000)",
    ] {
        desk.repl.restart(RestoreSet::default()).await.expect("a new instance");
        let outcome = contained(&mut desk, code).await;
        let error = outcome.error.expect(code);
        assert_eq!(error.kind, StepErrorKind::Memory, "{code}: {}", error.text);
        assert!(error.text.contains("256 MB"), "{}", error.text);
    }
}

#[tokio::test]
async fn a_caught_memory_error_leaves_a_state_that_can_be_swept() {
    let mut desk = small().await;
    let outcome = desk
        .run("kept = 5\ntry:\n    bytearray(1 << 30)\nexcept MemoryError:\n    print('caught')")
        .await;
    assert_eq!((outcome.error, outcome.instance), (None, InstanceState::Exhausted));
    let swept = desk.repl.sweep().await.unwrap();
    let state = crate::state::Shelf::default().keep(&swept);
    desk.repl.restart(state).await.unwrap();
    assert_eq!(desk.print("print(kept)").await, "5\n");
    assert_eq!(
        desk.run("x = 1").await.instance,
        InstanceState::Alive,
        "a fresh instance was never denied anything"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_recursion_is_an_error_of_the_step() {
    let mut desk = small().await;
    for code in [
        "def f(n): return f(n + 1) + 1\nf(0)",
        "import sys; sys.setrecursionlimit(10**6)\ndef g(n): return g(n + 1) + 1\ng(0)",
        "import json; json.loads('[' * 200_000)",
        "a = []\nfor _ in range(200_000): a = [a]\nrepr(a)",
        "import pickle\na = []\nfor _ in range(200_000): a = [a]\npickle.dumps(a)",
        "compile('(' * 100_000 + ')' * 100_000, 'x', 'eval')",
        "compile('-' * 100_000 + '1', 'x', 'eval')",
        "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().foo",
        "class R:\n    def __repr__(self): return repr(self)\nprint(R())",
    ] {
        assert!(contained(&mut desk, code).await.failed(), "{code}");
    }
    // The same as the source of a step.
    assert!(
        contained(&mut desk, &format!("x = {}1", "-".repeat(100_000)))
            .await
            .failed()
    );
    assert!(
        contained(&mut desk, &format!("x = {}{}", "(".repeat(10_000), ")".repeat(10_000)))
            .await
            .failed()
    );
    contained(&mut desk, &format!("x = {}", vec!["1"; 20_000].join("+"))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_output_is_bounded_and_stopped() {
    let mut desk = small().await;
    let polite = contained(&mut desk, "while True: print('y' * 1_000_000)").await;
    assert_eq!(polite.error.as_ref().unwrap().kind, StepErrorKind::Output);
    assert_eq!(polite.instance, InstanceState::Alive);
    assert!(polite.output.text.len() <= 4 << 20 && polite.output.total_bytes >= 8_000_000);
    let rude = contained(
        &mut desk,
        "import _eryx\nwhile True:\n    _eryx._eryx_report_output(0, 'y' * 1_000_000)",
    )
    .await;
    assert!(matches!(
        rude.error.unwrap().kind,
        StepErrorKind::Output | StepErrorKind::Timeout
    ));
    let small_writes = contained(
        &mut desk,
        "while True:\n    try:\n        print('y')\n    except BaseException: pass",
    )
    .await;
    assert_eq!(small_writes.error.unwrap().kind, StepErrorKind::Timeout);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interpreter_that_ends_is_replaced() {
    let mut desk = small().await;
    for code in [
        "import os; os._exit(7)",
        "import os; os.abort()",
        "import faulthandler; faulthandler._sigsegv()",
    ] {
        let outcome = contained(&mut desk, code).await;
        assert!(outcome.failed(), "{code}");
    }
}

#[tokio::test]
async fn nothing_of_the_host_is_within_reach() {
    let mut desk = small().await;
    let denied = r##"
import os, importlib
def denied(name, action):
    try:
        result = action()
    except BaseException as error:
        return
    print("ALLOWED", name, repr(result)[:100])
load = importlib.import_module
denied("passwd", lambda: open("/etc/passwd").read())
denied("climb", lambda: open("/python-stdlib/../../../../etc/passwd").read())
denied("write", lambda: open("escape.txt", "w"))
denied("write tmp", lambda: open("/tmp/escape.txt", "w"))
denied("write stdlib", lambda: open("/python-stdlib/evil.py", "w"))
denied("append stdlib", lambda: open(load("json").__file__, "a").write("#"))
denied("symlink", lambda: os.symlink("/etc/passwd", "/python-stdlib/link"))
denied("proc", lambda: open("/proc/self/environ").read())
denied("system", lambda: os.system("id"))
denied("subprocess", lambda: load("subprocess").run(["id"]))
denied("fork", lambda: os.fork())
denied("ctypes", lambda: load("ctypes"))
denied("mmap", lambda: load("mmap"))
denied("connect", lambda: load("socket").create_connection(("127.0.0.1", 22), timeout=2))
denied("bind", lambda: load("socket").socket().bind(("127.0.0.1", 0)))
denied("urllib", lambda: load("urllib.request").urlopen("http://127.0.0.1:9/").read())
denied("thread", lambda: load("threading").Thread(target=print).start())
denied("kill", lambda: os.kill(1, 0))
denied("tempfile", lambda: load("tempfile").NamedTemporaryFile("w"))
print(dict(os.environ))
"##;
    assert_eq!(desk.print(denied).await, "{}\n");
    assert!(
        desk.print("import os\nprint(os.listdir('/python-stdlib')[:0], os.path.exists('/etc'))")
            .await
            .ends_with("False\n")
    );
    desk.print("import os\ntry:\n    os.write(1, b'not on the host streams')\n    os.write(2, b'nor here')\nexcept OSError: pass").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn breaking_the_engine_from_inside_never_breaks_it_for_good() {
    let mut desk = small().await;
    for code in [
        "FINAL = llm_query = commit = None",
        "import builtins\nbuiltins.len = builtins.print = builtins.isinstance = None",
        "import builtins\nbuiltins.__dict__.clear()",
        "__builtins__ = None",
        "import json\njson.dumps = json.JSONEncoder.encode = json.JSONDecoder.decode = None",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\nsys.modules.clear()",
        "import sys\nsys.setrecursionlimit(40)",
        "globals().clear()",
        "import asyncio\nfor t in asyncio.all_tasks(): t.cancel()\nawait asyncio.sleep(0)",
        "import asyncio\nasyncio.get_running_loop().stop()\nasyncio.get_running_loop().close()",
        "import asyncio\nasyncio.sleep = asyncio.create_task = asyncio.all_tasks = None",
        "import traceback\ntraceback.TracebackException = None\n1/0",
        "import sys\nsys.settrace(lambda *a: 1/0)\nsys.setprofile(lambda *a: 1/0)",
        "import _eryx\n_eryx._eryx_tls_write(1, b'nonsense')\n_eryx._eryx_tls_read(1, 5)\n_eryx._eryx_tls_read(2, 5)",
        "import _eryx\nprint(_eryx._eryx_invoke_async('_next', '{\"id\": 1, \"args\": {}}'))",
        "import _eryx\n_eryx._eryx_invoke_async('llm_query', 'x' * 100)",
        "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
        "class M(type):\n    def __repr__(c): raise ValueError\n    __name__ = property(lambda c: 1/0)\nclass E(Exception, metaclass=type): pass\nraise E",
        "raise BaseException",
        "import asyncio\nraise asyncio.CancelledError",
    ] {
        contained(&mut desk, code).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kernel_that_is_taken_apart_or_impersonated_is_replaced() {
    let mut desk = small().await;
    for code in [
        "import gc\nfor o in gc.get_objects():\n    if type(o) is dict and o.get('__name__', '').startswith('_rlm'): o.clear()",
        "import _eryx\n_eryx._eryx_tls_write(2, b'{\"number\": 1, \"reply\": {}}')\n_eryx._eryx_tls_write(2, b'nonsense')\n_eryx._eryx_tls_write(3, b'1nonsense')\n_eryx._eryx_tls_write(99, b'')",
        "import _eryx\nwhile True: _eryx._eryx_tls_write(2, b'{\"number\": 2, \"reply\": {\"error\": null, \"written\": [], \"deleted\": [], \"imports\": []}}')",
    ] {
        // The step after it may be the one that notices.
        for _ in 0..2 {
            let outcome = desk.run(code).await;
            if outcome.instance == InstanceState::Alive && !desk.run("x = 1").await.failed() {
                continue;
            }
            desk.repl.restart(RestoreSet::default()).await.expect("a new instance");
        }
        desk.repl.restart(RestoreSet::default()).await.expect("a new instance");
        assert_eq!(desk.print("print(6 * 7)").await, "42\n", "after {code}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_cannot_be_swept_in_peace_is_named() {
    let mut desk = small().await;
    desk.print("class Evil:\n    def __reduce__(self): raise SystemExit\n    def __repr__(self): raise KeyboardInterrupt\ne = Evil()\nfine = 1").await;
    let swept = desk
        .repl
        .sweep()
        .await
        .expect("a failing value is dropped, and the rest saved");
    assert!(swept.variables.iter().any(|v| v.name == "fine"));
    assert_eq!(swept.dropped[0].reason, "not picklable: SystemExit");
    desk.print(
        "del e\nclass Exits:\n    def __reduce__(self):\n        import os; os._exit(1)\nx = Exits()\nafter = 'it'",
    )
    .await;
    let swept = desk.repl.sweep().await.expect("what was saved before is there");
    let lost = swept.lost.expect("the interpreter is gone");
    assert_eq!(lost.name, "x", "{lost}");
    assert_eq!(swept.functions.len(), 2);
    let after = swept.variables.iter().find(|variable| variable.name == "after");
    assert!(matches!(after.unwrap().pickle, SweptPickle::Changed(_)));
    desk.repl.restart(RestoreSet::default()).await.unwrap();
    assert_eq!(desk.print("print(1)").await, "1\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_saved_values_are_left_out_and_named() {
    let restore = RestoreSet {
        functions: vec![("bomb".into(), "import os\nos._exit(3)".into())],
        variables: vec![
            saved("first", b"K\x01."),
            saved("exits", b"cos\n_exit\n(K\x07tR."),
            saved("system", b"cos\nsystem\n(Vid\ntR."),
            saved("memory", b"cbuiltins\nbytearray\n(J\x00\x00\x00\x7ftR."),
            saved("raises", b"csys\nexit\n(tR."),
            saved(
                "huge",
                &[b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f".as_slice(), b"x."].concat(),
            ),
            saved("last", b"K\x02."),
        ],
        ..RestoreSet::default()
    };
    let (mut desk, report) = restored(restore).await;
    let mut failed: Vec<_> = report.failed.iter().map(|f| f.name.as_str()).collect();
    failed.sort_unstable();
    let system_failed = failed.contains(&"system");
    failed.retain(|name| *name != "system");
    assert_eq!(
        failed,
        ["bomb", "exits", "huge", "memory", "raises"],
        "{:?}",
        report.failed
    );
    if !system_failed {
        assert_ne!(desk.print("print(system)").await, "0\n", "no process was run");
    }
    assert_eq!(desk.print("print(first, last)").await, "1 2\n");
    assert_eq!(desk.run("x = 1").await.instance, InstanceState::Alive);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_poisoned_value_costs_itself_alone() {
    let (desk, report) = Desk::start(poisoned_start()).await;
    only_poisons_failed(desk, &report.restored).await;
}
