import { mustBeHuman } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import type { Caller, UnixSeconds } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { conversationPartnerIds } from './accessible-users.js';
import { findByPublicAddress, type UserReference } from './find-user.js';
import type { PresenceStatus } from './presence.js';
import { PresenceBoard, type PresenceEntry, type PresenceList } from './presence-board.js';
import { canAccessUser } from './user-permissions.js';

/** Returns the last presence of a user (users §8.3). */
export class GetPresence {
  static readonly inject = ['unitOfWork', PresenceBoard, 'realmUrls'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly board: PresenceBoard,
    private readonly realmUrls: RealmUrls,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NO_PRESENCE_OF_BOTS, NOT_PERMITTED, UNKNOWN_PRESENCE */
  async execute(caller: Caller, by: UserReference): Promise<PresenceEntry> {
    const { realmId } = caller;
    const { userId, isShown } = await this.uow.read(realmId, async (repositories) => {
      const viewer = await repositories.actors.get(caller);
      const realm = await repositories.realms.get(realmId);
      const user =
        'id' in by
          ? await repositories.users.find(realmId, by.id)
          : await this.findByAddress(repositories, realm, by.email);
      if (!user?.isActive || user.bot?.isSystem) throw new DomainError('UNKNOWN_USER', 'No such user');
      if (user.bot) throw new DomainError('NO_PRESENCE_OF_BOTS', 'Presence is not supported for bot users.');
      const sharesConversation = (await conversationPartnerIds(repositories, viewer, realm)).has(user.id);
      enforce(canAccessUser(viewer, user, { realm, sharesConversation }));
      return { userId: user.id, isShown: !realm.settings.presenceDisabled };
    });
    const entry = isShown ? await this.board.find(realmId, userId) : null;
    if (entry) return entry;
    throw new DomainError('UNKNOWN_PRESENCE', `No presence data for ${'id' in by ? by.id : by.email}`);
  }

  /** Finds the user by publicly visible email. */
  private async findByAddress(
    repositories: Parameters<typeof findByPublicAddress>[0],
    realm: Parameters<RealmUrls['emailDomainOf']>[0] & { readonly id: Caller['realmId'] },
    email: string,
  ) {
    const host = this.realmUrls.emailDomainOf(realm);
    return (await findByPublicAddress(repositories, realm.id, [email], host)).get(email) ?? null;
  }
}

export const DEFAULT_HISTORY_DAYS = 14;

const SECONDS_PER_DAY = 86_400;
export const since = (clock: Clock, days: number): UnixSeconds => clock.now() - days * SECONDS_PER_DAY;

/** Lists presences of the last two weeks, sorted by update (users §8.4). */
export class ListPresence {
  static readonly inject = ['unitOfWork', PresenceBoard, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly board: PresenceBoard,
    private readonly clock: Clock,
  ) {}

  execute(caller: Caller): Promise<PresenceList> {
    const selection = { after: null, since: since(this.clock, DEFAULT_HISTORY_DAYS) };
    return this.uow.read(caller.realmId, (repositories) => this.board.listFor(repositories, caller, selection));
  }
}

export interface ReportPresenceInput {
  readonly status: PresenceStatus;
  /** True if the response needs no presence of other users. */
  readonly isPingOnly: boolean;
  /** Last update known to the client; null if none. */
  readonly lastUpdateId: number | null;
  readonly historyDays: number;
}

/** Records the caller's presence and returns the presence of other users, sorted by update (users §8.1). */
export class ReportPresence {
  static readonly inject = ['unitOfWork', PresenceBoard, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly board: PresenceBoard,
    private readonly clock: Clock,
  ) {}

  /** Returns null for a mere ping. @throws DomainError MUST_NOT_BE_BOT */
  async execute(caller: Caller, input: ReportPresenceInput): Promise<PresenceList | null> {
    const { realmId, userId } = caller;
    const existing = await this.board.find(realmId, userId);
    const user = existing?.user ?? (await this.uow.read(realmId, ({ users }) => users.find(realmId, userId)))!;
    enforce(mustBeHuman({ isBot: user.bot !== null }));
    if (user.settings.presenceEnabled) await this.board.report(user, input.status);
    if (input.isPingOnly) return null;
    const { lastUpdateId } = input;
    const isFirst = lastUpdateId === null || lastUpdateId <= 0;
    const selection = {
      after: isFirst ? null : lastUpdateId,
      since: isFirst ? since(this.clock, input.historyDays) : null,
    };
    // Reports are frequent; only guests need a database lookup.
    if (user.role !== 'guest') return this.board.list(realmId, selection);
    return this.uow.read(caller.realmId, (repositories) => this.board.listFor(repositories, caller, selection));
  }
}
