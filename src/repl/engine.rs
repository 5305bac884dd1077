//! Settings of wasmtime, and what WASI grants: the standard library, read-only, and nothing else.

use super::bindings::Sandbox;
use super::clock::{PinnedClock, PinnedMonotonic, PinnedWall};
use super::guest::Guest;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{Config, Engine, OptLevel, RegallocAlgorithm};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder};

const WASM_STACK: usize = 4 << 20;
/// The fiber must be clearly larger than the guest's stack, or deep recursion ends the whole process.
const FIBER_STACK: usize = WASM_STACK + (2 << 20);
const GUEST_LIBRARY: &str = "/python-stdlib";

fn base_config() -> Config {
    let mut config = Config::new();
    config.wasm_component_model(true).wasm_component_model_async(true);
    config.max_wasm_stack(WASM_STACK).async_stack_size(FIBER_STACK);
    config
}

/// The engine that sessions run on.
pub(super) fn session_engine() -> wasmtime::Result<Engine> {
    let mut config = base_config();
    config
        .epoch_interruption(true)
        .memory_init_cow(true)
        .cranelift_opt_level(OptLevel::Speed);
    Engine::new(&config)
}

/// The engine that runs Python's start-up once, for the snapshot: fast to compile, slow to run.
pub(super) fn preparation_engine() -> wasmtime::Result<Engine> {
    let mut config = base_config();
    config
        .cranelift_opt_level(OptLevel::None)
        .cranelift_regalloc_algorithm(RegallocAlgorithm::SinglePass);
    Engine::new(&config)
}

/// All imports of the component.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    Sandbox::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    Ok(linker)
}

/// The sandbox's view of the world. Nothing of the host's environment, streams, files or network is inherited.
pub(super) fn wasi(library: &Path, clock: &Arc<PinnedClock>) -> wasmtime::Result<WasiCtxBuilder> {
    let mut builder = WasiCtxBuilder::new();
    builder
        .env("PYTHONHOME", GUEST_LIBRARY)
        .env("PYTHONPATH", GUEST_LIBRARY)
        .env("PYTHONHASHSEED", super::kernel::HASH_SEED.to_string())
        .env("PYTHONTZPATH", format!("{GUEST_LIBRARY}/{}", super::parts::TIME_ZONES))
        .wall_clock(PinnedWall(clock.clone()))
        .monotonic_clock(PinnedMonotonic(clock.clone()))
        .preopened_dir(library, GUEST_LIBRARY, FsPerms::ReadOnly)?;
    Ok(builder)
}
