import type { ChannelAddressKey, ChannelAddressRepository } from '@parley/domain/channels';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Rows by `keyOf(realm, channel, creator, sender)`. */
    readonly channelAddresses: Map<string, { readonly key: ChannelAddressKey; readonly token: string }>;
  }
}

export class MemoryChannelAddresses implements ChannelAddressRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findToken(key: ChannelAddressKey): Promise<string | null> {
    return this.unit.read('channelAddresses').get(rowOf(key))?.token ?? null;
  }

  async findByToken(token: string): Promise<ChannelAddressKey | null> {
    return [...this.unit.read('channelAddresses').values()].find((row) => row.token === token)?.key ?? null;
  }

  async add(key: ChannelAddressKey, token: string): Promise<void> {
    this.unit.change('channelAddresses').set(rowOf(key), { key, token });
  }

  async remove(key: ChannelAddressKey): Promise<void> {
    this.unit.change('channelAddresses').delete(rowOf(key));
  }

  async removeOfSender(realmId: RealmId, senderId: UserId): Promise<void> {
    for (const { key } of this.unit.read('channelAddresses').values()) {
      if (key.realmId === realmId && key.senderId === senderId) await this.remove(key);
    }
  }
}

const rowOf = ({ realmId, channelId, creatorId, senderId }: ChannelAddressKey): string =>
  keyOf(realmId, channelId, creatorId, senderId);
