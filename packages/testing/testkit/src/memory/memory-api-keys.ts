import type { ApiKeyRecord, ApiKeyRepository, KeyIssue } from '@parley/domain/access';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { ascending, type MemoryUnit } from './tables.js';

interface ApiKeyRow {
  readonly record: ApiKeyRecord;
  readonly fingerprint: string;
  readonly issue: KeyIssue | null;
}

declare module './tables.js' {
  interface Tables {
    readonly apiKeys: Map<UserId, ApiKeyRow>;
    /** Secrets by name. */
    readonly secrets: Map<string, string>;
  }
}

export class MemoryApiKeys implements ApiKeyRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findByFingerprint(fingerprint: string): Promise<ApiKeyRecord | null> {
    return this.rows().find((row) => row.fingerprint === fingerprint)?.record ?? null;
  }

  async find(realmId: RealmId, userId: UserId): Promise<ApiKeyRecord | null> {
    const record = this.unit.read('apiKeys').get(userId)?.record;
    return record?.realmId === realmId ? record : null;
  }

  async findIssue(realmId: RealmId, userId: UserId): Promise<KeyIssue | null> {
    const row = this.unit.read('apiKeys').get(userId);
    return row?.record.realmId === realmId ? row.issue : null;
  }

  async listAll(): Promise<readonly ApiKeyRecord[]> {
    return this.rows()
      .map(({ record }) => record)
      .sort((a, b) => ascending(a.userId, b.userId));
  }

  async secretFingerprint(): Promise<string | null> {
    return this.unit.read('secrets').get('fingerprint') ?? null;
  }

  async put(record: ApiKeyRecord, fingerprint: string): Promise<void> {
    this.unit.change('apiKeys').set(record.userId, { record, fingerprint, issue: null });
  }

  async putIssue(realmId: RealmId, userId: UserId, issue: KeyIssue): Promise<void> {
    const row = this.unit.read('apiKeys').get(userId);
    if (row?.record.realmId === realmId) this.unit.change('apiKeys').set(userId, { ...row, issue });
  }

  async setSecretFingerprint(fingerprint: string): Promise<void> {
    this.unit.change('secrets').set('fingerprint', fingerprint);
  }

  private rows(): ApiKeyRow[] {
    return [...this.unit.read('apiKeys').values()];
  }
}
