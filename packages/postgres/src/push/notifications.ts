import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type {
  DueReason,
  MissedEmail,
  MissedEmailRepository,
  NotificationRepository,
  PushedMessage,
} from '@parley/domain/push';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresNotificationRepository implements NotificationRepository {
  private readonly notifiable;
  private readonly pushed;
  private readonly pushedAmong;
  private readonly pushedTo;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.notifiable = connection.values<UserId>(
      `SELECT user_id FROM subscription
       WHERE channel_id = $1 AND realm_id = $2 AND is_active = 1 AND (push_notifications = 1 OR email_notifications = 1)
       UNION
       SELECT s.user_id
       FROM "user" u
       JOIN subscription s ON s.user_id = u.id AND s.channel_id = $1 AND s.is_active = 1
       WHERE u.realm_id = $2 AND u.bot_kind IS NULL
         AND (u.settings LIKE '%"enableChannelPushNotifications":true%'
           OR u.settings LIKE '%"enableChannelEmailNotifications":true%')
       UNION
       SELECT p.user_id
       FROM topic_policy p
       JOIN subscription s ON s.user_id = p.user_id AND s.channel_id = $1 AND s.is_active = 1
       WHERE p.channel_id = $1 AND p.topic_key = $3 AND p.visibility = 'followed' AND p.realm_id = $2
       ORDER BY 1`,
    );
    this.pushed = connection.values<MessageId>(
      'SELECT message_id FROM pushed_message WHERE user_id = $1 AND realm_id = $2 ORDER BY message_id DESC',
    );
    this.pushedAmong = connection.values<MessageId>(
      `SELECT message_id FROM pushed_message WHERE message_id = ANY($1) AND user_id = $2 AND realm_id = $3
       ORDER BY message_id DESC`,
    );
    this.pushedTo = connection.tuples<[UserId, MessageId]>(
      `SELECT user_id, message_id FROM pushed_message WHERE message_id = ANY($1) AND realm_id = $2
       ORDER BY user_id, message_id`,
    );
    this.insert = connection.values<UserId>(
      `INSERT INTO pushed_message (user_id, message_id, realm_id) SELECT given, $2, $3 FROM unnest($1::bigint[]) given
       ON CONFLICT (user_id, message_id) DO NOTHING RETURNING user_id`,
    );
    this.delete = connection.command(
      'DELETE FROM pushed_message WHERE user_id = $1 AND message_id = $2 AND realm_id = $3',
    );
  }

  async listNotifiable(realmId: RealmId, channelId: ChannelId, topicKey: string): Promise<readonly UserId[]> {
    return await this.notifiable.all(channelId, realmId, topicKey);
  }

  async listPushed(
    realmId: RealmId,
    userId: UserId,
    among: readonly MessageId[] | null,
  ): Promise<readonly MessageId[]> {
    if (among === null) return await this.pushed.all(userId, realmId);
    return await this.pushedAmong.all(among, userId, realmId);
  }

  async listPushedTo(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly PushedMessage[]> {
    const rows = await this.pushedTo.all(messageIds, realmId);
    return rows.map(([userId, messageId]) => ({ userId, messageId }));
  }

  async addPushed(realmId: RealmId, messageId: MessageId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const added = new Set(await this.insert.all(userIds, messageId, realmId));
    return userIds.filter((userId) => added.has(userId));
  }

  async removePushed(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const messageId of messageIds) this.delete.defer(userId, messageId, realmId);
  }
}

export class PostgresMissedEmailRepository implements MissedEmailRepository {
  private readonly ofConversation;
  private readonly insert;
  private readonly delete;

  constructor(connection: Connection) {
    this.ofConversation = connection.rows<MissedEmailRow>(
      `SELECT user_id, conversation, message_id, reason, group_id FROM missed_email
       WHERE user_id = $1 AND realm_id = $2 AND conversation = $3 ORDER BY message_id`,
    );
    this.insert = connection.command(
      `INSERT INTO missed_email (user_id, message_id, realm_id, conversation, reason, group_id)
       VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    );
    this.delete = connection.command(
      'DELETE FROM missed_email WHERE user_id = $1 AND message_id = $2 AND realm_id = $3',
    );
  }

  async list(realmId: RealmId, userId: UserId, conversation: string): Promise<readonly MissedEmail[]> {
    return (await this.ofConversation.all(userId, realmId, conversation)).map(toMissedEmail);
  }

  async add(realmId: RealmId, { userId, messageId, conversation, reason, groupId }: MissedEmail): Promise<void> {
    this.insert.defer(userId, messageId, realmId, conversation, reason, groupId);
  }

  async remove(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const messageId of messageIds) this.delete.defer(userId, messageId, realmId);
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
    notifications: new PostgresNotificationRepository(connection),
    missedEmails: new PostgresMissedEmailRepository(connection),
  }),
} satisfies PostgresFeature;
