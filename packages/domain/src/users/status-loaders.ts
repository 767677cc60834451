import type { UserId } from '../kernel/ids.js';
import { slicesOf } from '../kernel/slices.js';
import type { Snapshot } from '../kernel/snapshot.js';
import { loadRealm } from '../realms/realm-loaders.js';
import { accessibleUserIds } from './accessible-users.js';
import { loadViewer } from './user-loaders.js';
import { type ShownStatus, shownStatus } from './user-status.js';

const USERS_AT_A_TIME = 500;

/** Of active users whom the viewer may know, those with something set. */
export async function loadStatuses(snapshot: Snapshot): Promise<ReadonlyMap<UserId, ShownStatus>> {
  const { repositories } = snapshot;
  const realm = await snapshot.load(loadRealm);
  const known = await accessibleUserIds(repositories, await snapshot.load(loadViewer), realm);
  const stored = await repositories.statuses.list(realm.id);
  const shown = new Map<UserId, ShownStatus>();
  for (const ids of slicesOf([...stored.keys()], USERS_AT_A_TIME)) {
    for (const user of await repositories.users.list(realm.id, ids)) {
      const status = shownStatus(stored.get(user.id)!, user);
      const isSet = status.isAway || status.text !== '' || status.emoji !== null;
      if (isSet && user.isActive && (!known || known.has(user.id))) shown.set(user.id, status);
    }
    await repositories.yield();
  }
  return shown;
}
