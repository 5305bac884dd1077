use crate::desk::Desk;
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn smoke() {
    let t = std::time::Instant::now();
    let mut desk = Desk::open().await;
    println!("open {:?}", t.elapsed());
    for code in std::fs::read_to_string("/tmp/smoke.py").unwrap().split("# ---\n") {
        let t = std::time::Instant::now();
        let o = desk.run(code).await;
        println!(
            "== {:?} {:?} w={:?} d={:?} i={:?} final={:?}\n{}",
            t.elapsed(),
            o.instance,
            o.written,
            o.deleted,
            o.imports,
            o.final_value,
            o.text()
        );
        if o.instance != fast_rlm::repl::InstanceState::Lost && code.contains("#sweep") {
            let s = desk.repl.sweep().await;
            println!("{s:#?}");
        }
        if o.instance == fast_rlm::repl::InstanceState::Lost {
            println!("restart {:?}", desk.repl.restart(Default::default()).await);
        }
    }
}
