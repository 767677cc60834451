import type { RealmImage, RealmImageName, RealmImages } from '@parley/domain/realms';
import type { PublicRealm } from '../kernel/public-realm.js';
import type { WireFields } from '../kernel/reply.js';
import * as wire from '../kernel/wire-schema.js';

/** What the API calls them, and the source of those that are usual. */
export const REALM_IMAGES = {
  icon: { wireName: 'icon', usualSource: 'G' },
  logo: { wireName: 'logo', usualSource: 'D' },
  nightLogo: { wireName: 'night_logo', usualSource: 'D' },
} as const satisfies Readonly<Record<RealmImageName, object>>;

/** Uploaded or drawn: `branding.routes.ts` serves it. */
export const realmImageUrl = (name: RealmImageName, { version }: RealmImage, { url, id }: PublicRealm): string =>
  `${url}/user_avatars/${id}/realm/${REALM_IMAGES[name].wireName}.png?version=${version}`;

/** Where it comes from, and where it is (organization §3). */
export function presentRealmImage(name: RealmImageName, image: RealmImage, publicRealm: PublicRealm): WireFields {
  const { wireName, usualSource } = REALM_IMAGES[name];
  return {
    [`${wireName}_source`]: image.isUploaded ? 'U' : usualSource,
    [`${wireName}_url`]: realmImageUrl(name, image, publicRealm),
  };
}

/** Of all of them, as register has it. */
export const presentRealmImages = (images: RealmImages, publicRealm: PublicRealm): WireFields =>
  Object.fromEntries(
    (Object.keys(REALM_IMAGES) as RealmImageName[])
      .flatMap((name) => Object.entries(presentRealmImage(name, images[name], publicRealm)))
      .map(([field, value]) => [`realm_${field}`, value]),
  );

/** What `presentRealmImage` answers. */
export function realmImageFields(name: RealmImageName, prefix = ''): wire.Shape {
  const { wireName, usualSource } = REALM_IMAGES[name];
  return {
    [`${prefix}${wireName}_source`]: wire.oneOf('U', usualSource),
    [`${prefix}${wireName}_url`]: wire.text(),
  };
}
