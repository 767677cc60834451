import type { RealmId, SnippetId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { NewSnippet, Snippet, SnippetRepository } from '@parley/domain/messages';
import { type Connection, LIMIT } from '../engine/connection.js';
import type { SqliteFeature } from '../engine/feature.js';

interface SnippetRow {
  readonly id: SnippetId;
  readonly realm_id: RealmId;
  readonly user_id: UserId;
  readonly title: string;
  readonly content: string;
  readonly created_at: UnixSeconds;
}

const OF_USER = 'user_id = ? AND realm_id = ?';

export class SqliteSnippetRepository implements SnippetRepository {
  private readonly byId;
  private readonly ofUser;
  private readonly countOfUser;
  private readonly bytesOfUser;
  private readonly insert;
  private readonly change;
  private readonly delete;

  constructor(connection: Connection) {
    this.byId = connection.rows<SnippetRow>(`SELECT * FROM snippet WHERE id = ? AND ${OF_USER}`);
    this.ofUser = connection.rows<SnippetRow>(`SELECT * FROM snippet WHERE ${OF_USER} ORDER BY id ${LIMIT}`);
    this.countOfUser = connection.values<number>(`SELECT count(*) FROM snippet WHERE ${OF_USER}`);
    this.bytesOfUser = connection.values<number>(
      `SELECT coalesce(sum(octet_length(content)), 0) FROM snippet WHERE ${OF_USER}`,
    );
    this.insert = connection.command(
      'INSERT INTO snippet (id, realm_id, user_id, title, content, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.change = connection.command(`UPDATE snippet SET title = ?, content = ? WHERE id = ? AND ${OF_USER}`);
    this.delete = connection.command(`DELETE FROM snippet WHERE id = ? AND ${OF_USER}`);
  }

  async find(realmId: RealmId, userId: UserId, id: SnippetId): Promise<Snippet | null> {
    const row = this.byId.get(id, userId, realmId);
    return row ? toSnippet(row) : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Snippet[]> {
    return this.ofUser.all(userId, realmId, limit).map(toSnippet);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return this.countOfUser.get(userId, realmId)!;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return this.bytesOfUser.get(userId, realmId)!;
  }

  async add(snippet: NewSnippet, reserved: SnippetId | null = null): Promise<Snippet> {
    const { realmId, userId, title, content, createdAt } = snippet;
    const { lastInsertRowid } = this.insert.run(reserved, realmId, userId, title, content, createdAt);
    return { id: Number(lastInsertRowid) as SnippetId, ...snippet };
  }

  async update({ realmId, userId, id, title, content }: Snippet): Promise<void> {
    this.change.run(title, content, id, userId, realmId);
  }

  async remove(realmId: RealmId, userId: UserId, id: SnippetId): Promise<void> {
    this.delete.run(id, userId, realmId);
  }
}

const toSnippet = ({ realm_id, user_id, created_at, ...row }: SnippetRow): Snippet => ({
  ...row,
  realmId: realm_id,
  userId: user_id,
  createdAt: created_at,
});

export const SNIPPET_FEATURE = {
  schema: 'snippets',
  realmTables: ['snippet'],
  repositories: () => (connection) => ({ snippets: new SqliteSnippetRepository(connection) }),
} satisfies SqliteFeature;
