-- Exports that administrators requested.

CREATE TABLE realm_export (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  acting_user_id INTEGER NOT NULL,
  -- 'public', 'withConsent' or 'withoutConsent'.
  type TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  -- Unguessable last part of the URL.
  path_id TEXT NOT NULL UNIQUE,
  -- 'pending', 'complete', 'failed' or 'deleted'.
  status TEXT NOT NULL,
  -- Blob and size in bytes of a complete export; null otherwise.
  blob TEXT,
  size INTEGER,
  -- Time of failure or deletion; null otherwise.
  ended_at INTEGER
) STRICT;
CREATE INDEX realm_export_by_realm ON realm_export (realm_id, id);
CREATE UNIQUE INDEX realm_export_by_blob ON realm_export (blob) WHERE blob IS NOT NULL;

-- Ranges of ids that an import gave to older messages; exclusive to that import.
CREATE TABLE imported_messages (
  realm_id INTEGER PRIMARY KEY REFERENCES realm (id),
  first_id INTEGER NOT NULL,
  last_id INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX imported_messages_by_id ON imported_messages (first_id, last_id);
