import { closeSync, fchmodSync, openSync, realpathSync, statSync } from 'node:fs';
import type { Clock, StorageGauges, Timers, UnitOfWork } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import type { Commit } from '@parley/storage';
import {
  type AdmissionCheck,
  type Installation,
  installationOf,
  LATEST_VERSION,
  openReader,
  openWriter,
  type StatementTrace,
} from './database.js';
import { StorageFiles, type StorageLoss } from './engine/storage-files.js';
import { SqliteUnitOfWork } from './engine/unit-of-work.js';
import { repositoryFactory } from './features.js';

export { isUnsafeBinary, openDatabaseFile } from './binary.js';
export { isDatabaseFile, makePrivate, placeOf } from './database.js';
export { migrate } from './engine/migrate.js';
export { isDiskFailure } from './engine/write-failures.js';
export { MIGRATIONS as SQLITE_MIGRATIONS } from './features.js';
export { administerDatabase } from './maintenance.js';
export { type OpenTableSource, openTableSource } from './table-source.js';

export interface SqliteStorageOptions {
  /** Path of the database file, created if missing in an existing directory. */
  readonly path: string;
  readonly clock: Clock;
  /** Timers of delayed work; default: the system's. */
  readonly timers?: Timers;
  /** Called before an existing database is changed; throws to reject it. */
  readonly admit?: AdmissionCheck;
  readonly trace?: StatementTrace;
  /** Splits messages into indexed words; defaults to words as written. */
  readonly words?: SearchWords;
  /** Receives operator messages about problems with the files or concurrent processes. */
  readonly report?: (problem: string) => void;
  /** Called after every commit in the turn that completes its units. Must be fast and must not throw. */
  readonly onCommit?: (commit: Commit) => void;
}

export interface SqliteStorage {
  readonly uow: UnitOfWork;
  readonly installation: Installation;
  /**
   * Checks that the opened files are still in place; call about once a second. Otherwise saves readable acknowledged
   * data next to them and rejects all further units.
   * @throws DomainError STORAGE_UNAVAILABLE
   */
  verify(): void;
  gauges(): StorageGauges;
  /**
   * Removes what deleted rows leave in the files; `signal` ends it early. A database created by an older release keeps
   * earlier remains until it is compacted.
   */
  eraseDeleted(signal?: AbortSignal): Promise<void>;
  /** Completes running units, rejects new ones, and leaves a single file. */
  close(): Promise<void>;
}

/**
 * Opens the storage. @throws DatabaseRefused if the file cannot be opened or is not Parley's; it then remains unchanged
 */
export function openSqliteStorage(options: SqliteStorageOptions): SqliteStorage {
  const { path, clock, timers, admit, trace, words = PLAIN_TEXTS, report = () => {}, onCommit } = options;
  const writer = openWriter(path, { admit, trace, words });
  let rescue: Promise<void> | undefined;
  const files = new StorageFiles(path, (loss) => {
    rescue = rescueData(loss);
  });
  const createRepositories = repositoryFactory(clock, report, words);
  const uow = new SqliteUnitOfWork(writer, () => openReader(path, { trace, words }), createRepositories, {
    guard: files,
    report,
    ...(timers && { after: (ms, run) => timers.after(ms, run) }),
    ...(onCommit && { onCommit }),
  });

  async function rescueData({ problem, isReadable }: StorageLoss): Promise<void> {
    report(`${problem} ${WHAT_TO_DO}`);
    if (!isReadable) return;
    const copy = `${path}.rescued-${clock.now()}`;
    try {
      makePrivateFile(copy);
      await uow.copyTo(copy);
      report(`All acknowledged data is saved in ${copy}.`);
    } catch (error) {
      report(`Acknowledged data could not be saved in ${copy}: ${(error as Error).message}`);
    }
  }

  return {
    uow,
    installation: installationOf(writer, path),
    verify: () => files.verify(),
    gauges: () => ({
      waitingWrites: uow.waitingWrites,
      databaseBytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
      logBytes: statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      hasOwnSchema: writer.pragma('user_version', { simple: true }) === LATEST_VERSION,
    }),
    eraseDeleted: (signal) => uow.eraseDeleted(signal),
    async close() {
      await rescue;
      await uow.close();
      files.close();
    },
  };
}

const WHAT_TO_DO = 'All access has stopped. Stop the server, restore the right files, and start it again.';

function makePrivateFile(path: string): void {
  const descriptor = openSync(path, 'wx', 0o600);
  fchmodSync(descriptor, 0o600);
  closeSync(descriptor);
}
