import type { Actor } from '../access/actor.js';
import { type Channel, hasSharedHistory, topicKey } from '../channels/channel.js';
import {
  changeTopicPolicy,
  followsWhenMentioned,
  type TopicPolicy,
  type TopicVisibility,
  visibilityAfterParticipating,
  visibilityAfterSending,
} from '../channels/topic-policies.js';
import type { UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Message } from '../messages/message.js';
import type { Viewer } from '../messages/message-condition.js';
import { receivedMessagesIn } from '../messages/narrow.js';
import type { User } from '../users/user.js';
import type { Destination } from './post-message.js';
import type { RenderedText } from './render-message.js';

/** Topic policy changes caused by a message. */
export interface AutomaticTopicPolicies {
  /** Changes in order of application; a user may occur twice. */
  readonly changes: readonly TopicPolicy[];
  /** Visibility that mentioned users had before the change. */
  readonly replaced: readonly (readonly [UserId, TopicVisibility])[];
  /** New policy of the sender; null if unchanged. */
  readonly ofSender: TopicVisibility | null;
}

/**
 * Decides which topic policies change for the sender and for mentioned subscribers, according to their settings
 * (messages §4.4). Bots have no policies. Runs before the message is stored; `postMessage` applies the changes.
 */
export async function decideAutomaticTopicPolicies(
  tx: Transaction,
  sender: User,
  destination: Destination,
  rendered: RenderedText,
  now: UnixSeconds,
): Promise<AutomaticTopicPolicies> {
  if (destination.kind !== 'channel') return { changes: [], replaced: [], ofSender: null };
  const { channel, topic } = destination;
  const { realmId } = sender;
  const changes: TopicPolicy[] = [];
  const replaced: (readonly [UserId, TopicVisibility])[] = [];
  const mentionsSomebody = rendered.mentionedUserIds.size + rendered.mentionedGroupIds.size > 0;
  const mentioned = mentionsSomebody ? await mentionedSubscribers(tx, sender, destination, rendered) : [];
  const policies = await tx.topicPolicies.listOf(realmId, channel.id, topicKey(topic), [sender.id, ...mentioned]);
  const visibilities = new Map(policies);
  const visibilityOf = (userId: UserId) => visibilities.get(userId) ?? 'inherit';
  const change = (userId: UserId, visibility: TopicVisibility) => {
    visibilities.set(userId, visibility);
    changes.push({ realmId, userId, channelId: channel.id, topic, visibility, changedAt: now });
  };
  const before = visibilityOf(sender.id);
  const changed = sender.bot ? null : await senderVisibility(tx, sender, destination, before);
  if (changed !== null) change(sender.id, changed);
  for (const user of mentioned.length > 0 ? await tx.users.list(realmId, mentioned) : []) {
    const current = visibilityOf(user.id);
    if (user.bot || !followsWhenMentioned(user.settings, current)) continue;
    replaced.push([user.id, current]);
    change(user.id, 'followed');
  }
  const after = visibilityOf(sender.id);
  return { changes, replaced, ofSender: after === before ? null : after };
}

/**
 * Updates the topic policy of a user who participates without sending, in subscribed channels only (messages §4.4).
 * Bots have no policies.
 */
export async function applyParticipation(
  tx: Transaction,
  { realmId, id: userId, isBot }: Actor,
  { channelId, topic }: Pick<Message, 'channelId' | 'topic'>,
  now: UnixSeconds,
): Promise<void> {
  if (channelId === null || isBot) return;
  const subscription = await tx.channels.findSubscription(realmId, channelId, userId);
  if (!subscription?.isActive) return;
  const policies = await tx.topicPolicies.listOf(realmId, channelId, topicKey(topic), [userId]);
  const { settings } = await tx.users.get(realmId, userId);
  const visibility = visibilityAfterParticipating({
    settings,
    current: policies.get(userId) ?? 'inherit',
    hasMutedChannel: subscription.isMuted,
  });
  if (visibility !== null) {
    await changeTopicPolicy(tx, { realmId, userId, channelId, topic, visibility, changedAt: now });
  }
}

async function senderVisibility(
  tx: Transaction,
  { realmId, id, settings }: User,
  { channel, topic }: Extract<Destination, { kind: 'channel' }>,
  current: TopicVisibility,
): Promise<TopicVisibility | null> {
  // The highest policy needs no more checks.
  if (current === 'followed') return null;
  const subscription = await tx.channels.findSubscription(realmId, channel.id, id);
  return visibilityAfterSending({
    settings,
    current,
    hasMutedChannel: subscription?.isActive === true && subscription.isMuted,
    startsTopic: !(await seesMessages(tx, { realmId, userId: id }, channel, topicKey(topic))),
  });
}

/** True if the topic has a message readable by the viewer, who may post there. */
async function seesMessages(tx: Transaction, viewer: Viewer, channel: Channel, key: string): Promise<boolean> {
  const { recipientId } = channel;
  if (hasSharedHistory(channel)) return tx.topics.hasMessages(viewer.realmId, recipientId, key);
  return (await tx.pages.listEntriesUpTo(viewer, receivedMessagesIn(recipientId, key), null, 1)).length > 0;
}

async function mentionedSubscribers(
  tx: Transaction,
  { realmId }: User,
  { channel }: Extract<Destination, { kind: 'channel' }>,
  { mentionedUserIds, mentionedGroupIds }: RenderedText,
): Promise<readonly UserId[]> {
  const inGroups = await tx.groups.listMembersRecursively(realmId, [...mentionedGroupIds]);
  const mentioned = new Set([...mentionedUserIds, ...inGroups]);
  return mentioned.size === 0 ? [] : tx.channels.filterSubscribed(realmId, channel.id, [...mentioned]);
}
