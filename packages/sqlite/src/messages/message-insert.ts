import { topicKey } from '@parley/domain/channels';
import type { MessageId, Ordinal, RealmId, RecipientId } from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';
import type { Connection } from '../engine/connection.js';
import { bitsOf } from './stored-values.js';

/** What the row of a message is made of. */
export type InsertedMessage = Omit<NewMessage, 'readBy' | 'exceptions'>;

/** Rows of new messages, without what anybody has of them. */
export class MessageInsert {
  private readonly takeOrdinal;
  private readonly takenOrdinal;
  private readonly insert;
  private readonly noteDirect;

  constructor(connection: Connection) {
    // Two statements: with RETURNING, SQLite journals the statement apart, which gets slow in a unit of many messages.
    this.takeOrdinal = connection.command(
      'UPDATE recipient SET last_ordinal = last_ordinal + ? WHERE id = ? AND realm_id = ?',
    );
    this.takenOrdinal = connection.values<Ordinal>('SELECT last_ordinal FROM recipient WHERE id = ?');
    this.insert = connection.command(
      `INSERT INTO message (id, realm_id, sender_id, sent_recipient_id, ordinal, recipient_id, channel_id, property_bits,
                            version, sent_at, last_edited_at, last_moved_at, topic, topic_key, client_name, topic_links,
                            content, rendered_content)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.noteDirect = connection.command('UPDATE direct_participant SET last_message_id = ? WHERE recipient_id = ?');
  }

  /** The last one of as many as the count says. */
  takeOrdinals(realmId: RealmId, recipientId: RecipientId, count: number): Ordinal {
    const { changes } = this.takeOrdinal.run(count, recipientId, realmId);
    if (changes === 0) throw new Error(`No recipient ${recipientId} in realm ${realmId}`);
    return this.takenOrdinal.get(recipientId)!;
  }

  /** `id`: null, the next one. `key`: see `topicKeyOf`. */
  add(message: InsertedMessage, id: MessageId | null, ordinal: Ordinal, key: string | null): MessageId {
    const { recipientId, channelId, topicLinks, lastEditedAt = null, lastMovedAt = null } = message;
    const { lastInsertRowid } = this.insert.run(
      id,
      message.realmId,
      message.senderId,
      recipientId,
      ordinal,
      recipientId,
      channelId,
      bitsOf(message),
      message.sentAt,
      lastEditedAt,
      lastMovedAt,
      message.topic,
      key,
      message.clientName,
      topicLinks.length === 0 ? null : JSON.stringify(topicLinks),
      message.content,
      message.renderedContent,
    );
    return Number(lastInsertRowid) as MessageId;
  }

  /** It is the newest of a direct conversation. */
  noteNewest(recipientId: RecipientId, id: MessageId): void {
    this.noteDirect.run(id, recipientId);
  }
}

/** Null for direct messages. */
export const topicKeyOf = ({ channelId, topic }: Pick<NewMessage, 'channelId' | 'topic'>): string | null =>
  channelId === null ? null : topicKey(topic);
