import type { GroupSettingValue } from '../access/group-setting.js';
import { channelLink, silentMention } from '../markdown/syntax.js';
import type { User } from '../users/user.js';
import type { ChannelPrivacy, RetentionDays, TopicsPolicy } from './channel.js';

/** What the notification bot says in a channel that somebody changed (channels §4.4, §4.11, §4.12). */

/** Where it says so. */
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

/** In days; -1: forever. What the organization says has been put in. */
export function retentionNotice(by: Named, before: RetentionDays, after: RetentionDays): string {
  const period = (days: RetentionDays) => (days === 'forever' ? 'Forever' : `${days} days`);
  const summary =
    after === 'forever'
      ? 'Messages in this channel will be kept forever.'
      : `Messages in this channel will be deleted ${after} days after they are sent.`;
  return (
    `${silentMention(by)} has changed the [message retention period](/help/message-retention-policy) for this channel:\n` +
    `* **Old retention period**: ${period(before)}\n* **New retention period**: ${period(after)}\n\n${summary}`
  );
}

export const topicsPolicyNotice = (by: Named, before: TopicsPolicy, after: TopicsPolicy): string =>
  `${silentMention(by)} changed the "Allow posting to the *general chat* topic?" setting ` +
  `from **${TOPICS_POLICY_TITLES[before]}** to **${TOPICS_POLICY_TITLES[after]}**.`;

export const archivingNotice = (channel: { readonly name: string }, isArchived: boolean): string =>
  `Channel ${channelLink(channel)} has been ${isArchived ? 'archived' : 'unarchived'}.`;

/** What a permission is given to, with the names that a notice spells out. */
export interface NamedSetting {
  readonly value: GroupSettingValue;
  /** Of the groups it names, ascending id. */
  readonly groupNames: readonly string[];
  /** Of the users it names, ascending id; no more than MAX_NAMED_USERS of them. */
  readonly users: readonly Named[];
}

/** A message has no room for everybody whom a permission may name. */
export const MAX_NAMED_USERS = 50;

export const postingPermissionNotice = (by: Named, before: NamedSetting, after: NamedSetting): string =>
  `${silentMention(by)} changed the [posting permissions](/help/channel-posting-policy) for this channel:\n\n` +
  `* **Old**: ${holders(before)}\n* **New**: ${holders(after)}`;

function holders({ value, groupNames, users }: NamedSetting): string {
  const named = [...groupNames.map((name) => `@_*${name}*`), ...users.map(silentMention)];
  const hidden = typeof value === 'number' ? 0 : value.directMembers.length - users.length;
  return hidden > 0 ? `${named.join(', ')} and ${hidden} more` : named.join(', ');
}
