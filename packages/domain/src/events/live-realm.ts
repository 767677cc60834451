import { type ClosureGroup, GroupClosure, type GroupEdge } from '../groups/group-closure.js';
import type { Realm } from '../realms/realm.js';
import type { ChannelId, EventSeq, GroupId, MessageId, RealmId, UnixSeconds, UserId } from '../shared/ids.js';
import type { Role } from '../users/role.js';
import { isLimitedGuest } from '../users/user-access.js';
import type { Audience } from './audience.js';
import { type AudienceQuestions, isInAudience, mergeQuestions, questionsOf } from './audience-membership.js';
import type { EphemeralAnnouncement } from './ephemeral-event.js';
import type { AnyEventType, DomainEvent } from './event.js';
import type { StoredEvent } from './event-log.js';
import { dueEvent, type LiveQueue } from './live-queue.js';
import { isInNarrow } from './queue-narrow.js';

/** Somebody whose queues are up to date, and what audiences ask about them. Follows the log. */
export interface OnlineUser {
  readonly userId: UserId;
  role: Role;
  readonly channels: Set<ChannelId>;
  readonly directGroups: Set<GroupId>;
  readonly queues: Set<LiveQueue>;
}

/** What a live realm starts from; the log goes on from there. */
export interface RealmSnapshot {
  /** Up to here the picture holds everything. */
  readonly lastSeq: EventSeq;
  readonly edges: readonly GroupEdge[];
  readonly deactivatedGroupIds: readonly GroupId[];
  readonly permissions: Realm['permissions'];
}

/** What audiences ask about people that only storage knows. */
export interface AudienceAnswers {
  /** Who of the users asked about has the message. */
  readonly holders: ReadonlyMap<MessageId, ReadonlySet<UserId>>;
  /** Whom of the users asked about a guest may not know. */
  readonly inaccessible: ReadonlyMap<UserId, ReadonlySet<UserId>>;
}
const NO_ANSWERS: AudienceAnswers = { holders: new Map(), inaccessible: new Map() };

export interface LiveRealmParts {
  /** Whether the queue's filter wants events of this type. */
  readonly wants: (queue: LiveQueue, type: AnyEventType) => boolean;
  /** `guestIds`: those who may not know everybody. One look-up for everything. */
  readonly lookUp: (
    questions: AudienceQuestions,
    users: { readonly ids: readonly UserId[]; readonly guestIds: readonly UserId[] },
  ) => Promise<AudienceAnswers>;
  /** An event cannot be judged for this queue. */
  readonly onUnfit: (queue: LiveQueue, what: EventReference, error: unknown) => void;
  /** The picture of the realm is no longer to be trusted, from this event on. */
  readonly onBroken: (stored: StoredEvent, error: unknown) => void;
  /** What had to be looked up could not be; those concerned read the log instead. */
  readonly onLookUpFailed: (error: unknown) => void;
  readonly onDeactivated: (userId: UserId) => void;
}

/** An event as a report names it. */
export interface EventReference {
  readonly type: string;
  /** Null: it is not logged. */
  readonly seq: EventSeq | null;
}

type Announced =
  | { readonly stored: StoredEvent; readonly ephemeral?: never }
  | { readonly ephemeral: EphemeralAnnouncement; readonly at: UnixSeconds; readonly stored?: never };

/**
 * The queues of one realm that are up to date, by owner and by what their owners follow: distributing an event costs what is
 * online, however large the channel. Its picture of roles, groups and channels is a fold over the log.
 */
export class LiveRealm {
  readonly users = new Map<UserId, OnlineUser>();
  /** Everything up to it has reached the queues. */
  lastSeq: EventSeq;
  private readonly byChannel = new Map<ChannelId, Set<OnlineUser>>();
  private readonly guests = new Set<OnlineUser>();
  /** Queues that get messages of public channels whether or not their owners follow them, unless these are guests. */
  private readonly allPublic = new Map<LiveQueue, OnlineUser>();
  /** Of all groups, with those of their members who have queues. */
  private readonly groups: GroupClosure;
  permissions: Realm['permissions'];
  /** What came while something was looked up; it is its turn together, afterwards. */
  private waiting: Announced[] = [];
  private lookingUp: Promise<void> | null = null;

