import { topicKey } from '@parley/domain/channels';
import type { MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type {
  EditedText,
  Message,
  MessageRepository,
  NewMessage,
  Submessage,
  SubmessageSummary,
} from '@parley/domain/messages';
import type { Quarantine } from '../engine/quarantine.js';
import { toFlag } from '../engine/rows.js';
import type { Command, MaybePromise, Query, Statements } from '../engine/statements.js';
import {
  type MessageRow,
  OWNERSHIP_SOURCES,
  RENEW_NEWEST,
  type SubmessageRow,
  toMessage,
  toSubmessage,
} from './message-rows.js';
import { type IndexRowsById, idOf } from './viewer-message-state.js';

/** Values of a new message row. */
export type InsertedMessage = Omit<NewMessage, 'readBy' | 'exceptions'>;

/** Null for direct messages. */
export const topicKeyOf = ({ channelId, topic }: Pick<NewMessage, 'channelId' | 'topic'>): string | null =>
  channelId === null ? null : topicKey(topic);

/** Complete message rows. */
export class MessageRows {
  private readonly row: Query<MessageRow>;
  private readonly rows: Query<MessageRow>;

  constructor(
    private readonly statements: Statements,
    private readonly quarantine: Quarantine,
  ) {
    const { inSet } = statements.dialect;
    this.row = statements.rows('SELECT * FROM message WHERE id = ? AND realm_id = ?');
    this.rows = statements.rows(`SELECT * FROM message WHERE id ${inSet} AND realm_id = ? ORDER BY id`);
  }

  /** Same as a list of one id, but faster. */
  find(realmId: RealmId, id: MessageId): MaybePromise<MessageRow | undefined> {
    return this.row.get(id, realmId);
  }

  /** Ascending by id; unknown ids are absent. */
  list(realmId: RealmId, ids: readonly MessageId[]): MaybePromise<MessageRow[]> {
    return this.rows.all(this.statements.dialect.set(ids), realmId);
  }

  toMessage(row: MessageRow): Message {
    return toMessage(row, this.quarantine);
  }
}

export interface MessageRepositoryOptions {
  readonly indexRowsById: IndexRowsById;
  /** Expression of the last event of a realm. */
  readonly lastSeqOf: (realmId: string) => string;
  /** Tables without a trigger that removes the rows of removed messages. */
  readonly derivedTables: readonly string[];
}

/** Sending and editing differ between the databases, because they determine the message throughput of a server. */
export abstract class SqlMessageRepository implements MessageRepository {
  private readonly rows: MessageRows;
  private readonly indexRowsById: IndexRowsById;

  private readonly latest;
  private readonly times;
  private readonly oldestIds;
  protected readonly mutersOf: Query<UserId>;
  private readonly insertSubmessage;
  private readonly deleteSubmessages;
  private readonly submessagesOf: Query<SubmessageRow>;
  private readonly renewVersion;
  private readonly renewSender;
  private readonly removals: readonly Command[];
  private readonly renewNewest;

  constructor(
    private readonly statements: Statements,
    quarantine: Quarantine,
    { indexRowsById, lastSeqOf, derivedTables }: MessageRepositoryOptions,
  ) {
    this.rows = new MessageRows(statements, quarantine);
    this.indexRowsById = indexRowsById;

    const { inSet, indexedBy } = statements.dialect;
    this.latest = statements.values<UnixSeconds>('SELECT sent_at FROM message ORDER BY id DESC LIMIT 1');
    this.times = statements.tuples<readonly [MessageId, UnixSeconds]>(
      `SELECT id, sent_at FROM message WHERE id ${inSet} AND +realm_id = ? ORDER BY id`,
    );
    this.oldestIds = statements.values<MessageId>(
      `SELECT id FROM message ${indexedBy('message_by_recipient')}
       WHERE recipient_id = ? AND id < ? AND +realm_id = ? ORDER BY id LIMIT ? + 0`,
    );
    this.mutersOf = statements.values<UserId>(
      `SELECT user_id FROM muted_sender
       WHERE sender_id = ? AND until_message_id IS NULL AND realm_id = ? ORDER BY user_id`,
    );
    this.insertSubmessage = statements.values<number>(
      'INSERT INTO submessage (message_id, sender_id, realm_id, kind, content) VALUES (?, ?, ?, ?, ?) RETURNING id',
    );
    this.deleteSubmessages = statements.command(`DELETE FROM submessage WHERE id ${inSet} AND realm_id = ?`);
    this.submessagesOf = statements.rows(
      `SELECT * FROM submessage ${indexedBy('submessage_by_sender')}
       WHERE sender_id = ? AND id > ? AND +realm_id = ? ORDER BY id LIMIT ? + 0`,
    );
    this.renewVersion = statements.command('UPDATE message SET version = version + 1 WHERE id = ? AND realm_id = ?');
    this.renewSender = statements.command(
      `UPDATE message SET sender_id = ?, version = version + 1 WHERE id ${inSet} AND sender_id = ? AND realm_id = ?`,
    );
    this.removals = [
      `INSERT INTO removed_message (id, realm_id, sender_id, sent_recipient_id, ordinal, removed_at_seq)
       SELECT m.id, m.realm_id, m.sender_id, m.sent_recipient_id, m.ordinal, ${lastSeqOf('m.realm_id')}
       FROM message m WHERE m.id ${inSet}`,
      `INSERT INTO removed_message_holder (message_id, user_id, realm_id)
       SELECT message_id, user_id, realm_id FROM message_flag WHERE message_id ${inSet} AND source <> 0`,
      ...['message_flag', 'submessage', ...derivedTables].map(
        (table) => `DELETE FROM ${table} WHERE message_id ${inSet}`,
      ),
      `DELETE FROM message WHERE id ${inSet}`,
    ].map((sql) => statements.command(sql));
    this.renewNewest = statements.command(`${RENEW_NEWEST} WHERE recipient_id ${inSet}`);
  }

  abstract append(message: NewMessage): Promise<Message>;
  abstract edit(realmId: RealmId, id: MessageId, text: EditedText): Promise<void>;
  abstract rerender(realmId: RealmId, id: MessageId, renderedContent: string): Promise<void>;
  abstract summarizeSubmessages(realmId: RealmId, id: MessageId, authorId: UserId): Promise<SubmessageSummary>;

  async find(realmId: RealmId, id: MessageId): Promise<Message | null> {
    const row = await this.rows.find(realmId, id);
    return row ? this.rows.toMessage(row) : null;
  }

  async list(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly Message[]> {
    return (await this.rows.list(realmId, ids)).map((row) => this.rows.toMessage(row));
  }

  async listTimes(realmId: RealmId, ids: readonly MessageId[]) {
    const rows = await this.times.all(this.statements.dialect.set(ids), realmId);
    return rows.map(([id, sentAt]) => ({ id, sentAt }));
  }

  async latestSentAt(): Promise<UnixSeconds | null> {
    return (await this.latest.get()) ?? null;
  }

  async listOldestIds(
    realmId: RealmId,
    recipientId: RecipientId,
    limit: number,
    before: MessageId | null = null,
  ): Promise<readonly MessageId[]> {
    return this.oldestIds.all(recipientId, before ?? Number.MAX_SAFE_INTEGER, realmId, limit);
  }

  async listMuters(realmId: RealmId, senderId: UserId): Promise<readonly UserId[]> {
    return this.mutersOf.all(senderId, realmId);
  }

  async listSubmessagesOf(
    realmId: RealmId,
    senderId: UserId,
    after: number,
    limit: number,
  ): Promise<readonly Submessage[]> {
    return (await this.submessagesOf.all(senderId, after, realmId, limit)).map(toSubmessage);
  }

  async changeSender(realmId: RealmId, ids: readonly MessageId[], from: UserId, to: UserId): Promise<void> {
    this.renewSender.defer(to, this.statements.dialect.set(ids), from, realmId);
  }

  async addSubmessage(realmId: RealmId, submessage: Omit<Submessage, 'id'>): Promise<Submessage> {
    const { messageId, senderId, kind, content } = submessage;
    this.renewVersion.defer(messageId, realmId);
    const id = await this.insertSubmessage.one(messageId, senderId, realmId, kind, content);
    return { ...submessage, id };
  }

  async removeSubmessages(realmId: RealmId, submessages: readonly Pick<Submessage, 'id' | 'messageId'>[]) {
    const ids = submessages.map(({ id }) => id);
    await this.deleteSubmessages.run(this.statements.dialect.set(ids), realmId);
    for (const messageId of new Set(submessages.map((each) => each.messageId)))
      this.renewVersion.defer(messageId, realmId);
  }

  async remove(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const indexRows = await this.indexRowsById.list(realmId, ids);
    const removed = indexRows.map(idOf);
    if (removed.length === 0) return removed;
    const { set } = this.statements.dialect;
    const list = set(removed);
    for (const command of this.removals) command.defer(list);
    this.renewNewest.defer(set(new Set(indexRows.map(([, , recipientId]) => recipientId))));
    return removed;
  }
}

/** Row of `message_flag` without message and realm. */
export type ExceptionRow = readonly [
  userId: UserId,
  source: number,
  read: number | null,
  mentioned: number,
  topicWildcardMentioned: number,
  hasAlertWord: number,
];

/** Returns rows for users whose state of a new message differs from the default. */
export function exceptionRows(
  message: NewMessage,
  receivers: ReadonlySet<UserId>,
  muters: ReadonlySet<UserId>,
): ExceptionRow[] {
  const rows: ExceptionRow[] = [];
  for (const [userId, sent] of message.exceptions) {
    const isRead =
      message.readBy.includes(userId) || muters.has(userId) || (message.isReadByDefault && sent.unread !== true);
    const receives = receivers.has(userId);
    const isUnreadNotice = message.isReadByDefault && !isRead;
    const marks = [
      toFlag(sent.mentioned === true),
      toFlag(sent.topicWildcardMentioned === true),
      toFlag(sent.hasAlertWord === true),
    ] as const;
    if (receives && !isUnreadNotice && !marks.includes(1)) continue;
    const read = receives ? (isUnreadNotice ? 0 : null) : toFlag(isRead);
    rows.push([userId, receives ? OWNERSHIP_SOURCES.spans : OWNERSHIP_SOURCES.sentWithoutSpan, read, ...marks]);
  }
  return rows;
}
