import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import type { MemoryUnit, Tables } from './tables.js';

/** Name of a table keyed by message id. Its rows are archived and removed with the message. */
export type MessageTable = Extract<keyof Tables, `${string} of messages`>;

export const isMessageTable = (name: keyof Tables): name is MessageTable => name.endsWith(' of messages');

/** Returns all messages of the realm, or the existing ones of the given ids, ascending by id. */
export function messagesOf(unit: MemoryUnit, realmId: RealmId, ids?: readonly MessageId[]): Message[] {
  const wanted = ids && new Set(ids);
  return [...unit.read('messages').values()].filter(
    (message) => message.realmId === realmId && (wanted?.has(message.id) ?? true),
  );
}
