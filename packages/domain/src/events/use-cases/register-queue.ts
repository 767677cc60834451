import type { ChannelView } from '../../channels/channel.js';
import { canListSubscribers, hasMetadataAccess } from '../../channels/channel-permissions.js';
import { type NamedTopicPolicy, nameTopicPolicies } from '../../channels/named-topic-policies.js';
import type { Subscription } from '../../channels/subscription.js';
import { loadTopicMutes } from '../../channels/topic-mutes.js';
import type { GroupView } from '../../groups/group.js';
import type { GroupSettingValue } from '../../groups/group-setting.js';
import type { SystemGroupName } from '../../groups/system-groups.js';
import type { UnreadConversation, UnreadOverview } from '../../messages/personal-messages.js';
import { queueConditionOf } from '../../messages/queue-narrow.js';
import type { Recipient } from '../../messages/recipient.js';
import type { Realm } from '../../realms/realm.js';
import type { Caller } from '../../shared/caller.js';
import type { Clock, Randomness } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type { ChannelId, EventSeq, GroupId, MessageId, RecipientId, UserId } from '../../shared/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../../shared/unit-of-work.js';
import { accessibleUserIds } from '../../users/accessible-users.js';
import type { Actor } from '../../users/actor.js';
import type { User } from '../../users/user.js';
import type { UserListEntry } from '../../users/user-repository.js';
import {
  checkFilterSize,
  type EventQueue,
  idleTimeoutFrom,
  MAX_QUEUES_PER_USER,
  type QueueFilter,
  type QueueKey,
  type QueueNarrowTerm,
  type ServedQueues,
} from '../event-queue.js';

/** What a client can ask to begin with. The viewer, their own user and the realm are always there. */
export type SnapshotPart =
  | 'people'
  | 'groups'
  | 'channels'
  | 'subscriptions'
  | 'realmPermissions'
  | 'unread'
  | 'topicPolicies'
  | 'starred'
  | 'newestMessage'
  | 'recentConversations';

/** The state of everything asked for, as of one moment; parts that were not asked for are absent. */
export interface Snapshot {
  readonly viewer: Actor;
  readonly user: User;
  readonly realm: Realm;
  readonly people?: {
    /** Those the viewer may know; ascending id; deactivated users and bots too. */
    readonly entries: readonly UserListEntry[];
    /** The others; ascending. Nobody, unless the viewer is a guest who may not know everybody (users §1.4). */
    readonly inaccessibleIds: readonly UserId[];
    readonly systemBots: readonly User[];
    readonly hydrate: (ids: readonly UserId[]) => Promise<readonly User[]>;
  };
  /** Ascending id, deactivated ones included. */
  readonly groups?: readonly GroupView[];
  readonly realmPermissions?: {
    /** What the realm's permissions are given to. */
    readonly values: ReadonlyMap<GroupId, GroupSettingValue>;
    readonly systemGroupIds: Readonly<Record<SystemGroupName, GroupId>>;
  };
  /** All the viewer may know of, archived ones included; by name. */
  readonly channels?: readonly ChannelView[];
  readonly subscriptions?: {
    /** Their rows, of channels they have left too; ascending channel. */
    readonly rows: readonly Subscription[];
    /** Of the channels whose subscribers they may know; empty when they were not asked for. */
    readonly subscriberIds: ReadonlyMap<ChannelId, readonly UserId[]>;
  };
  readonly unread?: {
    /** Direct ones, and topics of channels they are subscribed to. */
    readonly conversations: readonly (UnreadConversation & { readonly isMuted: boolean })[];
    /** Unread ones that name the viewer, or a group, channel or topic that matters to them; ascending. */
    readonly mentionIds: readonly MessageId[];
    readonly recipients: ReadonlyMap<RecipientId, Recipient>;
    /** There are more than are listed. */
    readonly oldOnesAreMissing: boolean;
  };
  /** Of channels in use; ascending channel, then topic. */
  readonly topicPolicies?: readonly NamedTopicPolicy[];
  /** Ascending. */
  readonly starredIds?: readonly MessageId[];
  /** Channels newcomers follow, archived ones not; ascending. Empty for guests. */
  readonly defaultChannelIds?: readonly ChannelId[];
  /** Null: none. */
  readonly newestMessageId?: MessageId | null;
  /** The one with the newest message first; people ascending, without the viewer. */
  readonly recentConversations?: readonly {
    readonly userIds: readonly UserId[];
    readonly lastMessageId: number;
  }[];
}

export interface RegisterQueueInput {
  readonly parts: ReadonlySet<SnapshotPart>;
  readonly includeSubscribers: boolean;
  readonly filter: QueueFilter;
  /** How the client wants events presented; kept with the queue as it comes. */
  readonly presentation: EventQueue['presentation'];
  /** How long it lives without being polled, within the bounds of events §6.1; null: the usual time. */
  readonly idleTimeoutSeconds: number | null;
}

