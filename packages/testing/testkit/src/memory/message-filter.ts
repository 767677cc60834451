import { NO_HOST_DATA } from '@parley/domain/kernel';
import {
  HISTORICAL,
  type Message,
  type MessageCondition,
  type MessageFilter,
  matchesCondition,
  searchedText,
  type Viewer,
} from '@parley/domain/messages';
import { findFlags } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

/** Returns the viewer's messages that match the filter, ascending by id. */
export function matching(unit: MemoryUnit, viewer: Viewer, { scope, conditions }: MessageFilter): Message[] {
  return [...unit.read('messages').values()].filter(
    (message) =>
      message.realmId === viewer.realmId &&
      (scope === 'shared' || findFlags(unit, viewer.userId, message.id) !== null) &&
      matches(unit, viewer, message, conditions),
  );
}

export function matches(
  unit: MemoryUnit,
  viewer: Viewer,
  message: Message,
  conditions: readonly MessageCondition[],
): boolean {
  const subject = {
    message,
    channelPrivacy: message.channelId === null ? null : unit.read('channels').get(message.channelId)!.privacy,
    flags: findFlags(unit, viewer.userId, message.id) ?? HISTORICAL,
    text: () => {
      const { searchLanguages } = unit.read('realms').get(message.realmId)!.settings;
      return searchedText(unit.words.inLanguages(searchLanguages), message);
    },
    data: () => (unit.read('host data of messages').get(message.id)?.data ?? NO_HOST_DATA).data,
  };
  return conditions.every((condition) => matchesCondition(subject, condition));
}
