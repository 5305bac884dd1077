# Runs last in a worker: shuts it in, and serves the host. `memory` and `parent` come from the host.
def start(memory, parent):
    import sys

    modules = sys.modules
    loop = modules["_rlm.loop"].new_loop()
    modules["_rlm.harden"].harden(memory, parent)
    modules["_rlm.channel"].open_wire(loop)
    modules["_rlm.loop"].serve(modules["_rlm.kernel"], loop)
