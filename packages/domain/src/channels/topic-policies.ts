import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { ChannelId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { AutomaticTopicPolicy, UserSettings } from '../realms/user-settings.js';
import { type Channel, normalizeTopic, topicKey } from './channel.js';
import { hasMetadataAccess } from './channel-access.js';

/** How much of a topic a person wants to see; `inherit`: as of its channel. */
export type TopicVisibility = 'inherit' | 'muted' | 'unmuted' | 'followed';

/** A person's choice for one topic, whatever its letter case. There is none for `inherit`. */
export interface TopicPolicy {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly channelId: ChannelId;
  /** As first spelt. */
  readonly topic: string;
  readonly visibility: TopicVisibility;
  readonly changedAt: UnixSeconds;
}

/** Of one user: each change tells their older clients of all that they muted. */
export const MAX_TOPIC_POLICIES = 10_000;

export interface TopicPolicyReads {
  /** Those of these users who have chosen something for the topic; others are absent. */
  listOf(
    realmId: RealmId,
    channelId: ChannelId,
    topicKey: string,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, TopicVisibility>>;
  /** Null where the user has chosen nothing for the topic. */
  find(realmId: RealmId, userId: UserId, channelId: ChannelId, topicKey: string): Promise<TopicPolicy | null>;
  /** For how many topics the user has chosen something. */
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** What the user has muted; in the order of `list`. */
  listMuted(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]>;
  /** Everything the user has chosen; ascending channel, then key of the topic. */
  list(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]>;
  /** What users have chosen for the topic: the first `limit` of those with an id above `after`; ascending user. */
  listOfTopic(
    realmId: RealmId,
    channelId: ChannelId,
    topicKey: string,
    after: number,
    limit: number,
  ): Promise<readonly TopicPolicy[]>;
}

/** Every implementation passes topic-policy-repository.contract.ts. */
export interface TopicPolicyRepository extends TopicPolicyReads {
  /** Replaces what the user had chosen for the topic, whose spelling stays; `inherit` takes it away. */
  put(policy: TopicPolicy): Promise<void>;
}

/** Whether somebody who chose that for a topic, in a channel that they have muted or not, wants to be notified of it. */
export const isTopicMuted = (hasMutedChannel: boolean, choice: TopicVisibility = 'inherit'): boolean =>
  choice === 'inherit' ? hasMutedChannel : choice === 'muted';

/** What somebody does in a topic, as far as their settings care. */
export interface TopicParticipation {
  readonly settings: Pick<
    UserSettings,
    'automaticallyFollowTopicsPolicy' | 'automaticallyUnmuteTopicsInMutedChannelsPolicy'
  >;
  readonly current: TopicVisibility;
  readonly hasMutedChannel: boolean;
  /** Nobody has written there before, as far as they can see. */
  readonly startsTopic: boolean;
}

/** What sending makes of the sender's choice (messages §4.4); null: nothing. */
export function visibilityAfterSending({
  settings,
  current,
  hasMutedChannel,
  startsTopic,
}: TopicParticipation): TopicVisibility | null {
  const follow = settings.automaticallyFollowTopicsPolicy;
  const unmute = settings.automaticallyUnmuteTopicsInMutedChannelsPolicy;
  const isFor = (policy: AutomaticTopicPolicy) => policy === 'participating' || policy === 'sending';
  if (current === 'followed') return null;
  if (isFor(follow)) return 'followed';
  const unmuted = hasMutedChannel && isFor(unmute) ? 'unmuted' : null;
  if (current !== 'inherit') return unmuted === current ? null : unmuted;
  if (startsTopic && follow === 'starting') return 'followed';
  if (startsTopic && hasMutedChannel && unmute === 'starting') return 'unmuted';
  return unmuted;
}

/** The same for who takes part without writing: reacts or votes. What they chose to see stays so. */
export function visibilityAfterParticipating({
  settings,
  current,
  hasMutedChannel,
}: Omit<TopicParticipation, 'startsTopic'>): TopicVisibility | null {
  if (current === 'followed') return null;
  if (settings.automaticallyFollowTopicsPolicy === 'participating') return 'followed';
  const unmutes = hasMutedChannel && settings.automaticallyUnmuteTopicsInMutedChannelsPolicy === 'participating';
  return unmutes && current !== 'unmuted' ? 'unmuted' : null;
}

/** Whether a mention makes the person follow the topic (messages §4.4); what they muted stays so. */
export function followsWhenMentioned(
  settings: Pick<UserSettings, 'automaticallyFollowTopicsWhereMentioned'>,
  current: TopicVisibility,
): boolean {
  return settings.automaticallyFollowTopicsWhereMentioned && current !== 'muted' && current !== 'followed';
}

const BY_VISIBILITY: readonly TopicVisibility[] = ['muted', 'inherit', 'unmuted', 'followed'];

/** What becomes of two choices when one topic becomes part of another (messages §9.3). */
export const moreVisible = (one: TopicVisibility, other: TopicVisibility): TopicVisibility =>
  BY_VISIBILITY[Math.max(BY_VISIBILITY.indexOf(one), BY_VISIBILITY.indexOf(other))]!;

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    topicPolicies: [reads: TopicPolicyReads, repository: TopicPolicyRepository];
  }
}

