import { resolve } from 'node:path';
import { type Logger, warn } from '@parley/http';
import type { DatabaseLocation } from '../configuration/configuration.js';

/** SQLite files of the servers that run in this process. */
const open: string[] = [];

/** Warns if a server of this process has the file open. Returns a function that ends the note. */
export function noteOpenFile(
  { database }: { readonly database: DatabaseLocation | null },
  { isOneOff, logger }: { readonly isOneOff?: boolean; readonly logger: Logger },
): () => void {
  if (database?.kind !== 'sqlite' || isOneOff) return () => {};
  const file = resolve(database.path);
  if (open.includes(file)) {
    const advice = 'where modules run again, as in hot reload, keep the result of createParley on globalThis';
    warn(
      logger,
      { file },
      `this process has opened the database twice, which takes memory until both are closed: ${advice}`,
    );
  }
  open.push(file);
  return () => void open.splice(open.indexOf(file), 1);
}
