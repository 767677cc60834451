import type { Snapshot } from '../kernel/snapshot.js';

/** The viewer's, oldest first. */
export const loadAlertWords = ({ caller, repositories }: Snapshot): Promise<readonly string[]> =>
  repositories.alertWords.list(caller.realmId, caller.userId);
