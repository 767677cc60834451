import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type {
  DueReason,
  MissedEmail,
  MissedEmailRepository,
  NotificationRepository,
  PushedMessage,
} from '@parley/domain/push';
import type { StorageFeature } from '../engine/feature.js';
import { EXPIRES } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

/**
 * Maximum number of subscribers that are looked up among the users notified by every channel. Larger channels look up
 * these users among their subscribers, because few people of a large organization usually want that.
 */
const FEW_SUBSCRIBERS = 100;

export class SqlNotificationRepository implements NotificationRepository {
  private readonly notifiable;
  private readonly pushed;
  private readonly pushedAmong;
  private readonly pushedTo;
  private readonly insert;
  private readonly delete;

  /**
   * @param isNotified condition on users `u` who are notified by every channel unless the subscription says otherwise
   */
  constructor(
    private readonly connection: Statements,
    isNotified: string,
  ) {
    const { elements, indexedBy, inSet } = connection.dialect;
    this.notifiable = connection.values<UserId>(
      `SELECT user_id FROM subscription ${indexedBy('subscription_notifying')}
       WHERE channel_id = ? AND realm_id = ? AND is_active = 1 AND (push_notifications = 1 OR email_notifications = 1)
       UNION
       SELECT s.user_id
       FROM channel c CROSS JOIN subscription s CROSS JOIN "user" u ${indexedBy('user_notified_of_channels')}
       WHERE c.id = ? AND c.subscriber_count <= ${FEW_SUBSCRIBERS} AND s.channel_id = c.id AND s.is_active = 1
         AND u.id = s.user_id AND u.realm_id = ? AND u.bot_kind IS NULL AND ${isNotified}
       UNION
       SELECT s.user_id
       FROM channel c CROSS JOIN "user" u ${indexedBy('user_notified_of_channels')} CROSS JOIN subscription s
       WHERE c.id = ? AND c.subscriber_count > ${FEW_SUBSCRIBERS} AND s.user_id = u.id AND s.channel_id = c.id
         AND s.is_active = 1 AND u.realm_id = ? AND u.bot_kind IS NULL AND ${isNotified}
       UNION
       SELECT p.user_id
       FROM topic_policy p ${indexedBy('topic_policy_following')}
       CROSS JOIN subscription s
       WHERE s.user_id = p.user_id AND s.channel_id = ? AND s.is_active = 1
         AND p.channel_id = ? AND p.topic_key = ? AND p.visibility = 'followed' AND p.realm_id = ?
       ORDER BY 1`,
    );
    this.pushed = connection.values<MessageId>(
      'SELECT message_id FROM pushed_message WHERE user_id = ? AND realm_id = ? ORDER BY message_id DESC',
    );
    this.pushedAmong = connection.values<MessageId>(
      `SELECT message_id FROM pushed_message WHERE message_id ${inSet} AND user_id = ? AND realm_id = ?
       ORDER BY message_id DESC`,
    );
    this.pushedTo = connection.tuples<[UserId, MessageId]>(
      `SELECT user_id, message_id FROM pushed_message ${indexedBy('pushed_message_by_message')}
       WHERE message_id ${inSet} AND realm_id = ?
       ORDER BY user_id, message_id`,
    );
    this.insert = connection.values<UserId>(
      `INSERT INTO pushed_message (user_id, message_id, realm_id) 
       SELECT value, ?, ? FROM ${elements('bigint')} WHERE true
       ON CONFLICT (user_id, message_id) DO NOTHING RETURNING user_id`,
    );
    this.delete = connection.command(
      'DELETE FROM pushed_message WHERE user_id = ? AND message_id = ? AND realm_id = ?',
    );
  }

  async listNotifiable(realmId: RealmId, channelId: ChannelId, topicKey: string): Promise<readonly UserId[]> {
    const channel = [channelId, realmId] as const;
    return await this.notifiable.all(...channel, ...channel, ...channel, channelId, channelId, topicKey, realmId);
  }

  async listPushed(
    realmId: RealmId,
    userId: UserId,
    among: readonly MessageId[] | null,
  ): Promise<readonly MessageId[]> {
    if (among === null) return await this.pushed.all(userId, realmId);
    return await this.pushedAmong.all(this.connection.dialect.set(among), userId, realmId);
  }

  async listPushedTo(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly PushedMessage[]> {
    const rows = await this.pushedTo.all(this.connection.dialect.set(messageIds), realmId);
    return rows.map(([userId, messageId]) => ({ userId, messageId }));
  }

  async addPushed(realmId: RealmId, messageId: MessageId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    const added = new Set(await this.insert.all(messageId, realmId, this.connection.dialect.set(userIds)));
    return userIds.filter((userId) => added.has(userId));
  }

  async removePushed(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void> {
    for (const messageId of messageIds) this.delete.defer(userId, messageId, realmId);
  }
}

export class SqlMissedEmailRepository implements MissedEmailRepository {
  private readonly ofConversation;
  private readonly insert;
  private readonly delete;

  constructor(connection: Statements) {
    this.ofConversation = connection.rows<MissedEmailRow>(
      `SELECT user_id, conversation, message_id, reason, group_id FROM missed_email
       WHERE user_id = ? AND realm_id = ? AND conversation = ? ORDER BY message_id`,
    );
    this.insert = connection.command(
      `INSERT INTO missed_email (user_id, message_id, realm_id, conversation, reason, group_id)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    );
    this.delete = connection.command('DELETE FROM missed_email WHERE user_id = ? AND message_id = ? AND realm_id = ?');
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

const TABLES = `
-- Messages that wait to be emailed, batched by conversation.

CREATE TABLE missed_email (
  user_id {int} NOT NULL REFERENCES {user} (id),
  message_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  conversation {text} NOT NULL,
  reason {text} NOT NULL,
  group_id {int},
  PRIMARY KEY (user_id, message_id)
) {withoutRowId};
`;

export const notificationFeature = (isNotified: string) =>
  ({
    schema: 'missed-emails',
    steps: { 13: TABLES },
    realmTables: ['pushed_message', 'missed_email'],
    persons: {
      pushed_message: { data: 'Notifications on phones', fate: EXPIRES, erase: 'user_id = {id}' },
      missed_email: { data: 'Waiting emails', fate: EXPIRES, erase: 'user_id = {id}' },
    },
    notExported: {
      pushed_message: 'Apps show what they have received.',
      missed_email: 'The original server emails missed messages.',
    },
    repositories: () => (connection) => ({
      notifications: new SqlNotificationRepository(connection, isNotified),
      missedEmails: new SqlMissedEmailRepository(connection),
    }),
  }) satisfies StorageFeature;
