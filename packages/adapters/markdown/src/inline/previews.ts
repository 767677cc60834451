import type { MarkdownOptions, StoredImage, StoredUpload } from '@parley/domain/markdown';
import type { Outcome } from '../budgets.js';
import { withOne } from '../characters.js';
import { type Attributes, Element } from '../html/html.js';
import { splitUrl, type UrlParts, uploadPath } from '../links/url.js';
import type { NameLookup } from './rule.js';

const HOSTS = new Set(
  ['', 'www.', 'm.'].map((prefix) => `${prefix}youtube.com`).concat('youtube-nocookie.com', 'www.youtube-nocookie.com'),
);
const ID = /^[0-9A-Za-z_-]+$/;

/** Returns the id of the linked video; null if the URL is not a video. */
export function youtubeId({ scheme, host, path, query }: UrlParts): string | null {
  if (scheme !== 'http' && scheme !== 'https') return null;
  const name = host.replace(/^.*@/, '').replace(/:\d*$/, '').toLowerCase();
  const id =
    name === 'youtu.be' ? path.slice(1) : HOSTS.has(name) ? idOnYoutube(path, new URLSearchParams(query)) : null;
  return id && ID.test(id) ? id : null;
}

function idOnYoutube(path: string, query: URLSearchParams): string | null {
  if (path === '/watch' || path === '/watch_popup') return query.get('v');
  if (path === '/watch_videos') return query.get('video_ids')?.split(',')[0] ?? null;
  return /^\/(?:embed|shorts|v)\/([^/]*)/.exec(path)?.[1] ?? null;
}

const AUDIO_TYPES = new Set(['audio/aac', 'audio/flac', 'audio/mpeg', 'audio/wav', 'audio/x-wav', 'audio/vnd.wave']);
const PLACEHOLDER_IMAGE = '/static/images/loading/loader-black.svg';
/** Class of the placeholder shown until a thumbnail is ready. */
export const LOADING = 'image-loading-placeholder';

/** Returns null if the upload is not audio that browsers can play. */
export function audioPlayer(upload: StoredUpload, source: string, title: string, typedUrl: string): Element | null {
  if (!AUDIO_TYPES.has(upload.contentType)) return null;
  const original: Record<string, string> = typedUrl === source ? {} : { 'data-original-url': typedUrl };
  return new Element('audio', { controls: '', preload: 'metadata', src: source, title, ...original });
}

/** Returns an image for its position in the text; null if the upload is not an image or cannot be shown. */
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

/** Returns the preview image of a linked upload; null if it cannot be shown. */
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

/** Returns attributes of the `img`; null if it cannot be shown. `original` is the URL of the full image. */
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

/** Maximum number of links; above it, a message shows no previews. */
export const MAX_LINKS = 24;

const IMAGE_PATH = /\.(?:bmp|gif|jpe|jpeg|jpg|png|webp)$/i;
export const VIDEO_URL = /\.(?:mp4|webm)$/i;
/** Host that serves HTML pages at URLs that end like image files. */
const HOST_WITHOUT_IMAGES = 'pasteboard.co';
const PREVIEW_CLASS = 'message_inline_image';

/** True if the URL ends like that of an image. */
export const mayBeImage = ({ path, host }: UrlParts): boolean => IMAGE_PATH.test(path) && host !== HOST_WITHOUT_IMAGES;

interface FoundLink {
  readonly element: Element;
  readonly href: string;
  readonly parent: Parent;
}

/** Element with its ancestors. */
interface Parent {
  readonly element: Element;
  readonly parent: Parent | null;
  readonly isQuoted: boolean;
}

/** Context of previews. */
export interface PreviewContext {
  readonly options: MarkdownOptions;
  readonly names: NameLookup;
  readonly outcome: Outcome;
  /** Returns the URL under which an image of another server is shown. */
  readonly proxied: (url: string) => string;
}

/** Records the links of the text and inserts previews of images and videos after the paragraphs that contain them. */
export function addPreviews(root: Element, context: PreviewContext): void {
  const { options, outcome } = context;
  const links = findLinks(root);
  if (links.length === 0) return;
  outcome.hasLink = true;
  for (const { href } of links) {
    const path = uploadPath(href, options.realmUrl);
    if (path !== null) outcome.uploadPaths = withOne(outcome.uploadPaths, path);
  }
  if (!options.mediaPreviews) return;

  const previewable = links.filter(({ parent }) => !parent.isQuoted);
  const hrefs = new Set(previewable.map(({ href }) => href));
  if (hrefs.size > MAX_LINKS) return;
  for (const link of previewable) {
    if (hrefs.delete(link.href)) addPreview(root, link, context);
  }
}

