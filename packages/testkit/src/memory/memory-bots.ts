import type { RealmId, UserId } from '@parley/domain/kernel';
import { type BotOptions, type BotRepository, NO_BOT_OPTIONS } from '@parley/domain/membership';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Options by realm and bot. */
    readonly botOptions: Map<string, BotOptions>;
  }
}

export class MemoryBots implements BotRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listOptions(realmId: RealmId, botIds: readonly UserId[]): Promise<ReadonlyMap<UserId, BotOptions>> {
    const options = this.unit.read('botOptions');
    return new Map(botIds.map((id) => [id, options.get(keyOf(realmId, id)) ?? NO_BOT_OPTIONS]));
  }

  async listOwnedIds(realmId: RealmId, ownerId: UserId): Promise<readonly UserId[]> {
    return [...this.unit.read('users').values()]
      .filter(({ user }) => user.realmId === realmId && user.bot?.ownerId === ownerId)
      .map(({ user }) => user.id);
  }

  async putOptions(realmId: RealmId, botId: UserId, options: BotOptions): Promise<void> {
    this.unit.change('botOptions').set(keyOf(realmId, botId), options);
  }
}
