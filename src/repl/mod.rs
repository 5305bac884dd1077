//! The sandboxed Python behind one trait: start, run a step, call back, sweep, restore, limits.
