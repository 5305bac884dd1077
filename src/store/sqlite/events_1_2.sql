CREATE INDEX event_kind ON event (session, kind, stream_seq);
