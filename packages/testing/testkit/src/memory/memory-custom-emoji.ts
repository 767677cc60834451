import type { CustomEmoji, CustomEmojiRepository } from '@parley/domain/files';
import type { RealmId } from '@parley/domain/kernel';
import { MemoryRows } from './memory-rows.js';

export class MemoryCustomEmoji extends MemoryRows<CustomEmoji> implements CustomEmojiRepository {
  async listByName(realmId: RealmId, names: readonly string[]): Promise<readonly CustomEmoji[]> {
    return (await this.list(realmId)).filter(({ name, isDeactivated }) => !isDeactivated && names.includes(name));
  }
}
