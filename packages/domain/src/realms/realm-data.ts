import type { RealmId } from '../kernel/ids.js';
import type { Realm } from './realm.js';

/** How far the removal of everything that a realm has has come: known to the storage alone, and plain JSON. */
export type RemovalPlace = { readonly table: string; readonly key: readonly (string | number)[] } | null;

/** Removes realms as a whole. Every implementation passes realm-data.contract.ts. */
export interface RealmDataRepository {
  /**
   * Removes at most `limit` rows of what the realm has, from a place on; null: from the beginning. Answers the place to go on
   * from, or `done` when nothing is left but the realm itself and its job that removes it.
   */
  removeSome(realmId: RealmId, from: RemovalPlace, limit: number): Promise<RemovalPlace | 'done'>;
  /** The realm itself, of which nothing else is left. Without effect where there is none. */
  removeRealm(realmId: RealmId): Promise<void>;
}

/**
 * The string id of a realm that nobody can reach, since no host name has the sign: one that is being removed, or that is not
 * complete yet.
 */
export const unreachableStringId = (id: RealmId | string): string => `#${id}`;

export const isReachable = ({ stringId }: Pick<Realm, 'stringId'>): boolean => !stringId.startsWith('#');

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    realmData: [reads: never, repository: RealmDataRepository];
  }
}
