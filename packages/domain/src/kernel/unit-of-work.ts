/**
 * The repositories by name: what of each a unit that only reads has (`never`: nothing), and what one that writes has. A
 * feature adds its own by declaration merging, beside the port.
 */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface RepositoryMap {}

type Ports<Place extends 0 | 1> = {
  readonly [K in keyof RepositoryMap as RepositoryMap[K][Place] extends never ? never : K]: RepositoryMap[K][Place];
};

interface Unit {
  /**
   * Lets the event loop turn when the unit has held it for long; reads go on meanwhile, writes wait for a write. Whoever
   * works through a list that may be long calls it at each step: most calls cost nothing.
   */
  yield(): Promise<void>;
}

/** Everything a unit can read. */
export interface Repositories extends Ports<0>, Unit {}

/** Everything a unit can read and change. */
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
  /** Called once the unit is durable, before `write` resolves. Must not throw. */
  readonly onCommit?: (changes: UnitChanges) => void;
}

/**
 * The only way to storage. A unit awaits nothing but its repositories and their `yield`, one call after the other: hashing,
 * files and network come before or after it. Every implementation passes unit-of-work.contract.ts.
 */
export interface UnitOfWork {
  /** One consistent snapshot; nothing can be written. @throws DomainError STORAGE_UNAVAILABLE */
  read<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
  /**
   * All or nothing; resolves once the commit is durable. `work` runs once, and fails alone. A `write` inside a unit waits for
   * itself. @throws DomainError SERVER_BUSY, STORAGE_UNAVAILABLE
   */
  write<T>(work: (tx: Transaction) => Promise<T>, options?: WriteOptions): Promise<T>;
}
