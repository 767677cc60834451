import { CUSTOM_EMOJI_ROWS, type CustomEmoji, type CustomEmojiRepository } from '@parley/domain/files';
import type { RealmId } from '@parley/domain/kernel';
import { SqlRows, Table } from '../engine/declared-rows.js';
import { OF_REALM } from '../engine/personal-data.js';

class SqlCustomEmojiRepository extends SqlRows<CustomEmoji> implements CustomEmojiRepository {
  private readonly byName = this.select(
    `realm_id = ? AND name ${this.connection.dialect.inSet} AND is_deactivated = 0 ORDER BY id`,
    'custom_emoji_by_name',
  );

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]> {
    return (await this.byName.all(realmId, this.connection.dialect.set(names))).map(this.toRow);
  }
}

export const CUSTOM_EMOJI_FEATURE = new Table<CustomEmoji>(
  CUSTOM_EMOJI_ROWS,
  {
    columns: {
      name: 'text',
      authorId: 'int?',
      format: 'text',
      isAnimated: 'flag',
      isDeactivated: ['flag', { sql: 'DEFAULT 0' }],
    },
    indices: [
      'UNIQUE INDEX custom_emoji_by_name ON custom_emoji (realm_id, name) WHERE is_deactivated = 0',
      'INDEX custom_emoji_by_realm ON custom_emoji (realm_id, id)',
    ],
  },
  SqlCustomEmojiRepository,
).feature(1, 'customEmoji', {
  data: 'Custom emoji',
  fate: OF_REALM,
  keep: { 'Ids without text.': ['author_id'] },
  other: ['name', 'format'],
});
