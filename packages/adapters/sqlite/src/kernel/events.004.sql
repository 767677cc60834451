-- Bytes of audiences and payloads that the organization has appended up to this event, so that sizes need no scan.
-- Earlier events count as empty.
ALTER TABLE event ADD COLUMN total INTEGER NOT NULL DEFAULT 0;
