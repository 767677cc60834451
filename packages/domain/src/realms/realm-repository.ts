import type { RealmId } from '../kernel/ids.js';
import type { Realm } from './realm.js';

export interface RealmReads {
  find(id: RealmId): Promise<Realm | null>;
  /** @throws DomainError UNKNOWN_REALM */
  get(id: RealmId): Promise<Realm>;
  findByStringId(stringId: string): Promise<Realm | null>;
  /** Ascending id. */
  list(): Promise<readonly Realm[]>;
}

/** What a realm begins with. */
export type NewRealmRow = Omit<Realm, 'id' | 'permissions' | 'linkifiers'>;

/** Every implementation passes realm-repository.contract.ts. */
export interface RealmRepository extends RealmReads {
  /**
   * A realm needs groups for its permissions and groups need a realm, so it is added without permissions and completed
   * by `update` in the same unit. @throws DomainError STRING_ID_TAKEN when the string id or the server's own address is taken.
   */
  add(realm: NewRealmRow): Promise<RealmId>;
  /** All but its linkifiers. @throws DomainError UNKNOWN_REALM, STRING_ID_TAKEN */
  update(realm: Realm): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    realms: [reads: RealmReads, repository: RealmRepository];
  }
}
