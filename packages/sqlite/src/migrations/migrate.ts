import type { Database } from 'better-sqlite3';
import { initial } from './0001-initial.js';
import { eventFormats } from './0002-event-formats.js';
import type { Migration } from './migration.js';

/** In order; the schema's version is how many of them have run. New ones go to the end. */
const MIGRATIONS: readonly Migration[] = [initial, eventFormats];

export const LATEST_VERSION = MIGRATIONS.length;

/** Brings the schema forward, one transaction a step: a step that fails, or a crash, leaves the steps before it. */
export function migrate(database: Database, migrations: readonly Migration[] = MIGRATIONS): void {
  const step = database.transaction((): boolean => {
    // Asked inside the transaction: another process may have been at it meanwhile.
    const version = database.pragma('user_version', { simple: true }) as number;
    const next = migrations[version];
    if (!next) return false;
    database.exec(next.sql);
    database.pragma(`user_version = ${version + 1}`);
    return true;
  });
  while (step.immediate());
}
