import type { LoginNetwork, NewSession, Session, SessionRepository } from '@parley/domain/access';
import type { RealmId, SessionId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

interface SessionRow {
  readonly session: Session;
  readonly fingerprint: string;
}

declare module './tables.js' {
  interface Tables {
    readonly sessions: Map<SessionId, SessionRow>;
    /** Keyed by realm, user and network. */
    readonly loginNetworks: Map<string, LoginNetwork>;
  }
}

export class MemorySessions implements SessionRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findByFingerprint(fingerprint: string): Promise<Session | null> {
    return this.rows().find((row) => row.fingerprint === fingerprint)?.session ?? null;
  }

  async listOf(realmId: RealmId, userId: UserId): Promise<readonly Session[]> {
    return this.rows()
      .map(({ session }) => session)
      .filter((session) => session.realmId === realmId && session.userId === userId)
      .sort((a, b) => b.lastUsedAt - a.lastUsedAt || b.id - a.id);
  }

  async listNetworks(realmId: RealmId, userId: UserId): Promise<readonly LoginNetwork[]> {
    return [...this.unit.read('loginNetworks')]
      .filter(([key]) => key.startsWith(`${realmId} ${userId} `))
      .map(([, network]) => network)
      .sort((a, b) => b.lastUsedAt - a.lastUsedAt || (a.network < b.network ? -1 : 1));
  }

  async putNetwork(realmId: RealmId, userId: UserId, network: LoginNetwork, keep: number): Promise<void> {
    const keyOf = (one: LoginNetwork) => `${realmId} ${userId} ${one.network}`;
    this.unit.change('loginNetworks').set(keyOf(network), network);
    for (const surplus of (await this.listNetworks(realmId, userId)).slice(keep)) {
      this.unit.change('loginNetworks').delete(keyOf(surplus));
    }
  }

  async add(session: NewSession, fingerprint: string): Promise<SessionId> {
    const id = this.unit.nextNumber<SessionId>('session');
    this.unit.change('sessions').set(id, { session: { ...session, id }, fingerprint });
    return id;
  }

  async renew(id: SessionId, use: Pick<Session, 'lastUsedAt' | 'expiresAt'>): Promise<void> {
    const row = this.unit.read('sessions').get(id);
    if (row) this.unit.change('sessions').set(id, { ...row, session: { ...row.session, ...use } });
  }

  async remove(realmId: RealmId, userId: UserId, ids: readonly SessionId[]): Promise<number> {
    return this.removeWhere(
      (session) => session.realmId === realmId && session.userId === userId && ids.includes(session.id),
    );
  }

  async removeOfRealm(realmId: RealmId, limit: number): Promise<number> {
    return this.removeWhere((session) => session.realmId === realmId, limit);
  }

  async removeExpired(now: UnixSeconds, limit: number): Promise<number> {
    return this.removeWhere(({ expiresAt }) => expiresAt <= now, limit);
  }

  private removeWhere(condition: (session: Session) => boolean, limit = Number.POSITIVE_INFINITY): number {
    const ids = this.rows()
      .map(({ session }) => session)
      .filter(condition)
      .slice(0, limit)
      .map(({ id }) => id);
    for (const id of ids) this.unit.change('sessions').delete(id);
    return ids.length;
  }

  private rows(): readonly SessionRow[] {
    return [...this.unit.read('sessions').values()];
  }
}
