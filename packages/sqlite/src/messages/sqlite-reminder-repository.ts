import type { MessageId, RealmId, ReminderId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { NewReminder, Reminder, ReminderRepository } from '@parley/domain/messages';
import { type Connection, LIMIT } from '../engine/connection.js';
import { SchedulingIds } from './scheduling-ids.js';

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

const COLUMNS = 'id, realm_id, user_id, message_id, note, content, rendered_content, due_at, failure';

export class SqliteReminderRepository implements ReminderRepository {
  private readonly ids: SchedulingIds;
  private readonly byId;
  private readonly ofUser;
  private readonly countOfUser;
  private readonly bytesOfUser;
  private readonly insert;
  private readonly setFailure;
  private readonly delete;

  constructor(connection: Connection) {
    this.ids = new SchedulingIds(connection);
    this.byId = connection.rows<ReminderRow>(`SELECT ${COLUMNS} FROM reminder WHERE id = ? AND realm_id = ?`);
    this.ofUser = connection.rows<ReminderRow>(
      `SELECT ${COLUMNS} FROM reminder WHERE user_id = ? AND realm_id = ? ORDER BY due_at, id ${LIMIT}`,
    );
    this.countOfUser = connection.values<number>('SELECT count(*) FROM reminder WHERE user_id = ? AND realm_id = ?');
    this.bytesOfUser = connection.values<number>(
      `SELECT coalesce(sum(octet_length(content) + octet_length(rendered_content)), 0) FROM reminder
       WHERE user_id = ? AND realm_id = ?`,
    );
    this.insert = connection.command(`INSERT INTO reminder (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, NULL)`);
    this.setFailure = connection.command('UPDATE reminder SET failure = ? WHERE id = ? AND realm_id = ?');
    this.delete = connection.command('DELETE FROM reminder WHERE id = ? AND realm_id = ?');
  }

  async find(realmId: RealmId, id: ReminderId): Promise<Reminder | null> {
    const row = this.byId.get(id, realmId);
    return row ? toReminder(row) : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Reminder[]> {
    return this.ofUser.all(userId, realmId, limit).map(toReminder);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return this.countOfUser.get(userId, realmId)!;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return this.bytesOfUser.get(userId, realmId)!;
  }

  async add(reminder: NewReminder): Promise<Reminder> {
    const { realmId, userId, messageId, note, content, renderedContent, dueAt } = reminder;
    const id = this.ids.next<ReminderId>();
    this.insert.run(id, realmId, userId, messageId, note, content, renderedContent, dueAt);
    return { id, ...reminder, failure: null };
  }

  async fail(realmId: RealmId, id: ReminderId, failure: string): Promise<void> {
    this.setFailure.run(failure, id, realmId);
  }

  async remove(realmId: RealmId, id: ReminderId): Promise<void> {
    this.delete.run(id, realmId);
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