/** Called inside the snapshot's read. */
export type PresentSnapshot<T> = (snapshot: Snapshot) => Promise<T>;

/** Per user (events §4.4). */
const MAX_UNREAD = 50_000;
const MAX_RECENT_CONVERSATIONS = 1000;

/** Opens an event queue, and answers with the state that its events go on from (events §1, §9). */
export class RegisterQueue {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly served: ServedQueues,
  ) {}

  /**
   * Of a user who has as many queues as one may have, the one that was polled least recently expires.
   * @throws DomainError CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS, UNSUPPORTED_QUEUE_OPERATOR (events §1),
   * EVENT_QUEUE_FILTER_TOO_LONG
   */
  async execute<T>(
    caller: Caller,
    input: RegisterQueueInput,
    present: PresentSnapshot<T>,
  ): Promise<{ readonly queue: EventQueue; readonly presented: T }> {
    for (;;) {
      // The log's end and the state are of one read: no event is missing between them, none is told twice.
      const { startSeq, presented } = await this.uow.read(async (repositories) => {
        const viewer = await repositories.actors.get(caller);
        if (viewer.role === 'guest' && input.filter.allPublicChannels) {
          throw new DomainError('CANNOT_FOLLOW_ALL_PUBLIC_CHANNELS', 'User not authorized for this query');
        }
        input.filter.narrow.forEach(requireSupported);
        checkFilterSize(input.filter);
        const snapshot = await takeSnapshot(repositories, viewer, input);
        const startSeq = await repositories.events.lastSeq(viewer.realmId);
        return { startSeq, presented: await present(snapshot) };
      });
      const queue = this.newQueue(caller, input, startSeq);
      const replaced = await this.uow.write(async (tx) => {
        await tx.actors.get(caller);
        if ((await tx.events.prunedUpTo(caller.realmId)) > startSeq) return null;
        const removed = await this.makeRoom(tx, caller);
        await tx.queues.add(queue);
        return removed;
      });
      if (!replaced) continue;
      this.served.forgetRemoved(replaced);
      return { queue, presented };
    }
  }

  private async makeRoom(tx: Transaction, { realmId, userId }: Caller): Promise<readonly QueueKey[]> {
    const stored = await tx.queues.listOf(realmId, userId);
    const surplus = stored.length - (MAX_QUEUES_PER_USER - 1);
    if (surplus <= 0) return [];
    // What is stored of it may be a minute old.
    const polled = this.served.lastPolled(userId);
    const ids = stored
      .map(({ id, lastPolledAt }) => ({ id, at: polled.get(id) ?? lastPolledAt }))
      .sort((a, b) => a.at - b.at)
      .slice(0, surplus)
      .map(({ id }) => id);
    await tx.queues.remove(realmId, ids);
    return ids.map((id) => ({ realmId, id }));
  }

  private newQueue(caller: Caller, input: RegisterQueueInput, startSeq: EventSeq): EventQueue {
    return {
      id: this.randomness.uuid(),
      realmId: caller.realmId,
      ownerId: caller.userId,
      filter: input.filter,
      presentation: input.presentation,
      startSeq,
      acked: -1,
      floorSeq: startSeq,
      lastPolledAt: this.clock.now(),
      idleTimeoutSeconds: idleTimeoutFrom(input.idleTimeoutSeconds),
    };
  }
}

function requireSupported(term: QueueNarrowTerm): void {
  if (!queueConditionOf(term))
    throw new DomainError('UNSUPPORTED_QUEUE_OPERATOR', `Operator ${term.operator} not supported.`);
}

async function takeSnapshot(
  repositories: Repositories,
  viewer: Actor,
  { parts, includeSubscribers }: RegisterQueueInput,
): Promise<Snapshot> {
  const { realmId } = viewer;
  const { realms, users, groups, personal } = repositories;
  const realm = await realms.get(realmId);
  const self = { realmId, userId: viewer.id };
  return {
    viewer,
    realm,
    user: (await users.find(realmId, viewer.id))!,
    ...(parts.has('people') && { people: await takePeople(repositories, viewer, realm) }),
    ...(parts.has('groups') && { groups: await groups.listViews(realmId) }),
    ...(parts.has('realmPermissions') && {
      realmPermissions: {
        values: await groups.settingValues(realmId, [...new Set(Object.values(realm.permissions))]),
        systemGroupIds: await groups.systemGroupIds(realmId),
      },
    }),
    ...((parts.has('channels') || parts.has('subscriptions')) &&
      (await takeChannels(repositories, viewer, includeSubscribers))),
    ...(parts.has('unread') && { unread: await takeUnread(repositories, viewer) }),
    ...(parts.has('topicPolicies') && { topicPolicies: await takeTopicPolicies(repositories, viewer) }),
    ...(parts.has('starred') && { starredIds: await personal.listStarred(self) }),
    ...(parts.has('newestMessage') && { newestMessageId: await personal.newestId(self) }),
    ...(parts.has('recentConversations') && { recentConversations: await takeConversations(repositories, viewer) }),
  };
}

