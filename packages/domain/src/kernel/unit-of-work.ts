import type { RealmId } from './ids.js';
import type { SharedUnit } from './shared-units.js';

/**
 * Repositories by name, as a pair of types for reading (`never`: not available) and writing units of work. A feature
 * adds its own by declaration merging next to its port.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface RepositoryMap {}

type Ports<Index extends 0 | 1> = {
  readonly [K in keyof RepositoryMap as RepositoryMap[K][Index] extends never ? never : K]: RepositoryMap[K][Index];
};

interface Unit {
  /**
   * Yields to the event loop if the unit of work has run for long. Reads continue meanwhile; other writes wait. Call
   * it in each step over long lists; most calls are nearly free.
   */
  yield(): Promise<void>;
}

/** Repositories for reading. */
export interface Repositories extends Ports<0>, Unit {}

/** Repositories for reading and writing. */
export interface Transaction extends Ports<1>, Unit {
  /**
   * Called if the unit is not committed, the last one first. For counters in memory, which have to include units that are
   * committed together; nothing else in memory changes before the commit.
   */
  onRollback(undo: () => void): void;
}

/** Changes that this process reacts to once they are committed. A feature adds its own, as to `RepositoryMap`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface UnitChanges {}

export interface WriteOptions {
  /**
   * One of many bounded units that a long work is cut into. It has a commit of its own: others are served between two such
   * units, and have most of the time. They keep their order among each other.
   */
  readonly givesWay?: boolean;
  /** Permits other such units of the organization at the same time; by default a unit is alone. */
  readonly shared?: SharedUnit;
  /** Called once the unit is durable, before `write` resolves. Must not throw. */
  readonly onCommit?: (changes: UnitChanges) => void;
}

/**
 * Sole access to storage. A unit names the organization whose rows it reads and writes, so that a storage can keep
 * organizations apart; units across organizations, or before one is known, say so. A unit awaits only its repositories and
 * `yield`, one call at a time. Hashing, files and network calls run before or after it. Every implementation passes
 * unit-of-work.contract.ts.
 */
export interface UnitOfWork {
  /** Reads from one consistent snapshot. @throws DomainError STORAGE_UNAVAILABLE */
  read<T>(realmId: RealmId, work: (repositories: Repositories) => Promise<T>): Promise<T>;
  /** Reads rows of any organization, like `read`. */
  readAcross<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
  /**
   * All or nothing; resolves once the commit is durable. `work` fails alone. It runs again if its transaction conflicts with
   * another one. A `write` inside a unit waits for itself. An event of another organization fails the unit. @throws DomainError SERVER_BUSY, STORAGE_UNAVAILABLE
   */
  write<T>(realmId: RealmId, work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Writes rows of any organization, like `write`. */
  writeAcross<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
}
