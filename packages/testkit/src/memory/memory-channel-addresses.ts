import type { ChannelAddressKey, ChannelAddressRepository } from '@parley/domain/channels';
import { keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    /** Tokens by `keyOf(realm, channel, creator, sender)`. */
    readonly channelAddresses: Map<string, string>;
  }
}

export class MemoryChannelAddresses implements ChannelAddressRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async findToken(key: ChannelAddressKey): Promise<string | null> {
    return this.unit.read('channelAddresses').get(rowOf(key)) ?? null;
  }

  async add(key: ChannelAddressKey, token: string): Promise<void> {
    this.unit.change('channelAddresses').set(rowOf(key), token);
  }
}

const rowOf = ({ realmId, channelId, creatorId, senderId }: ChannelAddressKey): string =>
  keyOf(realmId, channelId, creatorId, senderId);
