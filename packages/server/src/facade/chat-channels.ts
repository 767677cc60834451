import {
  ArchiveChannel,
  CreateChannel,
  DEFAULT_CHANNEL_OPTIONS,
  FindChannelId,
  GetChannel,
  ListChannels,
  SubscribeUsers,
  UnsubscribeUsers,
} from '@parley/domain/channels';
import { type Caller, type ChannelId, DomainError, type UserId } from '@parley/domain/kernel';
import type { Resolve } from '../resolve.js';
import type { Addresses } from './addresses.js';
import { listOf } from './chat-messages.js';
import { type ChatChannel, presentChannel } from './presented.js';
import type { PersonRef } from './references.js';

export interface ChannelToCreate {
  readonly name: string;
  /** Markdown; default: none. */
  readonly description?: string;
  /** Only subscribers see it; default: false. */
  readonly isPrivate?: boolean;
  /** Of a private one: whether newcomers can read what was said before they came; default: true. */
  readonly sharesHistory?: boolean;
  /** Newcomers of the organization are subscribed to it; default: false. */
  readonly isDefault?: boolean;
  /** Beside the one who creates it: external ids, or Parley's own as numbers. */
  readonly subscribers?: readonly PersonRef[];
  /** Say so in the channel for announcements; default: false. */
  readonly announce?: boolean;
}

export interface SubscribersToChange {
  /** Default: the user themselves. */
  readonly users?: PersonRef | readonly PersonRef[];
}

/** Channels, as one user may see and change them; by name or id. Everything refuses as the API does, with a `DomainError`. */
export interface ChatChannels {
  create(channel: ChannelToCreate): Promise<ChatChannel>;
  /** The one of this name, or a new one; of one that is there nothing is changed. */
  ensure(channel: ChannelToCreate): Promise<ChatChannel>;
  /** Null: there is none that the user can read. */
  find(channel: string | number): Promise<ChatChannel | null>;
  /** Those that are in use, of which the user may know; by name. */
  list(): Promise<readonly ChatChannel[]>;
  /** Once more: without effect. */
  subscribe(channel: string | number, subscribers?: SubscribersToChange): Promise<void>;
  unsubscribe(channel: string | number, subscribers?: SubscribersToChange): Promise<void>;
  archive(channel: string | number): Promise<void>;
}

export interface ChannelsParts {
  readonly resolve: Resolve;
  readonly addresses: Addresses;
  readonly realm: string;
  readonly caller: () => Promise<Caller>;
}

/** By name or id. @throws DomainError UNKNOWN_CHANNEL */
export const findChannelId = (
  resolve: Resolve,
  caller: Caller,
  channel: string | number,
): ChannelId | Promise<ChannelId> =>
  typeof channel === 'number' ? (channel as ChannelId) : resolve(FindChannelId).execute(caller, { name: channel });

export function chatChannels({ resolve, addresses, realm, caller }: ChannelsParts): ChatChannels {
  const idOf = async (channel: string | number) => findChannelId(resolve, await caller(), channel);
  const view = async (channelId: ChannelId) =>
    presentChannel(await resolve(GetChannel).execute(await caller(), { channelId }), realm);
  const nameOf = async (channel: string | number) => (await view(await idOf(channel))).name;
  const principals = async ({ users }: SubscribersToChange): Promise<readonly UserId[] | null> =>
    users === undefined ? null : addresses.userIds((await caller()).realmId, listOf(users));

  const channels: ChatChannels = {
    async create({ name, description = '', isPrivate = false, subscribers = [], announce = false, ...more }) {
      const who = await caller();
      const others = await addresses.userIds(who.realmId, subscribers);
      const channelId = await resolve(CreateChannel).execute(who, {
        ...DEFAULT_CHANNEL_OPTIONS,
        name,
        description,
        isPrivate,
        sharesHistory: more.sharesHistory ?? null,
        isDefault: more.isDefault ?? false,
        announce,
        subscriberIds: [...new Set([who.userId, ...others])],
      });
      return view(channelId);
    },
    async ensure(channel) {
      const existing = await channels.find(channel.name);
      if (existing) return existing;
      try {
        return await channels.create(channel);
      } catch (error) {
        // Somebody was quicker; or there is one that the user cannot read.
        if (!(error instanceof DomainError && error.is('CHANNEL_NAME_TAKEN'))) throw error;
        const made = await channels.find(channel.name);
        if (!made) throw error;
        return made;
      }
    },
    async find(channel) {
      try {
        return await view(await idOf(channel));
      } catch (error) {
        if (error instanceof DomainError && error.is('UNKNOWN_CHANNEL')) return null;
        throw error;
      }
    },
    async list() {
      const { channels: all } = await resolve(ListChannels).execute(await caller(), {
        includePublic: true,
        includeWebPublic: true,
        includeSubscribed: true,
        includeOwnerSubscribed: false,
        includeReadable: false,
        includeAll: true,
        includeAllActive: false,
        excludeArchived: true,
        includeDefault: true,
      });
      return all.map((channel) => presentChannel(channel, realm));
    },
    async subscribe(channel, subscribers = {}) {
      const name = await nameOf(channel);
      await resolve(SubscribeUsers).execute(await caller(), {
        channels: [{ name, color: null, description: '' }],
        principals: await principals(subscribers),
        options: DEFAULT_CHANNEL_OPTIONS,
        announce: false,
        failsOnInaccessible: true,
        notifyNewSubscribers: false,
      });
    },
    async unsubscribe(channel, subscribers = {}) {
      const channelNames = [await nameOf(channel)];
      await resolve(UnsubscribeUsers).execute(await caller(), {
        channelNames,
        principals: await principals(subscribers),
      });
    },
    archive: async (channel) => resolve(ArchiveChannel).execute(await caller(), { channelId: await idOf(channel) }),
  };
  return channels;
}
