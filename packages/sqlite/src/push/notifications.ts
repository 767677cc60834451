import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type {
  DueReason,
  MissedEmail,
  MissedEmailRepository,
  NotificationRepository,
  PushedMessage,
} from '@parley/domain/push';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export class SqliteNotificationRepository implements NotificationRepository {
  private readonly notifiable;
  private readonly pushed;
  private readonly pushedAmong;
  private readonly pushedTo;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.notifiable = connection.values<UserId>(
      `SELECT user_id FROM subscription INDEXED BY subscription_notifying
       WHERE channel_id = ? AND realm_id = ? AND is_active = 1 AND (push_notifications = 1 OR email_notifications = 1)
       UNION
       SELECT s.user_id
       FROM user u INDEXED BY user_notified_of_channels
       CROSS JOIN subscription s ON s.user_id = u.id AND s.channel_id = ? AND s.is_active = 1
       WHERE u.realm_id = ? AND u.bot_kind IS NULL AND CASE WHEN json_valid(u.settings) THEN
         coalesce(u.settings ->> '$.enableChannelPushNotifications', 0) OR coalesce(u.settings ->> '$.enableChannelEmailNotifications', 0)
       END = 1
       UNION
       SELECT p.user_id
       FROM topic_policy p INDEXED BY topic_policy_following
       CROSS JOIN subscription s ON s.user_id = p.user_id AND s.channel_id = ? AND s.is_active = 1
       WHERE p.channel_id = ? AND p.topic_key = ? AND p.visibility = 'followed' AND p.realm_id = ?
       ORDER BY 1`,
    );
    this.pushed = connection.values<MessageId>(
      'SELECT message_id FROM pushed_message WHERE user_id = ? AND realm_id = ? ORDER BY message_id DESC',
    );
    this.pushedAmong = connection.values<MessageId>(
      `SELECT p.message_id FROM json_each(?) AS wanted
       CROSS JOIN pushed_message p ON p.user_id = ? AND p.message_id = wanted.value AND p.realm_id = ?
       ORDER BY p.message_id DESC`,
    );
    this.pushedTo = connection.tuples<[UserId, MessageId]>(
      `SELECT p.user_id, p.message_id FROM json_each(?) AS wanted
       CROSS JOIN pushed_message p INDEXED BY pushed_message_by_message
         ON p.message_id = wanted.value AND p.realm_id = ?
       ORDER BY p.user_id, p.message_id`,
    );
    this.insert = connection.values<UserId>(
      `INSERT INTO pushed_message (user_id, message_id, realm_id) VALUES (?, ?, ?)
       ON CONFLICT (user_id, message_id) DO NOTHING RETURNING user_id`,
    );
    this.delete = connection.command(
      'DELETE FROM pushed_message WHERE user_id = ? AND message_id = ? AND realm_id = ?',
    );
  }

  async listNotifiable(realmId: RealmId, channelId: ChannelId, topicKey: string): Promise<readonly UserId[]> {
    return this.notifiable.all(channelId, realmId, channelId, realmId, channelId, channelId, topicKey, realmId);
  }

  async listPushed(
    realmId: RealmId,
    userId: UserId,
    among: readonly MessageId[] | null,
  ): Promise<readonly MessageId[]> {
    if (among === null) return this.pushed.all(userId, realmId);
    return this.pushedAmong.all(JSON.stringify(among), userId, realmId);
  }

  async listPushedTo(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly PushedMessage[]> {
    const rows = this.pushedTo.all(JSON.stringify(messageIds), realmId);
    return rows.map(([userId, messageId]) => ({ userId, messageId }));
  }

  async addPushed(realmId: RealmId, messageId: MessageId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return userIds.filter((userId) => this.insert.get(userId, messageId, realmId) !== undefined);
  }

  async removePushed(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const messageId of messageIds) this.delete.run(userId, messageId, realmId);
  }
}

export class SqliteMissedEmailRepository implements MissedEmailRepository {
  private readonly ofConversation;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.ofConversation = connection.rows<MissedEmailRow>(
      `SELECT user_id, conversation, message_id, reason, group_id FROM missed_email
       WHERE user_id = ? AND realm_id = ? AND conversation = ? ORDER BY message_id`,
    );
    this.insert = connection.command(
      `INSERT OR IGNORE INTO missed_email (user_id, message_id, realm_id, conversation, reason, group_id)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.delete = connection.command('DELETE FROM missed_email WHERE user_id = ? AND message_id = ? AND realm_id = ?');
  }

  async list(realmId: RealmId, userId: UserId, conversation: string): Promise<readonly MissedEmail[]> {
    return this.ofConversation.all(userId, realmId, conversation).map(toMissedEmail);
  }

  async add(realmId: RealmId, { userId, messageId, conversation, reason, groupId }: MissedEmail): Promise<void> {
    this.insert.run(userId, messageId, realmId, conversation, reason, groupId);
  }

  async remove(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const messageId of messageIds) this.delete.run(userId, messageId, realmId);
  }
}

interface MissedEmailRow {
  readonly user_id: UserId;
  readonly conversation: string;
  readonly message_id: MessageId;
  readonly reason: DueReason;
  readonly group_id: GroupId | null;
}

const toMissedEmail = (row: MissedEmailRow): MissedEmail => ({
  userId: row.user_id,
  conversation: row.conversation,
  messageId: row.message_id,
  reason: row.reason,
  groupId: row.group_id,
});

export const NOTIFICATION_FEATURE = {
  schema: 'missed-emails',
  realmTables: ['pushed_message', 'missed_email'],
  notExported: {
    pushed_message: 'Apps show what they have received.',
    missed_email: 'The server that collected missed messages emails them.',
  },
  repositories: () => (connection) => ({
    notifications: new SqliteNotificationRepository(connection),
    missedEmails: new SqliteMissedEmailRepository(connection),
  }),
} satisfies SqliteFeature;
