//! User code that attacks the worker, the kernel or the host: the next step runs, and the program goes on.

use crate::desk::Desk;
use crate::{small, worker};
use fast_rlm::repl::{InstanceState, Limits, ReplFactory, RestoreSet, StartOptions, StepErrorKind, StepOutcome};
use std::sync::Arc;
use std::time::Duration;

/// Runs the code, replaces the instance where it is gone, and checks that the next step works.
async fn contained(desk: &mut Desk, code: &str) -> StepOutcome {
    let outcome = desk.run(code).await;
    if outcome.instance != InstanceState::Alive {
        desk.repl.restart(RestoreSet::default()).await.expect("a new worker");
    }
    for _ in 0..2 {
        if desk.run("print(6 * 7)").await.instance == InstanceState::Lost {
            desk.repl.restart(RestoreSet::default()).await.expect("a new worker");
        }
    }
    assert_eq!(desk.print("print(6 * 7)").await, "42\n", "after {code}");
    outcome
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_interrupt_does_not_end_is_killed() {
    let mut desk = small().await;
    for code in [
        "sum(iter(int, 1))",
        "import re; re.match(r'(a+)+$', 'a' * 40 + 'b')",
        "x = 10 ** 10 ** 8",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
    ] {
        let outcome = contained(&mut desk, code).await;
        let error = outcome.error.expect(code);
        let ended = (error.kind, outcome.instance);
        assert_eq!(
            ended,
            (StepErrorKind::Timeout, InstanceState::Lost),
            "{code}: {}",
            error.text
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_while_a_value_is_shown_ends_the_step_and_is_no_part_of_the_value() {
    let mut desk = small().await;
    let endless =
        "class Endless(dict):\n    def items(self):\n        while True:\n            yield 1, 2\nFINAL(Endless())";
    let silent = "class Silent:\n    __slots__ = ()\n    def __repr__(self):\n        while True:\n            pass\nFINAL(Silent())";
    for code in [endless, silent] {
        let outcome = desk.run(code).await;
        assert!(outcome.final_value.is_none(), "{outcome:?}");
        assert_eq!(outcome.error.unwrap().kind, StepErrorKind::Timeout);
    }
    let own = "class Own:\n    def __repr__(self):\n        raise KeyboardInterrupt\nFINAL(Own())";
    let told = desk.run(own).await.final_value.unwrap().value.to_string();
    assert!(told.contains("repr failed: KeyboardInterrupt"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_bombs_become_memory_errors() {
    let mut desk = small().await;
    for code in [
        "b = bytearray(1 << 30)",
        "s = 'a'\nwhile True: s += s",
        "l = []\nwhile True: l.append('x' * 10_000_000 + str(len(l)))",
    ] {
        let outcome = contained(&mut desk, code).await;
        let error = outcome.error.expect(code);
        assert_eq!(error.kind, StepErrorKind::Memory, "{code}: {}", error.text);
        assert!(error.text.contains("256 MB"), "{}", error.text);
        desk.repl.restart(RestoreSet::default()).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_output_is_bounded_and_stopped() {
    let mut desk = roomy(&worker()).await;
    let polite = contained(&mut desk, "while True: print('y' * 1_000_000)").await;
    assert_eq!(polite.error.as_ref().unwrap().kind, StepErrorKind::Output);
    assert!(polite.output.text.len() <= 4 << 20);
    let rude = "from _rlm import channel\nwhile True: channel.emit(0, 'y' * 1_000_000)";
    let kind = contained(&mut desk, rude).await.error.unwrap().kind;
    assert_eq!(kind, StepErrorKind::Output);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_ends_is_replaced_and_its_end_told() {
    let mut desk = small().await;
    for (code, told) in [
        ("import os; os._exit(7)", "status 7"),
        ("import os; os.abort()", "aborted"),
        ("import ctypes; ctypes.string_at(0)", "crashed"),
        (
            "import os\nfor fd in range(3, 20):\n    try: os.close(fd)\n    except OSError: pass",
            "",
        ),
        (
            "from _rlm import channel\nimport os\nos.write(channel.wire.output, b'nonsense' * 9)",
            "too large",
        ),
        ("from _rlm import channel\nchannel._frame(99, b'')", "no message"),
        (
            "from _rlm import channel\nimport os, re, sys\nsys.setswitchinterval(1000)\nos.close(channel.wire.output)\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
            // Or its other thread was faster, and found no way to its host.
            "closed the way|exited with status 0",
        ),
        (
            "from _rlm import channel\nchannel._frame(channel.CALL, b'{')",
            "malformed",
        ),
    ] {
        let outcome = contained(&mut desk, code).await;
        let error = outcome.error.expect(code);
        assert_eq!(outcome.instance, InstanceState::Lost, "{code}: {}", error.text);
        let as_told = told.split('|').any(|told| error.text.contains(told));
        assert!(as_told, "{code}: {}", error.text);
    }
    // Whether it crashes depends on the version.
    let deepest =
        "import sys; sys.setrecursionlimit(10**8)\nclass R:\n    def __repr__(self): return repr(self)\nrepr(R())";
    assert!(contained(&mut desk, deepest).await.failed());
    let deep = contained(&mut desk, "def f(n): return f(n + 1) + 1\nf(0)").await;
    assert_eq!((deep.failed(), deep.instance), (true, InstanceState::Alive));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forks_are_refused_and_threads_bounded() {
    let mut desk = roomy(&worker()).await;
    let forks = "import os, warnings\nwarnings.simplefilter('ignore')\nmade = 0\nfor _ in range(200):\n    try:\n        os.fork()\n        made += 1\n    except OSError as e:\n        told = type(e).__name__\nprint(made, told)";
    assert_eq!(desk.print(forks).await, "0 PermissionError\n");
    let threads = "import threading, time\nthreading.stack_size(64 << 10)\nfor _ in range(1_100):\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\ntime.sleep(60)";
    told(&mut desk, threads, StepErrorKind::Crash, "more than 1024 threads").await;
}

/// Steps that have time.
async fn roomy(factory: &dyn ReplFactory) -> Desk {
    let limits = Limits {
        step_timeout: Duration::from_secs(60),
        flood_bytes: 8 << 20,
        ..Limits::default()
    };
    let options = StartOptions {
        limits,
        ..StartOptions::default()
    };
    Desk::start_on(factory, options).await.0
}

/// Runs code that ends its worker, for this reason.
async fn told(desk: &mut Desk, code: &str, kind: StepErrorKind, why: &str) {
    let outcome = contained(desk, code).await;
    let error = outcome.error.expect(code);
    assert_eq!(
        (error.kind, outcome.instance),
        (kind, InstanceState::Lost),
        "{code}: {}",
        error.text
    );
    assert!(error.text.contains(why), "{code}: {}", error.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_are_bounded_together_and_removed_however_deep() {
    let mut desk = roomy(&worker()).await;
    let place = desk.print("import os\nprint(os.getcwd())").await;
    // Without names, and without any that could be told in a path.
    let large = "import os, time\nkept = []\nfor n in range(5):\n    kept.append(open('f', 'wb'))\n    os.posix_fallocate(kept[-1].fileno(), 0, 60 << 20)\n    os.unlink('f')\ntime.sleep(60)";
    told(&mut desk, large, StepErrorKind::Crash, "larger than 256 MB together").await;
    let deep = "import os, time\nfor _ in range(5_000):\n    os.mkdir('d')\n    os.chdir('d')\ntime.sleep(60)";
    told(
        &mut desk,
        deep,
        StepErrorKind::Crash,
        "its directory cannot be looked at",
    )
    .await;
    let last = desk.print("import os\nprint(os.getcwd())").await;
    drop(desk);
    for place in [place, last] {
        let patience = std::time::Instant::now() + Duration::from_secs(30);
        while std::path::Path::new(place.trim()).exists() {
            assert!(std::time::Instant::now() < patience, "{place} is removed");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_workers_together_have_a_limit() {
    let factory = worker().with_process_memory(150 << 20);
    let (mut one, mut other) = (roomy(&factory).await, roomy(&factory).await);
    one.print("kept = b'x' * (60 << 20)").await;
    // Workers are looked at now and then, and the one that is seen to grow too much is ended.
    while factory.memory_in_use() < 60 << 20 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let more = "import time\nmore = b'x' * (120 << 20)\ntime.sleep(60)";
    told(&mut other, more, StepErrorKind::Memory, "all workers together").await;
    assert_eq!(one.print("print(len(kept) >> 20)").await, "60\n");
}

#[test]
fn what_was_left_open_for_it_is_closed_before_anything_runs() {
    let source = "import os\nfor fd in os.listdir('/proc/self/fd'):\n    try:\n        print(os.readlink('/proc/self/fd/' + fd), flush=True)\n    except OSError: pass";
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("input");
    std::fs::write(&input, format!("{}\n{source}", source.len())).unwrap();
    let launched = std::process::Command::new("sh")
        .args(["-c", "exec 3</etc/passwd; exec python3 -c \"$0\""])
        .arg(include_str!("../../assets/python/worker/launch.py"))
        .stdin(std::fs::File::open(&input).unwrap())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&launched.stdout);
    assert!(said.contains("/input"), "{launched:?}");
    assert!(!said.contains("passwd"), "{said}");
}

#[tokio::test]
async fn nothing_of_the_host_is_within_reach() {
    let mut desk = small().await;
    let secret = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(secret.path(), "kept").unwrap();
    let denied = format!(
        r##"
import fcntl, importlib, os, platform, signal, socket, sys, warnings
warnings.simplefilter("ignore")
def denied(name, action):
    try:
        result = action()
    except (OSError, MemoryError):
        return
    except BaseException as error:
        print("OTHERWISE", name, type(error), error)
        return
    print("ALLOWED", name, repr(result)[:100])
load = importlib.import_module
libc = load("ctypes").CDLL(None, use_errno=True)
def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0:
        code = load("ctypes").get_errno()
        raise OSError(code, os.strerror(code))
    return result
def number(x86_64, aarch64):
    return x86_64 if platform.machine() == "x86_64" else aarch64
pair = socket.socketpair()
denied("passwd", lambda: open("/etc/passwd").read())
denied("home", lambda: os.listdir(os.path.expanduser("~")))
denied("file", lambda: open({secret:?}).read())
denied("write", lambda: open({secret:?}, "w"))
denied("write tmp", lambda: open("/tmp/escape.txt", "w"))
denied("write library", lambda: open(load("json").__file__, "a").write("#"))
denied("chmod", lambda: os.chmod({secret:?}, 0o777))
denied("utime", lambda: os.utime({secret:?}))
denied("unlink", lambda: os.unlink({secret:?}))
denied("other", lambda: open("/proc/1/environ").read())
denied("system", lambda: 1 / os.system("id") if os.system("id") == 0 else call(0, -1))
denied("subprocess", lambda: load("subprocess").run(["id"]))
denied("fork", lambda: os.fork())
denied("exec", lambda: os.execv("/bin/sh", ["sh"]))
denied("connect", lambda: load("socket").create_connection(("127.0.0.1", 22), timeout=2))
denied("socket", lambda: load("socket").socket())
denied("unix", lambda: load("socket").socket(load("socket").AF_UNIX).connect("/run/x"))
denied("urllib", lambda: load("urllib.request").urlopen("http://127.0.0.1:9/").read())
denied("kill", lambda: os.kill(os.getppid(), 0))
denied("kill all", lambda: os.kill(-1, 0))
denied("ptrace", lambda: call(number(101, 117), 16, os.getppid(), 0, 0))
denied("limits", lambda: call(number(302, 261), 0, 9, load("ctypes").byref((load("ctypes").c_uint64 * 2)(1 << 40, 1 << 40)), 0))
denied("death signal", lambda: call(number(157, 167), 1, 0))
denied("mount", lambda: call(number(165, 40), 0, 0, 0, 0, 0))
denied("unshare", lambda: call(number(272, 97), 0x10000000))
denied("hide", lambda: call(number(157, 167), 4, 0))
denied("truncate", lambda: os.truncate({secret:?}, 0))
denied("datagrams", lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
denied("messages", lambda: pair[0].sendmsg([b"x"]))
denied("signal of a file", lambda: fcntl.fcntl(pair[0], 10, 9))
denied("owner of a file", lambda: fcntl.fcntl(pair[0], fcntl.F_SETOWN, os.getppid()))
denied("owner, as a structure", lambda: fcntl.fcntl(pair[0], 15, bytes(8)))
denied("owner, by ioctl", lambda: fcntl.ioctl(pair[0], 0x8901, bytes(4)))
denied("group, by ioctl", lambda: fcntl.ioctl(pair[0], 0x8902, bytes(4)))
denied("memory without a limit", lambda: os.memfd_create("x"))
denied("processors", lambda: os.sched_setaffinity(os.getppid(), {{0}}))
denied("scheduler", lambda: os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0)))
denied("priority", lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19))
denied("priority of reading", lambda: call(number(251, 30), 1, os.getppid(), 0))
denied("watch", lambda: call(number(254, 27), call(number(294, 26), 0), b"/tmp", 0x100))
denied("what later kernels have", lambda: call(5_000))
denied("places of the interpreter", lambda: os.listdir(sys.base_prefix))
denied("huge file", lambda: open("big", "wb").truncate(1 << 30))
open("own.txt", "w").write("here")
print(open("own.txt").read(), os.listdir("."), dict(os.environ))
with load("tempfile").TemporaryFile() as file: file.write(b"x")
"##,
        secret = secret.path().to_str().unwrap()
    );
    let printed = desk.print(&denied).await;
    assert_eq!(printed, "here [\n  \"big\",\n  \"own.txt\"\n] {}\n");
    assert!(
        desk.print("print(open('/proc/self/status').read())")
            .await
            .contains("NoNewPrivs:\t1")
    );
    assert_eq!(std::fs::read_to_string(secret.path()).unwrap(), "kept");
    let _ = std::fs::File::open("/etc/passwd").expect("the test itself may");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn breaking_the_engine_from_inside_never_breaks_it_for_good() {
    let mut desk = small().await;
    for code in [
        "FINAL = llm_query = commit = None",
        "import builtins\nbuiltins.len = builtins.print = builtins.isinstance = None",
        "import builtins\nbuiltins.__dict__.clear()",
        "import json\njson.dumps = json.JSONEncoder.encode = json.JSONDecoder.decode = None",
        "import sys\nsys.stdout = sys.stderr = None",
        "import sys\nsys.modules.clear()",
        "globals().clear()",
        "import asyncio\nfor t in asyncio.all_tasks(): t.cancel()\nawait asyncio.sleep(0)",
        "import asyncio\nasyncio.get_running_loop().stop()",
        "import asyncio\nasyncio.get_running_loop().close()",
        "import asyncio\nasyncio.get_running_loop().call_soon(lambda: 1/0)\nasync def f(): raise SystemExit\nt = asyncio.create_task(f())\nawait asyncio.sleep(0.01)",
        "import os\nos.write = os.read = None",
        "raise KeyboardInterrupt",
        "import asyncio\nraise asyncio.CancelledError",
        "from _rlm import channel\nchannel.wire.commands = None\nchannel.send_json(channel.DONE, {'number': 1, 'reply': {}})",
    ] {
        contained(&mut desk, code).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_workers_compute_side_by_side_and_end() {
    let host = || Arc::<crate::desk::Host>::default();
    let factory = worker();
    let starts = (0..4).map(|_| factory.start(StartOptions::default(), host()));
    let started = futures_util::future::join_all(starts).await;
    for one in started {
        let mut repl = one.unwrap().repl;
        let step = fast_rlm::repl::Step::new(1, "import os\nprint(os.getpid())");
        let pid = repl.run(step, &mut |_| ()).await.output.text.trim().to_owned();
        assert!(std::path::Path::new(&format!("/proc/{pid}")).exists());
        drop(repl);
        for _ in 0..500 {
            if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert!(
            !std::path::Path::new(&format!("/proc/{pid}")).exists(),
            "its process is gone"
        );
    }
}
