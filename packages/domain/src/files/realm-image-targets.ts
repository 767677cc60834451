import type { RealmImageName } from '../realms/realm-images.js';
import type { ImageTarget } from './image-processor.js';

const STILL = { format: 'png', maxFrames: 1 } as const;
const LOGO: ImageTarget = { ...STILL, width: 800, height: 100, fit: 'inside' };
/** In pixels. */
export const REALM_IMAGE_TARGETS: Readonly<Record<RealmImageName, ImageTarget>> = {
  icon: { ...STILL, width: 100, height: 100, fit: 'cover' },
  logo: LOGO,
  nightLogo: LOGO,
};
