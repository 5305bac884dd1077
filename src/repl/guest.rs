//! The data of an instance's store, and what the guest's imports do.

use super::bindings::eryx::net::{tcp, tls};
use super::bindings::{CallbackInfo, SandboxImports, SandboxImportsWithStore};
use super::blobs::Blob;
use super::link::{Event, Link};
use super::memory::MemoryLimit;
use super::wire::{self, failure};
use serde_json::Value;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use wasmtime::component::{Accessor, HasSelf, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

/// The longest message that is taken from the guest.
const MESSAGE_LIMIT: usize = 256 << 20;
/// The longest sleep, to stay clear of overflows in timers.
const LONGEST_SLEEP: Duration = Duration::from_secs(365 * 24 * 3600);

/// The data of an instance's store.
pub(super) struct Guest {
    wasi: WasiCtx,
    table: ResourceTable,
    pub(super) memory: MemoryLimit,
    /// `None` while the interpreter is prepared.
    link: Option<Arc<Link>>,
    /// The answer to the last blocking request, until it is read.
    reply: Vec<u8>,
    blob: Option<Blob>,
}

impl Guest {
    pub(super) fn new(wasi: WasiCtx, memory: MemoryLimit, link: Option<Arc<Link>>) -> Self {
        Self {
            wasi,
            table: ResourceTable::new(),
            memory,
            link,
            reply: Vec::new(),
            blob: None,
        }
    }

    fn link(&self) -> Result<Arc<Link>, String> {
        self.link
            .clone()
            .ok_or_else(|| failure("RuntimeError", "there is no host during preparation"))
    }

    /// A blocking request, up to its answer.
    async fn request(&mut self, data: &[u8]) -> Result<Value, String> {
        let link = self.link()?;
        let broken = |error: serde_json::Error| failure("ValueError", &format!("malformed request: {error}"));
        let request: wire::Request = serde_json::from_slice(data).map_err(broken)?;
        match request.name.as_str() {
            "blob" => self.open_blob(&link, &request.args),
            "sleep" => {
                tokio::select! {
                    () = tokio::time::sleep(sleep_time(&request.args)) => Ok(Value::Null),
                    _ = link.cancel_wanted() => Err(failure("Cancelled", "cancelled")),
                }
            }
            name => {
                tokio::select! {
                    result = link.host_call(name, request.args) => result,
                    _ = link.cancel_wanted() => Err(failure("Cancelled", "cancelled")),
                }
            }
        }
    }

    fn open_blob(&mut self, link: &Link, args: &Value) -> Result<Value, String> {
        let blobs = link.blobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let name = args.get("name").and_then(Value::as_str).unwrap_or_default();
        let blobs = blobs.ok_or_else(|| failure("RuntimeError", "nothing can be read now"))?;
        self.blob = Some(blobs.open(name).map_err(|reason| failure("ValueError", &reason))?);
        Ok(Value::Null)
    }
}

fn sleep_time(args: &Value) -> Duration {
    let seconds = args.get("seconds").and_then(Value::as_f64).unwrap_or(0.0);
    Duration::try_from_secs_f64(seconds.max(0.0))
        .unwrap_or(LONGEST_SLEEP)
        .min(LONGEST_SLEEP)
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl<T: Send> SandboxImportsWithStore<T> for HasSelf<Guest> {
    fn invoke(
        access: &Accessor<T, Self>,
        name: String,
        args: String,
    ) -> impl Future<Output = Result<String, String>> + Send {
        let link = access.with(|mut access| access.get().link());
        async move { invoke(&*link?, &name, &args).await }
    }
}

/// An awaited host call.
async fn invoke(link: &Link, name: &str, args: &str) -> Result<String, String> {
    let broken = |error: serde_json::Error| failure("ValueError", &format!("malformed call: {error}"));
    let invocation: wire::Invocation = serde_json::from_str(args).map_err(broken)?;
    match name {
        "_next" => link.next_command().await,
        "_control" => Ok(link.cancel_wanted().await.to_string()),
        "_sleep" => {
            link.until_woken(invocation.id, tokio::time::sleep(sleep_time(&invocation.args)))
                .await;
            Ok("null".into())
        }
        _ => match link
            .until_woken(invocation.id, link.host_call(name, invocation.args))
            .await
        {
            Some(result) => result.map(|value| value.to_string()),
            None => Err(failure("RuntimeError", "the call was dropped")),
        },
    }
}

impl SandboxImports for Guest {
    fn list_callbacks(&mut self) -> Vec<CallbackInfo> {
        Vec::new()
    }

    fn report_trace(&mut self, _line: u32, _event: String, _context: String) {}

    fn report_output(&mut self, stream: u32, data: String) {
        let Some(link) = &self.link else { return };
        if stream != wire::WAKE {
            link.output.push(&data);
        } else if let Ok(id) = data.parse() {
            link.wake(id);
        }
    }
}

fn refused() -> tcp::TcpError {
    tcp::TcpError::NotPermitted("the sandbox has no network".into())
}

fn unusable(reason: impl Into<String>) -> tls::TlsError {
    tls::TlsError::Tcp(tcp::TcpError::IoError(reason.into()))
}

impl tcp::Host for Guest {
    async fn connect(&mut self, _host: String, _port: u16, _timeout: u32) -> Result<u32, tcp::TcpError> {
        Err(refused())
    }

    async fn read(&mut self, _handle: u32, _length: u32, _timeout: u32) -> Result<Vec<u8>, tcp::TcpError> {
        Err(refused())
    }

    async fn write(&mut self, _handle: u32, _timeout: u32, _data: Vec<u8>) -> Result<u32, tcp::TcpError> {
        Err(refused())
    }

    async fn close(&mut self, _handle: u32) {}
}

/// The kernel's blocking messages (see `channel.py`): the handle is the kind of message.
impl tls::Host for Guest {
    async fn upgrade(&mut self, _tcp: u32, _name: String, _timeout: u32) -> Result<u32, tls::TlsError> {
        Err(tls::TlsError::Tcp(refused()))
    }

    async fn read(&mut self, kind: u32, length: u32, _timeout: u32) -> Result<Vec<u8>, tls::TlsError> {
        match (kind, &mut self.blob) {
            (wire::REPLY, _) => Ok(std::mem::take(&mut self.reply)),
            (wire::BLOB, Some(blob)) => blob.read(length as usize).map_err(|error| unusable(error.to_string())),
            _ => Err(tls::TlsError::InvalidHandle),
        }
    }

    async fn write(&mut self, kind: u32, _timeout: u32, data: Vec<u8>) -> Result<u32, tls::TlsError> {
        if data.len() > MESSAGE_LIMIT {
            return Err(unusable(format!("a message of {} bytes is too large", data.len())));
        }
        let event = match kind {
            wire::REQUEST => {
                let reply = match self.request(&data).await {
                    Ok(value) => serde_json::json!({ "ok": true, "value": value }),
                    Err(error) => serde_json::json!({ "ok": false, "error": error }),
                };
                self.reply = reply.to_string().into_bytes();
                return Ok(0);
            }
            wire::DONE => Event::Done(data),
            wire::FINAL => Event::Final(data),
            wire::NOTE => Event::Note(data),
            wire::VALUE => Event::Value(data),
            _ => return Err(tls::TlsError::InvalidHandle),
        };
        let link = self.link().map_err(unusable)?;
        if kind == wire::DONE {
            link.at_rest();
        }
        link.tell(event).await.map_err(unusable)?;
        Ok(0)
    }

    async fn close(&mut self, _handle: u32) {}
}
