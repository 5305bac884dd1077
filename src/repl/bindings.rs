//! Bindings of the component's interface (`assets/python/wit`), as wasmtime generates them.

wasmtime::component::bindgen!({
    path: "assets/python/wit",
    imports: {
        "eryx:net/tcp.connect": async, "eryx:net/tcp.read": async, "eryx:net/tcp.write": async, "eryx:net/tcp.close": async,
        "eryx:net/tls.upgrade": async, "eryx:net/tls.read": async, "eryx:net/tls.write": async, "eryx:net/tls.close": async,
    },
    // A synchronous export; on a store with async support it must be called through the async path.
    exports: { "finalize-preinit": async },
});
