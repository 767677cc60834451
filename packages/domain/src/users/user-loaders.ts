import type { Actor } from '../access/actor.js';
import type { UserId } from '../kernel/ids.js';
import type { Snapshot } from '../kernel/snapshot.js';
import { loadRealm } from '../realms/realm-loaders.js';
import { accessibleUserIds } from './accessible-users.js';
import type { UserWithProfile } from './profile-value.js';
import type { User } from './user.js';
import { withProfiles } from './user-profiles.js';
import type { UserListEntry } from './user-repository.js';

/** Whom the snapshot is for. */
export const loadViewer = ({ caller, repositories }: Snapshot): Promise<Actor> => repositories.actors.get(caller);

/** The viewer's own user. */
export const loadOwnUser = async ({ caller, repositories }: Snapshot): Promise<User> =>
  (await repositories.users.find(caller.realmId, caller.userId))!;

export interface LoadedPeople {
  /** Those the viewer may know; ascending id; deactivated users and bots too. */
  readonly entries: readonly UserListEntry[];
  /** The others; ascending. Nobody, unless the viewer is a guest who may not know everybody (users §1.4). */
  readonly inaccessibleIds: readonly UserId[];
  readonly systemBots: readonly User[];
  /** Within the snapshot's read only. */
  readonly hydrate: (ids: readonly UserId[]) => Promise<readonly UserWithProfile[]>;
}

export async function loadPeople(snapshot: Snapshot): Promise<LoadedPeople> {
  const { repositories } = snapshot;
  const { users } = repositories;
  const viewer = await snapshot.load(loadViewer);
  const realm = await snapshot.load(loadRealm);
  const known = await accessibleUserIds(repositories, viewer, realm);
  const entries = await users.listEntries(realm.id);
  return {
    entries: known ? entries.filter(({ id }) => known.has(id)) : entries,
    inaccessibleIds: known ? entries.map(({ id }) => id).filter((id) => !known.has(id)) : [],
    systemBots: await users.listSystemBots(realm.id),
    hydrate: async (ids) => {
      await repositories.yield();
      return withProfiles(repositories, realm.id, await users.list(realm.id, ids));
    },
  };
}
