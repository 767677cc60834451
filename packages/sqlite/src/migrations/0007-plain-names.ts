import type { Migration } from './migration.js';

/** Columns and indexes take the names that the glossary has for what they hold. */
export const plainNames: Migration = {
  name: '0007-plain-names',
  sql: `
ALTER TABLE message_flag RENAME COLUMN origin TO source;
ALTER TABLE message RENAME COLUMN traits TO property_bits;
ALTER TABLE user RENAME COLUMN name_likeness TO name_nfkc_key;
DROP INDEX user_by_likeness;
CREATE INDEX user_by_nfkc_name ON user (realm_id, name_nfkc_key);
DROP INDEX user_heads;
CREATE INDEX user_list ON user (realm_id, id, version, is_active, system_kind);
`,
};
