import { type ClosureGroup, GroupClosure, type GroupEdge } from '../groups/group-closure.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../shared/ids.js';
import { isAtLeast, type Role } from '../users/role.js';
import type { Audience } from './audience.js';
import type { DomainEvent } from './event.js';
import type { StoredEvent } from './event-log.js';
import type { LiveQueue } from './live-queue.js';
import { isInNarrow } from './queue-narrow.js';

/** Somebody with live queues, and what audiences ask about him. Follows the log. */
export interface Owner {
  readonly userId: UserId;
  role: Role;
  isActive: boolean;
  readonly channels: Set<ChannelId>;
  readonly directGroups: Set<GroupId>;
  readonly queues: Set<LiveQueue>;
}

/** Which of these users have the message as their own. */
export type FindHolders = (id: MessageId, among: readonly UserId[]) => Promise<ReadonlySet<UserId>>;
export type Holders = ReadonlyMap<MessageId, ReadonlySet<UserId>>;
const NO_HOLDERS: Holders = new Map();

/**
 * The live queues of one realm, by owner and by what their owners follow: distributing an event costs what is online,
 * however large the channel. Its picture of roles, groups and channels is a fold over the log.
 */
export class LiveRealm {
  readonly owners = new Map<UserId, Owner>();
  private readonly byChannel = new Map<ChannelId, Set<Owner>>();
  /** Queues that get messages of public channels whether or not their owners follow them, unless these are guests. */
  private readonly wide = new Set<LiveQueue>();
  /** Of all groups, with those of their members who have queues. */
  private readonly groups: GroupClosure;
  /** Set while events wait for a look-up; everything behind them waits too. */
  private tail: Promise<void> | null = null;

  constructor(
    readonly realmId: RealmId,
    edges: readonly GroupEdge[],
    private readonly isWanted: (queue: LiveQueue, event: DomainEvent) => boolean,
    private readonly findHolders: FindHolders,
  ) {
    this.groups = new GroupClosure(groupsIn(edges));
  }

  /** Whether every event taken so far has reached its queues. */
  get isIdle(): boolean {
    return this.tail === null;
  }

  settled(): Promise<void> {
    return this.tail ?? Promise.resolve();
  }

  add(owner: Owner): void {
    this.owners.set(owner.userId, owner);
    for (const groupId of owner.directGroups) this.join(groupId, [owner.userId]);
    for (const channelId of owner.channels) this.followersOf(channelId).add(owner);
  }

  addQueue(owner: Owner, live: LiveQueue): void {
    owner.queues.add(live);
    const { allPublicChannels, narrow } = live.queue.filter;
    if (allPublicChannels || narrow.length > 0) this.wide.add(live);
  }

  removeQueue(live: LiveQueue): void {
    this.wide.delete(live);
    const owner = this.owners.get(live.queue.ownerId);
    if (!owner) return;
    owner.queues.delete(live);
    if (owner.queues.size > 0) return;
    this.owners.delete(owner.userId);
    for (const groupId of owner.directGroups) this.groups.removeMembers(groupId, [owner.userId]);
    for (const channelId of owner.channels) this.byChannel.get(channelId)?.delete(owner);
  }

  take(stored: StoredEvent): void {
    if (this.tail) {
      this.chain(this.tail.then(() => this.process(stored)));
      return;
    }
    const pending = this.process(stored);
    if (pending) this.chain(pending);
  }

  private chain(step: Promise<void>): void {
    const tail = step.finally(() => {
      if (this.tail === tail) this.tail = null;
    });
    this.tail = tail;
  }

  private process(stored: StoredEvent): Promise<void> | undefined {
    this.fold(stored.event);
    const asked = holdersAskedIn(stored.audience);
    if (asked.length === 0 || this.owners.size === 0) {
      this.distribute(stored, NO_HOLDERS);
      return undefined;
    }
    return this.lookUpHolders(asked).then(
      (holders) => this.distribute(stored, holders),
      () => this.loseEvent(),
    );
  }

