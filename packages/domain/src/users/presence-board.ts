import type { EphemeralEvents } from '../kernel/event.js';
import type { EventListener, StoredEvent } from '../kernel/event-log.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { isLimitedGuest } from './accessible-users.js';
import {
  comesOnline,
  type Presence,
  type PresencePolicy,
  type PresenceStatus,
  type PresenceTimes,
  presenceAudience,
  timesAfterReport,
  timesAfterSwitch,
} from './presence.js';
import type { User } from './user.js';

/** Presence of one user. Replaced by a new object on each change, so that derived data can be cached by identity. */
export interface PresenceEntry extends Presence {
  readonly user: User;
}

/** Presence data visible to a viewer. */
export interface PresenceList {
  /** Sorted by update. */
  readonly entries: readonly PresenceEntry[];
  /** Users whose email the viewer may see (users §1.4); null: all users. */
  readonly visibleIds: ReadonlySet<UserId> | null;
  /** True if the realm has disabled presence; nothing is stored or shown. */
  readonly isDisabled: boolean;
}

export interface PresenceSelection {
  /** Last known update; null: everything. */
  readonly after: number | null;
  /** Earliest last connection; null: any time. */
  readonly since: UnixSeconds | null;
}

/** Maximum number of receivers of presence events; clients of larger realms poll (users §8.5). */
const MAX_RECEIVERS = 100;
const ROWS_AT_A_TIME = 500;
/** Block size for reserving update ids. A crash loses the rest of a block, and no id is used twice. */
const IDS_AT_A_TIME = 1_000_000;

/** Presence of the users of one realm. */
interface RealmBoard {
  readonly entries: Map<UserId, PresenceEntry>;
  /** Sorted by update id; may contain obsolete updates. */
  order: { readonly updateId: number; readonly userId: UserId }[];
  readonly unsaved: Set<UserId>;
  /** Number of active users in the realm, including bots. */
  activeUsers: number;
  nextId: number;
  /** First id after the reserved block. */
  endId: number;
  reserving: Promise<void> | null;
  isDisabled: boolean;
}

/**
 * In-memory presence, since reports are too frequent for a commit each. `save` stores changes since the last save; a
 * crash loses unsaved ones. Only one process must serve a realm.
 */
export class PresenceBoard implements EventListener {
  static readonly inject = ['unitOfWork', 'clock', 'ephemeralEvents', 'presencePolicy'] as const;

