ALTER TABLE event ADD COLUMN turn INTEGER;
ALTER TABLE event ADD COLUMN step INTEGER;
CREATE INDEX event_turn ON event (session, turn, stream_seq);
