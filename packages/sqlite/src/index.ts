import type { Clock, UnitOfWork } from '@parley/domain';
import { openReader, openWriter, type StatementTrace } from './database.js';
import { repositoryFactory } from './repositories.js';
import { SqliteUnitOfWork } from './sqlite-unit-of-work.js';

export { DatabaseRefused, type StatementTrace } from './database.js';
export { UnitYielded } from './sqlite-unit-of-work.js';

export interface SqliteStorageOptions {
  /** Of the database file; made when there is none, in a directory that exists. */
  readonly path: string;
  readonly clock: Clock;
  readonly trace?: StatementTrace;
}

export interface SqliteStorage {
  readonly uow: UnitOfWork;
  /** Finishes the units that have begun, refuses new ones, and leaves one file behind. */
  close(): Promise<void>;
}

/** @throws DatabaseRefused when the file cannot be opened or is not Parley's; it is as it was then. */
export function openSqliteStorage({ path, clock, trace }: SqliteStorageOptions): SqliteStorage {
  const uow = new SqliteUnitOfWork(openWriter(path, trace), () => openReader(path, trace), repositoryFactory(clock));
  return { uow, close: () => uow.close() };
}
