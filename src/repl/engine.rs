//! Settings of wasmtime, and what WASI grants: the standard library, read-only, and nothing else.

use super::bindings::Sandbox;
use super::clock::{PinnedClock, PinnedMonotonic, PinnedWall};
use super::guest::Guest;
use super::network;
use std::path::Path;
use std::sync::Arc;
use wasmtime::component::{Component, HasData, HasSelf, Linker, ResourceTable};
use wasmtime::{Config, Engine, OptLevel, RegallocAlgorithm};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::filesystem::{WasiFilesystem, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, io, random as numbers};
use wasmtime_wasi::random::{WasiRandom, WasiRandomCtx};
use wasmtime_wasi::{FsPerms, WasiCtxBuilder, WasiView};

/// Python refuses to nest deeper than its own stack allows; this one, of its machine code, must not end before.
const WASM_STACK: usize = 16 << 20;
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
pub(super) fn linker(engine: &Engine, component: &Component) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    add_wasi(&mut linker)?;
    network::refuse(&mut linker, engine, component)?;
    Sandbox::add_to_linker::<_, HasSelf<Guest>>(&mut linker, |guest| guest)?;
    Ok(linker)
}

/// WASI as [`wasmtime_wasi::p2::add_to_linker_async`] adds it, but for sockets: those are refused (`network`).
fn add_wasi(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    io::error::add_to_linker::<_, Table>(linker, table)?;
    io::poll::add_to_linker::<_, Table>(linker, table)?;
    io::streams::add_to_linker::<_, Table>(linker, table)?;
    clocks::wall_clock::add_to_linker::<_, WasiClocks>(linker, Guest::clocks)?;
    clocks::monotonic_clock::add_to_linker::<_, WasiClocks>(linker, Guest::clocks)?;
    filesystem::preopens::add_to_linker::<_, WasiFilesystem>(linker, Guest::filesystem)?;
    filesystem::types::add_to_linker::<_, WasiFilesystem>(linker, Guest::filesystem)?;
    numbers::random::add_to_linker::<_, WasiRandom>(linker, random)?;
    numbers::insecure::add_to_linker::<_, WasiRandom>(linker, random)?;
    numbers::insecure_seed::add_to_linker::<_, WasiRandom>(linker, random)?;
    cli::exit::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::environment::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::stdin::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::stdout::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::stderr::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::terminal_input::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::terminal_output::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::terminal_stdin::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::terminal_stdout::add_to_linker::<_, WasiCli>(linker, Guest::cli)?;
    cli::terminal_stderr::add_to_linker::<_, WasiCli>(linker, Guest::cli)
}

fn table(guest: &mut Guest) -> &mut ResourceTable {
    guest.ctx().table
}

fn random(guest: &mut Guest) -> &mut WasiRandomCtx {
    guest.ctx().ctx.random()
}

/// What streams and polls need: the table of resources.
struct Table;

impl HasData for Table {
    type Data<'a> = &'a mut ResourceTable;
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
