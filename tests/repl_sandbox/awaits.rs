//! Awaiting: host calls are concurrent, and asyncio works as far as a REPL needs it.

use crate::desk::Desk;
use std::time::Duration;

#[tokio::test]
async fn calls_await_their_answers_in_every_form_of_code() {
    let mut desk = Desk::open().await;
    assert_eq!(
        desk.print("r = await llm_query('hello')\nprint(r['echo'])").await,
        "hello\n"
    );
    assert_eq!(
        desk.print("print([(await llm_query(c))['echo'] for c in 'abc'])").await,
        "[\n  \"a\",\n  \"b\",\n  \"c\"\n]\n"
    );
    let nested = "async def helper(q):\n    return (await llm_query(q))['echo'].upper()\nprint(await helper('zz'))";
    assert_eq!(desk.print(nested).await, "ZZ\n");
    let generator = "async def agen():\n    for i in range(3):\n        yield (await llm_query(i))['echo']\nprint(*[v async for v in agen()])";
    assert_eq!(desk.print(generator).await, "0 1 2\n");
}

#[tokio::test]
async fn a_batch_is_one_call_with_its_answers_in_order() {
    let mut desk = Desk::open().await;
    let code = "rs = await batch_llm_query(llm_query('a', instruction='short'), llm_query({'k': {1, 2}}), 'plain')\nprint([r['echo'] for r in rs] == ['a', {'k': [1, 2]}, 'plain'])";
    assert_eq!(desk.print(code).await, "True\n");
    let call = desk.host.last();
    assert_eq!(call.name, "batch_llm_query");
    assert_eq!(call.args["queries"][0]["instruction"], "short");
    assert_eq!(
        desk.print("print(len(await batch_llm_query([llm_query(i) for i in range(3)])))")
            .await,
        "3\n",
        "a list"
    );
    assert_eq!(desk.print("print(await batch_llm_query())").await, "[]\n");
}

#[tokio::test]
async fn a_gather_over_queries_is_refused_and_names_the_batch() {
    let mut desk = Desk::open().await;
    for code in [
        "import asyncio\nawait asyncio.gather(*[llm_query(i) for i in range(3)])",
        "await asyncio.gather(*[asyncio.create_task(llm_query(i)) for i in range(3)], return_exceptions=True)",
        "from asyncio import gather\nawait gather(llm_query(1))",
    ] {
        let outcome = desk.run(code).await;
        assert!(outcome.text().contains("batch_llm_query"), "{code}: {}", outcome.text());
    }
    assert_eq!(desk.host.names().len(), 0, "nothing was asked");
    let other = "async def f(x): return x\nprint(*await asyncio.gather(f(1), f(2)))";
    assert_eq!(desk.print(other).await, "1 2\n");
}

#[tokio::test]
async fn tasks_timeouts_queues_and_groups_work() {
    let mut desk = Desk::open().await;
    desk.print("import asyncio\nasync def echo(x):\n    return (await llm_query(x))['echo']")
        .await;
    for (code, printed) in [
        (
            "tasks = [asyncio.create_task(llm_query(i)) for i in range(3)]\nprint(*[(await t)['echo'] for t in tasks])",
            "0 1 2\n",
        ),
        (
            "async with asyncio.TaskGroup() as g:\n    a = g.create_task(echo(1)); b = g.create_task(echo(2))\nprint(a.result(), b.result())",
            "1 2\n",
        ),
        (
            "print(*sorted([await f for f in asyncio.as_completed([echo(i) for i in range(3)])]))",
            "0 1 2\n",
        ),
        (
            "try:\n    await asyncio.wait_for(llm_query('HANG'), timeout=0.02)\nexcept TimeoutError:\n    print('timed out')",
            "timed out\n",
        ),
        (
            "print((await asyncio.wait_for(llm_query(5), timeout=5))['echo'])",
            "5\n",
        ),
        (
            "try:\n    async with asyncio.timeout(0.01):\n        await asyncio.sleep(10)\nexcept TimeoutError:\n    print('timed out')",
            "timed out\n",
        ),
        (
            "done, pending = await asyncio.wait([asyncio.create_task(echo(1))])\nprint(len(done), len(pending))",
            "1 0\n",
        ),
        (
            "sem = asyncio.Semaphore(2)\nasync def limited(i):\n    async with sem:\n        return await echo(i)\nprint(*await asyncio.gather(*[limited(i) for i in range(4)]))",
            "0 1 2 3\n",
        ),
        (
            "q = asyncio.Queue()\nasync def put():\n    for i in range(2): await q.put(await echo(i))\n    await q.put(None)\nasync def take():\n    r = []\n    while (v := await q.get()) is not None: r.append(v)\n    return r\n_, r = await asyncio.gather(put(), take())\nprint(*r)",
            "0 1\n",
        ),
        ("print(await asyncio.to_thread(lambda: 7))", "7\n"),
        (
            "e = asyncio.Event()\nasyncio.get_running_loop().call_later(0.01, e.set)\nawait e.wait()\nprint('set')",
            "set\n",
        ),
        (
            "loop = asyncio.get_event_loop()\nprint(loop.run_until_complete(echo(3)))",
            "3\n",
        ),
        (
            "async def main():\n    return await echo('ran')\nprint(asyncio.run(main()))",
            "ran\n",
        ),
    ] {
        assert_eq!(desk.print(code).await, printed, "{code}");
    }
    let inside = desk.run("def f():\n    return asyncio.run(main())\nf()").await;
    assert!(inside.text().contains("await"), "it says what to do: {}", inside.text());
}

