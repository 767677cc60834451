import type { RepositoryMap, UnitChanges } from './feature-types.js';
import type { RealmId } from './ids.js';
import type { SharedUnit } from './shared-units.js';

type Ports<Index extends 0 | 1> = {
  readonly [K in keyof RepositoryMap as RepositoryMap[K][Index] extends never ? never : K]: RepositoryMap[K][Index];
};

/**
 * Repositories for reading. A call yields to the event loop first if the unit of work has run for long. Reads continue
 * in the meantime, on their snapshots; other writes wait.
 */
export interface Repositories extends Ports<0> {}

/** Repositories for reading and writing. */
export interface Transaction extends Ports<1> {
  /**
   * Registers an undo step that is called if the unit is not committed, in reverse order. Intended for in-memory
   * counters that must include units committed together, and for the ids of imported objects. Other memory may only
   * change after the commit.
   */
  onRollback(undo: () => void): void;
}

export interface ReadOptions {
  /**
   * True if a read replica may serve the unit. Its snapshot then contains at least everything that was committed in the
   * organization when the unit began, as on the primary.
   */
  readonly allowsReplica?: boolean;
}

export interface WriteOptions {
  /**
   * True for one of many bounded steps of a long task. Each step has its own commit; other units run between two steps
   * and get most of the time. Steps keep their order.
   */
  readonly yields?: boolean;
  /** Permits other shared units of the organization to run concurrently; by default a unit runs alone. */
  readonly shared?: SharedUnit;
  /** Called once the unit is durable, before `write` resolves. Must not throw. */
  readonly onCommit?: (changes: UnitChanges) => void;
}

/**
 * Sole access to storage. A unit names the organization with the rows to read and write, so that a storage can keep
 * organizations apart. Units across organizations, or before one is known, use separate methods. A unit awaits only its
 * repositories, one call at a time. Hashing, files and network calls run before or after it. Every
 * implementation passes unit-of-work.contract.ts.
 */
export interface UnitOfWork {
  /** Reads from one consistent snapshot. @throws DomainError STORAGE_UNAVAILABLE */
  read<T>(realmId: RealmId, work: (repositories: Repositories) => Promise<T>, options?: ReadOptions): Promise<T>;
  /** Reads rows of any organization, like `read`. */
  readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
  /**
   * Runs `work` in a transaction and resolves once the commit is durable. A failing `work` does not affect other units.
   * `work` runs again if its transaction conflicts with another one. A nested `write` would wait forever. An event of
   * another organization fails the unit. @throws DomainError SERVER_BUSY, STORAGE_UNAVAILABLE
   */
  write<T>(realmId: RealmId, work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Writes rows of any organization, like `write`. */
  writeAcross<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
}
