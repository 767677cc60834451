import type { GroupSettings } from '../access/group-settings.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Linkifier } from './linkifiers.js';
import type { REALM_PERMISSIONS, RealmSettings } from './realm-settings.js';
import type { UserSettings } from './user-settings.js';

/** Organization, the unit of tenancy. No data is shared between realms. */
export interface Realm {
  readonly id: RealmId;
  /** Lower-case subdomain; `''` for the root realm. */
  readonly stringId: string;
  /** True if the realm uses the server's own address; at most one realm does. Other realms have separate hosts. */
  readonly isAtServerAddress: boolean;
  readonly uuid: string;
  readonly name: string;
  readonly isDeactivated: boolean;
  readonly createdAt: UnixSeconds;
  readonly settings: RealmSettings;
  /** HTML of the description, stored to avoid rendering on reads. */
  readonly renderedDescription: string;
  readonly permissions: GroupSettings<typeof REALM_PERMISSIONS>;
  /** Sorted by order of application. Changed through `LinkifierRepository`, not by `RealmRepository.update`. */
  readonly linkifiers: readonly Linkifier[];
  readonly images: RealmImages;
  /** Default settings of new users. */
  readonly userDefaults: UserSettings;
}

/** Images of a realm; `nightLogo` is for dark themes (organization §3). */
export const REALM_IMAGE_NAMES = ['icon', 'logo', 'nightLogo'] as const;
export type RealmImageName = (typeof REALM_IMAGE_NAMES)[number];

export interface RealmImage {
  /** False for the default image. */
  readonly isUploaded: boolean;
  /** Starts at 1 and increases with every change, which invalidates client caches. */
  readonly version: number;
}

export type RealmImages = Readonly<Record<RealmImageName, RealmImage>>;

const USUAL: RealmImage = { isUploaded: false, version: 1 };
export const USUAL_REALM_IMAGES: RealmImages = { icon: USUAL, logo: USUAL, nightLogo: USUAL };

export interface RealmReads {
  /** Returns the same object until the realm changes, so that it can serve as a cache key. */
  find(id: RealmId): Promise<Realm | null>;
  /** @throws DomainError UNKNOWN_REALM */
  get(id: RealmId): Promise<Realm>;
  findByStringId(stringId: string): Promise<Realm | null>;
  /** Returns realms by ascending id. */
  list(): Promise<readonly Realm[]>;
}

/** Initial data of a realm. */
export type NewRealmRow = Omit<Realm, 'id' | 'permissions' | 'linkifiers'>;

/** Every implementation passes realm-repository.contract.ts. */
export interface RealmRepository extends RealmReads {
  /**
   * Adds a realm without permissions, since groups need a realm first. `update` completes it in the same unit of
   * work. @throws DomainError STRING_ID_TAKEN if the string id or the server's address is taken.
   */
  add(realm: NewRealmRow): Promise<RealmId>;
  /** Updates everything except linkifiers. @throws DomainError UNKNOWN_REALM, STRING_ID_TAKEN */
  update(realm: Realm): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    realms: [reads: RealmReads, repository: RealmRepository];
  }
}

/** Operator configuration of the server's address. */
export interface ServerAddress {
  /** String id of the realm at that address; null for the first realm. */
  readonly defaultRealm: string | null;
  /** True if other realms can have subdomains, which an IP address rules out. */
  readonly hasSubdomains: boolean;
}

/**
 * True if a new realm gets the server's address: the configured realm, or otherwise the first one. Later realms never
 * take it from an existing one.
 * @throws DomainError NO_ADDRESS_LEFT
 */
export function takesServerAddress(stringId: string, others: readonly Realm[], server: ServerAddress): boolean {
  const present = others.find((realm) => realm.isAtServerAddress);
  if (stringId === '' && present) {
    throw new DomainError(
      'NO_ADDRESS_LEFT',
      `The address of this server is that of "${present.name}"; another organization needs a string id, which becomes ` +
        'the name of its own host.',
    );
  }
  const isFirst = others.length === 0 && server.defaultRealm === null;
  if (!present && (stringId === '' || stringId === server.defaultRealm || isFirst)) return true;
  if (!server.hasSubdomains) {
    throw new DomainError(
      'NO_ADDRESS_LEFT',
      'The address of this server is an IP address, which leaves no host for another organization; give the server a ' +
        'domain name first, or tell organizations apart by path.',
    );
  }
  return false;
}
