CREATE TABLE fence (
    session TEXT PRIMARY KEY,
    token INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE value (
    digest BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;
CREATE TABLE point (
    session TEXT NOT NULL,
    pos INTEGER NOT NULL,
    PRIMARY KEY (session, pos)
) STRICT, WITHOUT ROWID;
CREATE TABLE binding (
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    first INTEGER NOT NULL,
    until INTEGER,
    kind TEXT NOT NULL,
    digest BLOB,
    described TEXT NOT NULL,
    PRIMARY KEY (session, name, first)
) STRICT, WITHOUT ROWID;
CREATE INDEX binding_until ON binding (session, until);
CREATE INDEX binding_digest ON binding (digest) WHERE digest IS NOT NULL;
CREATE TABLE parked (
    session TEXT NOT NULL,
    turn INTEGER NOT NULL,
    step INTEGER NOT NULL,
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, turn, step, number)
) STRICT, WITHOUT ROWID;
