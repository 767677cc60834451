import type { Actor } from '../access/actor.js';
import { groupsHolding } from '../access/group-closure.js';
import type { GroupSettingValue } from '../access/group-settings.js';
import type { Audience } from '../kernel/event.js';
import type { ChannelId, GroupId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import { type Author, channelLink, type ParsedMarkdown, silentMention } from '../markdown/markdown.js';
import type { Realm } from '../realms/realm.js';
import type { User } from '../users/user.js';
import { type Channel, type ChannelPrivacy, isPrivate, type RetentionDays, type TopicsPolicy } from './channel.js';
import {
  type ChangedUser,
  type ChannelsWithAudience,
  VISIBILITY_PERMISSIONS,
  VisibilityForChangedUsers,
} from './channel-delivery.js';

/** Notice in a topic of a channel, which may be archived. */
export interface ChannelNotice {
  readonly channel: Channel;
  readonly topic: string;
  readonly content: string;
  /** Users with the notice already marked as read. */
  readonly readFor?: readonly UserId[];
  /** True if the notice is marked as read for all users. */
  readonly isReadByDefault?: boolean;
  /** Subscribers who get the notice as unread despite `isReadByDefault`. */
  readonly unreadFor?: readonly UserId[];
  /** Content or quoted text parsed before the transaction. */
  readonly ahead?: ParsedMarkdown;
}

/** Posts notification bot messages about channel changes, inside the transaction of the change. */
export interface NotificationBot {
  sendToChannel(tx: Transaction, realm: Realm, notice: ChannelNotice & { readonly author: Author }): Promise<void>;

  /** Posts one notice per channel and renders identical texts only once. */
  postAll(tx: Transaction, realm: Realm, author: Author, notices: readonly ChannelNotice[]): Promise<void>;

  /** Parses a notice that quotes user input, before the transaction. Returns undefined if it cannot be rendered. */
  parseNotice(realm: Realm, content: string): Promise<ParsedMarkdown | undefined>;

  sendDirect(tx: Transaction, realm: Realm, person: User, content: string, author: Author): Promise<void>;
}

/** Returns the channel configured in the organization's settings; null if unset or archived. */
export async function configuredChannel(tx: Transaction, realm: Realm, id: number | null): Promise<Channel | null> {
  const channel = id === null ? null : await tx.channels.find(realm.id, id as ChannelId);
  return channel && !channel.isArchived ? channel : null;
}

/** Texts of notification bot notices about channel changes (channels §4.4, §4.11, §4.12). */

/** Topic of these notices. */
export const CHANNEL_EVENTS_TOPIC = 'channel events';

type Named = Pick<User, 'id' | 'fullName'>;

const PRIVACY_TITLES: Readonly<Record<ChannelPrivacy, string>> = {
  webPublic: 'Web-public',
  public: 'Public',
  privateSharedHistory: 'Private, shared history',
  privateProtectedHistory: 'Private, protected history',
};

const TOPICS_POLICY_TITLES: Readonly<Record<TopicsPolicy, string>> = {
  inherit: 'Automatic',
  emptyTopicAllowed: '*general chat* topic allowed',
  emptyTopicRefused: 'No *general chat* topic',
  emptyTopicOnly: 'Only *general chat* topic allowed',
};

const quoted = (description: string): string =>
  `\`\`\`\` quote\n${description === '' ? '*No description.*' : description}\n\`\`\`\``;

export const creationNotice = (by: Named, privacy: ChannelPrivacy, description: string): string =>
  `**${PRIVACY_TITLES[privacy]}** channel created by ${silentMention(by)}. **Description:**\n${quoted(description)}`;

export const privacyNotice = (by: Named, before: ChannelPrivacy, after: ChannelPrivacy): string =>
  `${silentMention(by)} changed the [access permissions](/help/channel-permissions) for this channel ` +
  `from **${PRIVACY_TITLES[before]}** to **${PRIVACY_TITLES[after]}**.`;

export const renamingNotice = (by: Named, before: string, after: string): string =>
  `${silentMention(by)} renamed channel **${before}** to **${after}**.`;

export const descriptionNotice = (by: Named, before: string, after: string): string =>
  `${silentMention(by)} changed the description for this channel.\n\n` +
  `* **Old description:**\n${quoted(before)}\n* **New description:**\n${quoted(after)}`;

/** Retention in days; -1 means forever. The organization's policy is already resolved. */
export function retentionNotice(by: Named, before: RetentionDays, after: RetentionDays): string {
  const period = (days: RetentionDays) => (days === 'forever' ? 'Forever' : `${days} days`);
  const summary =
    after === 'forever'
      ? 'Messages in this channel will now be retained forever.'
      : `Messages in this channel will now be automatically deleted ${after} days after they are sent.`;
  return (
    `${silentMention(by)} has changed the [message retention period](/help/message-retention-policy) for this channel:\n` +
    `* **Old retention period**: ${period(before)}\n* **New retention period**: ${period(after)}\n\n${summary}`
  );
}

export const topicsPolicyNotice = (by: Named, before: TopicsPolicy, after: TopicsPolicy): string =>
  `${silentMention(by)} changed the "Allow posting to the *general chat* topic?" setting ` +
  `from **${TOPICS_POLICY_TITLES[before]}** to **${TOPICS_POLICY_TITLES[after]}**.`;

/** Direct message to a new subscriber. */
export function subscribedNotice(by: Named, channelNames: readonly string[]): string {
  const who = silentMention(by);
  const links = [...channelNames].sort().map((name) => channelLink({ name }));
  return links.length === 1
    ? `${who} subscribed you to ${links[0]}.`
    : `${who} subscribed you to the following channels:\n\n${links.map((link) => `* ${link}`).join('\n')}`;
}

export const archivingNotice = (channel: { readonly name: string }, isArchived: boolean): string =>
  `Channel ${channelLink(channel)} has been ${isArchived ? 'archived' : 'unarchived'}.`;

/** Permission value with the names shown in a notice. */
export interface NamedSetting {
  readonly value: GroupSettingValue;
  /** Names of the groups in the value, by ascending id. */
  readonly groupNames: readonly string[];
  /** Users in the value, by ascending id; at most MAX_NAMED_USERS. */
  readonly users: readonly Named[];
}

/** Limits the length of a notice, because a permission may list any number of users. */
export const MAX_NAMED_USERS = 50;

export const postingPermissionNotice = (by: Named, before: NamedSetting, after: NamedSetting): string =>
  `${silentMention(by)} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n` +
  `* **Old**: ${holders(before)}\n* **New**: ${holders(after)}`;

function holders({ value, groupNames, users }: NamedSetting): string {
  const named = [...groupNames.map((name) => `@_*${name}*`), ...users.map(silentMention)];
  const hidden = typeof value === 'number' ? 0 : value.directMembers.length - users.length;
  return hidden > 0 ? `${named.join(', ')} and ${hidden} more` : named.join(', ');
}

const CHANNELS_AT_A_TIME = 100;
/**
 * Maximum number of channels embedded in an event; an event with more contains only their ids, to keep the log small.
 */
const MAX_EMBEDDED_CHANNELS = 10;
/** Maximum number of channels per log row, because each channel becomes a separate wire event. */
export const CHANNELS_PER_LIST_OF_SUBSCRIBERS = 500;

/** Publishes channels that become visible to the audience, with their subscribers (channels §6.3). */
export async function announceNewlyVisible(
  tx: Transaction,
  realmId: RealmId,
  channelIds: readonly ChannelId[],
  audience: Audience,
): Promise<void> {
  if (channelIds.length <= MAX_EMBEDDED_CHANNELS) {
    const channels = await tx.channels.listViews(realmId, channelIds);
    await tx.events.append(realmId, { event: { type: 'channel.created', channels }, audience });
  }
  for (const some of slicesOf(channelIds, CHANNELS_PER_LIST_OF_SUBSCRIBERS)) {
    if (channelIds.length > MAX_EMBEDDED_CHANNELS) {
      await tx.events.append(realmId, { event: { type: 'channel.shown', channelIds: some }, audience });
    }
    await tx.events.append(realmId, { event: { type: 'channel.subscribers_shown', channelIds: some }, audience });
  }
}

/** Returns a function that lists channel subscribers, at least those among the given users. */
async function subscribersAmong(
  tx: Transaction,
  realmId: RealmId,
  userIds: readonly UserId[],
): Promise<(channelIds: readonly ChannelId[]) => Promise<ReadonlyMap<ChannelId, readonly UserId[]>>> {
  // Reading each user's channels is cheaper than reading whole subscriber lists only for few users.
  if (userIds.length > FEW_USERS) return (channelIds) => tx.channels.listSubscribers(realmId, channelIds);
  const subscribers = new Map<ChannelId, UserId[]>();
  for (const userId of userIds) {
    for (const channelId of await tx.channels.listSubscribedIds(realmId, userId)) {
      const others = subscribers.get(channelId);
      if (others) others.push(userId);
      else subscribers.set(channelId, [userId]);
    }
  }
  return async () => subscribers;
}

const FEW_USERS = 5;

/** Publishes the channels gained and lost by users after a change of role or groups (channels §6.3). */
export async function announceVisibilityOf(
  tx: Transaction,
  realmId: RealmId,
  people: readonly ChangedUser[],
  channels: readonly Channel[],
): Promise<void> {
  const visibility = new VisibilityForChangedUsers(people, channels);
  const userIds = people.map(({ after }) => after.id);
  const subscribersOf = await subscribersAmong(tx, realmId, userIds);
  for (const some of slicesOf(channels, CHANNELS_AT_A_TIME)) {
    const subscribers = await subscribersOf(some.map(({ id }) => id));
    for (const channel of some) visibility.add(channel, subscribers.get(channel.id) ?? []);
  }
  const { gained, lost } = visibility.change;
  const idsOf = ({ channels: some }: ChannelsWithAudience) => some.map(({ id }) => id);
  for (const each of gained) await announceNewlyVisible(tx, realmId, idsOf(each), each.audience);
  for (const each of lost) {
    await tx.events.append(realmId, {
      event: { type: 'channel.hidden', channelIds: idsOf(each) },
      audience: each.audience,
    });
  }
}

/**
 * Runs `change`, which updates and publishes the group membership of these users, and publishes the resulting channel
 * visibility. The cost depends on the number of users only if one of the groups makes a channel visible.
 */
export async function changeMembership(
  tx: Transaction,
  realmId: RealmId,
  groupId: GroupId,
  userIds: () => Promise<readonly UserId[]>,
  change: () => Promise<void>,
): Promise<void> {
  const channels = await channelsShownBy(tx, realmId, groupId);
  if (channels.length === 0) return change();
  const ids = [...new Set(await userIds())];
  const before = await tx.actors.list(realmId, ids);
  await change();
  const after = await tx.actors.list(realmId, ids);
  const people = [...after.values()].flatMap((actor) => changedUser(before.get(actor.id), actor));
  await announceVisibilityOf(tx, realmId, people, channels);
}

const changedUser = (before: Actor | undefined, after: Actor): ChangedUser[] => (before ? [{ before, after }] : []);

/** Lists private channels that the group makes visible to its members, directly or through groups that contain it. */
export async function channelsShownBy(
  tx: Transaction,
  realmId: RealmId,
  groupId: GroupId,
): Promise<readonly Channel[]> {
  const groupIds = groupsHolding(await tx.groups.listEdges(realmId), groupId);
  return (await tx.channels.listAll(realmId)).filter(
    (channel) =>
      isPrivate(channel) && VISIBILITY_PERMISSIONS.some((permission) => groupIds.has(channel.permissions[permission])),
  );
}

/** Publishes channel visibility for one user after a role change. */
export const announceVisibilityAfterRole = async (
  tx: Transaction,
  realmId: RealmId,
  changed: ChangedUser,
): Promise<void> => announceVisibilityOf(tx, realmId, [changed], await tx.channels.listAll(realmId));
