import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/**
 * Before steps were recorded the first one was edited once, so that files of version 1 have one of two forms. Everything
 * else is unknown.
 */
const FORMS_OF_VERSION_1: ReadonlyMap<string, { readonly sqlToFirstStep: string }> = new Map([
  ['aa35c92a59048cded48845892a51ffc00d60a9a1cc3df2843d8cce4719349ff1', { sqlToFirstStep: '' }],
  [
    // The older one.
    '3153c95bdf0e198718f4c96e184b5d601c445f8978c6a66cbdaadc902407dbcc',
    {
      sqlToFirstStep: `
CREATE TABLE submessage (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL,
  realm_id INTEGER NOT NULL,
  kind TEXT NOT NULL,
  content TEXT NOT NULL
) STRICT;
CREATE INDEX submessage_by_message ON submessage (message_id, id);
`,
    },
  ],
]);

/** What it takes to make of an unrecorded file of version 1 what the first step makes. Null: no release made this file. */
export function sqlToFirstStep(database: Database): string | null {
  return FORMS_OF_VERSION_1.get(fingerprintOf(database))?.sqlToFirstStep ?? null;
}

/** Of the schema as it is, whatever the spelling of its statements. */
export function fingerprintOf(database: Database): string {
  return createHash('sha256').update(normalizedSchema(database).join('\n')).digest('hex');
}

/** A line for each table, index and trigger, in the order of their names; without comments and blanks that mean nothing. */
export function normalizedSchema(database: Database): readonly string[] {
  return database
    .prepare<[], string>(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name",
    )
    .pluck()
    .all()
    .map((sql) =>
      sql
        .replace(/--[^\n]*/g, ' ')
        .replace(/\s+/g, ' ')
        .replace(/ ?([(),]) ?/g, '$1')
        .trim(),
    );
}
