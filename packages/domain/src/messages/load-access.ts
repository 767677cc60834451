import type { Actor } from '../access/actor.js';
import type { Channel } from '../channels/channel.js';
import { subscribedAmong } from '../channels/channel-access.js';
import { DomainError } from '../kernel/errors.js';
import type { MessageId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { Message, PersonalFlags } from './message.js';
import type { MessageCondition, MessageListEntry, Viewer } from './message-condition.js';
import { canReadMessage, dependsOnOwnership } from './message-permissions.js';

/** Message with its current location. */
export interface LocatedMessage {
  readonly message: Message;
  readonly channel: Channel | null;
  readonly isSubscribed: boolean;
}

/** Message with all data needed by permission rules. */
export interface LoadedMessage extends LocatedMessage {
  /** True if the actor received the message or made it their own. */
  readonly isOwn: boolean;
  /** Null if the message is not the actor's own. */
  readonly flags: PersonalFlags | null;
}

type Reads = Pick<Repositories | Transaction, 'channels' | 'personal' | 'messages'>;

/** Loads messages by ascending id; unknown ids are absent. Runs a constant number of queries. */
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
  const subscribed = await subscribedAmong(reads, actor, [...channels.values()]);
  const flags = await reads.personal.listFlags({ realmId, userId: actor.id }, ids);
  return messages.map((message) => ({
    message,
    channel: message.channelId === null ? null : (channels.get(message.channelId) ?? null),
    isSubscribed: message.channelId !== null && subscribed.has(message.channelId),
    isOwn: flags.has(message.id),
    flags: flags.get(message.id) ?? null,
  }));
}

interface ReadOptions {
  readonly modifying?: boolean;
}

/**
 * Loads a message that the actor may read or modify (messages §1.4).
 * @throws DomainError UNKNOWN_MESSAGE for both hidden and nonexistent messages
 */
export async function loadReadable(
  reads: Reads,
  actor: Actor,
  id: MessageId,
  options: ReadOptions = {},
): Promise<LocatedMessage> {
  const { realmId, id: userId } = actor;
  const message = await reads.messages.find(realmId, id);
  if (!message) throw unknownMessage();
  const { channelId } = message;
  const channel = channelId === null ? null : await reads.channels.find(realmId, channelId);
  const isSubscribed = channelId !== null && (await reads.channels.isSubscribed(realmId, channelId, userId));
  const located = { message, channel, isSubscribed };
  // Ownership rarely affects access, so it is queried only if needed.
  const isOwn = dependsOnOwnership(located) && (await reads.personal.listFlags({ realmId, userId }, [id])).has(id);
  enforce(canReadMessage(actor, { ...located, isOwn }, options));
  return located;
}

/** Loads a readable message with the actor's flags. @throws DomainError UNKNOWN_MESSAGE */
export async function loadReadableWithFlags(
  reads: Reads,
  actor: Actor,
  id: MessageId,
  options: ReadOptions = {},
): Promise<LoadedMessage> {
  const [loaded] = await loadMessages(reads, actor, [id]);
  if (!loaded) throw unknownMessage();
  enforce(canReadMessage(actor, loaded, options));
  return loaded;
}

export const unknownMessage = (): DomainError => new DomainError('UNKNOWN_MESSAGE', 'Invalid message(s)');

/**
 * Returns entries of messages that match the conditions and are readable by the actor (messages §1.4), by ascending id.
 * Does not load full messages.
 */
export async function listReadableEntries(
  reads: Pick<Repositories | Transaction, 'channels' | 'personal' | 'pages'>,
  actor: Actor,
  ids: readonly MessageId[],
  conditions: readonly MessageCondition[],
): Promise<readonly MessageListEntry[]> {
  const viewer = { realmId: actor.realmId, userId: actor.id };
  const entries = await reads.pages.listEntries(viewer, ids, conditions);
  const channelIds = new Set(entries.flatMap((entry) => entry.channelId ?? []));
  const channels = new Map((await reads.channels.list(actor.realmId, [...channelIds])).map((one) => [one.id, one]));
  const subscribed = await subscribedAmong(reads, actor, [...channels.values()]);
  const isOwn = await ownership(reads, viewer, entries);
  return entries.filter(
    (entry) =>
      canReadMessage(actor, {
        message: entry,
        channel: entry.channelId === null ? null : (channels.get(entry.channelId) ?? null),
        isSubscribed: entry.channelId !== null && subscribed.has(entry.channelId),
        isOwn: isOwn(entry),
      }).allowed,
  );
}

/**
 * Returns a predicate for entries of the viewer's own messages. A historical entry is own only if the viewer took it
 * from history.
 */
export async function ownership(
  reads: Pick<Repositories | Transaction, 'personal'>,
  viewer: Viewer,
  entries: readonly MessageListEntry[],
): Promise<(entry: MessageListEntry) => boolean> {
  const historical = entries.filter((entry) => entry.flags.historical).map((entry) => entry.id);
  const taken = historical.length > 0 ? await reads.personal.listFlags(viewer, historical) : new Map();
  return (entry) => !entry.flags.historical || taken.has(entry.id);
}
