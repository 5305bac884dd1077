//! The event store and the flow store: an append-only log of everything that happened, and what is not a log.
