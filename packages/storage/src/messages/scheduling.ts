import type {
  ChannelId,
  MessageId,
  RealmId,
  ReminderId,
  ScheduledMessageId,
  UnixSeconds,
  UserId,
} from '@parley/domain/kernel';
import type {
  NewReminder,
  NewScheduledMessage,
  Reminder,
  ReminderRepository,
  ScheduledAddressee,
  ScheduledMessage,
  ScheduledMessageRepository,
} from '@parley/domain/messages';
import type { StorageFeature } from '../engine/feature.js';
import type { Quarantine } from '../engine/quarantine.js';
import { type Flag, jsonList, listColumn, toFlag } from '../engine/rows.js';
import type { Query, Statements } from '../engine/statements.js';

/** Allocates ids of scheduled messages and reminders. */
class SchedulingIds {
  private readonly count: Query<number>;

  constructor(connection: Statements) {
    this.count = connection.values(
      'UPDATE scheduling_counter SET last_id = last_id + 1 WHERE id = 1 RETURNING last_id',
    );
  }

  async next<Id extends number>(): Promise<Id> {
    return (await this.count.get())! as Id;
  }
}

interface ScheduledMessageRow {
  readonly id: ScheduledMessageId;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly channel_id: ChannelId | null;
  readonly user_ids: string | null;
  readonly topic: string;
  readonly content: string;
  readonly rendered_content: string;
  readonly due_at: UnixSeconds;
  readonly client_name: string;
  readonly is_read_by_sender: Flag;
  readonly status: ScheduledMessage['status'];
  readonly failure: string | null;
}

const COLUMNS =
  'id, realm_id, user_id, channel_id, user_ids, topic, content, rendered_content, due_at, client_name, is_read_by_sender, status, failure';

const readUserIds = listColumn<UserId>('scheduled_message', 'user_ids', Number.isSafeInteger);

const UNSENT = "user_id = ? AND realm_id = ? AND status <> 'sent'";

export class SqlScheduledMessageRepository implements ScheduledMessageRepository {
  private readonly ids: SchedulingIds;
  private readonly byId;
  private readonly unsent;
  private readonly unsentCount;
  private readonly unsentBytes;
  private readonly insert;
  private readonly change;
  private readonly delete;
  private readonly deleteSent;