#[tokio::test]
async fn a_refused_call_raises_what_the_host_says() {
    let mut desk = Desk::open().await;
    assert_eq!(
        desk.print("try:\n    await llm_query('FAIL')\nexcept RuntimeError as e:\n    print(e)")
            .await,
        "the model refused\n"
    );
    assert_eq!(
        desk.print("try:\n    await llm_query('DENY')\nexcept PermissionError as e:\n    print(e)")
            .await,
        "not allowed\n"
    );
    let unknown = desk
        .run("import _eryx_async\nawait _eryx_async.await_invoke('no_such', '{\"id\": 1, \"args\": {}}')")
        .await;
    assert!(unknown.text().contains("no host function"), "{}", unknown.text());
}

#[tokio::test]
async fn a_task_that_a_step_leaves_behind_ends_with_it() {
    let mut desk = Desk::open().await;
    let code = "import asyncio\nasync def late():\n    await asyncio.sleep(0.03)\n    print('late')\nt = asyncio.create_task(late())\nprint('now')";
    assert_eq!(desk.print(code).await, "now\n");
    tokio::time::sleep(Duration::from_millis(60)).await;
    assert_eq!(desk.print("print(t.cancelled())").await, "True\n");
}

#[tokio::test]
async fn arguments_of_any_shape_reach_the_host_as_json() {
    let mut desk = Desk::open().await;
    desk.print("import datetime\nawait llm_query({'d': datetime.date(2024, 5, 6), 'n': None, 1: [float('inf')], 's': {2, 1}}, schema={'type': 'object'}, tools=['t'], mcp=[], instruction='go')").await;
    let args = desk.host.last().args;
    assert_eq!(
        args,
        serde_json::json!({
            "context": { "d": "2024-05-06", "n": null, "1": ["Infinity"], "s": [1, 2] },
            "schema": { "type": "object" }, "tools": ["t"], "mcp": [], "instruction": "go"
        })
    );
}

#[tokio::test]
async fn a_large_text_goes_in_and_out() {
    let mut desk = Desk::open().await;
    assert_eq!(
        desk.print("s = 'é' * 3_000_000\nr = await llm_query(s)\nprint(len(r['echo']), r['echo'] == s)")
            .await,
        "3000000 True\n"
    );
}

#[tokio::test]
async fn a_human_is_asked_and_mcp_is_called_where_they_are() {
    let mut desk = Desk::open().await;
    assert_eq!(
        desk.print("print(await ask('Book it?', options=['yes', 'no']))").await,
        "yes\n"
    );
    assert_eq!(
        desk.host.last().args,
        serde_json::json!({ "question": "Book it?", "options": ["yes", "no"] })
    );
    assert!(desk.run("mcp_call").await.failed(), "no servers are configured");
    let stdin = desk.run("input('? ')").await;
    assert!(stdin.text().contains("ask("), "{}", stdin.text());
}
