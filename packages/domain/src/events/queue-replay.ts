import type { SubscribedSpan } from '../channels/channel-repository.js';
import type { ChannelId, EventSeq, GroupId, MessageId, UserId } from '../shared/ids.js';
import type { Repositories, UnitOfWork } from '../shared/unit-of-work.js';
import { inaccessibleUserIdsByGuest } from '../users/accessible-users.js';
import type { Role } from '../users/role.js';
import type { User } from '../users/user.js';
import { isLimitedGuest } from '../users/user-access.js';
import type { Audience } from './audience.js';
import { isInAudience, type Membership, mergeQuestions, questionsOf } from './audience-membership.js';
import { isReadable, type LoggedEvent, type StoredEvent } from './event-log.js';
import type { EventQueue } from './event-queue.js';
import { type DueEvent, dueEvent } from './live-queue.js';
import type { AudienceAnswers, RealmSnapshot } from './live-realm.js';
import { isInNarrow } from './queue-narrow.js';

/** What the owner of a queue may read in the log, as of one of its events. */
export interface QueueOwnerRights {
  /** Up to here they tell the truth: who leaves a channel later, leaves it as of a later event. */
  readonly lastSeq: EventSeq;
  readonly user: User;
  /** A guest who may not know everybody. */
  readonly isLimitedGuest: boolean;
  readonly groups: ReadonlySet<GroupId>;
  readonly spans: ReadonlyMap<ChannelId, readonly SubscribedSpan[]>;
  readonly channelIds: readonly ChannelId[];
  readonly directGroupIds: readonly GroupId[];
}

/** Null: the owner is none, or no longer. */
export async function loadRights(
  { events, users, actors, channels, groups, personal, realms }: Repositories,
  { realmId, ownerId }: EventQueue,
): Promise<QueueOwnerRights | null> {
  const user = await users.find(realmId, ownerId);
  if (!user?.isActive) return null;
  const actor = await actors.get({ realmId, userId: ownerId });
  return {
    lastSeq: await events.lastSeq(realmId),
    user,
    isLimitedGuest: isLimitedGuest(actor, await realms.get(realmId)),
    groups: actor.groups,
    spans: byChannel(await personal.listSubscribedSpans({ realmId, userId: ownerId })),
    channelIds: await channels.listSubscribedIds(realmId, ownerId),
    directGroupIds: await groups.listDirectIds(realmId, ownerId),
  };
}

function byChannel(spans: readonly SubscribedSpan[]): ReadonlyMap<ChannelId, readonly SubscribedSpan[]> {
  const lists = new Map<ChannelId, SubscribedSpan[]>();
  for (const span of spans) {
    const list = lists.get(span.channelId);
    if (list) list.push(span);
    else lists.set(span.channelId, [span]);
  }
  return lists;
}

/** What a live realm starts from. */
export async function loadRealmSnapshot(
  { events, groups, realms }: Repositories,
  realmId: EventQueue['realmId'],
): Promise<RealmSnapshot> {
  return {
    lastSeq: await events.lastSeq(realmId),
    edges: await groups.listEdges(realmId),
    deactivatedGroupIds: await groups.listDeactivatedIds(realmId),
    permissions: (await realms.get(realmId)).permissions,
  };
}

/** Somebody would have to be told of an event that cannot be read. */
export class UnreadableEventDue extends Error {
  constructor(readonly logged: Exclude<LoggedEvent, StoredEvent>) {
    super(`The event cannot be read: ${logged.reason}`);
    this.name = 'UnreadableEventDue';
  }
}

/**
 * Tells which events of the log are due to a queue that was not up to date when they came. Who subscribed to a channel is judged
 * as of the event, because message content hangs on it; everything else by present rights (architecture §4).
 */