async function takePeople(
  repositories: Repositories,
  viewer: Actor,
  realm: Realm,
): Promise<NonNullable<Snapshot['people']>> {
  const { users } = repositories;
  const known = await accessibleUserIds(repositories, viewer, realm);
  const entries = await users.listEntries(realm.id);
  return {
    entries: known ? entries.filter(({ id }) => known.has(id)) : entries,
    inaccessibleIds: known ? entries.map(({ id }) => id).filter((id) => !known.has(id)) : [],
    systemBots: await users.listSystemBots(realm.id),
    hydrate: (ids) => users.list(realm.id, ids),
  };
}

async function takeChannels(
  { channels }: Repositories,
  viewer: Actor,
  includeSubscribers: boolean,
): Promise<Pick<Snapshot, 'channels' | 'subscriptions' | 'defaultChannelIds'>> {
  const { realmId } = viewer;
  const rows = await channels.listSubscriptions(realmId, viewer.id);
  const followed = new Set(rows.filter((row) => row.isActive).map((row) => row.channelId));
  const known = (await channels.listAll(realmId)).filter((channel) =>
    hasMetadataAccess(viewer, channel, followed.has(channel.id)),
  );
  const listed = known.filter((channel) => canListSubscribers(viewer, channel, followed.has(channel.id)).allowed);
  return {
    channels: await channels.listViews(
      realmId,
      known.map((channel) => channel.id),
    ),
    defaultChannelIds:
      viewer.role === 'guest'
        ? []
        : known.filter((channel) => channel.isDefault && !channel.isArchived).map((channel) => channel.id),
    subscriptions: {
      rows,
      subscriberIds: includeSubscribers
        ? await channels.listSubscribers(
            realmId,
            listed.map((channel) => channel.id),
          )
        : new Map(),
    },
  };
}

async function takeTopicPolicies(
  repositories: Repositories,
  viewer: Actor,
): Promise<NonNullable<Snapshot['topicPolicies']>> {
  const policies = await repositories.topicPolicies.list(viewer.realmId, viewer.id);
  return nameTopicPolicies(repositories, viewer, policies);
}

async function takeUnread(repositories: Repositories, viewer: Actor): Promise<NonNullable<Snapshot['unread']>> {
  const { personal, recipients } = repositories;
  const { realmId } = viewer;
  const overview = await personal.overviewUnread({ realmId, userId: viewer.id }, MAX_UNREAD);
  const topics = await loadTopicMutes(repositories, realmId, viewer.id);
  const conversations = overview.conversations
    .filter(({ channelId }) => channelId === null || topics.isSubscribed(channelId))
    .map((conversation) => {
      const { channelId, topic } = conversation;
      return { ...conversation, isMuted: channelId !== null && !topics.isUnmuted(channelId, topic) };
    });
  const direct = conversations.filter(({ channelId }) => channelId === null).map(({ recipientId }) => recipientId);
  return {
    conversations,
    mentionIds: mentionsIn(conversations, overview),
    recipients: await recipients.list(realmId, direct),
    oldOnesAreMissing: overview.oldOnesAreMissing,
  };
}

/** Somebody who is named is told wherever it is; wildcards of what is muted count for nothing. */
function mentionsIn(
  conversations: NonNullable<Snapshot['unread']>['conversations'],
  { mentionedIds, wildcardMentionedIds }: UnreadOverview,
): readonly MessageId[] {
  const named = new Set(mentionedIds);
  const meant = new Set(wildcardMentionedIds);
  if (named.size + meant.size === 0) return [];
  return conversations
    .flatMap(({ ids, isMuted }) => ids.filter((id) => named.has(id) || (!isMuted && meant.has(id))))
    .sort((a, b) => a - b);
}

async function takeConversations(
  { recipients }: Repositories,
  viewer: Actor,
): Promise<NonNullable<Snapshot['recentConversations']>> {
  const { realmId } = viewer;
  const recent = await recipients.listRecentDirect(realmId, viewer.id, MAX_RECENT_CONVERSATIONS);
  const found = await recipients.list(
    realmId,
    recent.map(({ recipientId }) => recipientId),
  );
  return recent.flatMap(({ recipientId, lastMessageId }) => {
    const recipient = found.get(recipientId);
    if (recipient?.kind !== 'direct') return [];
    return [{ userIds: recipient.userIds.filter((id) => id !== viewer.id), lastMessageId }];
  });
}
