CREATE TABLE piece (
    number INTEGER PRIMARY KEY,
    digest BLOB NOT NULL UNIQUE,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX event_pieces ON event (session) WHERE payload >= 'pieces ' AND payload < 'pieces!';
