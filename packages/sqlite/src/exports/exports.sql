-- Archives of organizations that administrators asked for.

CREATE TABLE realm_export (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  acting_user_id INTEGER NOT NULL,
  -- 'public', 'withConsent' or 'withoutConsent'.
  type TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  -- What its address ends in; nobody can guess it.
  path_id TEXT NOT NULL UNIQUE,
  -- 'pending', 'complete', 'failed' or 'deleted'.
  status TEXT NOT NULL,
  -- Of a complete one; null otherwise, and so is its size in bytes.
  blob TEXT,
  size INTEGER,
  -- When it failed or was deleted; null otherwise.
  ended_at INTEGER
) STRICT;
CREATE INDEX realm_export_by_realm ON realm_export (realm_id, id);
CREATE UNIQUE INDEX realm_export_by_blob ON realm_export (blob) WHERE blob IS NOT NULL;

-- Ids that an import gave to messages of earlier times, to the last one; nobody else has one of them.
CREATE TABLE imported_messages (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX imported_messages_by_id ON imported_messages (first_id, last_id);