  private readonly realms = new Map<RealmId, RealmBoard>();
  /** Version of user data; a load that started with an older version is not cached. */
  private changes = 0;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly events: EphemeralEvents,
    private readonly policy: PresencePolicy,
  ) {}

  /** Returns the presence with its user; null if the user was never present. */
  async find(realmId: RealmId, userId: UserId): Promise<PresenceEntry | null> {
    return (await this.open(realmId)).entries.get(userId) ?? null;
  }

  /** Returns active users in update order, for viewers who may see everyone. */
  async list(realmId: RealmId, selection: PresenceSelection): Promise<PresenceList> {
    const board = await this.open(realmId);
    return { entries: select(board, selection), visibleIds: null, isDisabled: board.isDisabled };
  }

  /** Returns the presence visible to the viewer, inside a unit of work. */
  async listFor(
    repositories: Repositories,
    viewer: { readonly realmId: RealmId; readonly userId: UserId },
    selection: PresenceSelection,
  ): Promise<PresenceList> {
    const { realmId } = viewer;
    const board = this.realms.get(realmId) ?? (await this.load(repositories, realmId));
    const visibleIds = await visibleIdsOf(repositories, viewer);
    const entries = select(board, selection);
    const isLimited = visibleIds !== null && this.policy.limitsToAccessors;
    return {
      entries: isLimited ? entries.filter(({ userId }) => visibleIds.has(userId)) : entries,
      visibleIds,
      isDisabled: board.isDisabled,
    };
  }

  /** Records the user's presence and publishes the event if they come online. */
  async report(user: User, status: PresenceStatus): Promise<void> {
    const { realmId } = user;
    const board = await this.open(realmId);
    if (board.isDisabled) return;
    const now = this.clock.now();
    const before = board.entries.get(user.id) ?? null;
    const times = timesAfterReport(before, status, now);
    if (!times) return;
    if (board.nextId === board.endId) await this.reserveIds(realmId, board);
    this.set(board, user, times);
    if (!comesOnline(before, status, now) || board.activeUsers > MAX_RECEIVERS) return;
    const event = { type: 'presence.came_online', user, times, at: now } as const;
    this.events.publishEphemeral(realmId, { event, audience: presenceAudience(this.policy, user.id) });
  }

  /** Saves changes since the last save in one unit of work. */
  async save(): Promise<void> {
    const changed = [...this.realms].flatMap(([realmId, board]) => {
      const presences = [...board.unsaved].map((id) => toPresence(board.entries.get(id)!));
      return presences.length === 0 ? [] : [{ realmId, board, presences }];
    });
    if (changed.length === 0) return;
    for (const { board } of changed) board.unsaved.clear();
    try {
      await this.uow.writeAcross(async (tx) => {
        for (const { realmId, presences } of changed) {
          for (const slice of slicesOf(presences, ROWS_AT_A_TIME)) {
            await tx.presence.put(realmId, slice);
            await tx.yield();
          }
        }
      });
    } catch (error) {
      for (const { board, presences } of changed) for (const { userId } of presences) board.unsaved.add(userId);
      throw error;
    }
  }

  onEvents(events: readonly StoredEvent[]): void {
    for (const { realmId, event } of events) {
      const board = this.realms.get(realmId);
      switch (event.type) {
        case 'user.presence_switched':
          this.changes++;
          if (board) this.set(board, event.user, timesAfterSwitch(event.user.settings.presenceEnabled, event.at));
          break;
        case 'realm.setting_changed':
          if (event.setting !== 'presenceDisabled') break;
          this.changes++;
          if (board) board.isDisabled = event.value === true;
          break;
        case 'user.email_changed':
        case 'user.email_visibility_changed':
          this.changes++;
          if (board) replaceUser(board, event.user.id, () => event.user);
          break;
        case 'user.role_changed':
          this.changes++;
          if (board) replaceUser(board, event.userId, (user) => ({ ...user, role: event.role }));
          break;
        case 'user.created':
          this.changes++;
          if (board) board.activeUsers++;
          break;
        case 'user.activation_changed':
          this.changes++;
          if (!board) break;
          board.activeUsers += event.isActive ? 1 : -1;
          replaceUser(board, event.userId, (user) => ({ ...user, isActive: event.isActive }));
      }
    }
  }

  /** The lost event may have changed an email. Presence itself is unaffected. */
  onUnreadable({ realmId }: { readonly realmId: RealmId }): void {
    this.changes++;
    const board = this.realms.get(realmId);
    if (board && board.unsaved.size === 0) this.realms.delete(realmId);
  }

  holds(realmId: RealmId): boolean {
    return (this.realms.get(realmId)?.unsaved.size ?? 0) > 0;
  }

  onClosed(realmId: RealmId): void {
    this.changes++;
    this.realms.delete(realmId);
  }

  private async open(realmId: RealmId): Promise<RealmBoard> {
    for (;;) {
      const board = this.realms.get(realmId);
      if (board) return board;
      await this.uow.read(realmId, (repositories) => this.load(repositories, realmId));
    }
  }

  /** Caches the loaded board unless it is outdated or another load finished first. */
  private async load(repositories: Repositories, realmId: RealmId): Promise<RealmBoard> {
    const { changes } = this;
    const presences = await repositories.presence.list(realmId);
    const users = new Map<UserId, User>();
    for (const slice of slicesOf(presences, ROWS_AT_A_TIME)) {
      const ids = slice.map(({ userId }) => userId);
      for (const user of await repositories.users.list(realmId, ids)) users.set(user.id, user);
      await repositories.yield();
    }
    const visible = presences.filter(({ userId }) => users.has(userId));
    const board: RealmBoard = {
      entries: new Map(
        visible.map((presence) => [presence.userId, { ...presence, user: users.get(presence.userId)! }]),
      ),
      order: visible.map(({ updateId, userId }) => ({ updateId, userId })),
      unsaved: new Set(),
      activeUsers: (await repositories.users.listEntries(realmId)).filter(({ isActive }) => isActive).length,
      nextId: 0,
      endId: 0,
      reserving: null,
      isDisabled: (await repositories.realms.get(realmId)).settings.presenceDisabled,
    };
    if (this.changes === changes && !this.realms.has(realmId)) this.realms.set(realmId, board);
    return this.realms.get(realmId) ?? board;
  }

  private async reserveIds(realmId: RealmId, board: RealmBoard): Promise<void> {
    board.reserving ??= this.uow
      .write(realmId, (tx) => tx.presence.reserveIds(realmId, IDS_AT_A_TIME))
      .then((first) => {
        board.nextId = Math.max(first, (board.order.at(-1)?.updateId ?? 0) + 1);
        board.endId = first + IDS_AT_A_TIME;
      })
      .finally(() => {
        board.reserving = null;
      });
    await board.reserving;
  }

  private set(board: RealmBoard, user: User, times: PresenceTimes): void {
    // Falls back to an unreserved id; the next reserved block continues after it.
    const updateId = board.nextId < board.endId ? board.nextId++ : (board.order.at(-1)?.updateId ?? 0) + 1;
    const entry: PresenceEntry = { user, userId: user.id, ...times, updateId };
    board.entries.set(user.id, entry);
    board.order.push({ updateId, userId: user.id });
    board.unsaved.add(user.id);
    if (board.order.length > 2 * board.entries.size + ROWS_AT_A_TIME) {
      board.order = board.order.filter((at) => board.entries.get(at.userId)?.updateId === at.updateId);
    }
  }
}

