import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import type { MemoryUnit } from './tables.js';

/** Ascending id; all of the realm, or those of the ids that are there. */
export function messagesOf(unit: MemoryUnit, realmId: RealmId, ids?: readonly MessageId[]): Message[] {
  const wanted = ids && new Set(ids);
  return [...unit.read('messages').values()].filter(
    (message) => message.realmId === realmId && (wanted?.has(message.id) ?? true),
  );
}
