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
