import type { UnixSeconds } from '@parley/domain/kernel';
import type { AppliedChanges, KeptMessage } from '@parley/transfer/imports';

export const timeOf = (at: UnixSeconds): string => new Date(at * 1000).toISOString();

/** Maximum number of lines of a list in the output. */
export const MAX_LINES = 50;

/** Returns a line for each of the first items. `count`: number of all items, of which `items` may be only the first. */
export const firstLines = <T>(
  items: readonly T[],
  lineOf: (item: T) => string,
  count = items.length,
): readonly string[] => [
  ...items.slice(0, MAX_LINES).map(lineOf),
  ...(count > MAX_LINES ? [`  and ${count - MAX_LINES} more`] : []),
];

interface KeptMessages {
  readonly kept: number;
  readonly keptMessages: readonly (KeptMessage | AppliedChanges['keptMessages'][number])[];
}

export const keptLines = ({ kept, keptMessages }: KeptMessages): readonly string[] =>
  firstLines(keptMessages, keptLine, kept);

const keptLine = ({ id, reason, channelId, topic }: KeptMessages['keptMessages'][number]): string =>
  `  ${id}: ${reason}, ${channelId === null ? 'direct message' : `channel ${channelId}, topic ${topic || '(general)'}`}`;
