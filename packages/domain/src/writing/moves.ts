import type { Actor } from '../access/actor.js';
import { type Channel, hasSharedHistory, topicKey } from '../channels/channel.js';
import { hasContentAccess, hasFullHistoryAccess } from '../channels/channel-access.js';
import { changeTopicPolicy, moreVisible, type TopicPolicy, type TopicVisibility } from '../channels/topic-policies.js';
import { DomainError } from '../kernel/errors.js';
import type { ChannelId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { lastOf } from '../kernel/work.js';
import { silentMention, type TopicLink } from '../markdown/markdown.js';
import type { Message } from '../messages/message.js';
import type { MessageFilter } from '../messages/message-condition.js';
import type { MovePropagation } from '../messages/message-events.js';
import { receivedMessagesIn, topicUrl } from '../messages/narrow.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { deleteMessages } from './deletion.js';
import { SystemMessages } from './system-messages.js';

export interface MoveTarget {
  readonly channelId: ChannelId;
  readonly recipientId: RecipientId;
  /** Null if each message keeps its topic. */
  readonly topic: string | null;
  /** Links in the topic name; absent if there are none. */
  readonly topicLinks?: readonly TopicLink[];
  /** Absent if the topic is only marked as resolved or unresolved, which clients do not show as a move. */
  readonly movedAt?: UnixSeconds;
  readonly isHistoryProtected: boolean;
}

/** Every implementation passes message-moves.contract.ts. */
export interface MessageMoves {
  /**
   * Moves messages to another channel and topic, or to another topic of the same channel. After a channel change, users
   * without a subscription to the target lose the messages. If `isHistoryProtected`, its subscribers gain them as read.
   */
  move(realmId: RealmId, ids: readonly MessageId[], target: MoveTarget): Promise<void>;
  /**
   * Moves direct messages to another direct conversation, which does not count as an edit. Participants of both
   * conversations keep their flags, other participants of the target gain the messages as read, and all others lose them.
   */
  moveDirect(realmId: RealmId, ids: readonly MessageId[], recipientId: RecipientId): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    moves: [reads: never, repository: MessageMoves];
  }
}

/** Maximum number of messages per move request. */
export const MAX_MOVED = 50_000;
/** Batch size for look-ups and moves between yields. */
const PAGE = 500;
const SLICE = 100;

/** Selects those messages of a topic that the actor can see. */
export function visibleInTopic(actor: Actor, channel: Channel, isSubscribed: boolean, topic: string): MessageFilter {
  const scope = hasFullHistoryAccess(actor, channel, isSubscribed) ? 'shared' : 'own';
  return { ...receivedMessagesIn(channel.recipientId, topicKey(topic)), scope };
}

/** Selects all messages of a topic, regardless of access. */
export const allInTopic = (channel: Channel, topic: string): MessageFilter => ({
  ...receivedMessagesIn(channel.recipientId, topicKey(topic)),
  scope: 'shared',
});

/** Returns the ids of the messages to move, ascending. @throws DomainError TOO_MANY_MESSAGES_TO_MOVE */
export async function selectMoved(
  tx: Transaction,
  actor: Actor,
  { id }: Pick<Message, 'id'>,
  filter: MessageFilter,
  propagation: MovePropagation,
): Promise<readonly MessageId[]> {
  if (propagation === 'one') return [id];
  const viewer = { realmId: actor.realmId, userId: actor.id };
  const ids: MessageId[] = [];
  for (let from: number = propagation === 'all' ? 0 : id; ; ) {
    const page = await tx.pages.listEntriesFrom(viewer, filter, from, PAGE);
    for (const entry of page) ids.push(entry.id);
    if (ids.length > MAX_MOVED) {
      throw new DomainError('TOO_MANY_MESSAGES_TO_MOVE', `Too many messages to move (limit: ${MAX_MOVED}).`);
    }
    if (page.length < PAGE) return ids;
    from = lastOf(ids) + 1;
  }
}

export interface MessageMove {
  readonly actor: Actor;
  readonly ids: readonly MessageId[];
  /** Target channel. */
  readonly channel: Channel;
  /** Null if each message keeps its topic. */
  readonly topic: { readonly name: string; readonly links: readonly TopicLink[] } | null;
  readonly changesChannel: boolean;
  /** True if only the resolved mark changes, which clients do not show as a move. */
  readonly isToggle: boolean;
  readonly movedAt: UnixSeconds;
  /** Message with a text change in the same request. */
  readonly edited: MessageId | null;
}

/**
 * Stores the new locations and records the old ones. The number of statements grows with slices of messages, not with
 * single messages.
 */
