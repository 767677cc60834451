import type { Migration } from './migration.js';

/** Values of permissions are kept in memory for as long as they are the same, whoever comes into a named group meanwhile. */
export const settingValuesVersion: Migration = {
  name: '0042-setting-values-version',
  sql: 'ALTER TABLE realm ADD COLUMN setting_values_version INTEGER NOT NULL DEFAULT 0;',
};
