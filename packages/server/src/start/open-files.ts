import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { type Logger, warn } from '@parley/http';
import type { DatabaseLocation } from '../configuration/configuration.js';

/** SQLite files of the servers that run in this process. */
const open: string[] = [];

/**
 * Warns if a server of this process, or probably another worker of the cluster, has the file open. Returns a function that
 * ends the note.
 */
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
  if (cluster.worker && cluster.worker.id > 1) {
    const advice = 'handle requests of the chat in one worker, or use PostgreSQL';
    warn(logger, { file }, `workers of node:cluster share an SQLite file, so typing notifications get lost: ${advice}`);
  }
  open.push(file);
  return () => void open.splice(open.indexOf(file), 1);
}
