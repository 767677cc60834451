import type { Snapshot } from '../kernel/snapshot.js';
import type { GroupView } from './group.js';

/** Every group; ascending id, deactivated ones included. */
export const loadGroups = ({ caller, repositories }: Snapshot): Promise<readonly GroupView[]> =>
  repositories.groups.listViews(caller.realmId);
