import type { Snapshot } from '../kernel/snapshot.js';
import { type Draft, MAX_REGISTERED_DRAFTS } from './draft.js';

/** The viewer's, the last edited first (events §3.2). */
export const loadDrafts = ({ caller, repositories }: Snapshot): Promise<readonly Draft[]> =>
  repositories.drafts.list(caller.realmId, caller.userId, MAX_REGISTERED_DRAFTS);
