CREATE TABLE session (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    serial INTEGER UNIQUE,
    origin TEXT NOT NULL,
    parent TEXT,
    in_root INTEGER NOT NULL DEFAULT 0,
    created INTEGER NOT NULL,
    active INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    events INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX session_root ON session (in_root) WHERE in_root AND NOT removed;
CREATE INDEX session_active ON session (last_seq, number);
CREATE TABLE event (
    global_seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES session (number),
    stream_seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    schema INTEGER NOT NULL,
    time INTEGER NOT NULL,
    payload TEXT NOT NULL,
    UNIQUE (session, stream_seq),
    UNIQUE (session, id)
) STRICT;