export class LogReplay {
  private readonly member: ReplayedMember;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly queue: EventQueue,
    private readonly rights: QueueOwnerRights,
    private readonly wants: (event: StoredEvent['event']) => boolean,
  ) {
    this.member = new ReplayedMember(queue.id, rights);
  }

  /** What is asked of storage is asked once for all of the events. */
  async answersFor(page: readonly LoggedEvent[]): Promise<AudienceAnswers> {
    const { realmId, ownerId } = this.queue;
    const { messageIds, userIds } = mergeQuestions(
      page.map(({ audience }) => questionsOf(audience ?? { kind: 'nobody' })),
    );
    const guestIds = this.rights.isLimitedGuest && userIds.length > 0 ? [ownerId] : [];
    if (messageIds.length === 0 && guestIds.length === 0) return NO_ANSWERS;
    return this.uow.read((repositories) =>
      findAnswers(repositories, realmId, { messageIds, userIds }, { ids: [ownerId], guestIds }),
    );
  }

  /** Null: the event is not due. @throws UnreadableEventDue */
  dueEvent(logged: LoggedEvent, answers: AudienceAnswers): DueEvent | null {
    if (!isReadable(logged)) {
      // Whom it is for may be clear although it is not clear what it says.
      if (logged.audience && !this.isIn(logged.audience, logged.seq, answers)) return null;
      throw new UnreadableEventDue(logged);
    }
    const { event, seq, audience } = logged;
    if (!this.wants(event)) return null;
    const isReceiver = this.isIn(audience, seq, answers);
    if (event.type !== 'message.sent') return isReceiver ? dueEvent(seq, false) : null;
    const { narrow, allPublicChannels } = this.queue.filter;
    const seesAllPublic = (allPublicChannels || narrow.length > 0) && this.rights.user.role !== 'guest';
    if (!isReceiver && !(seesAllPublic && event.isPublic)) return null;
    return isInNarrow(narrow, event, this.queue.ownerId) ? dueEvent(seq, !isReceiver) : null;
  }

  private isIn(audience: Audience, seq: EventSeq, answers: AudienceAnswers): boolean {
    this.member.seq = seq;
    this.member.answers = answers;
    return isInAudience(audience, this.member);
  }
}

/** The owner of a queue; put to one event after the other. */
class ReplayedMember implements Membership {
  readonly userId: UserId;
  readonly role: Role;
  readonly isLimitedGuest: boolean;
  seq = 0 as EventSeq;
  answers: AudienceAnswers = NO_ANSWERS;

  constructor(
    private readonly queueId: string,
    private readonly rights: QueueOwnerRights,
  ) {
    this.userId = rights.user.id;
    this.role = rights.user.role;
    this.isLimitedGuest = rights.isLimitedGuest;
  }

  isSubscribed(channelId: ChannelId): boolean {
    const { seq } = this;
    for (const { fromSeq, toSeq } of this.rights.spans.get(channelId) ?? []) {
      if (fromSeq <= seq && (toSeq === null || seq < toSeq)) return true;
    }
    return false;
  }

  isInGroup(id: GroupId): boolean {
    return this.rights.groups.has(id);
  }

  holds(messageId: MessageId): boolean {
    return this.answers.holders.get(messageId)?.has(this.userId) ?? false;
  }

  knows(userId: UserId): boolean {
    return this.answers.inaccessible.get(this.userId)?.has(userId) === false;
  }

  hasQueue(id: string): boolean {
    return id === this.queueId;
  }
}

const NO_ANSWERS: AudienceAnswers = { holders: new Map(), inaccessible: new Map() };

/** `guestIds`: those of the users who may not know everybody. A constant number of statements. */
export async function findAnswers(
  repositories: Repositories,
  realmId: EventQueue['realmId'],
  { messageIds, userIds }: { readonly messageIds: readonly MessageId[]; readonly userIds: readonly UserId[] },
  { ids, guestIds }: { readonly ids: readonly UserId[]; readonly guestIds: readonly UserId[] },
): Promise<AudienceAnswers> {
  const holders =
    messageIds.length === 0 ? new Map() : await repositories.personal.filterHolders(realmId, messageIds, ids);
  return {
    holders: new Map([...holders].map(([id, userIdsOfIt]) => [id, new Set(userIdsOfIt)])),
    inaccessible: await inaccessibleUserIdsByGuest(repositories, realmId, guestIds, userIds),
  };
}
