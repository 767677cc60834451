import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { LinkedAccount, LogInRepository } from '@parley/domain/log-in';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Expiry of completed log-ins, keyed by realm and fingerprint. */
    readonly usedLogIns: Map<string, UnixSeconds>;
    /** Keyed by realm, method and subject. */
    readonly linkedAccounts: Map<string, LinkedAccount & { readonly realmId: RealmId }>;
  }
}

export class MemoryLogIns implements LogInRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async isUsed(realmId: RealmId, fingerprint: string): Promise<boolean> {
    return this.unit.read('usedLogIns').has(keyOf(realmId, fingerprint));
  }

  async use(realmId: RealmId, fingerprint: string, expiresAt: UnixSeconds): Promise<boolean> {
    if (await this.isUsed(realmId, fingerprint)) return false;
    this.unit.change('usedLogIns').set(keyOf(realmId, fingerprint), expiresAt);
    return true;
  }

  async removeExpiredUses(now: UnixSeconds, limit: number): Promise<number> {
    const expired = [...this.unit.read('usedLogIns')].filter(([, expiresAt]) => expiresAt <= now).slice(0, limit);
    for (const [key] of expired) this.unit.change('usedLogIns').delete(key);
    return expired.length;
  }

  async findLinked(realmId: RealmId, method: string, subject: string): Promise<UserId | null> {
    return this.unit.read('linkedAccounts').get(keyOf(realmId, method, subject))?.userId ?? null;
  }

  async listUserIdsOf(realmId: RealmId, method: string): Promise<readonly UserId[]> {
    return [...this.unit.read('linkedAccounts').values()]
      .filter((account) => account.realmId === realmId && account.method === method)
      .map(({ userId }) => userId)
      .sort((a, b) => a - b);
  }

  async listLinked(realmId: RealmId, userId: UserId): Promise<readonly LinkedAccount[]> {
    return [...this.unit.read('linkedAccounts').values()]
      .filter((account) => account.realmId === realmId && account.userId === userId)
      .map(({ realmId: _, ...account }) => account)
      .sort((a, b) => (a.method < b.method ? -1 : 1));
  }

  async link(realmId: RealmId, account: LinkedAccount): Promise<void> {
    await this.unlink(realmId, account.userId, account.method);
    this.unit.change('linkedAccounts').set(keyOf(realmId, account.method, account.subject), { ...account, realmId });
  }

  async unlink(realmId: RealmId, userId: UserId, method: string): Promise<boolean> {
    const former = (await this.listLinked(realmId, userId)).find((account) => account.method === method);
    if (former) this.unit.change('linkedAccounts').delete(keyOf(realmId, method, former.subject));
    return former !== undefined;
  }
}
