import type { Bus, BusHint } from '../kernel/bus.js';
import { isDue } from '../kernel/clock-watch.js';
import type { EphemeralEvents } from '../kernel/event.js';
import type { EventListener, StoredEvent } from '../kernel/event-log.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow, slicesOf } from '../kernel/work.js';
import { isLimitedGuest } from './accessible-users.js';
import {
  comesOnline,
  type Presence,
  type PresencePolicy,
  type PresenceStatus,
  type PresenceTimes,
  presenceAudience,
  timesAfterReport,
} from './presence.js';
import type { User } from './user.js';

/** Presence of one user. Replaced by a new object on each change, so that derived data can be cached by identity. */
export interface PresenceEntry extends PresenceTimes {
  readonly userId: UserId;
  readonly user: User;
  /** Null until the entry is stored. */
  readonly updateId: number | null;
}

/** Presence data visible to a viewer. */
export interface PresenceList {
  /** Sorted by update; entries that are not stored yet come last. */
  readonly entries: readonly PresenceEntry[];
  /** Users with an email visible to the viewer (users §1.4); null means all users. */
  readonly visibleIds: ReadonlySet<UserId> | null;
  /** True if the realm has disabled presence; nothing is stored or shown. */
  readonly isDisabled: boolean;
}

export interface PresenceSelection {
  /** Last known update; null for all presences. */
  readonly after: number | null;
  /** Earliest last connection; null for any time. */
  readonly since: UnixSeconds | null;
}

/** Maximum number of receivers of presence events; clients of larger realms poll (users §8.5). */
const MAX_RECEIVERS = 100;
/** Number of superseded entries of `order` after which it is rebuilt. */
const ORDER_SLACK = 500;
const REALMS_AT_A_TIME = 50;
/** Age at which the table is read again, because other servers also store presence. */
const REFRESH_MS = 1000;

declare module '../kernel/feature-types.js' {
  interface BusHintTypes {
    /** The table contains this update. */
    presence: { readonly updateId: number };
  }
}

/** Presence of the users of one realm. */
interface RealmBoard {
  readonly entries: Map<UserId, PresenceEntry>;
  /** Stored updates sorted by id; may contain obsolete ones. */
  order: { readonly updateId: number; readonly userId: UserId }[];
  /** Entries that are not stored yet. */
  readonly unsaved: Map<UserId, PresenceEntry>;
  /** Last update read from the table or written to it. */
  readUpTo: number;
  refreshAtMs: number;
  /** Number of active users in the realm, including bots. */
  activeUsers: number;
  isDisabled: boolean;
}

interface StoredRow {
  readonly presence: Presence;
  readonly user: User;
}

/**
 * Presence table in memory plus unsaved reports, since reports are too frequent for one commit each. `save` stores them
 * with update ids from the organization's counter; a crash loses them. Also reads updates stored by other servers.
 */
export class PresenceBoard implements EventListener {
  static readonly inject = ['unitOfWork', 'clock', 'ephemeralEvents', 'presencePolicy', 'bus'] as const;

