import type { MessageId, RealmId } from '@parley/domain/kernel';
import type { Message } from '@parley/domain/messages';
import type { MemoryUnit } from './tables.js';

/** Tables keyed by message id; their rows are archived and removed with the message. */
export const TABLES_BY_MESSAGE = ['reactions', 'messageEdits', 'messageFiles'] as const;

/** Returns all messages of the realm, or the existing ones of the given ids, ascending by id. */
export function messagesOf(unit: MemoryUnit, realmId: RealmId, ids?: readonly MessageId[]): Message[] {
  const wanted = ids && new Set(ids);
  return [...unit.read('messages').values()].filter(
    (message) => message.realmId === realmId && (wanted?.has(message.id) ?? true),
  );
}
