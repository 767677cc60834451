import type { Migration } from './migration.js';

/** What adds a message adds its terms by a statement of its own. */
export const searchTerms: Migration = {
  name: '0027-search-terms',
  sql: `
DROP TRIGGER message_search_insert;
`,
};
