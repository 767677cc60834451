-- Calls that servers have counted under rate limits, for the other servers.
CREATE TABLE counted_calls (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  server TEXT NOT NULL,
  rule TEXT NOT NULL,
  -- JSON.
  key TEXT NOT NULL,
  calls INTEGER NOT NULL,
  is_reset INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX counted_calls_by_expiry ON counted_calls (expires_at);
