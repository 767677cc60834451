import type { Channel } from '../channels/channel.js';
import type { ChannelId, MessageId } from '../shared/ids.js';
import type { Repositories, Transaction } from '../shared/unit-of-work.js';
import type { Actor } from '../users/actor.js';
import type { Message, PersonalFlags } from './message.js';
import type { MessageAccess } from './message-permissions.js';

/** A message with all that rules about it read. */
export interface LoadedMessage extends MessageAccess {
  readonly message: Message;
  readonly channel: Channel | null;
  /** Null: not his own. */
  readonly flags: PersonalFlags | null;
}

type Reads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages'>;

/** Unknown ids are absent; ascending id. A constant number of queries, whatever the number of messages. */
export async function loadMessages(
  reads: Reads,
  actor: Actor,
  ids: readonly MessageId[],
): Promise<readonly LoadedMessage[]> {
  const { realmId } = actor;
  const messages = await reads.messages.list(realmId, ids);
  if (messages.length === 0) return [];
  const channelIds = new Set(messages.flatMap((message) => message.channelId ?? []));
  const channels = new Map((await reads.channels.list(realmId, [...channelIds])).map((one) => [one.id, one]));
  const subscribed = new Set<ChannelId>(await reads.channels.listSubscribedIds(realmId, actor.id));
  const flags = await reads.personal.listFlags({ realmId, userId: actor.id }, ids);
  return messages.map((message) => ({
    message,
    channel: message.channelId === null ? null : (channels.get(message.channelId) ?? null),
    isSubscribed: message.channelId !== null && subscribed.has(message.channelId),
    isOwn: flags.has(message.id),
    flags: flags.get(message.id) ?? null,
  }));
}
