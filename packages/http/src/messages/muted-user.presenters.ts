import type { MutedSender } from '@parley/domain/messages';

/** Users §10. */
export const presentMutedUsers = (muted: readonly MutedSender[]) =>
  muted.map(({ userId, mutedAt }) => ({ id: userId, timestamp: mutedAt }));
