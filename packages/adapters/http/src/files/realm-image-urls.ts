import type { RealmImage, RealmImageName, RealmImages } from '@parley/domain/realms';
import type { PublicRealm } from '../delivery/public-realm.js';
import type { WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Wire name of each image and the wire value of its default source. */
export const REALM_IMAGES = {
  icon: { wireName: 'icon', usualSource: 'G' },
  logo: { wireName: 'logo', usualSource: 'D' },
  nightLogo: { wireName: 'night_logo', usualSource: 'D' },
} as const satisfies Readonly<Record<RealmImageName, object>>;

/** Returns the URL of an uploaded or generated image, served by `branding.ts`. */
export const realmImageUrl = (name: RealmImageName, { version }: RealmImage, { url, id }: PublicRealm): string =>
  `${url}/user_avatars/${id}/realm/${REALM_IMAGES[name].wireName}.png?version=${version}`;

/** Presents source and URL of a realm image (organization §3). */
export function presentRealmImage(name: RealmImageName, image: RealmImage, publicRealm: PublicRealm): WireFields {
  const { wireName, usualSource } = REALM_IMAGES[name];
  return {
    [`${wireName}_source`]: image.isUploaded ? 'U' : usualSource,
    [`${wireName}_url`]: realmImageUrl(name, image, publicRealm),
  };
}

/** Presents all realm images for register. */
export const presentRealmImages = (images: RealmImages, publicRealm: PublicRealm): WireFields =>
  Object.fromEntries(
    (Object.keys(REALM_IMAGES) as RealmImageName[])
      .flatMap((name) => Object.entries(presentRealmImage(name, images[name], publicRealm)))
      .map(([field, value]) => [`realm_${field}`, value]),
  );

/** Schema of `presentRealmImage`. */
export function realmImageFields(name: RealmImageName, prefix = ''): wire.Shape {
  const { wireName, usualSource } = REALM_IMAGES[name];
  return {
    [`${prefix}${wireName}_source`]: wire.oneOf('U', usualSource),
    [`${prefix}${wireName}_url`]: wire.text(),
  };
}
