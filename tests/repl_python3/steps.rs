//! What a REPL is to do.

use crate::{open, small, start};
use fast_rlm::repl::{Context, InstanceState, Role, StartOptions, StepErrorKind, ToolModule};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn variables_output_tracebacks_and_final() {
    let mut desk = open().await;
    assert_eq!(
        desk.print("x = [1, 2]\nprint(x, {'a': 1})").await,
        "[\n  1,\n  2\n] {\n  \"a\": 1\n}\n"
    );
    let failed = desk.run("def f():\n    return x / 0\nf()").await;
    let text = failed.error.unwrap().text;
    assert!(
        text.contains("return x / 0") && text.contains("TypeError") && !text.contains("rlm"),
        "{text}"
    );
    let outcome = desk
        .run("import sys\nsys.stdout.write('é👍')\nFINAL({'x': x, 's': {1}})")
        .await;
    assert_eq!(outcome.output.text, "é👍");
    assert_eq!(outcome.final_value.unwrap().value, json!({"x": [1, 2], "s": [1]}));
    let exit = desk.run("y = 1\nimport sys\nsys.exit(3)").await;
    assert_eq!((exit.failed(), exit.instance), (true, InstanceState::Alive));
    assert_eq!(desk.print("print(y)").await, "1\n", "sys.exit() ends the step only");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_are_awaited_alone_and_in_parallel() {
    let mut desk = open().await;
    let code = "import asyncio\none = await llm_query('a')\nmany = await batch_llm_query(*[llm_query(i) for i in range(5)])\nprint(one['echo'], [m['echo'] for m in many], await ask('ok?'))";
    assert_eq!(desk.print(code).await, "a [\n  0,\n  1,\n  2,\n  3,\n  4\n] yes\n");
    let denied = desk.run("await llm_query('DENY')").await.error.unwrap();
    assert!(denied.text.contains("PermissionError: not allowed"), "{}", denied.text);
    let late = "tasks = [asyncio.create_task(llm_query(i)._start()) for i in range(20)]\nprint(len([await t for t in tasks]))\ndel tasks";
    assert_eq!(desk.print(late).await, "20\n");
    let waits =
        "try:\n    await asyncio.wait_for(llm_query('HANG'), 0.05)\nexcept TimeoutError:\n    print('given up')";
    assert_eq!(desk.print(waits).await, "given up\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_work_and_may_call_tools() {
    let tools = ToolModule {
        file: "tools.py".into(),
        source: "def shout(text):\n    return text.upper()\n".into(),
        only: None,
    };
    let options = StartOptions {
        tools: vec![tools],
        ..StartOptions::default()
    };
    let (mut desk, report) = start(options).await;
    assert_eq!(report.tools[0].name, "shout");
    let code = "from concurrent.futures import ThreadPoolExecutor\nimport asyncio\nwith ThreadPoolExecutor(4) as pool:\n    print(list(pool.map(shout, 'abc')))\nprint(await asyncio.to_thread(shout, 'd'))\ndel pool";
    assert_eq!(desk.print(code).await, "[\n  \"A\",\n  \"B\",\n  \"C\"\n]\nD\n");
    assert_eq!(desk.host.names().iter().filter(|name| *name == "tool_begin").count(), 4);
}

#[tokio::test]
async fn context_environment_and_roles_arrive() {
    let text: Arc<str> = "ä".repeat(3_000_000).into();
    let options = StartOptions {
        context: Context::Text(text),
        role: Role::SubAgent,
        env: vec![("CITY".into(), "Reykjavik".into())],
        mcp: true,
        ..StartOptions::default()
    };
    let (mut desk, _) = start(options).await;
    let code =
        "import os\nprint(len(context), context[-1], dict(os.environ))\nprint((await mcp_call('s', 't'))['tool'])";
    assert_eq!(desk.print(code).await, "3000000 ä {\n  \"CITY\": \"Reykjavik\"\n}\nt\n");
    assert!(desk.run("commit('context')").await.failed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_stopped_keeps_its_state() {
    let mut desk = small().await;
    for code in [
        "while True: pass",
        "import time; time.sleep(60)",
        "import asyncio; await asyncio.sleep(60)",
        "import threading; threading.Lock().acquire(); threading.Event().wait()",
    ] {
        let outcome = desk.run(&format!("kept = 'yes'\n{code}")).await;
        let error = outcome.error.expect(code);
        assert_eq!(
            (error.kind, outcome.instance),
            (StepErrorKind::Timeout, InstanceState::Alive),
            "{code}: {}",
            error.text
        );
        assert!(error.text.contains("longer than 1 s"), "{}", error.text);
        assert_eq!(desk.print("print(kept)\ndel kept").await, "yes\n", "{code}");
    }
    let canceller = desk.repl.canceller();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        canceller.cancel();
    });
    let outcome = desk.run("x = 6\nawait llm_query('HANG')").await;
    assert_eq!(
        (outcome.error.unwrap().kind, outcome.instance),
        (StepErrorKind::Cancelled, InstanceState::Alive)
    );
    assert_eq!(desk.print("print(x)").await, "6\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_spent_awaiting_does_not_count_and_computing_does() {
    let mut desk = small().await;
    let outcome = desk.run("for i in range(60): await llm_query(i)\nprint('done')").await;
    assert_eq!(outcome.error, None, "60 calls of 20 ms, one after another");
    assert!(outcome.execution < outcome.duration);
    let busy =
        "import asyncio\nt = asyncio.create_task(llm_query('HANG')._start())\nawait asyncio.sleep(0)\nwhile True: pass";
    assert_eq!(desk.run(busy).await.error.unwrap().kind, StepErrorKind::Timeout);
    let lies = "import asyncio\nfrom _rlm import channel\nt = asyncio.create_task(llm_query('HANG')._start())\nawait asyncio.sleep(0)\nchannel._frame(channel.IDLE, b'1')\nwhile True: pass";
    assert_eq!(
        desk.run(lies).await.error.unwrap().kind,
        StepErrorKind::Timeout,
        "a lie is seen through"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_looks_for_a_persons_files_is_told_what_can_be_read() {
    let mut desk = open().await;
    let told = desk.run("open('/etc/passwd')").await.error.expect("it is denied").text;
    assert!(
        told.starts_with("(Of the machine's files only libraries can be read"),
        "{told}"
    );
    let told = desk.run("open('not-there.txt')").await.error.unwrap().text;
    assert!(told.starts_with("Traceback"), "a file of its own: {told}");
}
