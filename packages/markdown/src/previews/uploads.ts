import type { StoredImage, StoredUpload } from '@parley/domain/markdown';
import { type Attributes, Element } from '../html/element.js';
import type { Outcome } from '../outcome.js';
import { withOne } from '../sets.js';

const AUDIO_TYPES = new Set(['audio/aac', 'audio/flac', 'audio/mpeg', 'audio/wav', 'audio/x-wav', 'audio/vnd.wave']);
const PLACEHOLDER_IMAGE = '/static/images/loading/loader-black.svg';
/** Class of what stands there until a thumbnail is ready. */
export const LOADING = 'image-loading-placeholder';

/** Null when the upload is not a sound that browsers play. */
export function audioPlayer(upload: StoredUpload, source: string, title: string, typedUrl: string): Element | null {
  if (!AUDIO_TYPES.has(upload.contentType)) return null;
  const original: Record<string, string> = typedUrl === source ? {} : { 'data-original-url': typedUrl };
  return new Element('audio', { controls: '', preload: 'metadata', src: source, title, ...original });
}

/** An image that stands where it was written; null when the upload is none, or cannot be shown. */
export function inlineImage(upload: StoredUpload, path: string, alt: string, outcome: Outcome): Element | null {
  const shown = upload.image && showUpload(upload.contentType, upload.image, path, `/user_uploads/${path}`, outcome);
  if (!shown) return null;
  outcome.hasImage = true;
  const { isLoading, attributes } = shown;
  return new Element('img', {
    ...attributes,
    alt,
    class: isLoading ? `inline-image ${LOADING}` : 'inline-image',
    'data-original-src': `/user_uploads/${path}`,
  });
}

/** The image of the preview behind a link to an upload; null when it cannot be shown. */
export function uploadPreview(upload: StoredUpload, path: string, href: string, outcome: Outcome): Element | null {
  const shown = upload.image && showUpload(upload.contentType, upload.image, path, href, outcome);
  if (!shown) return null;
  return new Element('img', shown.isLoading ? { ...shown.attributes, class: LOADING } : shown.attributes);
}

function showUpload(
  contentType: string,
  image: StoredImage,
  path: string,
  original: string,
  outcome: Outcome,
): { isLoading: boolean; attributes: Attributes } | null {
  const attributes = attributesOfUpload(contentType, image, path, original);
  const isLoading = image.thumbnail === 'pending';
  if (isLoading) outcome.pendingThumbnails = withOne(outcome.pendingThumbnails, path);
  return attributes && { isLoading, attributes };
}

/** Of the `img` that shows it; null: nothing can be shown. `original`: its address as it is. */
export function attributesOfUpload(
  contentType: string,
  { width, height, isAnimated, thumbnail }: StoredImage,
  path: string,
  original: string,
): Attributes | null {
  if (thumbnail === 'failed') return null;
  if (thumbnail === 'none') return { src: original };
  const about = {
    'data-original-content-type': contentType,
    'data-original-dimensions': `${width}x${height}`,
  };
  if (thumbnail === 'pending') return { ...about, src: PLACEHOLDER_IMAGE };
  return {
    ...about,
    ...(isAnimated ? { 'data-animated': 'true' } : {}),
    ...(thumbnail.transcodedFormat === null ? {} : { 'data-transcoded-image': thumbnail.transcodedFormat }),
    src: `/user_uploads/thumbnail/${path}/${thumbnail.format}`,
  };
}
