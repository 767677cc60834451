import {
  CHANNEL_PERMISSIONS,
  type Channel,
  type ChannelPrivacy,
  type Subscription,
  TOPICS_POLICIES,
  type TopicsPolicy,
} from '@parley/domain/channels';
import {
  type ChannelFolderId,
  type ChannelId,
  foldCase,
  type GroupId,
  type MessageId,
  type RealmId,
  type RecipientId,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import type { Quarantine } from '../engine/quarantine.js';
import { type Columns, type Flag, fromFlagOrNull, groupSettingsColumn, toFlag, toFlagOrNull } from '../engine/rows.js';

const permissions = groupSettingsColumn(CHANNEL_PERMISSIONS, 'channel');
/** Value of `message_retention_days`; null inherits the organization's setting. */
const FOREVER = -1;

const PRIVACIES: readonly ChannelPrivacy[] = ['webPublic', 'public', 'privateSharedHistory', 'privateProtectedHistory'];

export interface ChannelRow {
  readonly id: ChannelId;
  readonly version: number;
  readonly recipient_id: RecipientId;
  readonly name: string;
  readonly description: string;
  readonly rendered_description: string;
  readonly privacy: ChannelPrivacy;
  readonly is_archived: Flag;
  readonly creator_id: UserId | null;
  readonly created_at: UnixSeconds;
  readonly message_retention_days: number | null;
  readonly topics_policy: TopicsPolicy;
  readonly folder_id: ChannelFolderId | null;
  readonly is_default: Flag;
  readonly is_recently_active: Flag;
  readonly first_message_id: MessageId | null;
  readonly permissions: string;
}

export const CHANNEL_COLUMNS: readonly (keyof ChannelRow)[] = [
  'id',
  'version',
  'recipient_id',
  'name',
  'description',
  'rendered_description',
  'privacy',
  'is_archived',
  'creator_id',
  'created_at',
  'message_retention_days',
  'topics_policy',
  'folder_id',
  'is_default',
  'is_recently_active',
  'first_message_id',
  'permissions',
];

export interface SubscriptionRow {
  readonly user_id: UserId;
  readonly channel_id: ChannelId;
  readonly realm_id: RealmId;
  readonly is_active: Flag;
  readonly color: string;
  readonly is_muted: Flag;
  readonly is_pinned: Flag;
  readonly desktop_notifications: Flag | null;
  readonly audible_notifications: Flag | null;
  readonly push_notifications: Flag | null;
  readonly email_notifications: Flag | null;
  readonly wildcard_mentions_notify: Flag | null;
}

export const SUBSCRIPTION_COLUMNS: readonly (keyof SubscriptionRow)[] = [
  'user_id',
  'channel_id',
  'realm_id',
  'is_active',
  'color',
  'is_muted',
  'is_pinned',
  'desktop_notifications',
  'audible_notifications',
  'push_notifications',
  'email_notifications',
  'wildcard_mentions_notify',
];

export function toSubscription(row: SubscriptionRow): Subscription {
  return {
    realmId: row.realm_id,
    channelId: row.channel_id,
    userId: row.user_id,
    isActive: row.is_active === 1,
    color: row.color,
    isMuted: row.is_muted === 1,
    isPinned: row.is_pinned === 1,
    notifications: {
      desktop: fromFlagOrNull(row.desktop_notifications),
      audible: fromFlagOrNull(row.audible_notifications),
      push: fromFlagOrNull(row.push_notifications),
      email: fromFlagOrNull(row.email_notifications),
      wildcardMentions: fromFlagOrNull(row.wildcard_mentions_notify),
    },
  };
}

/** Column values in the order of `insert` and `store`. */
export function fromChannel(
  channel: Omit<Channel, 'id' | 'recipientId' | 'version'>,
): readonly (string | number | null)[] {
  return [
    channel.name,
    foldCase(channel.name),
    channel.description,
    channel.renderedDescription,
    channel.privacy,
    toFlag(channel.isArchived),
    channel.creatorId,
    channel.createdAt,
    channel.messageRetentionDays === 'forever' ? FOREVER : channel.messageRetentionDays,
    channel.topicsPolicy,
    channel.folderId,
    toFlag(channel.isDefault),
    toFlag(channel.isRecentlyActive),
    channel.firstMessageId,
    JSON.stringify(channel.permissions),
  ];
}

/** Column values in the order of `upsertSubscriptions`. */
export function fromSubscription({
  notifications,
  ...subscription
}: Subscription): readonly (string | number | null)[] {
  return [
    subscription.userId,
    subscription.channelId,
    subscription.realmId,
    toFlag(subscription.isActive),
    subscription.color,
    toFlag(subscription.isMuted),
    toFlag(subscription.isPinned),
    toFlagOrNull(notifications.desktop),
    toFlagOrNull(notifications.audible),
    toFlagOrNull(notifications.push),
    toFlagOrNull(notifications.email),
    toFlagOrNull(notifications.wildcardMentions),
  ];
}

/**
 * Converts rows in order. Written out column by column, because a loop over names costs more than reading the rows.
 */
export function toChannels(
  realmId: RealmId,
  rows: Columns<ChannelRow>,
  quarantine: Quarantine,
  nobody: () => GroupId,
): readonly Channel[] {
  return rows.id.map((id, n) => {
    const retentionDays = rows.message_retention_days[n]!;
    return {
      id,
      realmId,
      recipientId: rows.recipient_id[n]!,
      name: rows.name[n]!,
      description: rows.description[n]!,
      renderedDescription: rows.rendered_description[n]!,
      privacy: quarantine.word(rows.privacy[n]!, PRIVACIES, 'privateProtectedHistory', 'channel', id, 'privacy'),
      isArchived: rows.is_archived[n] === 1,
      creatorId: rows.creator_id[n]!,
      createdAt: rows.created_at[n]!,
      messageRetentionDays: retentionDays === FOREVER ? 'forever' : retentionDays,
      topicsPolicy: quarantine.word(rows.topics_policy[n]!, TOPICS_POLICIES, 'inherit', 'channel', id, 'topics_policy'),
      folderId: rows.folder_id[n]!,
      isDefault: rows.is_default[n] === 1,
      isRecentlyActive: rows.is_recently_active[n] === 1,
      firstMessageId: rows.first_message_id[n]!,
      permissions: permissions.fromJson(rows.permissions[n]!, id, quarantine, nobody),
      version: rows.version[n]!,
    };
  });
}