export async function moveMessages(tx: Transaction, move: MessageMove): Promise<void> {
  const { actor, ids, channel, topic, changesChannel, isToggle, movedAt, edited } = move;
  const edit = {
    userId: actor.id,
    editedAt: movedAt,
    topic: topic?.name ?? null,
    channelId: changesChannel ? channel.id : null,
  };
  const target = {
    channelId: channel.id,
    recipientId: channel.recipientId,
    topic: topic?.name ?? null,
    topicLinks: topic?.links ?? [],
    isHistoryProtected: !hasSharedHistory(channel),
    ...(!isToggle && { movedAt }),
  };
  for (let start = 0; start < ids.length; start += SLICE) {
    const slice = ids.slice(start, start + SLICE);
    await tx.edits.add(actor.realmId, edit, slice, edited);
    await tx.moves.move(actor.realmId, slice, target);
  }
}

export interface Move {
  readonly realm: Realm;
  readonly mover: Pick<User, 'id' | 'fullName'>;
  readonly actor: Actor;
  /** Message that the move was requested from. */
  readonly messageId: MessageId;
  readonly count: number;
  readonly source: TopicLocation;
  readonly target: TopicLocation;
  /** True if no message visible to the mover is left. */
  readonly isWholeTopic: boolean;
  /** True if the target had messages visible to the mover. */
  readonly targetHadMessages: boolean;
}

/** Period in which an obsolete notice is retracted (messages §9.6). */
const SOON_SECONDS = 60;
const AT_ONCE = 100;

/**
 * Posts notification bot notices in the source and target topics of moves and in topics marked as resolved (messages
 * §9.5, §9.6).
 */
