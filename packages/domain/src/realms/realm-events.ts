import type { FeatureParts } from '../kernel/event.js';
import type { UserId } from '../kernel/ids.js';
import type { RealmImage, RealmImageName } from './realm-images.js';

/** To everybody. */
export interface RealmEventTypes {
  'realm.deactivated': unknown;
  /** Organization §3. */
  'realm.image_changed': { readonly name: RealmImageName; readonly image: RealmImage };
  /** To nobody: for the servers that count calls. What is null is not forgotten; all of it null: everything counted is. */
  'realm.limits_forgotten': {
    readonly userId: UserId | null;
    /** Of somebody who signs in. */
    readonly email: string | null;
    readonly ip: string | null;
  };
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends RealmEventTypes {}
}

export const REALM_FEATURE = {
  eventFormats: {
    'realm.deactivated': 1,
    'realm.image_changed': 1,
    'realm.limits_forgotten': 1,
  },
  notExported: {
    realmData: 'It removes data of others.',
  },
} satisfies FeatureParts<RealmEventTypes>;
