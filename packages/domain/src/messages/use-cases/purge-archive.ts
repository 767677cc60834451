import type { Clock } from '../../kernel/clock.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';

const AT_ONCE = 100;

/** Forgets for good what was deleted long enough ago. */
export class PurgeArchive {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Answers how many messages there were. @param keepSeconds for how long deleted messages can be put back */
  async execute({ keepSeconds }: { readonly keepSeconds: number }): Promise<number> {
    const before = this.clock.now() - keepSeconds;
    let count = 0;
    let purged: number;
    do {
      purged = await this.uow.write((tx) => tx.archive.purge(before, AT_ONCE));
      count += purged;
    } while (purged === AT_ONCE);
    return count;
  }
}
