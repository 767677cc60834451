import { type CustomEmoji, type CustomEmojiRepository, emojiExists, type NewCustomEmoji } from '@parley/domain/files';
import type { CustomEmojiId, RealmId, UserId } from '@parley/domain/kernel';
import type { StorageFeature } from '../engine/feature.js';
import { type Flag, toFlag } from '../engine/rows.js';
import type { Statements } from '../engine/statements.js';

export class SqlCustomEmojiRepository implements CustomEmojiRepository {
  private readonly byId;
  private readonly byName;
  private readonly all;
  private readonly countOf;
  private readonly insert;
  private readonly markDeactivated;

  constructor(private readonly connection: Statements) {
    const { indexedBy, inSet } = connection.dialect;
    this.byId = connection.rows<CustomEmojiRow>('SELECT * FROM custom_emoji WHERE id = ? AND realm_id = ?');
    this.byName = connection.rows<CustomEmojiRow>(
      `SELECT * FROM custom_emoji ${indexedBy('custom_emoji_by_name')}
       WHERE realm_id = ? AND name ${inSet} AND is_deactivated = 0 ORDER BY id`,
    );
    this.all = connection.rows<CustomEmojiRow>('SELECT * FROM custom_emoji WHERE realm_id = ? ORDER BY id');
    this.countOf = connection.values<number>('SELECT count(*) FROM custom_emoji WHERE realm_id = ?');
    this.insert = connection.values<CustomEmojiId>(
      `INSERT INTO custom_emoji (realm_id, name, author_id, format, is_animated) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.markDeactivated = connection.command(
      'UPDATE custom_emoji SET is_deactivated = 1 WHERE id = ? AND realm_id = ?',
    );
  }

  async find(realmId: RealmId, id: CustomEmojiId): Promise<CustomEmoji | null> {
    const row = await this.byId.get(id, realmId);
    return row ? toCustomEmoji(row) : null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]> {
    return (await this.byName.all(realmId, this.connection.dialect.set(names))).map(toCustomEmoji);
  }

  async list(realmId: RealmId): Promise<readonly CustomEmoji[]> {
    return (await this.all.all(realmId)).map(toCustomEmoji);
  }

  async count(realmId: RealmId): Promise<number> {
    return (await this.countOf.get(realmId))!;
  }

  async add(emoji: NewCustomEmoji): Promise<CustomEmoji> {
    const { realmId, name, authorId, format, isAnimated } = emoji;
    const id = await this.insert.get(realmId, name, authorId, format, toFlag(isAnimated));
    if (id === undefined) throw emojiExists();
    return { id, ...emoji, isDeactivated: false };
  }

  async deactivate(realmId: RealmId, id: CustomEmojiId): Promise<void> {
    this.markDeactivated.defer(id, realmId);
  }
}

interface CustomEmojiRow {
  readonly id: CustomEmojiId;
  readonly realm_id: RealmId;
  readonly name: string;
  readonly author_id: UserId | null;
  readonly format: CustomEmoji['format'];
  readonly is_animated: Flag;
  readonly is_deactivated: Flag;
}

const toCustomEmoji = (row: CustomEmojiRow): CustomEmoji => ({
  id: row.id,
  realmId: row.realm_id,
  name: row.name,
  authorId: row.author_id,
  format: row.format,
  isAnimated: row.is_animated === 1,
  isDeactivated: row.is_deactivated === 1,
});

const TABLES = `
CREATE TABLE custom_emoji (
  id {id},
  realm_id {int} NOT NULL REFERENCES realm (id),
  name {text} NOT NULL,
  author_id {int},
  -- Picture of the emoji.
  format {text} NOT NULL,
  is_animated {flag} NOT NULL,
  is_deactivated {flag} NOT NULL DEFAULT 0
) {strict};
-- Names of deactivated emoji can be reused.
CREATE UNIQUE INDEX custom_emoji_by_name ON custom_emoji (realm_id, name) WHERE is_deactivated = 0;
CREATE INDEX custom_emoji_by_realm ON custom_emoji (realm_id, id);
`;

export const CUSTOM_EMOJI_FEATURE = {
  schema: 'custom-emoji',
  steps: { 1: TABLES },
  realmTables: ['custom_emoji'],
  repositories: () => (connection) => ({ customEmoji: new SqlCustomEmojiRepository(connection) }),
} satisfies StorageFeature;
