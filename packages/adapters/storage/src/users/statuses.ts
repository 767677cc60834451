import { EMOJI_TYPES, type EmojiType } from '@parley/domain/files';
import type { RealmId, UserId } from '@parley/domain/kernel';
import type { StatusRepository, UserStatus } from '@parley/domain/users';
import type { StorageFeature } from '../engine/feature.js';
import { OF_ACCOUNT } from '../engine/personal-data.js';
import type { Statements } from '../engine/statements.js';

export class SqlStatusRepository implements StatusRepository {
  private readonly row;
  private readonly rows;
  private readonly upsert;

  constructor(connection: Statements) {
    this.row = connection.rows<StatusRow>('SELECT * FROM user_status WHERE user_id = ? AND realm_id = ?');
    this.rows = connection.rows<StatusRow>('SELECT * FROM user_status WHERE realm_id = ? ORDER BY user_id');
    this.upsert = connection.command(
      `INSERT INTO user_status (user_id, realm_id, text, emoji_type, emoji_code, emoji_name) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (user_id) DO UPDATE
       SET text = excluded.text, emoji_type = excluded.emoji_type, emoji_code = excluded.emoji_code,
           emoji_name = excluded.emoji_name`,
    );
  }

  async find(realmId: RealmId, userId: UserId): Promise<UserStatus | null> {
    const row = await this.row.get(userId, realmId);
    return row ? toStatus(row) : null;
  }

  async list(realmId: RealmId): Promise<ReadonlyMap<UserId, UserStatus>> {
    return new Map((await this.rows.all(realmId)).map((row) => [row.user_id, toStatus(row)]));
  }

  async put(realmId: RealmId, userId: UserId, { text, emoji }: UserStatus): Promise<void> {
    this.upsert.defer(userId, realmId, text, emoji?.type ?? null, emoji?.code ?? null, emoji?.name ?? null);
  }
}

interface StatusRow {
  readonly user_id: UserId;
  readonly text: string;
  readonly emoji_type: string | null;
  readonly emoji_code: string | null;
  readonly emoji_name: string | null;
}

/** Treats an emoji of unknown type as none. */
function toStatus({ text, emoji_type: type, emoji_code: code, emoji_name: name }: StatusRow): UserStatus {
  const isEmoji = EMOJI_TYPES.includes(type as EmojiType) && code !== null && name !== null;
  return { text, emoji: isEmoji ? { type: type as EmojiType, code, name } : null };
}

const TABLES = `
-- User statuses. Users who never set one have no row.

CREATE TABLE user_status (
  user_id {int} PRIMARY KEY,
  realm_id {int} NOT NULL,
  text {text} NOT NULL,
  -- Null if there is no emoji; set together or not at all.
  emoji_type {text},
  emoji_code {text},
  emoji_name {text}
) {strict};
CREATE INDEX user_status_by_realm ON user_status (realm_id, user_id);
`;

export const STATUS_FEATURE = {
  schema: 'statuses',
  steps: { 1: TABLES },
  realmTables: ['user_status'],
  persons: {
    user_status: { data: 'Status', fate: OF_ACCOUNT, erase: 'user_id = {id}' },
  },
  repositories: () => (connection) => ({ statuses: new SqlStatusRepository(connection) }),
} satisfies StorageFeature;
