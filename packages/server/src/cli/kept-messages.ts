import type { KeptMessage } from '@parley/domain/exports';

/** Maximum number of kept messages in the text. */
const MAX_LISTED = 50;

export const keptLines = ({
  kept,
  keptMessages,
}: {
  readonly kept: number;
  readonly keptMessages: readonly KeptMessage[];
}): readonly string[] => [
  ...keptMessages.slice(0, MAX_LISTED).map(keptLine),
  ...(kept > MAX_LISTED ? [`  and ${kept - MAX_LISTED} more`] : []),
];

const keptLine = ({ id, reason, channelId, topic }: KeptMessage): string =>
  `  ${id}: ${reason}, ${channelId === null ? 'direct message' : `channel ${channelId}, topic ${topic || '(general)'}`}`;
