import type { ChannelId, FileId, MessageId, RealmId, RecipientId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { type HeldMessage, type HeldMessageReads, type HeldPage, HOLD_ROWS, type Hold } from '@parley/domain/writing';
import { Table } from '../engine/declared-rows.js';
import type { StorageFeature } from '../engine/feature.js';
import { PAST } from '../engine/personal-data.js';
import type { Query, Statements } from '../engine/statements.js';
import { copyCovered, holdOfCopy, messageCovered, messageHeld } from './held-condition.js';
import { type MessageEditRow, toMessageEdit } from './message-edits.js';

interface HeldRow {
  readonly id: MessageId;
  readonly sender_id: UserId;
  readonly channel_id: ChannelId | null;
  readonly recipient_id: RecipientId;
  readonly topic: string;
  readonly content: string;
  readonly rendered_content: string;
  readonly sent_at: UnixSeconds;
}

interface CopyRow {
  readonly deletedAt: UnixSeconds;
  readonly deletedBy: UserId | null;
  /** JSON: rows by table. */
  readonly rows: string;
}

interface CopiedRows {
  readonly message: readonly [HeldRow];
  readonly message_edit: readonly (MessageEditRow & { readonly id: number })[];
}

type Examined = Query<readonly [id: MessageId, isCovered: 0 | 1]>;

export class SqlHeldMessages implements HeldMessageReads {
  private readonly held;
  private readonly fileHeld;
  private readonly examined: Examined;
  private readonly examinedCopies: Examined;
  private readonly messages;
  private readonly edits;
  private readonly copies;
  private readonly files;

  constructor(private readonly connection: Statements) {
    const { dialect } = connection;
    const { inSet } = dialect;
    this.held = connection.values<MessageId>(
      `SELECT m.id FROM message m WHERE m.id ${inSet} AND m.realm_id = ? AND ${messageHeld('m')} ORDER BY m.id`,
    );
    const ofMessages = (links: string) =>
      `EXISTS (SELECT 1 FROM ${links} l JOIN message m ON m.id = l.message_id WHERE l.file_id = f.id AND ${messageHeld('m')})`;
    this.fileHeld = connection.values<number>(
      `SELECT 1 FROM file f WHERE f.id = ? AND f.realm_id = ? AND (
         ${ofMessages('message_file')} OR ${ofMessages('former_message_file')} OR EXISTS (
           SELECT 1 FROM former_message_file l JOIN archived_message a ON a.id = l.message_id
           WHERE l.file_id = f.id AND ${holdOfCopy(dialect, 'a')} IS NOT NULL))`,
    );
    this.examined = connection.tuples(
      `SELECT m.id, CASE WHEN ${messageCovered('m')} THEN 1 ELSE 0 END
       FROM hold h CROSS JOIN message m WHERE h.id = ? AND m.id > ? ORDER BY m.id LIMIT ? + 0`,
    );
    this.examinedCopies = connection.tuples(
      `SELECT a.id, CASE WHEN h.realm_id = a.realm_id AND ${copyCovered(dialect, 'a')} THEN 1 ELSE 0 END
       FROM hold h CROSS JOIN archived_message a WHERE h.id = ? AND a.id > ? ORDER BY a.id LIMIT ? + 0`,
    );
    this.messages = connection.rows<HeldRow>(
      `SELECT id, sender_id, channel_id, recipient_id, topic, content, rendered_content, sent_at
       FROM message WHERE id ${inSet} ORDER BY id`,
    );
    this.edits = connection.rows<MessageEditRow>(
      `SELECT * FROM message_edit WHERE message_id ${inSet} ORDER BY id DESC`,
    );
    this.copies = connection.rows<CopyRow>(
      `SELECT deleted_at AS "deletedAt", deleted_by AS "deletedBy", rows FROM archived_message WHERE id ${inSet} ORDER BY id`,
    );
    this.files = connection.tuples<readonly [messageId: MessageId, fileId: FileId]>(
      `SELECT l.message_id, f.id FROM (
         SELECT message_id, file_id FROM message_file WHERE message_id ${inSet}
         UNION SELECT message_id, file_id FROM former_message_file WHERE message_id ${inSet}) l
       JOIN file f ON f.id = l.file_id WHERE f.realm_id = ? ORDER BY l.message_id, f.id`,
    );
  }

  async filter(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    return await this.held.all(this.connection.dialect.set(ids), realmId);
  }

  async holdsFile(realmId: RealmId, id: FileId): Promise<boolean> {
    return (await this.fileHeld.get(id, realmId)) !== undefined;
  }

  async list(hold: Hold, after: number, limit: number): Promise<HeldPage> {
    const { ids, next } = await covered(this.examined, hold, after, limit);
    if (ids.length === 0) return { held: [], next };
    const set = this.connection.dialect.set(ids);
    const edits = await this.edits.all(set);
    const held = (await this.messages.all(set)).map((row) =>
      toHeld(
        row,
        edits.filter(({ message_id }) => message_id === row.id),
        null,
      ),
    );
    return { held, next };
  }

  async listCopies(hold: Hold, after: number, limit: number): Promise<HeldPage> {
    const { ids, next } = await covered(this.examinedCopies, hold, after, limit);
    if (ids.length === 0) return { held: [], next };
    const held = (await this.copies.all(this.connection.dialect.set(ids))).map(({ rows, ...deletion }) => {
      const { message, message_edit } = JSON.parse(rows) as CopiedRows;
      return toHeld(
        message[0],
        [...message_edit].sort((a, b) => b.id - a.id),
        deletion,
      );
    });
    return { held, next };
  }

  async listFiles(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly FileId[]>> {
    const set = this.connection.dialect.set(ids);
    const files = new Map<MessageId, FileId[]>();
    for (const [messageId, fileId] of await this.files.all(set, set, realmId)) {
      const existing = files.get(messageId);
      if (existing) existing.push(fileId);
      else files.set(messageId, [fileId]);
    }
    return files;
  }
}

async function covered(
  query: Examined,
  { id }: Hold,
  after: number,
  limit: number,
): Promise<{ readonly ids: readonly MessageId[]; readonly next: number | null }> {
  const examined = await query.all(id, after, limit);
  const ids = examined.flatMap(([messageId, isCovered]) => (isCovered === 1 ? [messageId] : []));
  return { ids, next: examined.length < limit ? null : examined.at(-1)![0] };
}

const toHeld = (row: HeldRow, edits: readonly MessageEditRow[], deletion: HeldMessage['deletion']): HeldMessage => ({
  id: row.id,
  senderId: row.sender_id,
  channelId: row.channel_id,
  recipientId: row.recipient_id,
  topic: row.topic,
  content: row.content,
  renderedContent: row.rendered_content,
  sentAt: row.sent_at,
  edits: edits.map(toMessageEdit),
  deletion,
});

const HOLDS = new Table<Hold>(HOLD_ROWS, {
  columns: {
    reason: 'text',
    createdAt: 'int',
    createdBy: 'int?',
    releasedAt: 'int?',
    releasedBy: 'int?',
    personId: 'int?',
    channelId: 'int?',
    messageId: 'int?',
    since: 'int?',
    until: 'int?',
  },
  indices: ['INDEX hold_by_realm ON hold (realm_id, id)'],
}).feature(56, 'holds', {
  data: 'Holds of messages',
  fate: { ...PAST, follows: ['inherit', 'merge'] },
  keep: { 'The order must outlive an erasure.': ['reason', 'person_id'] },
});

export const HOLD_FEATURE = {
  ...HOLDS,
  notExported: { hold: 'Holds apply to the original server.' },
  repositories: () => (connection) => ({ heldMessages: new SqlHeldMessages(connection) }),
} satisfies StorageFeature;
