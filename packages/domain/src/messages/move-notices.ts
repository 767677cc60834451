import type { Actor } from '../access/actor.js';
import type { Channel } from '../channels/channel.js';
import { topicKey } from '../channels/topic.js';
import type { Clock } from '../kernel/clock.js';
import type { MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { RealmUrls } from '../kernel/realm-urls.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { silentMention } from '../markdown/syntax.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { deleteMessages } from './delete-messages.js';
import type { TopicPlace } from './move-topic-policies.js';
import { topicUrl } from './narrow-urls.js';
import { SystemMessages } from './system-messages.js';

export interface Move {
  readonly realm: Realm;
  readonly mover: Pick<User, 'id' | 'fullName'>;
  readonly actor: Actor;
  /** Whom the move was asked for. */
  readonly messageId: MessageId;
  readonly count: number;
  readonly source: TopicPlace;
  readonly target: TopicPlace;
  /** Nothing is left that the mover can see. */
  readonly isWholeTopic: boolean;
  /** There was something in the target that the mover could see. */
  readonly targetHadMessages: boolean;
}

/** A notice that is taken back so soon need not have been (messages §9.6). */
const SOON_SECONDS = 60;
const AT_ONCE = 100;

/** What the notification bot says in topics that messages were moved from, to, or that were marked (messages §9.5, §9.6). */
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

  /** Or takes back the notice that says the opposite, if it is new. */
  async mark(tx: Transaction, move: Move, toggle: 'resolve' | 'unresolve'): Promise<void> {
    const { realm, mover, target } = move;
    if (await this.takeBack(tx, move)) return;
    await this.systemMessages.sendToChannel(tx, realm, {
      channel: (await tx.channels.find(realm.id, target.channel.id))!,
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
    const channel = (await tx.channels.find(realm.id, target.channel.id))!;
    await deleteMessages(tx, {
      realmId: realm.id,
      deletedBy: mover.id,
      deletedAt: now,
      channel,
      messages: [message],
    });
    return true;
  }

  private async post(tx: Transaction, move: Move, place: TopicPlace, content: string): Promise<void> {
    const { realm, actor, source, target } = move;
    await this.systemMessages.sendToChannel(tx, realm, {
      // As it is now: the move may have made it active, and so may the notice before.
      channel: (await tx.channels.find(realm.id, place.channel.id))!,
      topic: place.topic,
      content,
      author: { actor, about: [source.channel, target.channel] },
    });
  }
}

/** `#**channel>**` is the topic without a name. */
const locationLink = ({ channel, topic }: TopicPlace): string => `#**${channel.name}>${topic}**`;

/** People among the subscribers who want to see that a topic was marked; ascending. */
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
    after = page.at(-1)!.userId;
    await tx.yield();
  }
  return tx.channels.filterSubscribed(realmId, channel.id, [...wanting]);
}