  /** Nobody knows whom it was for, so everybody looks into the log again. */
  private loseEvent(): void {
    for (const owner of this.owners.values()) for (const live of owner.queues) live.fallBehind();
  }

  private async lookUpHolders(ids: readonly MessageId[]): Promise<Holders> {
    const holders = new Map<MessageId, ReadonlySet<UserId>>();
    for (const id of ids) holders.set(id, await this.findHolders(id, [...this.owners.keys()]));
    return holders;
  }

  private distribute(stored: StoredEvent, holders: Holders): void {
    const { event, audience } = stored;
    const receivers = this.resolve(audience, holders);
    for (const owner of receivers) {
      if (!owner.isActive) continue;
      for (const live of owner.queues) {
        if (audience.kind === 'queue' && live.queue.id !== audience.id) continue;
        if (this.isDue(live, event)) live.push({ stored, isBystander: false });
      }
    }
    if (event.type === 'message.sent' && event.isPublic) {
      for (const live of this.wide) {
        const owner = this.owners.get(live.queue.ownerId);
        // Asked each time, because roles change.
        if (!owner?.isActive || owner.role === 'guest' || receivers.has(owner)) continue;
        if (this.isDue(live, event)) live.push({ stored, isBystander: true });
      }
    }
    if (event.type === 'user.activation_changed' && !event.isActive) this.expel(event.userId);
  }

  private isDue(live: LiveQueue, event: DomainEvent): boolean {
    if (!this.isWanted(live, event)) return false;
    const { narrow } = live.queue.filter;
    return event.type !== 'message.sent' || narrow.length === 0 || isInNarrow(narrow, event, live.queue.ownerId);
  }

  private expel(userId: UserId): void {
    for (const live of this.owners.get(userId)?.queues ?? []) live.close();
  }

  /** The owners in an audience; the common kinds without looking at everybody. */
  private resolve(audience: Audience, holders: Holders): ReadonlySet<Owner> {
    switch (audience.kind) {
      case 'nobody':
        return new Set();
      case 'realm':
        return new Set(this.owners.values());
      case 'users':
        return new Set(audience.ids.flatMap((id) => this.owners.get(id) ?? []));
      case 'subscribers':
        return this.byChannel.get(audience.channelId) ?? new Set();
      case 'anyOf': {
        const union = new Set<Owner>();
        for (const part of audience.of) for (const owner of this.resolve(part, holders)) union.add(owner);
        return union;
      }
      case 'except':
        return this.filter(
          this.resolve(audience.from, holders),
          (owner) => !this.isIn(owner, audience.without, holders),
        );
      default:
        return this.filter(this.owners.values(), (owner) => this.isIn(owner, audience, holders));
    }
  }

  private filter(owners: Iterable<Owner>, test: (owner: Owner) => boolean): ReadonlySet<Owner> {
    const kept = new Set<Owner>();
    for (const owner of owners) if (test(owner)) kept.add(owner);
    return kept;
  }

  private isIn(owner: Owner, audience: Audience, holders: Holders): boolean {
    return isInAudience(audience, {
      userId: owner.userId,
      role: owner.role,
      follows: (id) => owner.channels.has(id),
      isInGroup: (id) => this.groups.groupsOf(owner.userId).has(id),
      holds: (id) => holders.get(id)?.has(owner.userId) ?? false,
      hasQueue: (id) => [...owner.queues].some((live) => live.queue.id === id),
    });
  }

