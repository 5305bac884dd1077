//! What a session is: events, and the model that they build. Pure data: no files, no async, no screen.