/** A choice with what old clients know its channel by. */
export interface NamedTopicPolicy extends TopicPolicy {
  readonly channelName: string;
}

/**
 * The user's own choices, in the given order; without those for archived channels, and for channels that they may not see any
 * more, whose names they must not learn (README decision 20).
 */
export async function nameTopicPolicies(
  { channels }: Pick<Repositories | Transaction, 'channels'>,
  actor: Actor,
  policies: readonly TopicPolicy[],
): Promise<readonly NamedTopicPolicy[]> {
  if (policies.length === 0) return [];
  const { realmId, id } = actor;
  const found = await channels.list(realmId, [...new Set(policies.map(({ channelId }) => channelId))]);
  const inUse = new Map(found.filter((channel) => !channel.isArchived).map((channel) => [channel.id, channel]));
  const subscribed = new Set(await channels.listSubscribedIds(realmId, id));
  return policies.flatMap((policy) => {
    const channel = inUse.get(policy.channelId);
    if (channel === undefined || !hasMetadataAccess(actor, channel, subscribed.has(channel.id))) return [];
    return [{ ...policy, channelName: channel.name }];
  });
}

/**
 * Stores a user's choice for a topic and tells their clients. Answers false, and does nothing, where they have chosen
 * something for as many topics as anybody may.
 */
export async function changeTopicPolicy(tx: Transaction, policy: TopicPolicy): Promise<boolean> {
  const { realmId, userId, channelId, topic, visibility, changedAt } = policy;
  const stored = await tx.topicPolicies.find(realmId, userId, channelId, topicKey(topic));
  const isNew = stored === null && visibility !== 'inherit';
  if (isNew && (await tx.topicPolicies.count(realmId, userId)) >= MAX_TOPIC_POLICIES) return false;
  // A choice keeps the spelling that it was first made in.
  const changed = { ...policy, topic: stored?.topic ?? topic };
  await tx.topicPolicies.put(changed);
  const muted = await tx.topicPolicies.listMuted(realmId, userId);
  // Thousands of people may be mentioned at once, of whom few mute anything.
  const named = muted.length === 0 ? [] : await nameTopicPolicies(tx, await tx.actors.get(policy), muted);
  await tx.events.append(realmId, {
    event: {
      type: 'topic.policy_changed',
      channelId,
      topic: changed.topic,
      visibility,
      changedAt,
      // Old clients know topics by their channel's name, and get all that are muted.
      muted: named.map(({ channelName, topic, changedAt }) => ({ channelName, topic, changedAt })),
    },
    audience: users([userId]),
  });
  return true;
}

/**
 * What somebody chose for a topic that they named; nothing happens where they have chosen it already.
 * @throws DomainError TOO_MANY_TOPIC_POLICIES
 */
export async function chooseTopicPolicy(
  tx: Transaction,
  { realmId, id: userId }: Actor,
  { id: channelId }: Channel,
  chosen: Pick<TopicPolicy, 'topic' | 'visibility' | 'changedAt'>,
): Promise<void> {
  const topic = normalizeTopic(chosen.topic);
  const current = (await tx.topicPolicies.listOf(realmId, channelId, topicKey(topic), [userId])).get(userId);
  if ((current ?? 'inherit') === chosen.visibility) return;
  const isStored = await changeTopicPolicy(tx, { realmId, userId, channelId, ...chosen, topic });
  if (isStored) return;
  throw new DomainError('TOO_MANY_TOPIC_POLICIES', `Too many topics with a policy (limit: ${MAX_TOPIC_POLICIES}).`);
}

/** Of what in the channels they are subscribed to somebody wants to be notified. */
export interface TopicMutes {
  isSubscribed(channelId: ChannelId): boolean;
  /** Neither its channel nor the topic itself is muted, or it is unmuted in a channel that is. */
  isUnmuted(channelId: ChannelId, topic: string): boolean;
}

/** Costs by what they are subscribed to and have chosen. */
export async function loadTopicMutes(
  { channels, topicPolicies }: Pick<Repositories | Transaction, 'channels' | 'topicPolicies'>,
  realmId: RealmId,
  userId: UserId,
): Promise<TopicMutes> {
  const rows = (await channels.listSubscriptions(realmId, userId)).filter((row) => row.isActive);
  const subscribed = new Map(rows.map((row) => [row.channelId, row]));
  const policies = await topicPolicies.list(realmId, userId);
  const choices = new Map(policies.map((policy) => [keyOf(policy.channelId, policy.topic), policy.visibility]));
  return {
    isSubscribed: (channelId) => subscribed.has(channelId),
    isUnmuted: (channelId, topic) =>
      !isTopicMuted(subscribed.get(channelId)?.isMuted ?? false, choices.get(keyOf(channelId, topic))),
  };
}

const keyOf = (channelId: ChannelId, topic: string): string => `${channelId}:${topicKey(topic)}`;
