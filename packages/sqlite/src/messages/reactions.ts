import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { EmojiKey, Message, MessageParts, Reaction, ReactionRepository } from '@parley/domain/messages';
import { jsonList, type MessagePartReads, PROPERTY_BITS } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

export class SqliteReactionRepository implements ReactionRepository {
  private readonly ofAnybody;
  private readonly ofUser;
  private readonly reactionCount;
  private readonly emojiCount;
  private readonly insert;
  private readonly delete;
  private readonly renewMessage;

  constructor(connection: Connection) {
    const withEmoji = `SELECT user_id, emoji_name FROM reaction
      WHERE message_id = ? AND emoji_type = ? AND emoji_code = ? AND realm_id = ?`;
    this.ofAnybody = connection.rows<ReactionRow>(`${withEmoji} LIMIT 1`);
    this.ofUser = connection.rows<ReactionRow>(`${withEmoji} AND user_id = ?`);
    this.reactionCount = connection.values<number>(
      'SELECT count(*) FROM reaction WHERE message_id = ? AND realm_id = ?',
    );
    this.emojiCount = connection.values<number>(
      'SELECT count(*) FROM (SELECT DISTINCT emoji_type, emoji_code FROM reaction WHERE message_id = ? AND realm_id = ?)',
    );
    this.insert = connection.command(
      `INSERT INTO reaction (message_id, user_id, realm_id, emoji_type, emoji_code, emoji_name) VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.delete = connection.command(
      'DELETE FROM reaction WHERE message_id = ? AND emoji_type = ? AND emoji_code = ? AND realm_id = ? AND user_id = ?',
    );
    // Increments the version, because the presented message changed.
    this.renewMessage = connection.command(
      `UPDATE message SET version = version + 1,
         property_bits = CASE WHEN EXISTS (SELECT 1 FROM reaction r WHERE r.message_id = message.id)
                              THEN property_bits | ${PROPERTY_BITS.hasReactions}
                              ELSE property_bits & ~${PROPERTY_BITS.hasReactions} END
       WHERE id = ? AND realm_id = ?`,
    );
  }

  async find(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId?: UserId): Promise<Reaction | null> {
    const { type, code } = emoji;
    const row =
      userId === undefined
        ? this.ofAnybody.get(messageId, type, code, realmId)
        : this.ofUser.get(messageId, type, code, realmId, userId);
    return row ? { userId: row.user_id, type, code, name: row.emoji_name } : null;
  }

  async count(realmId: RealmId, messageId: MessageId) {
    return {
      reactions: this.reactionCount.get(messageId, realmId)!,
      emoji: this.emojiCount.get(messageId, realmId)!,
    };
  }

  async add(realmId: RealmId, messageId: MessageId, { userId, type, code, name }: Reaction): Promise<void> {
    this.insert.run(messageId, userId, realmId, type, code, name);
    this.renewMessage.run(messageId, realmId);
  }

  async remove(realmId: RealmId, messageId: MessageId, { type, code }: EmojiKey, userId: UserId): Promise<void> {
    const { changes } = this.delete.run(messageId, type, code, realmId, userId);
    if (changes > 0) this.renewMessage.run(messageId, realmId);
  }
}

interface ReactionRow {
  readonly user_id: UserId;
  readonly emoji_name: string;
}

/** Reactions for presentation with messages. */
export class ReactionPartReads implements MessagePartReads {
  private readonly rows: Query<readonly [MessageId, UserId, Reaction['type'], string, string]>;

  constructor(connection: Connection) {
    this.rows = connection.tuples(
      `SELECT message_id, user_id, emoji_type, emoji_code, emoji_name FROM reaction
       WHERE message_id IN (SELECT value FROM json_each(?)) ORDER BY id`,
    );
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const ids = messages.filter((message) => message.hasReactions).map(({ id }) => id);
    const found = new Map<MessageId, { readonly reactions: Reaction[] }>();
    if (ids.length === 0) return found;
    for (const [messageId, userId, type, code, name] of this.rows.all(jsonList(ids))) {
      const reaction = { userId, type, code, name };
      const existing = found.get(messageId);
      if (existing) existing.reactions.push(reaction);
      else found.set(messageId, { reactions: [reaction] });
    }
    return found;
  }
}

export const REACTION_FEATURE = {
  schema: 'reactions',
  realmTables: ['reaction'],
  repositories: () => (connection) => ({ reactions: new SqliteReactionRepository(connection) }),
  messagePart: (connection: Connection) => new ReactionPartReads(connection),
} satisfies SqliteFeature;
