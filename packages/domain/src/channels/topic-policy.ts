import type { ChannelId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { AutomaticTopicPolicy, UserSettings } from '../realms/user-settings.js';

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