  private readonly realms = new Map<RealmId, RealmBoard>();
  private onUnsaved: () => void = () => {};
  /** Version of user data; a load that started with an older version is not cached. */
  private changes = 0;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly events: EphemeralEvents,
    private readonly policy: PresencePolicy,
    private readonly bus: Bus,
  ) {}

  /** Returns the presence with its user; null if the user was never present. */
  async find(realmId: RealmId, userId: UserId): Promise<PresenceEntry | null> {
    return (await this.open(realmId)).entries.get(userId) ?? null;
  }

  /** Returns active users in update order, for viewers who may see all users. */
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
    const board = await this.openIn(repositories, realmId);
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
    const entry: PresenceEntry = { user, userId: user.id, ...times, updateId: null };
    board.entries.set(user.id, entry);
    board.unsaved.set(user.id, entry);
    this.onUnsaved();
    if (!comesOnline(before, status, now) || board.activeUsers > MAX_RECEIVERS) return;
    const event = { type: 'presence.came_online', user, times, at: now } as const;
    this.events.publishEphemeral(realmId, { event, audience: presenceAudience(this.policy, user.id) });
  }

  /** Calls the listener after each report that `save` has to store. */
  watch(onUnsaved: () => void): void {
    this.onUnsaved = onUnsaved;
  }

  /** Saves changes since the last save, in one unit of work per organization. */
  async save(): Promise<void> {
    const changed = [...this.realms].filter(([, board]) => board.unsaved.size > 0);
    for (const some of slicesOf(changed, REALMS_AT_A_TIME)) {
      await Promise.all(
        some.map(async ([realmId, board]) => {
          const shared = { kind: 'presence' } as const;
          const apply = await this.uow.write(realmId, (tx) => this.saveRealm(tx, realmId, board), { shared });
          apply();
        }),
      );
    }
  }

  /** Returns the function to call after the commit. */
  private async saveRealm(tx: Transaction, realmId: RealmId, board: RealmBoard): Promise<() => void> {
    const own = [...board.unsaved.values()];
    // Ids below the reserved ones belong to committed updates.
    const others = await readStored(tx, realmId, board);
    const first = await tx.presence.reserveIds(realmId, own.length);
    const rows = own.map(({ user, userId, lastActive, lastConnected }, index): StoredRow => {
      return { user, presence: { userId, lastActive, lastConnected, updateId: first + index } };
    });
    await tx.presence.put(
      realmId,
      rows.map(({ presence }) => presence),
    );
    return () => {
      for (const entry of own) if (board.unsaved.get(entry.userId) === entry) board.unsaved.delete(entry.userId);
      this.apply(board, [...others, ...rows]);
      this.bus.publish(realmId, { kind: 'presence', updateId: board.readUpTo });
    };
  }

  onEvents(events: readonly StoredEvent[]): void {
    for (const { realmId, event } of events) {
      const board = this.realms.get(realmId);
      switch (event.type) {
        case 'user.presence_switched':
          this.changes++;
          if (!board) break;
          // The unit of work that changed the visibility has stored the presence.
          board.unsaved.delete(event.user.id);
          board.refreshAtMs = 0;
          replaceUser(board, event.user.id, () => event.user);
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

  onHint(realmId: RealmId, hint: BusHint): void {
    const board = this.realms.get(realmId);
    if (board && hint.kind === 'presence' && hint.updateId > board.readUpTo) board.refreshAtMs = 0;
  }

  private async open(realmId: RealmId): Promise<RealmBoard> {
    const board = this.realms.get(realmId);
    if (board && !isDue(board.refreshAtMs, this.clock.nowMs(), REFRESH_MS)) return board;
    return this.uow.read(realmId, (repositories) => this.openIn(repositories, realmId));
  }

  private async openIn(repositories: Repositories, realmId: RealmId): Promise<RealmBoard> {
    const board = this.realms.get(realmId);
    if (!board) return this.load(repositories, realmId);
    if (!isDue(board.refreshAtMs, this.clock.nowMs(), REFRESH_MS)) return board;
    board.refreshAtMs = this.clock.nowMs() + REFRESH_MS;
    this.apply(board, await readStored(repositories, realmId, board));
    return board;
  }

  /** Caches the loaded board unless it is outdated or another load finished first. */
  private async load(repositories: Repositories, realmId: RealmId): Promise<RealmBoard> {
    const { changes } = this;
    const board: RealmBoard = {
      entries: new Map(),
      order: [],
      unsaved: new Map(),
      readUpTo: 0,
      refreshAtMs: this.clock.nowMs() + REFRESH_MS,
      activeUsers: (await repositories.users.listEntries(realmId)).filter(({ isActive }) => isActive).length,
      isDisabled: (await repositories.realms.get(realmId)).settings.presenceDisabled,
    };
    this.apply(board, await readStored(repositories, realmId, board));
    if (this.changes === changes && !this.realms.has(realmId)) this.realms.set(realmId, board);
    return this.realms.get(realmId) ?? board;
  }

  /** Applies table rows, sorted by update. A row may have been applied before. */
  private apply(board: RealmBoard, rows: readonly StoredRow[]): void {
    for (const { presence, user } of rows) {
      const { userId, updateId } = presence;
      if (updateId > board.readUpTo) {
        board.order.push({ updateId, userId });
        board.readUpTo = updateId;
      }
      const present = board.entries.get(userId);
      // An unsaved report is newer.
      if (board.unsaved.has(userId) || (present?.updateId ?? 0) >= updateId) continue;
      board.entries.set(userId, { ...presence, user: present?.user ?? user });
    }
    if (board.order.length > 2 * board.entries.size + ORDER_SLACK) {
      board.order = board.order.filter((at) => board.entries.get(at.userId)?.updateId === at.updateId);
    }
  }
}

/** Reads updates that the board does not have yet, with their users. */
async function readStored(repositories: Repositories, realmId: RealmId, board: RealmBoard): Promise<StoredRow[]> {
  const presences = await repositories.presence.list(realmId, board.readUpTo);
  const unknown = presences.filter(({ userId }) => !board.entries.has(userId)).map(({ userId }) => userId);
  const found = unknown.length === 0 ? [] : await repositories.users.list(realmId, unknown);
  const users = new Map(found.map((user) => [user.id, user]));
  return presences.flatMap((presence) => {
    const user = board.entries.get(presence.userId)?.user ?? users.get(presence.userId);
    return user ? [{ presence, user }] : [];
  });
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

function select(
  { entries, order, unsaved, isDisabled }: RealmBoard,
  { after, since }: PresenceSelection,
): PresenceEntry[] {
  if (isDisabled) return [];
  const found: PresenceEntry[] = [];
  const isShown = ({ user, lastConnected }: PresenceEntry) =>
    user.isActive && (since === null || lastConnected >= since);
  for (let index = after === null ? 0 : indexAfter(order, after); index < order.length; index++) {
    const { updateId, userId } = order[index]!;
    const entry = getOrThrow(entries, userId);
    if (entry.updateId === updateId && isShown(entry)) found.push(entry);
  }
  for (const userId of unsaved.keys()) {
    const entry = getOrThrow(entries, userId);
    if (isShown(entry)) found.push(entry);
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
