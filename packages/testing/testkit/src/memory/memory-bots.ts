import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import { type BotOptions, type BotRepository, NO_BOT_OPTIONS } from '@parley/domain/membership';
import type { BotTriggerRepository, TriggeredBot } from '@parley/domain/writing';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Options by realm and bot. */
    readonly botOptions: Map<string, BotOptions>;
    /** Waiting messages by realm, bot and message. */
    readonly botTriggers: Map<string, TriggeredBot & { readonly realmId: RealmId }>;
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

export class MemoryBotTriggers implements BotTriggerRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findFirst(realmId: RealmId, botId: UserId): Promise<TriggeredBot | null> {
    const [first] = this.of(realmId, botId).sort((a, b) => a.messageId - b.messageId);
    return first ? { botId, messageId: first.messageId, trigger: first.trigger } : null;
  }

  async count(realmId: RealmId, botId: UserId): Promise<number> {
    return this.of(realmId, botId).length;
  }

  async add(realmId: RealmId, trigger: TriggeredBot): Promise<void> {
    const rows = this.unit.change('botTriggers');
    const key = keyOf(realmId, trigger.botId, trigger.messageId);
    if (!rows.has(key)) rows.set(key, { ...trigger, realmId });
  }

  async remove(realmId: RealmId, botId: UserId, messageId: MessageId): Promise<void> {
    this.unit.change('botTriggers').delete(keyOf(realmId, botId, messageId));
  }

  private of(realmId: RealmId, botId: UserId): TriggeredBot[] {
    return [...this.unit.read('botTriggers').values()].filter((row) => row.realmId === realmId && row.botId === botId);
  }
}
