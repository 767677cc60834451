import { closeSync, fchmodSync, openSync, realpathSync, statSync } from 'node:fs';
import type { Clock, UnitOfWork } from '@parley/domain/kernel';
import type { SearchWords } from '@parley/domain/markdown';
import { PLAIN_TEXTS } from '@parley/domain/messages';
import { type AdmissionCheck, LATEST_VERSION, openReader, openWriter, type StatementTrace } from './database.js';
import { StorageFiles, type StorageLoss } from './engine/storage-files.js';
import { type Commit, SqliteUnitOfWork } from './engine/unit-of-work.js';
import { repositoryFactory } from './features.js';

export { DatabaseRefused } from './engine/database-refused.js';
export type { Commit } from './engine/unit-of-work.js';
export { isDiskFailure } from './engine/write-failures.js';
export * from './maintenance.js';

export interface SqliteStorageOptions {
  /** Of the database file; made when there is none, in a directory that exists. */
  readonly path: string;
  readonly clock: Clock;
  /** Asked before anything of an existing database is touched; a throw refuses it. */
  readonly admit?: AdmissionCheck;
  readonly trace?: StatementTrace;
  /** What messages are found by; absent: words as they are written. */
  readonly words?: SearchWords;
  /** Gets sentences for the operator when something is wrong with the files, or with who else uses them. */
  readonly report?: (problem: string) => void;
  /** Called after every commit, in the turn that answers it: has to be quick, and must not throw. */
  readonly onCommit?: (commit: Commit) => void;
}

/** What an operator watches. */
export interface StorageGauges {
  /** Units that wait to be written. */
  readonly waitingWrites: number;
  readonly databaseBytes: number;
  /** Of the write-ahead log. */
  readonly logBytes: number;
  /** False: another process has brought the schema to that of a newer version. */
  readonly hasOwnSchema: boolean;
}

export interface SqliteStorage {
  readonly uow: UnitOfWork;
  /**
   * Looks whether the files are still those that were opened; to be called about once a second. When they are not, what was
   * acknowledged is saved beside them as far as it can be read, and from then on every unit is refused.
   * @throws DomainError STORAGE_UNAVAILABLE
   */
  verify(): void;
  gauges(): StorageGauges;
  /** Finishes the units that have begun, refuses new ones, and leaves one file behind. */
  close(): Promise<void>;
}

/** @throws DatabaseRefused when the file cannot be opened or is not Parley's; it is as it was then. */
export function openSqliteStorage(options: SqliteStorageOptions): SqliteStorage {
  const { path, clock, admit, trace, words = PLAIN_TEXTS, report = () => {}, onCommit } = options;
  const writer = openWriter(path, { admit, trace, words });
  let rescue: Promise<void> | undefined;
  const files = new StorageFiles(path, (loss) => {
    rescue = rescueData(loss);
  });
  const createRepositories = repositoryFactory(clock, report, words);
  const uow = new SqliteUnitOfWork(writer, () => openReader(path, { trace, words }), createRepositories, {
    guard: files,
    report,
    ...(onCommit && { onCommit }),
  });

  async function rescueData({ problem, isReadable }: StorageLoss): Promise<void> {
    report(`${problem} ${WHAT_TO_DO}`);
    if (!isReadable) return;
    const copy = `${path}.rescued-${clock.now()}`;
    try {
      makePrivateFile(copy);
      await uow.copyTo(copy);
      report(`Everything that was acknowledged is saved in ${copy}.`);
    } catch (error) {
      report(`What was acknowledged could not be saved in ${copy}: ${(error as Error).message}`);
    }
  }

  return {
    uow,
    verify: () => files.verify(),
    gauges: () => ({
      waitingWrites: uow.waitingWrites,
      databaseBytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
      logBytes: statSync(`${realpathSync(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      hasOwnSchema: writer.pragma('user_version', { simple: true }) === LATEST_VERSION,
    }),
    async close() {
      await rescue;
      await uow.close();
      files.close();
    },
  };
}

const WHAT_TO_DO =
  'Nothing is read or written any more. Stop the server, put the right files in their place, and start it again.';

function makePrivateFile(path: string): void {
  const descriptor = openSync(path, 'wx', 0o600);
  fchmodSync(descriptor, 0o600);
  closeSync(descriptor);
}
