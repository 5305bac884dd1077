//! Turns the linked interpreter into one that has already started: Python's start-up, the imports and the kernel run
//! once, and the memory they leave becomes the new component's initial memory.

use super::bindings::Sandbox;
use super::clock::PinnedClock;
use super::engine;
use super::error::PrepareError;
use super::guest::Guest;
use super::kernel;
use super::memory::{MemoryLimit, MemoryPool};
use std::path::Path;
use std::sync::Arc;
use wasmtime::Store;
use wasmtime::component::{Component, Instance, Lift, WasmList};
use wasmtime_wizer::{ComponentInstanceState, Wizer};

/// The moment that the snapshot was taken at, as the guest saw it: it must not remember the real one.
const SNAPSHOT_TIME: u64 = 1_700_000_000_000_000_000;
/// More than the start-up needs.
const MEMORY: u64 = 1 << 30;

fn failed(error: impl std::fmt::Display) -> PrepareError {
    PrepareError::Stage {
        stage: "start Python for the snapshot",
        reason: format!("{error:#}"),
    }
}

/// The component with Python started, given the one without and the directory of the unpacked library.
pub(super) async fn pre_initialise(plain: &[u8], library: &Path) -> Result<Vec<u8>, PrepareError> {
    let wizer = Wizer::new();
    let (context, instrumented) = wizer.instrument_component(plain).map_err(failed)?;
    let mut reader = start(&instrumented, library).await.map_err(failed)?;
    let snapshot = wizer.snapshot_component(&context, &mut reader).await.map_err(failed)?;
    match reader.failure {
        Some(reason) => Err(failed(reason)),
        None => Ok(snapshot),
    }
}

async fn start(instrumented: &[u8], library: &Path) -> wasmtime::Result<Reader> {
    let engine = engine::preparation_engine()?;
    let component = Component::new(&engine, instrumented)?;
    let wasi = engine::wasi(library, &Arc::new(PinnedClock::new(Some(SNAPSHOT_TIME))))?.build();
    let memory = MemoryLimit::new(MEMORY, Arc::default(), Arc::new(MemoryPool::new(MEMORY)));
    let mut store = Store::new(&engine, Guest::new(wasi, memory, None));
    // Instantiating runs Python's start-up; `execute` then imports the modules and defines the kernel.
    let instance = engine::linker(&engine, &component)?
        .instantiate_async(&mut store, &component)
        .await?;
    let sandbox = Sandbox::new(&mut store, &instance)?;
    let source = kernel::boot_source();
    store
        .run_concurrent(async |access| sandbox.call_execute(access, source).await)
        .await??
        .map_err(wasmtime::Error::msg)?;
    // Without this the snapshot holds handles of files that no later instance has.
    sandbox.call_finalize_preinit(&mut store).await?;
    Ok(Reader {
        store,
        instance,
        failure: None,
    })
}

/// Lets wizer read the instance's memories and globals through the accessors that it added to the component.
struct Reader {
    store: Store<Guest>,
    instance: Instance,
    /// Wizer's interface has no way to fail: the first failure is kept here.
    failure: Option<String>,
}

impl Reader {
    async fn try_read<R: Lift + Send + Sync + 'static>(&mut self, interface: &str, name: &str) -> wasmtime::Result<R> {
        let missing = || wasmtime::Error::msg(format!("no accessor {interface} {name}"));
        let outer = self
            .instance
            .get_export_index(&mut self.store, None, interface)
            .ok_or_else(missing)?;
        let index = self
            .instance
            .get_export_index(&mut self.store, Some(&outer), name)
            .ok_or_else(missing)?;
        let function = self.instance.get_typed_func::<(), (R,)>(&mut self.store, index)?;
        Ok(function.call_async(&mut self.store, ()).await?.0)
    }

    async fn read<R: Lift + Send + Sync + 'static>(&mut self, interface: &str, name: &str) -> Option<R> {
        let result = self.try_read(interface, name).await;
        result
            .map_err(|error| self.failure.get_or_insert(format!("{error:#}")))
            .ok()
    }
}

impl ComponentInstanceState for Reader {
    async fn call_func_ret_list_u8(&mut self, interface: &str, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        if let Some(list) = self.read::<WasmList<u8>>(interface, name).await {
            contents(list.as_le_slice(&self.store));
        }
    }

    async fn call_func_ret_s32(&mut self, interface: &str, name: &str) -> i32 {
        self.read(interface, name).await.unwrap_or_default()
    }

    async fn call_func_ret_s64(&mut self, interface: &str, name: &str) -> i64 {
        self.read(interface, name).await.unwrap_or_default()
    }

    async fn call_func_ret_f32(&mut self, interface: &str, name: &str) -> u32 {
        self.read::<f32>(interface, name).await.unwrap_or_default().to_bits()
    }

    async fn call_func_ret_f64(&mut self, interface: &str, name: &str) -> u64 {
        self.read::<f64>(interface, name).await.unwrap_or_default().to_bits()
    }
}
