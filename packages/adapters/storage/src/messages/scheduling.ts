import type { ChannelId, RealmId, RealmRow, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  REMINDER_LIST,
  type Reminder,
  SCHEDULED_MESSAGE_LIST,
  type ScheduledMessage,
  type ScheduledMessageRepository,
} from '@parley/domain/writing';
import { type RowTable, SqlRows, Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';

/** Repository of scheduled messages or reminders, which share one sequence of ids. */
class SqlSchedulingRows<Row extends RealmRow, Stored> extends SqlRows<Row, Stored> {
  private readonly takeId = this.connection.values<number>(
    'UPDATE scheduling_counter SET last_id = last_id + 1 WHERE id = 1 RETURNING last_id',
  );

  protected override async newId(): Promise<number> {
    return await this.takeId.one();
  }
}

interface StoredMessage extends Omit<ScheduledMessage, 'id' | 'realmId' | 'userId' | 'to'> {
  /** Null for direct messages to `userIds`. */
  readonly channelId: ChannelId | null;
  readonly userIds: readonly UserId[] | null;
}

class SqlScheduledMessages
  extends SqlSchedulingRows<ScheduledMessage, StoredMessage>
  implements ScheduledMessageRepository
{
  private readonly deleteSent = this.connection.command(
    "DELETE FROM scheduled_message WHERE user_id = ? AND realm_id = ? AND status = 'sent' AND due_at < ?",
  );

  async removeSent(realmId: RealmId, userId: UserId, before: UnixSeconds): Promise<void> {
    this.deleteSent.defer(userId, realmId, before);
  }
}

const SCHEDULED_MESSAGE_TABLE: RowTable = new Table<ScheduledMessage, StoredMessage>(
  SCHEDULED_MESSAGE_LIST.rows,
  {
    columns: {
      channelId: 'int?',
      userIds: 'ids?',
      topic: 'text',
      content: 'text',
      renderedContent: 'text',
      dueAt: 'int',
      clientName: 'text',
      isReadBySender: 'flag',
      status: 'text',
      failure: 'text?',
    },
    indices: [
      "INDEX unsent_scheduled_message ON scheduled_message (user_id, due_at, id, realm_id) WHERE status <> 'sent'",
      "INDEX sent_scheduled_message ON scheduled_message (user_id, due_at, realm_id) WHERE status = 'sent'",
    ],
    reusesIds: true,
    pack: ({ to, ...row }) => ({
      ...row,
      channelId: to.kind === 'channelId' ? to.id : null,
      userIds: to.kind === 'userIds' ? to.ids : null,
    }),
    unpack: ({ channelId, userIds, ...row }) => ({
      ...row,
      to: channelId === null ? { kind: 'userIds', ids: userIds ?? [] } : { kind: 'channelId', id: channelId },
    }),
  },
  SqlScheduledMessages,
);

const REMINDER_TABLE = new Table<Reminder>(
  REMINDER_LIST.rows,
  {
    columns: {
      // The message may be deleted.
      messageId: 'int',
      note: 'text',
      content: 'text',
      renderedContent: 'text',
      dueAt: 'int',
      failure: 'text?',
    },
    indices: ['INDEX reminder_by_user ON reminder (user_id, due_at, id, realm_id)'],
    reusesIds: true,
  },
  SqlSchedulingRows,
);

const BY_MESSAGE = `
-- expand: finds the reminders about a deleted message.
CREATE INDEX reminder_by_message ON reminder (message_id, id, realm_id);
`;

const TABLES = `
-- Scheduled messages and reminders.

-- Last id given to a scheduled message or reminder, which share one sequence. A single row.
CREATE TABLE scheduling_counter (
  id {int} PRIMARY KEY CHECK (id = 1),
  last_id {int} NOT NULL
) {strict};
INSERT INTO scheduling_counter (id, last_id) VALUES (1, 0);

${SCHEDULED_MESSAGE_TABLE.sql}

${REMINDER_TABLE.sql}
`;

export const SCHEDULING_FEATURE = {
  schema: 'scheduling',
  steps: { 1: TABLES, 40: BY_MESSAGE },
  realmTables: ['reminder', 'scheduled_message'],
  counters: ['UPDATE scheduling_counter SET last_id = last_id + {skipped}'],
  persons: {
    reminder: {
      data: 'Reminders',
      fate: OF_ACCOUNT,
      erase: 'user_id = {id}',
      mentions: ['note', 'content', 'rendered_content'],
    },
    scheduled_message: {
      data: 'Scheduled messages',
      fate: OF_ACCOUNT,
      erase: 'user_id = {id}',
      mentions: ['content', 'rendered_content'],
    },
    scheduling_counter: {},
  },
  rows: { scheduledMessages: SCHEDULED_MESSAGE_TABLE, reminders: REMINDER_TABLE },
} satisfies StorageFeature;
