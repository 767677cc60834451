import type { RealmId, UserId } from '@parley/domain/kernel';
import type { PushStatus, PushStatusRepository, PushToken, PushTokenRepository } from '@parley/domain/push';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Tokens by realm and user. */
    readonly pushTokens: Map<string, readonly PushToken[]>;
  }
}

export class MemoryPushTokens implements PushTokenRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, userId: UserId): Promise<readonly PushToken[]> {
    return this.unit.read('pushTokens').get(keyOf(realmId, userId)) ?? [];
  }

  async filterOwners(realmId: RealmId, userIds: readonly UserId[]): Promise<readonly UserId[]> {
    return userIds.filter((userId) => (this.unit.read('pushTokens').get(keyOf(realmId, userId)) ?? []).length > 0);
  }

  async add(realmId: RealmId, userId: UserId, token: PushToken): Promise<void> {
    const present = await this.list(realmId, userId);
    if (!present.some((it) => isSame(it, token))) this.replace(realmId, userId, [...present, token]);
  }

  async remove(realmId: RealmId, userId: UserId, token: Pick<PushToken, 'kind' | 'token'>): Promise<void> {
    const present = await this.list(realmId, userId);
    this.replace(
      realmId,
      userId,
      present.filter((it) => !isSame(it, token)),
    );
  }

  async removeAll(realmId: RealmId, userId: UserId): Promise<void> {
    this.replace(realmId, userId, []);
  }

  private replace(realmId: RealmId, userId: UserId, tokens: readonly PushToken[]): void {
    this.unit.change('pushTokens').set(keyOf(realmId, userId), tokens);
  }
}

const isSame = (one: PushToken, { kind, token }: Pick<PushToken, 'kind' | 'token'>): boolean =>
  one.kind === kind && one.token === token;

declare module './tables.js' {
  interface Tables {
    readonly pushStatus: Map<RealmId, PushStatus>;
  }
}

export class MemoryPushStatus implements PushStatusRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId): Promise<PushStatus | null> {
    return this.unit.read('pushStatus').get(realmId) ?? null;
  }

  async put(realmId: RealmId, status: PushStatus): Promise<void> {
    this.unit.change('pushStatus').set(realmId, status);
  }
}