  constructor(
    readonly realmId: RealmId,
    snapshot: RealmSnapshot,
    private readonly parts: LiveRealmParts,
  ) {
    this.lastSeq = snapshot.lastSeq;
    this.groups = new GroupClosure(groupsIn(snapshot));
    this.permissions = snapshot.permissions;
  }

  /** Whether every event taken so far has reached its queues. */
  get isIdle(): boolean {
    return this.lookingUp === null;
  }

  settled(): Promise<void> {
    return this.lookingUp ?? Promise.resolve();
  }

  isLimitedGuest({ userId, role }: OnlineUser): boolean {
    return role === 'guest' && isLimitedGuest({ role, groups: this.groups.groupsOf(userId) }, this);
  }

  add(user: OnlineUser): void {
    this.users.set(user.userId, user);
    this.noteRole(user);
    for (const groupId of user.directGroups) this.join(groupId, [user.userId]);
    for (const channelId of user.channels) this.subscribersOf(channelId).add(user);
  }

  addQueue(user: OnlineUser, live: LiveQueue): void {
    user.queues.add(live);
    const { allPublicChannels, narrow } = live.queue.filter;
    if (allPublicChannels || narrow.length > 0) this.allPublic.set(live, user);
  }

  removeQueue(live: LiveQueue): void {
    this.allPublic.delete(live);
    const user = this.users.get(live.queue.ownerId);
    if (!user?.queues.delete(live) || user.queues.size > 0) return;
    this.users.delete(user.userId);
    this.guests.delete(user);
    for (const groupId of user.directGroups) this.groups.removeMembers(groupId, [user.userId]);
    for (const channelId of user.channels) this.unsubscribe(user, channelId);
  }

  take(stored: StoredEvent): void {
    this.takeInTurn({ stored });
  }

  takeEphemeral(ephemeral: EphemeralAnnouncement, at: UnixSeconds): void {
    this.takeInTurn({ ephemeral, at });
  }

  private takeInTurn(announced: Announced): void {
    if (this.lookingUp || this.asks(announced)) {
      this.waiting.push(announced);
      this.lookingUp ??= this.lookUpAndGoOn();
      return;
    }
    this.process(announced, NO_ANSWERS);
  }

