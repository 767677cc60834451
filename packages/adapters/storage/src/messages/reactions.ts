import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { Message, MessageParts } from '@parley/domain/messages';
import type { EmojiKey, Reaction, ReactionRepository, UserReaction } from '@parley/domain/writing';
import type { MessagePartReads, StorageFeature } from '../engine/feature.js';
import { WRITTEN } from '../engine/personal-data.js';
import type { Query, Statements } from '../engine/statements.js';
import { PROPERTY_BITS } from './message-rows.js';

export class SqlReactionRepository implements ReactionRepository {
  private readonly ofAnybody;
  private readonly ofUser;
  private readonly ofUserIn;
  private readonly after;
  private readonly counts;
  private readonly insert;
  private readonly delete;
  private readonly renewMessage;

  constructor(private readonly connection: Statements) {
    const withEmoji = `SELECT user_id, emoji_name FROM reaction
      WHERE message_id = ? AND emoji_type = ? AND emoji_code = ? AND realm_id = ?`;
    this.ofAnybody = connection.rows<ReactionRow>(`${withEmoji} LIMIT 1`);
    this.ofUser = connection.rows<ReactionRow>(`${withEmoji} AND user_id = ?`);
    this.ofUserIn = connection.rows<UserReaction>(
      `SELECT message_id AS "messageId", user_id AS "userId", emoji_type AS "type", emoji_code AS "code", emoji_name AS "name"
       FROM reaction WHERE message_id ${connection.dialect.inSet} AND user_id = ? AND realm_id = ? ORDER BY message_id, id`,
    );
    this.after = connection.tuples<readonly [id: number, isOfUser: 0 | 1, MessageId, Reaction['type'], string, string]>(
      `SELECT id, CASE WHEN user_id = ? AND realm_id = ? THEN 1 ELSE 0 END, message_id, emoji_type, emoji_code, emoji_name
       FROM reaction WHERE id > ? ORDER BY id LIMIT ? + 0`,
    );
    this.counts = connection.tuples<readonly [reactions: number, emoji: number]>(
      `SELECT coalesce(sum(count), 0), count(*) FROM (
         SELECT count(*) AS count FROM reaction WHERE message_id = ? AND realm_id = ? GROUP BY emoji_type, emoji_code) AS emoji`,
    );
    this.insert = connection.command(
      `INSERT INTO reaction (message_id, user_id, realm_id, emoji_type, emoji_code, emoji_name)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.delete = connection.command(
      `DELETE FROM reaction
       WHERE message_id = ? AND emoji_type = ? AND emoji_code = ? AND realm_id = ? AND user_id = ?`,
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
        ? await this.ofAnybody.get(messageId, type, code, realmId)
        : await this.ofUser.get(messageId, type, code, realmId, userId);
    return row ? { userId: row.user_id, type, code, name: row.emoji_name } : null;
  }

  async listOfUser(
    realmId: RealmId,
    messageIds: readonly MessageId[],
    userId: UserId,
  ): Promise<readonly UserReaction[]> {
    return await this.ofUserIn.all(this.connection.dialect.set(messageIds), userId, realmId);
  }

  async listSomeOfUser(realmId: RealmId, userId: UserId, after: number, limit: number) {
    const rows = await this.after.all(userId, realmId, after, limit);
    return {
      reactions: rows.flatMap(([, isOfUser, messageId, type, code, name]) =>
        isOfUser === 1 ? [{ messageId, userId, type, code, name }] : [],
      ),
      next: rows.length < limit ? null : rows.at(-1)![0],
    };
  }

  async count(realmId: RealmId, messageId: MessageId) {
    const [reactions, emoji] = await this.counts.one(messageId, realmId);
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

/** Reactions shown with messages. */
export class ReactionPartReads implements MessagePartReads {
  private readonly rows: Query<readonly [MessageId, UserId, Reaction['type'], string, string]>;

  constructor(private readonly connection: Statements) {
    this.rows = connection.tuples(
      `SELECT message_id, user_id, emoji_type, emoji_code, emoji_name FROM reaction
       WHERE message_id ${connection.dialect.inSet} ORDER BY id`,
    );
  }

  async list(messages: readonly Message[]): Promise<ReadonlyMap<MessageId, MessageParts>> {
    const ids = messages.filter((message) => message.hasReactions).map(({ id }) => id);
    const found = new Map<MessageId, { readonly reactions: Reaction[] }>();
    if (ids.length === 0) return found;
    for (const [messageId, userId, type, code, name] of await this.rows.all(this.connection.dialect.set(ids))) {
      const reaction = { userId, type, code, name };
      const existing = found.get(messageId);
      if (existing) existing.reactions.push(reaction);
      else found.set(messageId, { reactions: [reaction] });
    }
    return found;
  }
}

const TABLES = `
-- Reactions are deleted with their message through a foreign key, which costs time per reaction, not per message. While a
-- message has reactions, its property_bits say so (messages.sql).

CREATE TABLE reaction (
  -- Ascends in the order of reacting.
  id {rowId},
  message_id {int} NOT NULL REFERENCES message (id) ON DELETE CASCADE,
  user_id {int} NOT NULL,
  realm_id {int} NOT NULL,
  emoji_type {text} NOT NULL,
  emoji_code {text} NOT NULL,
  emoji_name {text} NOT NULL
) {strict};
-- Includes the realm, so that the index alone answers counts.
CREATE UNIQUE INDEX reaction_by_emoji ON reaction (message_id, emoji_type, emoji_code, user_id, realm_id);
`;

export const REACTION_FEATURE = {
  schema: 'reactions',
  steps: { 1: TABLES },
  realmTables: ['reaction'],
  persons: {
    reaction: {
      data: 'Reactions',
      fate: WRITTEN,
      keep: { 'Deleted only with everything written.': ['user_id', 'emoji_type', 'emoji_code', 'emoji_name'] },
    },
  },
  messageTables: ['reaction'],
  repositories: () => (connection) => ({ reactions: new SqlReactionRepository(connection) }),
  messagePart: (connection: Statements) => new ReactionPartReads(connection),
} satisfies StorageFeature;
