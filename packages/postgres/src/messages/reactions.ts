import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { EmojiKey, Message, MessageParts, Reaction, ReactionRepository } from '@parley/domain/messages';
import { type MessagePartReads, PROPERTY_BITS } from '@parley/storage';
import type { Connection, Query } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresReactionRepository implements ReactionRepository {
  private readonly one;
  private readonly counts;
  private readonly insert;
  private readonly delete;
  private readonly renewMessage;

  constructor(connection: Connection) {
    this.one = connection.rows<ReactionRow>(
      `SELECT user_id, emoji_name FROM reaction
       WHERE message_id = $1 AND emoji_type = $2 AND emoji_code = $3 AND realm_id = $4 AND user_id = coalesce($5, user_id)
       LIMIT 1`,
    );
    this.counts = connection.tuples<readonly [reactions: number, emoji: number]>(
      `SELECT count(*), count(DISTINCT (emoji_type, emoji_code)) FROM reaction WHERE message_id = $1 AND realm_id = $2`,
    );
    this.insert = connection.command(
      `INSERT INTO reaction (message_id, user_id, realm_id, emoji_type, emoji_code, emoji_name)
       VALUES ($1, $2, $3, $4, $5, $6)`,
    );
    this.delete = connection.command(
      `DELETE FROM reaction
       WHERE message_id = $1 AND emoji_type = $2 AND emoji_code = $3 AND realm_id = $4 AND user_id = $5`,
    );
    // Increments the version, because the presented message changed.
    this.renewMessage = connection.command(
      `UPDATE message SET version = version + 1,
         property_bits = CASE WHEN EXISTS (SELECT 1 FROM reaction r WHERE r.message_id = message.id)
                              THEN property_bits | ${PROPERTY_BITS.hasReactions}
                              ELSE property_bits & ~${PROPERTY_BITS.hasReactions}::bigint END
       WHERE id = $1 AND realm_id = $2`,
    );
  }

  async find(realmId: RealmId, messageId: MessageId, emoji: EmojiKey, userId?: UserId): Promise<Reaction | null> {
    const { type, code } = emoji;
    const row = await this.one.get(messageId, type, code, realmId, userId ?? null);
    return row ? { userId: row.user_id, type, code, name: row.emoji_name } : null;
  }

  async count(realmId: RealmId, messageId: MessageId) {
    const [reactions, emoji] = (await this.counts.get(messageId, realmId))!;
    return { reactions, emoji };
  }

  async add(realmId: RealmId, messageId: MessageId, { userId, type, code, name }: Reaction): Promise<void> {
    this.insert.defer(messageId, userId, realmId, type, code, name);
    this.renewMessage.defer(messageId, realmId);
  }

  async remove(realmId: RealmId, messageId: MessageId, { type, code }: EmojiKey, userId: UserId): Promise<void> {
    const { changes } = await this.delete.run(messageId, type, code, realmId, userId);
    if (changes > 0) this.renewMessage.defer(messageId, realmId);
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
       WHERE message_id = ANY($1::bigint[]) ORDER BY id`,
    );
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const ids = messages.filter((message) => message.hasReactions).map(({ id }) => id);
    const found = new Map<MessageId, { readonly reactions: Reaction[] }>();
    if (ids.length === 0) return found;
    for (const [messageId, userId, type, code, name] of await this.rows.all(ids)) {
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
  repositories: () => (connection) => ({ reactions: new PostgresReactionRepository(connection) }),
  messagePart: (connection: Connection) => new ReactionPartReads(connection),
} satisfies PostgresFeature;