  /** What came meanwhile is looked up together, so nobody waits for more than what runs and one more. */
  private async lookUpAndGoOn(): Promise<void> {
    // Everything of one commit is asked about at once.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      const answers = await this.lookUp(batch).catch((error: unknown) => {
        this.parts.onLookUpFailed(error);
        return null;
      });
      for (const announced of batch) this.process(announced, answers);
    }
    this.lookingUp = null;
  }

  private async lookUp(batch: readonly Announced[]): Promise<AudienceAnswers> {
    const questions = mergeQuestions(batch.map((announced) => questionsOf(audienceOf(announced))));
    const guestIds = this.limitedGuests().map(({ userId }) => userId);
    if (questions.messageIds.length === 0 && guestIds.length === 0) return NO_ANSWERS;
    return this.parts.lookUp(questions, { ids: [...this.users.keys()], guestIds });
  }

  private asks(announced: Announced): boolean {
    if (this.users.size === 0) return false;
    const { messageIds, userIds } = questionsOf(audienceOf(announced));
    return messageIds.length > 0 || (userIds.length > 0 && this.limitedGuests().length > 0);
  }

  private limitedGuests(): OnlineUser[] {
    return [...this.guests].filter((guest) => this.isLimitedGuest(guest));
  }

  /** `answers`: null when they could not be had. */
  private process(announced: Announced, answers: AudienceAnswers | null): void {
    if (announced.stored) this.processStored(announced.stored, answers);
    else if (answers) this.distributeEphemeral(announced.ephemeral, announced.at, answers);
  }

  private processStored(stored: StoredEvent, answers: AudienceAnswers | null): void {
    const { event, seq } = stored;
    try {
      this.fold(event);
      if (answers) this.distribute(stored, answers);
      else this.loseEvent(seq);
    } catch (error) {
      this.parts.onBroken(stored, error);
    }
    this.lastSeq = seq;
    if (event.type === 'user.activation_changed' && !event.isActive) this.parts.onDeactivated(event.userId);
  }

  /** Nobody knows whom it was for, so everybody looks into the log. */
  private loseEvent(seq: EventSeq): void {
    for (const user of this.users.values()) for (const live of user.queues) live.fallBehind(seq);
  }

  private distribute(stored: StoredEvent, answers: AudienceAnswers): void {
    const { event, audience, seq } = stored;
    const receivers = this.resolve(audience, answers);
    for (const user of receivers) {
      for (const live of user.queues) {
        if (isForQueue(audience, live) && this.isDue(live, stored)) live.push(dueEvent(seq, false));
      }
    }
    if (event.type !== 'message.sent' || !event.isPublic) return;
    for (const [live, user] of this.allPublic) {
      // Asked each time, because roles change.
      if (user.role === 'guest' || receivers.has(user)) continue;
      if (this.isDue(live, stored)) live.push(dueEvent(seq, true));
    }
  }

  private isDue(live: LiveQueue, { event, seq }: StoredEvent): boolean {
    return this.judge(live, { type: event.type, seq }, () => {
      if (!this.parts.wants(live, event.type)) return false;
      const { narrow } = live.queue.filter;
      return event.type !== 'message.sent' || isInNarrow(narrow, event, live.queue.ownerId);
    });
  }

  private distributeEphemeral(
    { event, audience }: EphemeralAnnouncement,
    at: UnixSeconds,
    answers: AudienceAnswers,
  ): void {
    for (const user of this.resolve(audience, answers)) {
      for (const live of user.queues) {
        const isWanted = () => isForQueue(audience, live) && this.parts.wants(live, event.type);
        if (this.judge(live, { type: event.type, seq: null }, isWanted)) live.pushEphemeral({ event, at });
      }
    }
  }

  private judge(live: LiveQueue, what: EventReference, test: () => boolean): boolean {
    try {
      return test();
    } catch (error) {
      this.parts.onUnfit(live, what, error);
      return false;
    }
  }

  /** Those online in an audience; the common kinds without looking at everybody. */
  private resolve(audience: Audience, answers: AudienceAnswers): ReadonlySet<OnlineUser> {
    switch (audience.kind) {
      case 'nobody':
        return NOBODY;
      case 'realm':
        return new Set(this.users.values());
      case 'users':
        return new Set(audience.ids.flatMap((id) => this.users.get(id) ?? []));
      case 'subscribers':
        return this.byChannel.get(audience.channelId) ?? NOBODY;
      case 'limitedGuests':
        return new Set(this.limitedGuests());
      case 'anyOf': {
        const union = new Set<OnlineUser>();
        for (const part of audience.of) for (const user of this.resolve(part, answers)) union.add(user);
        return union;
      }
      case 'allOf': {
        const [first, ...rest] = audience.of;
        if (!first) return new Set(this.users.values());
        return this.filter(this.resolve(first, answers), (user) =>
          rest.every((part) => this.isIn(user, part, answers)),
        );
      }
      case 'except':
        return this.filter(this.resolve(audience.from, answers), (user) => !this.isIn(user, audience.without, answers));
      default:
        return this.filter(this.users.values(), (user) => this.isIn(user, audience, answers));
    }
  }

  private filter(users: Iterable<OnlineUser>, test: (user: OnlineUser) => boolean): ReadonlySet<OnlineUser> {
    const kept = new Set<OnlineUser>();
    for (const user of users) if (test(user)) kept.add(user);
    return kept;
  }

  private isIn(user: OnlineUser, audience: Audience, { holders, inaccessible }: AudienceAnswers): boolean {
    return isInAudience(audience, {
      userId: user.userId,
      role: user.role,
      isLimitedGuest: this.isLimitedGuest(user),
      isSubscribed: (id) => user.channels.has(id),
      isInGroup: (id) => this.groups.groupsOf(user.userId).has(id),
      holds: (id) => holders.get(id)?.has(user.userId) ?? false,
      knows: (id) => inaccessible.get(user.userId)?.has(id) === false,
      hasQueue: (id) => [...user.queues].some((live) => live.queue.id === id),
    });
  }

  private fold(event: DomainEvent): void {
    switch (event.type) {
      case 'subscription.added':
        for (const { userId, channelId } of event.subscriptions) {
          const user = this.users.get(userId);
          if (!user) continue;
          user.channels.add(channelId);
          this.subscribersOf(channelId).add(user);
        }
        return;
      case 'subscription.removed':
        for (const { id, userIds } of event.channels) {
          for (const userId of userIds) {
            const user = this.users.get(userId);
            if (!user) continue;
            user.channels.delete(id);
            this.unsubscribe(user, id);
          }
        }
        return;
      case 'user.role_changed': {
        const user = this.users.get(event.userId);
        if (!user) return;
        user.role = event.role;
        this.noteRole(user);
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
      case 'group.activation_changed':
        this.groups.addGroup(event.view.id);
        this.groups.setDeactivated(event.view.id, event.view.isDeactivated);
        return;
      case 'realm.permission_changed':
        this.permissions = { ...this.permissions, [event.permission]: event.groupId };
        return;
      default:
        return;
    }
  }

  private noteRole(user: OnlineUser): void {
    if (user.role === 'guest') this.guests.add(user);
    else this.guests.delete(user);
  }

  private subscribersOf(channelId: ChannelId): Set<OnlineUser> {
    let subscribers = this.byChannel.get(channelId);
    if (!subscribers) {
      subscribers = new Set();
      this.byChannel.set(channelId, subscribers);
    }
    return subscribers;
  }

  private unsubscribe(user: OnlineUser, channelId: ChannelId): void {
    const subscribers = this.byChannel.get(channelId);
    subscribers?.delete(user);
    if (subscribers?.size === 0) this.byChannel.delete(channelId);
  }

  private nest(groupId: GroupId, subgroupIds: readonly GroupId[]): void {
    for (const id of [groupId, ...subgroupIds]) this.groups.addGroup(id);
    this.groups.addSubgroups(groupId, subgroupIds);
  }

  private join(groupId: GroupId, userIds: readonly UserId[]): void {
    this.groups.addGroup(groupId);
    for (const userId of userIds) {
      const user = this.users.get(userId);
      if (!user) continue;
      user.directGroups.add(groupId);
      this.groups.addMembers(groupId, [userId]);
    }
  }

  private leave(groupId: GroupId, userIds: readonly UserId[]): void {
    for (const userId of userIds) {
      if (this.users.get(userId)?.directGroups.delete(groupId)) this.groups.removeMembers(groupId, [userId]);
    }
  }
}

const NOBODY: ReadonlySet<OnlineUser> = new Set();

const audienceOf = ({ stored, ephemeral }: Announced): Audience => (stored ?? ephemeral).audience;

/** What is for one queue is for no other one of its owner. */
const isForQueue = (audience: Audience, live: LiveQueue): boolean =>
  audience.kind !== 'queue' || audience.id === live.queue.id;

function groupsIn({ edges, deactivatedGroupIds }: RealmSnapshot): Iterable<ClosureGroup> {
  const subgroups = new Map<GroupId, GroupId[]>();
  const subgroupsOf = (id: GroupId): GroupId[] => {
    const known = subgroups.get(id) ?? [];
    subgroups.set(id, known);
    return known;
  };
  for (const { subgroupId, groupId } of edges) {
    subgroupsOf(subgroupId);
    subgroupsOf(groupId).push(subgroupId);
  }
  const deactivated = new Set(deactivatedGroupIds);
  for (const id of deactivated) subgroupsOf(id);
  return [...subgroups].map(([id, subgroupIds]) => ({
    id,
    isDeactivated: deactivated.has(id),
    memberIds: [],
    subgroupIds,
  }));
}
