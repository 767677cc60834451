import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { LinkedAccount, LogInFlow, LogInRepository } from '@parley/domain/membership';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Keyed by fingerprint. */
    readonly logInFlows: Map<string, LogInFlow>;
    /** Keyed by realm, method and subject. */
    readonly linkedAccounts: Map<string, LinkedAccount & { readonly realmId: RealmId }>;
  }
}

export class MemoryLogIns implements LogInRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async countFlows(realmId: RealmId): Promise<number> {
    return [...this.unit.read('logInFlows').values()].filter((flow) => flow.realmId === realmId).length;
  }

  async findFlow(realmId: RealmId, fingerprint: string): Promise<LogInFlow | null> {
    const flow = this.unit.read('logInFlows').get(fingerprint);
    return flow?.realmId === realmId ? flow : null;
  }

  async addFlow(flow: LogInFlow, fingerprint: string): Promise<void> {
    this.unit.change('logInFlows').set(fingerprint, flow);
  }

  async takeFlow(realmId: RealmId, fingerprint: string): Promise<LogInFlow | null> {
    const flow = await this.findFlow(realmId, fingerprint);
    if (flow) this.unit.change('logInFlows').delete(fingerprint);
    return flow;
  }

  async removeExpiredFlows(now: UnixSeconds, limit: number): Promise<number> {
    const expired = [...this.unit.read('logInFlows')].filter(([, flow]) => flow.expiresAt <= now).slice(0, limit);
    for (const [fingerprint] of expired) this.unit.change('logInFlows').delete(fingerprint);
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
    const table = this.unit.change('linkedAccounts');
    for (const former of await this.listLinked(realmId, account.userId)) {
      if (former.method === account.method) table.delete(keyOf(realmId, former.method, former.subject));
    }
    table.set(keyOf(realmId, account.method, account.subject), { ...account, realmId });
  }
}
