import type { GroupSettings } from '../access/group-setting.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Linkifier } from './linkifiers/linkifier.js';
import type { RealmImages } from './realm-images.js';
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
