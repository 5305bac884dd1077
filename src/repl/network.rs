//! The network that a guest does not have: each function of WASI's sockets that a component imports refuses.
//!
//! WASI's own implementation is not linked: nothing in it could be granted by mistake, and its fifty functions are a tenth
//! of what building this package takes.

use super::guest::Guest;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, LinkerInstance, Resource, ResourceAny, ResourceType, Type, Val};
use wasmtime::{Engine, StoreContextMut, bail};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable};

const INTERFACES: &str = "wasi:sockets/";

/// The error of WASI's enumeration that becomes Python's `PermissionError`.
const DENIED: &str = "access-denied";

/// Any handle of a network: there is nothing behind it.
struct Nothing;

/// Adds those functions to the linker.
pub(super) fn refuse(linker: &mut Linker<Guest>, engine: &Engine, component: &Component) -> wasmtime::Result<()> {
    for (name, item) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(interface) = item.ty else {
            continue;
        };
        if name.starts_with(INTERFACES) {
            let mut instance = linker.instance(name)?;
            for (name, item) in interface.exports(engine) {
                add(&mut instance, name, &item.ty)?;
            }
        }
    }
    Ok(())
}

fn add(instance: &mut LinkerInstance<'_, Guest>, name: &str, item: &ComponentItem) -> wasmtime::Result<()> {
    match item {
        ComponentItem::Resource(_) => instance.resource(name, resource(name), |_, _| Ok(())),
        ComponentItem::ComponentFunc(_) => instance.func_new(name, |store, function, _, results| {
            if let Some((result, kind)) = results.iter_mut().zip(function.results()).next() {
                *result = refusal(store, &kind)?;
            }
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// What a resource is: those that a socket would share with files and clocks are theirs.
fn resource(name: &str) -> ResourceType {
    match name {
        "pollable" => ResourceType::host::<DynPollable>(),
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        _ => ResourceType::host::<Nothing>(),
    }
}

/// The network itself is a handle that everything else refuses; what can fail, fails.
fn refusal(store: StoreContextMut<'_, Guest>, kind: &Type) -> wasmtime::Result<Val> {
    match kind {
        Type::Own(_) => {
            let handle = Resource::<Nothing>::new_own(0);
            Ok(Val::Resource(ResourceAny::try_from_resource(handle, store)?))
        }
        Type::Result(result) if matches!(result.err(), Some(Type::Enum(_))) => {
            Ok(Val::Result(Err(Some(Box::new(Val::Enum(DENIED.into()))))))
        }
        _ => bail!("the sandbox has no network"),
    }
}
