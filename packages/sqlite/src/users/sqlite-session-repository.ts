import type { NewSession, Session, SessionRepository } from '@parley/domain/access';
import type { RealmId, SessionId, UnixSeconds, UserId } from '@parley/domain/kernel';
import { type Connection, LIMIT } from '../engine/connection.js';

const COLUMNS = `id, realm_id AS realmId, user_id AS userId, user_agent AS userAgent, created_at AS createdAt,
  last_used_at AS lastUsedAt, expires_at AS expiresAt`;

export class SqliteSessionRepository implements SessionRepository {
  private readonly byFingerprint;
  private readonly ofUser;
  private readonly insert;
  private readonly update;
  private readonly delete;
  private readonly deleteOfRealm;
  private readonly deleteExpired;

  constructor(connection: Connection) {
    this.byFingerprint = connection.rows<Session>(`SELECT ${COLUMNS} FROM session WHERE fingerprint = ?`);
    this.ofUser = connection.rows<Session>(
      `SELECT ${COLUMNS} FROM session WHERE user_id = ? AND realm_id = ? ORDER BY last_used_at DESC, id DESC`,
    );
    this.insert = connection.command(
      `INSERT INTO session (realm_id, user_id, fingerprint, user_agent, created_at, last_used_at, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.update = connection.command('UPDATE session SET last_used_at = ?, expires_at = ? WHERE id = ?');
    this.delete = connection.command('DELETE FROM session WHERE id = ? AND user_id = ? AND realm_id = ?');
    const deleteSome = (condition: string) =>
      connection.command(`DELETE FROM session WHERE id IN (SELECT id FROM session WHERE ${condition} ${LIMIT})`);
    this.deleteOfRealm = deleteSome('realm_id = ?');
    this.deleteExpired = deleteSome('expires_at <= ?');
  }

  async findByFingerprint(fingerprint: string): Promise<Session | null> {
    return this.byFingerprint.get(fingerprint) ?? null;
  }

  async listOf(realmId: RealmId, userId: UserId): Promise<readonly Session[]> {
    return this.ofUser.all(userId, realmId);
  }

  async add(session: NewSession, fingerprint: string): Promise<SessionId> {
    const { realmId, userId, userAgent, createdAt, lastUsedAt, expiresAt } = session;
    const { lastInsertRowid } = this.insert.run(
      realmId,
      userId,
      fingerprint,
      userAgent,
      createdAt,
      lastUsedAt,
      expiresAt,
    );
    return Number(lastInsertRowid) as SessionId;
  }

  async renew(id: SessionId, { lastUsedAt, expiresAt }: Pick<Session, 'lastUsedAt' | 'expiresAt'>): Promise<void> {
    this.update.run(lastUsedAt, expiresAt, id);
  }

  async remove(realmId: RealmId, userId: UserId, ids: readonly SessionId[]): Promise<number> {
    return ids.reduce((count, id) => count + this.delete.run(id, userId, realmId).changes, 0);
  }

  async removeOfRealm(realmId: RealmId, limit: number): Promise<number> {
    return this.deleteOfRealm.run(realmId, limit).changes;
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    return this.deleteExpired.run(now, limit).changes;
  }
}