  constructor(
    connection: Statements,
    private readonly quarantine: Quarantine,
  ) {
    this.ids = new SchedulingIds(connection);
    this.byId = connection.rows<ScheduledMessageRow>(
      `SELECT ${COLUMNS} FROM scheduled_message WHERE id = ? AND realm_id = ?`,
    );
    this.unsent = connection.rows<ScheduledMessageRow>(
      `SELECT ${COLUMNS} FROM scheduled_message WHERE ${UNSENT} ORDER BY due_at, id LIMIT ? + 0`,
    );
    this.unsentCount = connection.values<number>(`SELECT count(*) FROM scheduled_message WHERE ${UNSENT}`);
    this.unsentBytes = connection.values<number>(
      `SELECT coalesce(sum(octet_length(content) + octet_length(rendered_content)), 0) FROM scheduled_message WHERE ${UNSENT}`,
    );
    this.insert = connection.command(
      `INSERT INTO scheduled_message (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.change = connection.command(
      `UPDATE scheduled_message SET channel_id = ?, user_ids = ?, topic = ?, content = ?, rendered_content = ?, due_at = ?,
         client_name = ?, is_read_by_sender = ?, status = ?, failure = ?
       WHERE id = ? AND realm_id = ?`,
    );
    this.delete = connection.command('DELETE FROM scheduled_message WHERE id = ? AND realm_id = ?');
    this.deleteSent = connection.command(
      "DELETE FROM scheduled_message WHERE user_id = ? AND realm_id = ? AND status = 'sent' AND due_at < ?",
    );
  }

  async find(realmId: RealmId, id: ScheduledMessageId): Promise<ScheduledMessage | null> {
    const row = await this.byId.get(id, realmId);
    return row ? this.toMessage(row) : null;
  }

  async listUnsent(realmId: RealmId, userId: UserId, limit: number): Promise<readonly ScheduledMessage[]> {
    return (await this.unsent.all(userId, realmId, limit)).map((row) => this.toMessage(row));
  }

  async countUnsent(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.unsentCount.get(userId, realmId))!;
  }

  async countUnsentBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.unsentBytes.get(userId, realmId))!;
  }

  async add(message: NewScheduledMessage, reserved: ScheduledMessageId | null = null): Promise<ScheduledMessage> {
    const id = reserved ?? (await this.ids.next<ScheduledMessageId>());
    const added: ScheduledMessage = { id, ...message, status: 'waiting', failure: null };
    this.insert.defer(added.id, added.realmId, added.userId, ...changeable(added));
    return added;
  }

  async update(message: ScheduledMessage): Promise<void> {
    this.change.defer(...changeable(message), message.id, message.realmId);
  }

  async remove(realmId: RealmId, id: ScheduledMessageId): Promise<void> {
    this.delete.defer(id, realmId);
  }

  async removeSent(realmId: RealmId, userId: UserId, before: UnixSeconds): Promise<void> {
    this.deleteSent.defer(userId, realmId, before);
  }

  private toMessage(row: ScheduledMessageRow): ScheduledMessage {
    const { id, realm_id, user_id, topic, content, rendered_content, due_at, client_name, status, failure } = row;
    return {
      id,
      realmId: realm_id,
      userId: user_id,
      to: this.toAddressee(row),
      topic,
      content,
      renderedContent: rendered_content,
      dueAt: due_at,
      clientName: client_name,
      isReadBySender: row.is_read_by_sender === 1,
      status,
      failure,
    };
  }

  private toAddressee({ id, channel_id, user_ids }: ScheduledMessageRow): ScheduledAddressee {
    if (channel_id !== null) return { kind: 'channelId', id: channel_id };
    return { kind: 'userIds', ids: readUserIds(user_ids ?? '', id, this.quarantine) };
  }
}

/** Returns the values in column order after the sender. */
const changeable = ({ to, ...message }: ScheduledMessage) =>
  [
    to.kind === 'channelId' ? to.id : null,
    to.kind === 'userIds' ? jsonList(to.ids) : null,
    message.topic,
    message.content,
    message.renderedContent,
    message.dueAt,
    message.clientName,
    toFlag(message.isReadBySender),
    message.status,
    message.failure,
  ] as const;

interface ReminderRow {
  readonly id: ReminderId;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly message_id: MessageId;
  readonly note: string;
  readonly content: string;
  readonly rendered_content: string;
  readonly due_at: UnixSeconds;
  readonly failure: string | null;
}

const REMINDER_COLUMNS = 'id, realm_id, user_id, message_id, note, content, rendered_content, due_at, failure';

export class SqlReminderRepository implements ReminderRepository {
  private readonly ids: SchedulingIds;
  private readonly byId;
  private readonly ofUser;
  private readonly countOfUser;
  private readonly bytesOfUser;
  private readonly insert;
  private readonly setFailure;
  private readonly delete;

  constructor(connection: Statements) {
    this.ids = new SchedulingIds(connection);
    this.byId = connection.rows<ReminderRow>(`SELECT ${REMINDER_COLUMNS} FROM reminder WHERE id = ? AND realm_id = ?`);
    this.ofUser = connection.rows<ReminderRow>(
      `SELECT ${REMINDER_COLUMNS} FROM reminder WHERE user_id = ? AND realm_id = ? ORDER BY due_at, id LIMIT ? + 0`,
    );
    this.countOfUser = connection.values<number>('SELECT count(*) FROM reminder WHERE user_id = ? AND realm_id = ?');
    this.bytesOfUser = connection.values<number>(
      `SELECT coalesce(sum(octet_length(content) + octet_length(rendered_content)), 0) FROM reminder
       WHERE user_id = ? AND realm_id = ?`,
    );
    this.insert = connection.command(
      `INSERT INTO reminder (${REMINDER_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)`,
    );
    this.setFailure = connection.command('UPDATE reminder SET failure = ? WHERE id = ? AND realm_id = ?');
    this.delete = connection.command('DELETE FROM reminder WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: ReminderId): Promise<Reminder | null> {
    const row = await this.byId.get(id, realmId);
    return row ? toReminder(row) : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Reminder[]> {
    return (await this.ofUser.all(userId, realmId, limit)).map(toReminder);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.countOfUser.get(userId, realmId))!;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return (await this.bytesOfUser.get(userId, realmId))!;
  }

  async add(reminder: NewReminder, reserved: ReminderId | null = null): Promise<Reminder> {
    const { realmId, userId, messageId, note, content, renderedContent, dueAt } = reminder;
    const id = reserved ?? (await this.ids.next<ReminderId>());
    this.insert.defer(id, realmId, userId, messageId, note, content, renderedContent, dueAt);
    return { id, ...reminder, failure: null };
  }

  async fail(realmId: RealmId, id: ReminderId, failure: string): Promise<void> {
    this.setFailure.defer(failure, id, realmId);
  }

  async remove(realmId: RealmId, id: ReminderId): Promise<void> {
    this.delete.defer(id, realmId);
  }
}

const toReminder = ({ realm_id, user_id, message_id, rendered_content, due_at, ...row }: ReminderRow): Reminder => ({
  ...row,
  realmId: realm_id,
  userId: user_id,
  messageId: message_id,
  renderedContent: rendered_content,
  dueAt: due_at,
});

const TABLES = `
-- Scheduled messages and reminders.

-- Last id given to a scheduled message or reminder, which share one sequence. A single row.
CREATE TABLE scheduling_counter (
  id {int} PRIMARY KEY CHECK (id = 1),
  last_id {int} NOT NULL
) {strict};
INSERT INTO scheduling_counter (id, last_id) VALUES (1, 0);

CREATE TABLE scheduled_message (
  id {rowId},
  realm_id {int} NOT NULL REFERENCES realm (id),
  user_id {int} NOT NULL,
  -- Null for direct messages to user_ids, a JSON list.
  channel_id {int},
  user_ids {text},
  topic {text} NOT NULL,
  -- Empty, like rendered_content, once the message was sent.
  content {text} NOT NULL,
  rendered_content {text} NOT NULL,
  due_at {int} NOT NULL,
  client_name {text} NOT NULL,
  is_read_by_sender {flag} NOT NULL,
  status {text} NOT NULL,
  failure {text}
) {strict};
CREATE INDEX unsent_scheduled_message ON scheduled_message (user_id, due_at, id, realm_id) WHERE status <> 'sent';
CREATE INDEX sent_scheduled_message ON scheduled_message (user_id, due_at, realm_id) WHERE status = 'sent';

CREATE TABLE reminder (
  id {rowId},
  realm_id {int} NOT NULL REFERENCES realm (id),
  user_id {int} NOT NULL,
  -- The message may be deleted.
  message_id {int} NOT NULL,
  note {text} NOT NULL,
  content {text} NOT NULL,
  rendered_content {text} NOT NULL,
  due_at {int} NOT NULL,
  failure {text}
) {strict};
CREATE INDEX reminder_by_user ON reminder (user_id, due_at, id, realm_id);
`;

export const SCHEDULING_FEATURE = {
  schema: 'scheduling',
  steps: { 1: TABLES },
  realmTables: ['reminder', 'scheduled_message'],
  repositories:
    ({ quarantine }) =>
    (connection) => ({
      scheduledMessages: new SqlScheduledMessageRepository(connection, quarantine),
      reminders: new SqlReminderRepository(connection),
    }),
} satisfies StorageFeature;