/** Returns links in breadth-first order. If two links lead to the same image, the outer one gets the preview. */
function findLinks(root: Element): FoundLink[] {
  const found: FoundLink[] = [];
  const queue: Parent[] = [{ element: root, parent: null, isQuoted: false }];
  for (const parent of queue) {
    for (const element of parent.element.children) {
      if (element.children.length > 0) {
        queue.push({ element, parent, isQuoted: parent.isQuoted || element.tag === 'blockquote' });
      }
      const href = element.tag === 'a' ? element.attributes.href : undefined;
      if (href !== undefined) found.push({ element, href, parent });
    }
  }
  return found;
}

function addPreview(root: Element, link: FoundLink, context: PreviewContext): void {
  const { href } = link;
  const { names, options, outcome } = context;
  const parts = splitUrl(href);
  if (!parts) return;
  const path = uploadPath(href, options.realmUrl);
  const upload = path === null ? undefined : names.upload(path);
  if (path !== null && upload?.image) {
    const image = uploadPreview(upload, path, href, outcome);
    if (image) insertPreview(root, link, PREVIEW_CLASS, image);
    outcome.hasImage ||= image !== null;
  } else if (VIDEO_URL.test(href)) {
    const src = parts.host === '' ? href : context.proxied(href);
    insertPreview(
      root,
      link,
      `${PREVIEW_CLASS} message_inline_video`,
      new Element('video', { preload: 'metadata', src }),
    );
  } else if (path === null && mayBeImage(parts)) {
    outcome.hasImage = true;
    const src = parts.host === '' ? href : context.proxied(href);
    insertPreview(root, link, PREVIEW_CLASS, new Element('img', { src }));
  } else {
    const id = youtubeId(parts);
    if (id === null) return;
    outcome.hasImage = true;
    const image = new Element('img', { src: `https://i.ytimg.com/vi/${id}/mqdefault.jpg` });
    root.children.push(preview(`youtube-video ${PREVIEW_CLASS}`, { 'data-id': id, href }, image));
  }
}

function insertPreview(
  root: Element,
  { element, href, parent: { element: parent, parent: above } }: FoundLink,
  className: string,
  content: Element,
): void {
  const grandparent = above?.element;
  const isBare = element.text === '' || element.text === href;
  const box = preview(className, isBare ? { href } : { href, title: element.text }, content);
  const isAtEnd = element.tail === '';
  if (parent.tag === 'li') {
    parent.children.push(box);
    if (isBare && isAtEnd && parent.text === '') remove(parent, element);
  } else if (parent.tag === 'p' && grandparent) {
    grandparent.children.splice(indexAfter(grandparent, parent), 0, box);
    const isAlone = parent.children.length === 1 && (parent.text === '' || parent.text === '\n') && isAtEnd;
    if (isBare && isAlone) remove(grandparent, parent);
  } else {
    root.children.push(box);
  }
}

/** Returns the position after the paragraph and the previews of its earlier links. */
function indexAfter(grandparent: Element, paragraph: Element): number {
  const hrefs = new Set<string>();
  collectHrefs(paragraph, hrefs);
  let index = grandparent.children.indexOf(paragraph) + 1;
  for (; index < grandparent.children.length; index++) {
    const { tag, attributes, children } = grandparent.children[index]!;
    const isPreview = tag === 'div' && attributes.class!.includes(PREVIEW_CLASS);
    if (!isPreview || !hrefs.has(children[0]!.attributes.href!)) break;
  }
  return index;
}

function collectHrefs(element: Element, hrefs: Set<string>): void {
  if (element.tag === 'a') hrefs.add(element.attributes.href!);
  for (const child of element.children) collectHrefs(child, hrefs);
}

function preview(className: string, attributes: Readonly<Record<string, string>>, content: Element): Element {
  const box = new Element('div', { class: className });
  box.append('a', attributes).children.push(content);
  return box;
}

function remove(parent: Element, child: Element): void {
  parent.children = parent.children.filter((element) => element !== child);
}
