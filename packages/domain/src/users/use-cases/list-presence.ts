import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import type { UnixSeconds } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { PresenceBoard, type PresenceList } from '../presence-board.js';

export const DEFAULT_HISTORY_DAYS = 14;

const SECONDS_PER_DAY = 86_400;
export const since = (clock: Clock, days: number): UnixSeconds => clock.now() - days * SECONDS_PER_DAY;

/** Who was there in the last two weeks, in the order of updates (users §8.4). */
export class ListPresence {
  static readonly inject = ['unitOfWork', PresenceBoard, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly board: PresenceBoard,
    private readonly clock: Clock,
  ) {}

  execute(caller: Caller): Promise<PresenceList> {
    const selection = { after: null, since: since(this.clock, DEFAULT_HISTORY_DAYS) };
    return this.uow.read((repositories) => this.board.listFor(repositories, caller, selection));
  }
}
