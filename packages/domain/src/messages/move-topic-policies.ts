import { changeTopicPolicy } from '../channels/change-topic-policy.js';
import type { Channel } from '../channels/channel.js';
import { hasContentAccess } from '../channels/channel-access.js';
import { topicKey } from '../channels/topic.js';
import { moreVisible, type TopicPolicy, type TopicVisibility } from '../channels/topic-policy.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';

export interface TopicPlace {
  readonly channel: Channel;
  readonly topic: string;
}

const AT_ONCE = 100;

/**
 * Lets what people have chosen for a topic follow the topic (messages §9.3, channels §5.7). Where the target has messages
 * already, the more visible of two choices wins; who cannot read the target loses theirs.
 */
export async function moveTopicPolicies(
  tx: Transaction,
  source: TopicPlace,
  target: TopicPlace & { readonly hadMessages: boolean },
  changedAt: UnixSeconds,
): Promise<void> {
  if (isSamePlace(source, target)) return;
  const { realmId } = source.channel;
  const places = target.hadMessages ? [source, target] : [source];
  for (const place of places) {
    for (let after = 0; ; ) {
      const page = await listPolicies(tx, place, after);
      const others = await visibilities(tx, place === source ? target : source, page);
      const readers = await readersOf(tx, target.channel, page);
      for (const { userId, visibility } of page) {
        const other = others.get(userId) ?? 'inherit';
        // Whoever has chosen something for both is seen to with the source.
        if (place === target && other !== 'inherit') continue;
        const [from, to] = place === source ? [visibility, other] : [other, visibility];
        const wanted = !readers.has(userId) ? to : target.hadMessages ? moreVisible(from, to) : from;
        const change = ({ channel, topic }: TopicPlace, chosen: TopicVisibility) =>
          changeTopicPolicy(tx, { realmId, userId, channelId: channel.id, topic, visibility: chosen, changedAt });
        if (from !== 'inherit') await change(source, 'inherit');
        if (wanted !== to) await change(target, wanted);
        await tx.yield();
      }
      if (page.length < AT_ONCE) break;
      after = page.at(-1)!.userId;
    }
  }
}

const isSamePlace = (one: TopicPlace, other: TopicPlace): boolean =>
  one.channel.id === other.channel.id && topicKey(one.topic) === topicKey(other.topic);

const listPolicies = (tx: Transaction, { channel, topic }: TopicPlace, after: number) =>
  tx.topicPolicies.listOfTopic(channel.realmId, channel.id, topicKey(topic), after, AT_ONCE);

const visibilities = (tx: Transaction, { channel, topic }: TopicPlace, page: readonly TopicPolicy[]) =>
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
