import type { StoredUpload } from '@parley/domain/markdown';
import { trim } from '../characters.js';
import { type Attributes, Element } from '../html/element.js';
import { HtmlStash } from '../html/stash.js';
import { writeHtml } from '../html/write-html.js';
import { uploadPath } from '../links/url.js';
import { attributesOfUpload, LOADING } from '../previews/uploads.js';
import { decodeEntities } from './html-tokens.js';

/**
 * As `writeHtml` writes them: with the preview around one that stands behind a link, or where it was written. Nothing that somebody typed
 * looks like that, as its angle brackets and quotation marks are escaped.
 */
const PLACEHOLDER = new RegExp(
  `<div class="message_inline_image"><a href="([^"]*)"[^>]*><img class="${LOADING}"[^>]*></a></div>|` +
    `<img alt="([^"]*)" class="inline-image ${LOADING}"[^>]* data-original-src="([^"]*)"[^>]*>`,
  'g',
);

/**
 * Shows images in the place of their placeholders; those that cannot be shown are left out. `uploadOf`: by path as typed; null: its
 * placeholder stays.
 */
export function showThumbnails(html: string, uploadOf: (path: string) => StoredUpload | null): string {
  if (!html.includes(LOADING)) return html;
  const shown = html.replace(PLACEHOLDER, (placeholder: string, href?: string, alt = '', source = '') => {
    const address = decodeEntities(href ?? source);
    const path = uploadPath(address, '');
    const upload = path === null ? null : uploadOf(path);
    if (path === null || !upload?.image || upload.image.thumbnail === 'pending') return placeholder;
    const attributes = attributesOfUpload(upload.contentType, upload.image, path, address);
    if (!attributes) return '';
    if (href !== undefined) return placeholder.replace(/<img[^>]*>/, () => image(attributes));
    const about = { alt: decodeEntities(alt), class: 'inline-image', 'data-original-src': address };
    return image({ ...attributes, ...about });
  });
  // What was left out may have been the last of it.
  return trim(shown);
}

function image(attributes: Attributes): string {
  const root = new Element('div');
  root.append('img', attributes);
  return writeHtml(root, new HtmlStash());
}
