import type { RealmId } from '@parley/domain/kernel';
import {
  type AuditChain,
  type AuditDetail,
  type AuditEntry,
  type AuditFilter,
  type AuditLink,
  type AuditRepository,
  newChain,
  type StoredAuditEntry,
} from '@parley/domain/membership';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

interface DetailRow extends AuditDetail, Pick<AuditEntry, 'actorId' | 'subjectId'> {}

declare module './tables.js' {
  interface Tables {
    readonly auditEntries: Map<string, AuditEntry>;
    readonly auditDetails: Map<string, DetailRow>;
    readonly auditChains: Map<RealmId, AuditChain>;
  }
}

export class MemoryAudit implements AuditRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findChain(realmId: RealmId): Promise<AuditChain | null> {
    return this.unit.read('auditChains').get(realmId) ?? null;
  }

  async list(realmId: RealmId, filter: AuditFilter, limit: number): Promise<readonly StoredAuditEntry[]> {
    const { actorId, subjectId, action, since = 0, until = Infinity, before = Infinity } = filter;
    return this.entriesOf(realmId)
      .filter((entry) => actorId === undefined || entry.actorId === actorId)
      .filter((entry) => subjectId === undefined || entry.subjectId === subjectId)
      .filter((entry) => action === undefined || entry.action === action)
      .filter(({ at, number }) => at >= since && at <= until && number < before)
      .reverse()
      .slice(0, limit);
  }

  async listAfter(realmId: RealmId, after: number, limit: number): Promise<readonly StoredAuditEntry[]> {
    return this.entriesOf(realmId)
      .filter(({ number }) => number > after)
      .slice(0, limit);
  }

  async append(entry: AuditEntry, detail: AuditDetail | null): Promise<void> {
    const { realmId, number, actorId, subjectId, digest } = entry;
    this.unit.change('auditEntries').set(keyOf(realmId, number), entry);
    if (detail) this.unit.change('auditDetails').set(keyOf(realmId, number), { ...detail, actorId, subjectId });
    const { anchor } = (await this.findChain(realmId)) ?? newChain(realmId);
    this.unit.change('auditChains').set(realmId, { realmId, anchor, last: { number, digest } });
  }

  async removeUpTo(realmId: RealmId, anchor: AuditLink): Promise<void> {
    for (const { number } of this.entriesOf(realmId)) {
      if (number > anchor.number) break;
      this.unit.change('auditEntries').delete(keyOf(realmId, number));
      this.unit.change('auditDetails').delete(keyOf(realmId, number));
    }
    const chain = await this.findChain(realmId);
    if (chain) this.unit.change('auditChains').set(realmId, { ...chain, anchor });
  }

  private entriesOf(realmId: RealmId): StoredAuditEntry[] {
    const details = this.unit.read('auditDetails');
    return [...this.unit.read('auditEntries').values()]
      .filter((entry) => entry.realmId === realmId)
      .sort((a, b) => ascending(a.number, b.number))
      .map((entry) => {
        const { salt, content } = details.get(keyOf(realmId, entry.number)) ?? {};
        return { ...entry, detail: salt === undefined || content === undefined ? null : { salt, content } };
      });
  }
}
