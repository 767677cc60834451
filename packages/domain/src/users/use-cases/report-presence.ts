import { mustBeHuman } from '../../access/role-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { enforce } from '../../kernel/permission.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { PresenceStatus } from '../presence.js';
import { PresenceBoard, type PresenceList } from '../presence-board.js';
import { since } from './list-presence.js';

export interface ReportPresenceInput {
  readonly status: PresenceStatus;
  /** Asks for nothing about others. */
  readonly isPingOnly: boolean;
  /** What the client knows already; null: nothing. */
  readonly lastUpdateId: number | null;
  readonly historyDays: number;
}

/** The caller is there; answers who else is, in the order of updates (users §8.1). */
export class ReportPresence {
  static readonly inject = ['unitOfWork', PresenceBoard, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly board: PresenceBoard,
    private readonly clock: Clock,
  ) {}

  /** Null: nothing was asked for. @throws DomainError MUST_NOT_BE_BOT */
  async execute(caller: Caller, input: ReportPresenceInput): Promise<PresenceList | null> {
    const { realmId, userId } = caller;
    const known = await this.board.find(realmId, userId);
    const user = known?.user ?? (await this.uow.read(({ users }) => users.find(realmId, userId)))!;
    enforce(mustBeHuman({ isBot: user.bot !== null }));
    if (user.settings.presenceEnabled) await this.board.report(user, input.status);
    if (input.isPingOnly) return null;
    const { lastUpdateId } = input;
    const isFirst = lastUpdateId === null || lastUpdateId <= 0;
    const selection = {
      after: isFirst ? null : lastUpdateId,
      since: isFirst ? since(this.clock, input.historyDays) : null,
    };
    // Reports come often: only guests have to be looked up.
    if (user.role !== 'guest') return this.board.list(realmId, selection);
    return this.uow.read((repositories) => this.board.listFor(repositories, caller, selection));
  }
}
