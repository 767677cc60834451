import type { UnitOfWork } from '../../kernel/unit-of-work.js';

/** So many that a unit of them is over in some milliseconds, with long messages too. */
const BATCH = 50;

/** Puts messages into the index of searches that are not in it: those that were there before it, or all. */
export class IndexMessages {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Some of those that wait. False: none waits any more. */
  async execute(): Promise<boolean> {
    if ((await this.uow.read(({ searchIndex }) => searchIndex.unindexedUpTo())) === 0) return false;
    return this.uow.write(({ searchIndex }) => searchIndex.indexSome(BATCH));
  }

  /** From now on all wait; searches find again what is indexed, the newest messages first. */
  reset(): Promise<void> {
    return this.uow.write(({ searchIndex }) => searchIndex.reset());
  }
}
