import { type CustomEmoji, type CustomEmojiRepository, emojiExists, type NewCustomEmoji } from '@parley/domain/files';
import type { CustomEmojiId, RealmId } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly customEmoji: Map<CustomEmojiId, CustomEmoji>;
  }
}

export class MemoryCustomEmoji implements CustomEmojiRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: CustomEmojiId): Promise<CustomEmoji | null> {
    const emoji = this.unit.read('customEmoji').get(id);
    return emoji?.realmId === realmId ? emoji : null;
  }

  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]> {
    return (await this.list(realmId)).filter(({ name, isDeactivated }) => !isDeactivated && names.includes(name));
  }

  async list(realmId: RealmId): Promise<readonly CustomEmoji[]> {
    return [...this.unit.read('customEmoji').values()].filter((emoji) => emoji.realmId === realmId);
  }

  async count(realmId: RealmId): Promise<number> {
    return (await this.list(realmId)).length;
  }

  async add(emoji: NewCustomEmoji): Promise<CustomEmoji> {
    if ((await this.listByName(emoji.realmId, [emoji.name])).length > 0) throw emojiExists();
    const added = { id: this.unit.nextNumber<CustomEmojiId>('customEmoji'), ...emoji, isDeactivated: false };
    this.unit.change('customEmoji').set(added.id, added);
    return added;
  }

  async deactivate(realmId: RealmId, id: CustomEmojiId): Promise<void> {
    const emoji = await this.find(realmId, id);
    if (emoji) this.unit.change('customEmoji').set(id, { ...emoji, isDeactivated: true });
  }
}
