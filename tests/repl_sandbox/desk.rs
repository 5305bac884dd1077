//! A REPL with a host that answers like a model would, for tests.

use async_trait::async_trait;
use fast_rlm::repl::{
    HostCall, HostCalls, HostError, Limits, Pickle, PythonException, PythonFactory, Repl, ReplFactory, SavedVariable,
    StartOptions, Started, Step, StepOutcome,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The interpreter of this test process, prepared if need be.
pub(crate) fn factory() -> PythonFactory {
    static FACTORY: OnceLock<PythonFactory> = OnceLock::new();
    FACTORY
        .get_or_init(|| PythonFactory::load(&mut |_| ()).expect("Python is prepared"))
        .clone()
}

/// A variable as a session kept it.
#[allow(dead_code, reason = "not every test that has this desk restores variables")]
pub(crate) fn saved(name: &str, pickle: &[u8]) -> SavedVariable {
    SavedVariable {
        name: name.into(),
        pickle: Pickle::Bytes(pickle.into()),
        comment: None,
        note: None,
        committed: false,
    }
}

/// Answers calls after 20 ms, and remembers them.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) calls: Mutex<Vec<HostCall>>,
}

impl Host {
    pub(crate) fn names(&self) -> Vec<String> {
        self.calls
            .lock()
            .unwrap()
            .iter()
            .map(|call| call.name.clone())
            .collect()
    }

    pub(crate) fn last(&self) -> HostCall {
        self.calls.lock().unwrap().last().expect("a call").clone()
    }
}

#[async_trait]
impl HostCalls for Host {
    async fn call(&self, call: HostCall) -> Result<Value, HostError> {
        self.calls.lock().unwrap().push(call.clone());
        let context = call.args["context"].clone();
        match (call.name.as_str(), context.as_str()) {
            ("llm_query", Some("HANG")) => std::future::pending().await,
            ("llm_query", Some("FAIL")) => Err(HostError::new("the model refused")),
            ("llm_query", Some("DENY")) => Err(HostError {
                exception: PythonException::Permission,
                message: "not allowed".into(),
            }),
            ("llm_query", _) => {
                tokio::time::sleep(Duration::from_millis(20)).await;
                Ok(json!({ "echo": context }))
            }
            ("batch_llm_query", _) => {
                let queries = call.args["queries"].as_array().unwrap().iter();
                Ok(queries.map(|query| json!({ "echo": query["context"] })).collect())
            }
            ("ask", _) => Ok(json!("yes")),
            ("tool_begin", _) if call.args["name"] == "denied" => Err(HostError {
                exception: PythonException::Permission,
                message: "denied by the approver".into(),
            }),
            ("tool_begin", _) if call.args["name"] == "recorded" => Ok(json!({ "value": "from the record" })),
            ("tool_begin", _) => Ok(json!({ "run": true })),
            ("tool_end", _) => Ok(Value::Null),
            _ => Ok(call.args),
        }
    }
}

/// A started REPL and its host.
pub(crate) struct Desk {
    pub(crate) repl: Box<dyn Repl>,
    pub(crate) host: Arc<Host>,
    pub(crate) chunks: Vec<String>,
    number: u32,
}

impl Desk {
    pub(crate) async fn open() -> Self {
        Self::start(StartOptions::default()).await.0
    }

    pub(crate) async fn with_limits(limits: Limits) -> Self {
        Self::start(StartOptions {
            limits,
            ..StartOptions::default()
        })
        .await
        .0
    }

    pub(crate) async fn start(options: StartOptions) -> (Self, Report) {
        Self::start_on(&factory(), options).await
    }

    /// A REPL of any backend.
    pub(crate) async fn start_on(factory: &dyn ReplFactory, options: StartOptions) -> (Self, Report) {
        let host = Arc::new(Host::default());
        let Started {
            repl,
            tools,
            tool_errors,
            restored,
        } = factory.start(options, host.clone()).await.expect("the REPL starts");
        (
            Self {
                repl,
                host,
                chunks: Vec::new(),
                number: 0,
            },
            Report {
                tools,
                tool_errors,
                restored,
            },
        )
    }

    pub(crate) async fn run(&mut self, code: &str) -> StepOutcome {
        self.number += 1;
        self.run_step(Step::new(self.number, code)).await
    }

    pub(crate) async fn run_step(&mut self, step: Step) -> StepOutcome {
        let chunks = &mut self.chunks;
        chunks.clear();
        self.repl.run(step, &mut |chunk| chunks.push(chunk.text)).await
    }

    /// Runs code that must not fail; gives what it printed.
    pub(crate) async fn print(&mut self, code: &str) -> String {
        let outcome = self.run(code).await;
        assert_eq!(outcome.error, None, "of {code}");
        outcome.output.text
    }
}

/// What a start reports besides the REPL.
pub(crate) struct Report {
    pub(crate) tools: Vec<fast_rlm::repl::ToolInfo>,
    pub(crate) tool_errors: Vec<(String, String)>,
    pub(crate) restored: fast_rlm::repl::RestoreReport,
}
