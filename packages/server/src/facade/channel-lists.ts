import { type ChannelView, isPrivate, isWebPublic, ListChannels, ListChannelsById } from '@parley/domain/channels';
import type { Caller, ChannelId } from '@parley/domain/kernel';
import { FindByData } from '@parley/domain/membership';
import type { Resolve } from '../kernel/resolve.js';
import type { ChatChannel } from './chat-messages.js';
import { type ChatData, dataOf } from './host-data.js';

export const presentChannel = (channel: ChannelView, realm: string, data: ChatData): ChatChannel => ({
  id: channel.id,
  realm,
  name: channel.name,
  description: channel.description,
  isPrivate: isPrivate(channel),
  isWebPublic: isWebPublic(channel),
  isArchived: channel.isArchived,
  subscribers: channel.subscriberCount,
  ...data,
});

const EVERY_ACTIVE_CHANNEL = {
  includePublic: true,
  includeWebPublic: true,
  includeSubscribed: true,
  includeOwnerSubscribed: false,
  includeReadable: false,
  includeAll: true,
  includeAllActive: false,
  excludeArchived: true,
  includeDefault: true,
};

interface Parts {
  readonly resolve: Resolve;
  readonly realm: string;
}

/** Returns the active channels that the caller can access: all by name, or those that match the filters by id. */
export async function listedChannels(
  parts: Parts,
  who: Caller,
  filters: readonly string[],
): Promise<readonly ChatChannel[]> {
  const { resolve } = parts;
  if (filters.length === 0) {
    return presentAll(parts, who, (await resolve(ListChannels).execute(who, EVERY_ACTIVE_CHANNEL)).channels);
  }
  const listed: ChatChannel[] = [];
  for await (const ids of resolve(FindByData).execute(who.realmId, 'channel', filters)) {
    const page = await resolve(ListChannelsById).execute(who, ids as readonly ChannelId[]);
    listed.push(...(await presentAll(parts, who, page)));
  }
  return listed;
}

async function presentAll({ resolve, realm }: Parts, { realmId }: Caller, channels: readonly ChannelView[]) {
  const ids = channels.map(({ id }) => id);
  const data = await dataOf(resolve, realmId, 'channel', ids);
  return channels.map((channel) => presentChannel(channel, realm, data(channel.id)));
}
