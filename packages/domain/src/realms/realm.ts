import type { GroupSettings } from '../access/group-settings.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Linkifier } from './linkifiers.js';
import type { REALM_PERMISSIONS, RealmSettings } from './realm-settings.js';
import type { UserSettings } from './user-settings.js';

/** An organization: the unit of tenancy. Nothing ever crosses realms. */
export interface Realm {
  readonly id: RealmId;
  /** The subdomain it answers to; `''` for the root one. Lower case. */
  readonly stringId: string;
  /** Whether it is reached at the address of the server itself, which one realm is at most; others are at hosts of their own. */
  readonly isAtServerAddress: boolean;
  readonly uuid: string;
  readonly name: string;
  readonly isDeactivated: boolean;
  readonly createdAt: UnixSeconds;
  readonly settings: RealmSettings;
  /** HTML of the description; kept with it so that nobody renders on the way out. */
  readonly renderedDescription: string;
  readonly permissions: GroupSettings<typeof REALM_PERMISSIONS>;
  /** In the order in which they are applied. They change through `LinkifierRepository`, and not by `RealmRepository.update`. */
  readonly linkifiers: readonly Linkifier[];
  readonly images: RealmImages;
  /** What newcomers start with. */
  readonly userDefaults: UserSettings;
}

/** What clients show of an organization; `nightLogo`: on a dark ground (organization §3). */
export const REALM_IMAGE_NAMES = ['icon', 'logo', 'nightLogo'] as const;
export type RealmImageName = (typeof REALM_IMAGE_NAMES)[number];

export interface RealmImage {
  /** Otherwise it is the usual one. */
  readonly isUploaded: boolean;
  /** Starts at 1, and grows with every change, so that no client takes an old image for the new one. */
  readonly version: number;
}

export type RealmImages = Readonly<Record<RealmImageName, RealmImage>>;

const USUAL: RealmImage = { isUploaded: false, version: 1 };
export const USUAL_REALM_IMAGES: RealmImages = { icon: USUAL, logo: USUAL, nightLogo: USUAL };

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

/** What the operator has said of the server's own address. */
export interface ServerAddress {
  /** String id of the realm that is to be there; null: the first one. */
  readonly defaultRealm: string | null;
  /** Whether other realms can have hosts below it: not where it is an IP address. */
  readonly hasSubdomains: boolean;
}

/**
 * Whether a new realm is reached at the server's own address: the first one is, unless another one is to be there. An
 * address that was given is never taken away by a realm that comes later.
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
