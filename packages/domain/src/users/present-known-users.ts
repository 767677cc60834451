import type { Actor } from '../access/actor.js';
import type { UserId } from '../kernel/ids.js';
import type { Repositories } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { accessibleUserIds } from './accessible-users.js';
import type { UserWithProfile } from './profile-value.js';
import { withProfiles } from './user-profiles.js';
import type { UserListEntry } from './user-repository.js';

export interface UserList {
  readonly viewer: Actor;
  readonly realm: Realm;
  /** Ascending id; deactivated users and bots too, system bots not. */
  readonly entries: readonly UserListEntry[];
}

/** Called inside the read's snapshot, so that whoever has presented users before asks for the missing ones only. */
export type PresentUsers<T> = (
  list: UserList,
  hydrate: (ids: readonly UserId[]) => Promise<readonly UserWithProfile[]>,
) => Promise<T>;

/** Those of whom the viewer may know, of `ids`; null: all of these. */
export async function presentKnownUsers<T>(
  repositories: Repositories,
  { viewer, realm, ids }: Pick<UserList, 'viewer' | 'realm'> & { readonly ids: readonly UserId[] | null },
  present: PresentUsers<T>,
): Promise<T> {
  const wanted = ids && new Set(ids);
  const hydrate = async (some: readonly UserId[]) => {
    await repositories.yield();
    return withProfiles(repositories, realm.id, await repositories.users.list(realm.id, some));
  };
  const known = await accessibleUserIds(repositories, viewer, realm);
  const entries = (await repositories.users.listEntries(realm.id)).filter(
    ({ id }) => (!wanted || wanted.has(id)) && (!known || known.has(id)),
  );
  return present({ viewer, realm, entries }, hydrate);
}
