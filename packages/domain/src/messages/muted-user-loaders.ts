import type { Snapshot } from '../kernel/snapshot.js';
import type { MutedSender } from './personal-messages.js';

/** Whom the viewer mutes, in the order of their muting. */
export const loadMutedUsers = ({ caller, repositories }: Snapshot): Promise<readonly MutedSender[]> =>
  repositories.personal.listMutedSenders({ realmId: caller.realmId, userId: caller.userId });
