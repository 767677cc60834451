import { type Message, type MessageFilter, matchesConditions, type Viewer } from '@parley/domain';
import { findFlags } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

/** The viewer's messages that the filter lets through; ascending id. */
export function matching(unit: MemoryUnit, viewer: Viewer, filter: MessageFilter): Message[] {
  return [...unit.read('messages').values()].filter(
    (message) =>
      message.realmId === viewer.realmId &&
      (filter.scope === 'shared' || findFlags(unit, viewer.userId, message.id) !== null) &&
      !filter.withoutRecipients.includes(message.recipientId) &&
      matchesConditions(message, filter.conditions),
  );
}