/** Returns the human users the viewer may see; null for all (users §1.4). */
async function visibleIdsOf(
  { actors, realms, users }: Repositories,
  viewer: { readonly realmId: RealmId; readonly userId: UserId },
): Promise<ReadonlySet<UserId> | null> {
  const actor = await actors.get(viewer);
  if (!isLimitedGuest(actor, await realms.get(viewer.realmId))) return null;
  return new Set([viewer.userId, ...(await users.listConversationPartners(viewer.realmId, viewer.userId))]);
}

function replaceUser(board: RealmBoard, userId: UserId, change: (user: User) => User): void {
  const entry = board.entries.get(userId);
  if (entry) board.entries.set(userId, { ...entry, user: change(entry.user) });
}

const toPresence = ({ userId, lastActive, lastConnected, updateId }: PresenceEntry): Presence => ({
  userId,
  lastActive,
  lastConnected,
  updateId,
});

function select({ entries, order, isDisabled }: RealmBoard, { after, since }: PresenceSelection): PresenceEntry[] {
  if (isDisabled) return [];
  const found: PresenceEntry[] = [];
  for (let index = after === null ? 0 : indexAfter(order, after); index < order.length; index++) {
    const { updateId, userId } = order[index]!;
    const entry = entries.get(userId)!;
    if (entry.updateId !== updateId || !entry.user.isActive) continue;
    if (since === null || entry.lastConnected >= since) found.push(entry);
  }
  return found;
}

/** Returns the index of the first later update. */
function indexAfter(order: RealmBoard['order'], updateId: number): number {
  let [low, high] = [0, order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (order[middle]!.updateId <= updateId) low = middle + 1;
    else high = middle;
  }
  return low;
}
