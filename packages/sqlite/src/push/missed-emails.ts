import type { GroupId, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { DueReason, MissedEmail, MissedEmailRepository } from '@parley/domain/push';
import type { Connection } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

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

export const MISSED_EMAIL_FEATURE = {
  schema: 'missed-emails',
  realmTables: ['missed_email'],
  notExported: { missed_email: 'The server that collected missed messages emails them.' },
  repositories: () => (connection) => ({ missedEmails: new SqliteMissedEmailRepository(connection) }),
} satisfies SqliteFeature;