export class MoveNotices {
  static readonly inject = [SystemMessages, 'realmUrls', 'clock'] as const;
  constructor(
    private readonly systemMessages: SystemMessages,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  async leave(tx: Transaction, move: Move): Promise<void> {
    const { mover, source, target, count, isWholeTopic } = move;
    const where = `${locationLink(target)} by ${silentMention(mover)}.`;
    const content = isWholeTopic
      ? `This topic was moved to ${where}`
      : count === 1
        ? `A message was moved from this topic to ${where}`
        : `${count} messages were moved from this topic to ${where}`;
    await this.post(tx, move, source, content);
  }

  async arrive(tx: Transaction, move: Move): Promise<void> {
    const { realm, mover, source, target, count, isWholeTopic, targetHadMessages, messageId } = move;
    const where = `${locationLink(source)} by ${silentMention(mover)}.`;
    const url = `${this.realmUrls.urlOf(realm)}${topicUrl(target.channel, target.topic)}/near/${messageId}`;
    const content =
      isWholeTopic && !targetHadMessages
        ? `This topic was moved here from ${where}`
        : count === 1
          ? `[A message](${url}) was moved here from ${where}`
          : `${count} messages were moved here from ${where}`;
    await this.post(tx, move, target, content);
  }

  /** Posts a notice, or retracts a recent one with the opposite meaning. */
  async mark(tx: Transaction, move: Move, toggle: 'resolve' | 'unresolve'): Promise<void> {
    const { realm, mover, target } = move;
    if (await this.takeBack(tx, move)) return;
    await this.systemMessages.sendToChannel(tx, realm, {
      channel: await tx.channels.get(realm.id, target.channel.id),
      topic: target.topic,
      content: `${silentMention(mover)} has marked this topic as ${toggle}d.`,
      readFor: [mover.id],
      isReadByDefault: true,
      unreadFor: (await unreadFor(tx, realm.id, target)).filter((userId) => userId !== mover.id),
      author: { actor: null },
    });
  }

  private async takeBack(tx: Transaction, { realm, target, mover }: Move): Promise<boolean> {
    const { recipientId } = target.channel;
    const newest = await tx.topics.listNewestInTopics(realm.id, recipientId, [topicKey(target.topic)]);
    const [id] = newest.values();
    const message = id === undefined ? null : await tx.messages.find(realm.id, id);
    const bot = await tx.users.findSystemBot(realm.id, 'notification');
    const now = this.clock.now();
    const isRecentNotice =
      message !== null &&
      message.senderId === bot.id &&
      now - message.sentAt <= SOON_SECONDS &&
      / has marked this topic as (un)?resolved\.$/.test(message.content);
    if (!isRecentNotice) return false;
    const channel = await tx.channels.get(realm.id, target.channel.id);
    await deleteMessages(tx, {
      realmId: realm.id,
      deletedBy: mover.id,
      deletedAt: now,
      channel,
      messages: [message],
    });
    return true;
  }

  private async post(tx: Transaction, move: Move, location: TopicLocation, content: string): Promise<void> {
    const { realm, actor, source, target } = move;
    await this.systemMessages.sendToChannel(tx, realm, {
      // Reloads the channel, because the move or the previous notice may have made it active.
      channel: await tx.channels.get(realm.id, location.channel.id),
      topic: location.topic,
      content,
      author: { actor, about: [source.channel, target.channel] },
    });
  }
}

/** `#**channel>**` links to the empty topic. */
const locationLink = ({ channel, topic }: TopicLocation): string => `#**${channel.name}>${topic}**`;

/** Returns subscribed humans who want resolve notices as unread, ascending. */
async function unreadFor(
  tx: Transaction,
  realmId: RealmId,
  { channel, topic }: { readonly channel: Channel; readonly topic: string },
): Promise<readonly UserId[]> {
  const wanting = new Set(await tx.users.listIdsReadingAllNotices(realmId));
  for (let after = 0; ; ) {
    const page = await tx.topicPolicies.listOfTopic(realmId, channel.id, topicKey(topic), after, AT_ONCE);
    const following = page.filter(({ visibility }) => visibility === 'followed').map(({ userId }) => userId);
    for (const { id, bot, settings } of await tx.users.list(realmId, following)) {
      if (!bot && settings.resolvedTopicNoticeAutoReadPolicy === 'exceptFollowed') wanting.add(id);
    }
    if (page.length < AT_ONCE) break;
    after = lastOf(page).userId;
  }
  return tx.channels.filterSubscribed(realmId, channel.id, [...wanting]);
}

export interface TopicLocation {
  readonly channel: Channel;
  readonly topic: string;
}

/** Position in the policies of a moved topic; policies for the source come first. */
export interface PolicyCursor {
  readonly place: 'source' | 'target';
  /** User id to continue after. */
  readonly after: number;
}

export const FIRST_POLICY: PolicyCursor = { place: 'source', after: 0 };

/**
 * Moves the next topic policies along with the topic (messages §9.3, channels §5.7). If the target already has
 * messages, the more visible policy wins. Users who cannot read the target lose their policies. Returns null when no
 * policy is left.
 */
export async function moveSomePolicies(
  tx: Transaction,
  source: TopicLocation,
  target: TopicLocation & { readonly hadMessages: boolean },
  changedAt: UnixSeconds,
  { place: name, after }: PolicyCursor,
): Promise<PolicyCursor | null> {
  if (isSameLocation(source, target)) return null;
  const { realmId } = source.channel;
  const place = name === 'source' ? source : target;
  const page = await listPolicies(tx, place, after);
  const others = await visibilities(tx, place === source ? target : source, page);
  const readers = await readersOf(tx, target.channel, page);
  for (const { userId, visibility } of page) {
    const other = others.get(userId) ?? 'inherit';
    // Users with policies for both topics were handled with the source.
    if (place === target && other !== 'inherit') continue;
    const [from, to] = place === source ? [visibility, other] : [other, visibility];
    const wanted = !readers.has(userId) ? to : target.hadMessages ? moreVisible(from, to) : from;
    const change = ({ channel, topic }: TopicLocation, chosen: TopicVisibility) =>
      changeTopicPolicy(tx, { realmId, userId, channelId: channel.id, topic, visibility: chosen, changedAt });
    if (from !== 'inherit') await change(source, 'inherit');
    if (wanted !== to) await change(target, wanted);
  }
  if (page.length === AT_ONCE) return { place: name, after: lastOf(page).userId };
  if (place === target || !target.hadMessages) return null;
  return moveSomePolicies(tx, source, target, changedAt, { place: 'target', after: 0 });
}

const isSameLocation = (one: TopicLocation, other: TopicLocation): boolean =>
  one.channel.id === other.channel.id && topicKey(one.topic) === topicKey(other.topic);

const listPolicies = (tx: Transaction, { channel, topic }: TopicLocation, after: number) =>
  tx.topicPolicies.listOfTopic(channel.realmId, channel.id, topicKey(topic), after, AT_ONCE);

const visibilities = (tx: Transaction, { channel, topic }: TopicLocation, page: readonly TopicPolicy[]) =>
  tx.topicPolicies.listOf(channel.realmId, channel.id, topicKey(topic), userIdsOf(page));

async function readersOf(
  tx: Transaction,
  channel: Channel,
  page: readonly TopicPolicy[],
): Promise<ReadonlySet<UserId>> {
  const userIds = userIdsOf(page);
  const actors = await tx.actors.list(channel.realmId, userIds);
  const subscribed = new Set(await tx.channels.filterSubscribed(channel.realmId, channel.id, userIds));
  return new Set(
    userIds.filter((userId) => {
      const actor = actors.get(userId);
      return actor !== undefined && hasContentAccess(actor, channel, subscribed.has(userId));
    }),
  );
}

const userIdsOf = (page: readonly TopicPolicy[]): UserId[] => page.map(({ userId }) => userId);
