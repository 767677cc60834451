import { type CustomEmoji, type CustomEmojiRepository, emojiExists, type NewCustomEmoji } from '@parley/domain/files';
import type { CustomEmojiId, RealmId, UserId } from '@parley/domain/kernel';
import { type Flag, toFlag } from '@parley/storage';
import type { Connection } from '../engine/connection.js';
import type { PostgresFeature } from '../engine/feature.js';

export class PostgresCustomEmojiRepository implements CustomEmojiRepository {
  private readonly byId;
  private readonly byName;
  private readonly all;
  private readonly countOf;
  private readonly insert;
  private readonly markDeactivated;

  constructor(connection: Connection) {
    this.byId = connection.rows<CustomEmojiRow>('SELECT * FROM custom_emoji WHERE id = $1 AND realm_id = $2');
    this.byName = connection.rows<CustomEmojiRow>(
      `SELECT * FROM custom_emoji
       WHERE realm_id = $1 AND name = ANY($2) AND is_deactivated = 0 ORDER BY id`,
    );
    this.all = connection.rows<CustomEmojiRow>('SELECT * FROM custom_emoji WHERE realm_id = $1 ORDER BY id');
    this.countOf = connection.values<number>('SELECT count(*) FROM custom_emoji WHERE realm_id = $1');
    this.insert = connection.values<CustomEmojiId>(
      `INSERT INTO custom_emoji (realm_id, name, author_id, format, is_animated) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT DO NOTHING RETURNING id`,
    );
    this.markDeactivated = connection.command(
      'UPDATE custom_emoji SET is_deactivated = 1 WHERE id = $1 AND realm_id = $2',
    );
  }

  async find(realmId: RealmId, id: CustomEmojiId): Promise<CustomEmoji | null> {
    const row = await this.byId.get(id, realmId);
    return row ? toCustomEmoji(row) : null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]> {
    return (await this.byName.all(realmId, [...names])).map(toCustomEmoji);
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

export const CUSTOM_EMOJI_FEATURE = {
  schema: 'custom-emoji',
  realmTables: ['custom_emoji'],
  repositories: () => (connection) => ({ customEmoji: new PostgresCustomEmojiRepository(connection) }),
} satisfies PostgresFeature;
