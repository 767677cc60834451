import type { Actor } from '../access/actor.js';
import { DomainError } from '../kernel/errors.js';
import { users } from '../kernel/event.js';
import type { PersonPart } from '../kernel/export-parts.js';
import type { ChannelId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import * as shape from '../kernel/shape.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { AutomaticTopicPolicy, UserSettings } from '../realms/user-settings.js';
import { type Channel, normalizeTopic, topicKey } from './channel.js';
import { hasMetadataAccess } from './channel-access.js';

/** Visibility of a topic for a user; `inherit` uses the channel's setting. */
export type TopicVisibility = 'inherit' | 'muted' | 'unmuted' | 'followed';

/** User's policy for one topic, regardless of letter case. Not stored for `inherit`. */
export interface TopicPolicy {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly channelId: ChannelId;
  /** Topic as spelled when the policy was first stored. */
  readonly topic: string;
  readonly visibility: TopicVisibility;
  readonly changedAt: UnixSeconds;
}

/** Limit per user; each change sends older clients the complete list of muted topics. */
export const MAX_TOPIC_POLICIES = 10_000;
/**
 * Maximum number of muted topics to repeat in an event that does not change them. Mentions by others may cause many such
 * events.
 */
export const MAX_REPEATED_MUTES = 100;

export interface TopicPolicyReads {
  /** Returns the policies of these users for the topic; users without one are absent. */
  listOf(
    realmId: RealmId,
    channelId: ChannelId,
    topicKey: string,
    userIds: readonly UserId[],
  ): Promise<ReadonlyMap<UserId, TopicVisibility>>;
  /** Returns null if the user has no policy for the topic. */
  find(realmId: RealmId, userId: UserId, channelId: ChannelId, topicKey: string): Promise<TopicPolicy | null>;
  /** Counts the user's topic policies. */
  count(realmId: RealmId, userId: UserId): Promise<number>;
  /** Returns the user's muted topics in the order of `list`: the first `limit` ones, or all. */
  listMuted(realmId: RealmId, userId: UserId, limit?: number): Promise<readonly TopicPolicy[]>;
  /** Returns all policies of the user, by ascending channel, then topic key. */
  list(realmId: RealmId, userId: UserId): Promise<readonly TopicPolicy[]>;
  /** Returns up to `limit` policies for the topic of users with ids above `after`, by ascending user. */
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
  /** Replaces the user's policy and keeps the stored spelling; `inherit` removes the policy. */
  put(policy: TopicPolicy): Promise<void>;
}

/** True if the topic is muted by its policy or, without one, by its channel. */
export const isTopicMuted = (hasMutedChannel: boolean, choice: TopicVisibility = 'inherit'): boolean =>
  choice === 'inherit' ? hasMutedChannel : choice === 'muted';

/** Participation in a topic and the settings that depend on it. */
export interface TopicParticipation {
  readonly settings: Pick<
    UserSettings,
    'automaticallyFollowTopicsPolicy' | 'automaticallyUnmuteTopicsInMutedChannelsPolicy'
  >;
  readonly current: TopicVisibility;
  readonly hasMutedChannel: boolean;
  /** True if no earlier message in the topic is visible to the user. */
  readonly startsTopic: boolean;
}

/** Returns the sender's new visibility after sending (messages §4.4); null if unchanged. */
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

/** Returns the new visibility after a reaction or vote; null if unchanged. Never lowers the visibility. */
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

/** True if a mention makes the user follow the topic (messages §4.4); muted topics stay muted. */
export function followsWhenMentioned(
  settings: Pick<UserSettings, 'automaticallyFollowTopicsWhereMentioned'>,
  current: TopicVisibility,
): boolean {
  return settings.automaticallyFollowTopicsWhereMentioned && current !== 'muted' && current !== 'followed';
}

const BY_VISIBILITY: readonly TopicVisibility[] = ['muted', 'inherit', 'unmuted', 'followed'];

/** Merges two policies when one topic becomes part of another (messages §9.3). */
export const moreVisible = (one: TopicVisibility, other: TopicVisibility): TopicVisibility =>
  BY_VISIBILITY[Math.max(BY_VISIBILITY.indexOf(one), BY_VISIBILITY.indexOf(other))]!;

/** Topic policy with the channel name that old clients require. */
export interface NamedTopicPolicy extends TopicPolicy {
  readonly channelName: string;
}

/**
 * Adds channel names to a user's policies and preserves the order. Omits archived channels and channels hidden from the
 * user, because their names must not leak (README decision 20).
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
 * Stores a user's topic policy and publishes it. Returns false and changes nothing if the user has reached the maximum
 * number of policies.
 */
export async function changeTopicPolicy(tx: Transaction, policy: TopicPolicy): Promise<boolean> {
  const { realmId, userId, channelId, topic, visibility, changedAt } = policy;
  const stored = await tx.topicPolicies.find(realmId, userId, channelId, topicKey(topic));
  const isNew = stored === null && visibility !== 'inherit';
  if (isNew && (await tx.topicPolicies.count(realmId, userId)) >= MAX_TOPIC_POLICIES) return false;
  // A policy keeps its original spelling of the topic.
  const changed = { ...policy, topic: stored?.topic ?? topic };
  await tx.topicPolicies.put(changed);
  const changesMutes = visibility === 'muted' || stored?.visibility === 'muted';
  const limit = changesMutes ? undefined : MAX_REPEATED_MUTES + 1;
  const muted = await tx.topicPolicies.listMuted(realmId, userId, limit);
  const isRepeated = changesMutes || muted.length <= MAX_REPEATED_MUTES;
  // Skips the look-up for users without mutes, because thousands of users may be mentioned at once.
  const named =
    muted.length === 0 || !isRepeated ? [] : await nameTopicPolicies(tx, await tx.actors.get(policy), muted);
  await tx.events.append(realmId, {
    event: {
      type: 'topic.policy_changed',
      channelId,
      topic: changed.topic,
      visibility,
      changedAt,
      // Old clients identify topics by channel name and expect the complete list of muted topics.
      muted: isRepeated ? named.map(({ channelName, topic, changedAt }) => ({ channelName, topic, changedAt })) : null,
    },
    audience: users([userId]),
  });
  return true;
}

/**
 * Sets a topic policy that a user requested; no-op if it is already set.
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

/** Mute state of a user's subscribed channels and topics. */
export interface TopicMutes {
  isSubscribed(channelId: ChannelId): boolean;
  /** True if neither the channel nor the topic is muted, or the topic is unmuted in a muted channel. */
  isUnmuted(channelId: ChannelId, topic: string): boolean;
}

/** Loads the mute state. The cost grows with the user's subscriptions and topic policies. */
export async function loadTopicMutes(
  { channels, topicPolicies }: Pick<Repositories | Transaction, 'channels' | 'topicPolicies'>,
  realmId: RealmId,
  userId: UserId,
  channelIds: readonly ChannelId[] | null = null,
): Promise<TopicMutes> {
  const all = channelIds
    ? ((await channels.listSubscriptionsOf(realmId, [userId], channelIds)).get(userId) ?? [])
    : await channels.listSubscriptions(realmId, userId);
  const rows = all.filter((row) => row.isActive);
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

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    topicPolicies: [reads: TopicPolicyReads, repository: TopicPolicyRepository];
  }
  interface PersonCopyParts {
    readonly topicPolicies: readonly TopicPolicy[];
  }
}

const personPart: PersonPart<'topicPolicies'> = {
  none: { topicPolicies: [] },
  shapes: {
    topicPolicies: shape.list(
      shape.object({
        channelId: shape.anyId,
        topic: shape.name,
        visibility: shape.oneOf('inherit', 'muted', 'unmuted', 'followed'),
        changedAt: shape.time,
      }),
    ),
  },
  async read(reads, { realmId, userId }, { channelIds }) {
    const policies = await reads.topicPolicies.list(realmId, userId);
    return { topicPolicies: policies.filter(({ channelId }) => channelIds.has(channelId)) };
  },
  async add(tx, owner, { topicPolicies }, ids) {
    for (const policy of topicPolicies) {
      await tx.topicPolicies.put({ ...policy, ...owner, channelId: ids.channels.get(policy.channelId) });
    }
  },
};

export const TOPIC_POLICY_FEATURE = { personPart };
