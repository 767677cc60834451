import type { MarkdownOptions } from '@parley/domain/markdown';
import { Element } from '../html/element.js';
import type { NameLookup } from '../inline/rule.js';
import { splitUrl, uploadPath } from '../links/url.js';
import type { Outcome } from '../outcome.js';
import { withOne } from '../sets.js';
import { uploadPreview } from './uploads.js';
import { youtubeId } from './youtube.js';

/** A message with links to more places than this shows no previews at all. */
const MAX_LINKS = 24;

const IMAGE_PATH = /\.(?:bmp|gif|jpe|jpeg|jpg|png|webp)$/i;
const VIDEO_URL = /\.(?:mp4|webm)$/i;
/** Serves pages under addresses that end like images. */
const HOST_WITHOUT_IMAGES = 'pasteboard.co';
const PREVIEW_CLASS = 'message_inline_image';

interface FoundLink {
  readonly element: Element;
  readonly href: string;
  readonly parent: Parent;
}

/** An element with what is around it. */
interface Parent {
  readonly element: Element;
  readonly parent: Parent | null;
  readonly isQuoted: boolean;
}

/** What previews need to know. */
export interface PreviewContext {
  readonly options: MarkdownOptions;
  readonly names: NameLookup;
  readonly outcome: Outcome;
  /** The address under which an image of another server is shown. */
  readonly proxied: (url: string) => string;
}

/** Notes what the text links to, and puts images, videos and the like behind the paragraphs that link to them. */
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

/** Level by level, not in the order of reading: with two links to one image, the outer one gets the preview. */
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
    if (image) placePreview(root, link, PREVIEW_CLASS, image);
    outcome.hasImage ||= image !== null;
  } else if (VIDEO_URL.test(href)) {
    const src = parts.host === '' ? href : context.proxied(href);
    placePreview(
      root,
      link,
      `${PREVIEW_CLASS} message_inline_video`,
      new Element('video', { preload: 'metadata', src }),
    );
  } else if (path === null && IMAGE_PATH.test(parts.path) && parts.host !== HOST_WITHOUT_IMAGES) {
    outcome.hasImage = true;
    const src = parts.host === '' ? href : context.proxied(href);
    placePreview(root, link, PREVIEW_CLASS, new Element('img', { src }));
  } else {
    const id = youtubeId(parts);
    if (id === null) return;
    outcome.hasImage = true;
    const image = new Element('img', { src: `https://i.ytimg.com/vi/${id}/mqdefault.jpg` });
    root.children.push(preview(`youtube-video ${PREVIEW_CLASS}`, { 'data-id': id, href }, image));
  }
}

function placePreview(
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
    grandparent.children.splice(placeAfter(grandparent, parent), 0, box);
    const isAlone = parent.children.length === 1 && (parent.text === '' || parent.text === '\n') && isAtEnd;
    if (isBare && isAlone) remove(grandparent, parent);
  } else {
    root.children.push(box);
  }
}

/** Behind the paragraph and the previews of its earlier links. */
function placeAfter(grandparent: Element, paragraph: Element): number {
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
