import type { Migration } from './migration.js';

/** Whose the server's own address is, is kept from here on; until now it was worked out from how many there were. */
export const serverAddress: Migration = {
  name: '0002-server-address',
  sql: `
ALTER TABLE realm ADD COLUMN is_at_server_address INTEGER NOT NULL DEFAULT 0;
UPDATE realm SET is_at_server_address = 1
WHERE string_id = '' OR (SELECT count(*) FROM realm) = 1;
CREATE UNIQUE INDEX realm_at_server_address ON realm (is_at_server_address) WHERE is_at_server_address = 1;
`,
};
