import type { Clock } from '../../kernel/clock.js';
import type { UnixSeconds } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { updateFullMembers } from '../update-full-members.js';

/**
 * Makes full members of those whose waiting period is over, in every realm that has one, and unmakes them where it became
 * longer (channels §3.1–3.2). For a worker, which sleeps until the time that is answered.
 */
export class PromoteFullMembers {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** When it has something to do again; null: nobody is waiting. */
  async execute(): Promise<UnixSeconds | null> {
    const realms = await this.uow.read(({ realms }) => realms.list());
    let next: UnixSeconds | null = null;
    const waiting = realms.filter((realm) => !realm.isDeactivated && realm.settings.waitingPeriodThreshold > 0);
    for (const { id } of waiting) {
      const due = await this.uow.write(async (tx) => updateFullMembers(tx, await tx.realms.get(id), this.clock.now()));
      if (due !== null) next = Math.min(next ?? due, due);
    }
    return next;
  }
}
