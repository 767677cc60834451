-- Jobs that are due at a time.

CREATE TABLE job (
  -- Ascends in write order, also if a job replaces another one.
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  kind TEXT NOT NULL,
  key TEXT,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  -- Format version of the payload.
  format INTEGER NOT NULL,
  -- JSON.
  payload TEXT NOT NULL,
  -- Set once the job is given up.
  set_aside_at INTEGER,
  problem TEXT
) STRICT;
CREATE INDEX job_by_due_time ON job (kind, due_at, id) WHERE set_aside_at IS NULL;
CREATE UNIQUE INDEX job_by_key ON job (realm_id, kind, key) WHERE key IS NOT NULL;
CREATE INDEX job_set_aside ON job (set_aside_at) WHERE set_aside_at IS NOT NULL;