  private fold(event: DomainEvent): void {
    switch (event.type) {
      case 'subscription.added':
        for (const { userId, channelId } of event.subscriptions) {
          const owner = this.owners.get(userId);
          if (!owner) continue;
          owner.channels.add(channelId);
          this.followersOf(channelId).add(owner);
        }
        return;
      case 'subscription.removed':
        for (const { id, userIds } of event.channels) {
          for (const userId of userIds) {
            const owner = this.owners.get(userId);
            if (!owner) continue;
            owner.channels.delete(id);
            this.byChannel.get(id)?.delete(owner);
          }
        }
        return;
      case 'user.role_changed': {
        const owner = this.owners.get(event.userId);
        if (owner) owner.role = event.role;
        return;
      }
      case 'user.activation_changed': {
        const owner = this.owners.get(event.userId);
        // Whoever goes is told the rest of this unit by closing his queues, after this event has been given out.
        if (owner && event.isActive) owner.isActive = true;
        return;
      }
      case 'group.created':
        this.nest(event.groupId, event.subgroupIds);
        this.join(event.groupId, event.memberIds);
        return;
      case 'group.members_changed':
        if (event.op === 'add') this.join(event.groupId, event.userIds);
        else this.leave(event.groupId, event.userIds);
        return;
      case 'group.subgroups_changed':
        if (event.op === 'add') this.nest(event.groupId, event.subgroupIds);
        else this.groups.removeSubgroups(event.groupId, event.subgroupIds);
        return;
      default:
        return;
    }
  }

  private followersOf(channelId: ChannelId): Set<Owner> {
    let followers = this.byChannel.get(channelId);
    if (!followers) {
      followers = new Set();
      this.byChannel.set(channelId, followers);
    }
    return followers;
  }

  private nest(groupId: GroupId, subgroupIds: readonly GroupId[]): void {
    for (const id of [groupId, ...subgroupIds]) this.groups.addGroup(id);
    this.groups.addSubgroups(groupId, subgroupIds);
  }

  private join(groupId: GroupId, userIds: readonly UserId[]): void {
    this.groups.addGroup(groupId);
    for (const userId of userIds) {
      const owner = this.owners.get(userId);
      if (!owner) continue;
      owner.directGroups.add(groupId);
      this.groups.addMembers(groupId, [userId]);
    }
  }

  private leave(groupId: GroupId, userIds: readonly UserId[]): void {
    for (const userId of userIds) {
      if (this.owners.get(userId)?.directGroups.delete(groupId)) this.groups.removeMembers(groupId, [userId]);
    }
  }
}

function groupsIn(edges: readonly GroupEdge[]): Iterable<ClosureGroup> {
  const subgroups = new Map<GroupId, GroupId[]>();
  const of = (id: GroupId): GroupId[] => {
    const known = subgroups.get(id) ?? [];
    subgroups.set(id, known);
    return known;
  };
  for (const { subgroupId, groupId } of edges) {
    of(subgroupId);
    of(groupId).push(subgroupId);
  }
  return [...subgroups].map(([id, subgroupIds]) => ({ id, isDeactivated: false, memberIds: [], subgroupIds }));
}

/** What an audience is judged by: one user, as of one event. */
export interface Membership {
  readonly userId: UserId;
  readonly role: Role;
  follows(channelId: ChannelId): boolean;
  isInGroup(id: GroupId): boolean;
  holds(messageId: MessageId): boolean;
  hasQueue(id: string): boolean;
}

export function isInAudience(audience: Audience, member: Membership): boolean {
  switch (audience.kind) {
    case 'nobody':
      return false;
    case 'realm':
      return true;
    case 'users':
      return audience.ids.includes(member.userId);
    case 'role':
      return isAtLeast(member.role, audience.atLeast);
    case 'subscribers':
      return member.follows(audience.channelId);
    case 'group':
      return member.isInGroup(audience.id);
    case 'holders':
      return member.holds(audience.messageId);
    case 'queue':
      return member.hasQueue(audience.id);
    case 'anyOf':
      return audience.of.some((part) => isInAudience(part, member));
    case 'allOf':
      return audience.of.every((part) => isInAudience(part, member));
    case 'except':
      return isInAudience(audience.from, member) && !isInAudience(audience.without, member);
  }
}

/** The messages whose holders an audience asks for. */
export function holdersAskedIn(audience: Audience): readonly MessageId[] {
  switch (audience.kind) {
    case 'holders':
      return [audience.messageId];
    case 'anyOf':
    case 'allOf':
      return audience.of.flatMap(holdersAskedIn);
    case 'except':
      return [...holdersAskedIn(audience.from), ...holdersAskedIn(audience.without)];
    default:
      return [];
  }
}
