import type { Migration } from './migration.js';

/** What administrators list for their organization: domains of addresses, linkifiers, playgrounds. */
export const organizationLists: Migration = {
  name: '0020-organization-lists',
  sql: `
CREATE TABLE allowed_domain (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  domain TEXT NOT NULL,
  allows_subdomains INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX allowed_domain_by_name ON allowed_domain (realm_id, domain);

CREATE TABLE linkifier (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  -- Ascending in the order in which they are applied.
  position INTEGER NOT NULL,
  pattern TEXT NOT NULL,
  url_template TEXT NOT NULL,
  example_input TEXT,
  reverse_template TEXT,
  -- JSON list of texts.
  alternative_url_templates TEXT NOT NULL
) STRICT;
CREATE INDEX linkifier_in_order ON linkifier (realm_id, position);

CREATE TABLE playground (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  realm_id INTEGER NOT NULL REFERENCES realm (id),
  name TEXT NOT NULL,
  language TEXT NOT NULL,
  url_template TEXT NOT NULL
) STRICT;
CREATE INDEX playground_by_realm ON playground (realm_id, id);
`,
};
