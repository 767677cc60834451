import type { Caller } from '@parley/domain/kernel';
import type { Resolve } from '../resolve.js';
import { Addresses } from './addresses.js';
import { type ChannelsParts, type ChatChannels, chatChannels, findChannelId } from './chat-channels.js';
import { type ChatMessages, chatMessages } from './chat-messages.js';
import { type ChatUnread, chatUnread } from './chat-unread.js';
import type { UserRef } from './references.js';

export interface ChatOptions {
  /** What messages say they were sent with, at most 30 characters; default: `parley`. */
  readonly client?: string;
}

/** The chat as one user has it, with that user's permissions. */
export interface Chat {
  readonly messages: ChatMessages;
  readonly channels: ChatChannels;
  readonly unread: ChatUnread;
  /** What the use cases of `parley.useCase` take. */
  caller(): Promise<Caller>;
}

const DEFAULT_CLIENT = 'parley';

export function chatAs(resolve: Resolve, ref: UserRef, { client = DEFAULT_CLIENT }: ChatOptions = {}): Chat {
  const addresses = resolve(Addresses);
  // Looked up with each call: who comes later is found then, and what is kept at hand is not looked up again.
  const caller = () => addresses.caller(ref, client);
  const parts: ChannelsParts = { resolve, addresses, realm: ref.realm, caller };
  let messages: ChatMessages | undefined;
  let channels: ChatChannels | undefined;
  const messagesParts = () => ({
    ...parts,
    channelId: (who: Caller, channel: string | number) => findChannelId(resolve, who, channel),
  });
  // Most of these objects are made for one call of theirs.
  return {
    get messages() {
      messages ??= chatMessages(messagesParts());
      return messages;
    },
    get channels() {
      channels ??= chatChannels(parts);
      return channels;
    },
    get unread() {
      return chatUnread(messagesParts());
    },
    caller,
  };
}
