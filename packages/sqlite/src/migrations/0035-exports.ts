import type { Migration } from './migration.js';

/** Archives of organizations that administrators ask for. */
export const exports: Migration = {
  name: '0035-exports',
  sql: `
CREATE TABLE realm_export (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  acting_user_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  path_id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL,
  blob TEXT,
  size INTEGER,
  ended_at INTEGER
) STRICT;
CREATE INDEX realm_export_by_realm ON realm_export (realm_id, id);
CREATE UNIQUE INDEX realm_export_by_blob ON realm_export (blob) WHERE blob IS NOT NULL;
`,
};
