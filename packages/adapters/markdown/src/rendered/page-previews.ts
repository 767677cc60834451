import { isParsableUrl } from '@parley/domain/kernel';
import type { PagePreview } from '@parley/domain/markdown';
import { type Attributes, Element, escapeAttribute, escapeText, HtmlStash, writeHtml } from '../html/html.js';
import { MAX_LINKS, mayBeImage, VIDEO_URL, youtubeId } from '../inline/previews.js';
import { splitUrl } from '../links/url.js';
import { attributeOf, readTokens } from './rendered-html.js';

/** Maximum length of a link with a preview. */
const MAX_URL_LENGTH = 2000;

/** Returns the links that can have a preview of their page (markdown §15.6). */
export function previewableLinks(html: string, realmUrl: string): readonly string[] {
  const links = new Set<string>();
  let quotes = 0;
  for (const token of readTokens(html)) {
    if (token.kind === 'text' || token.kind === 'formula') continue;
    if (token.tag === 'blockquote') quotes += token.kind === 'open' ? 1 : -1;
    const href = quotes === 0 && token.tag === 'a' && token.kind === 'open' ? attributeOf(token.html, 'href') : null;
    if (href !== null) links.add(href);
  }
  if (links.size > MAX_LINKS) return [];
  return [...links].filter((url) => isPreviewable(url, realmUrl));
}

function isPreviewable(url: string, realmUrl: string): boolean {
  if (url.length > MAX_URL_LENGTH || !/^https?:\/\//.test(url) || !isParsableUrl(url)) return false;
  if (url === realmUrl || url.startsWith(`${realmUrl}/`)) return false;
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') return false;
  const parts = splitUrl(url);
  return parts !== null && !VIDEO_URL.test(url) && !mayBeImage(parts);
}

/** Adds previews of pages. Links to videos show the title of their page instead (markdown §15.6). */
export function showPreviews(html: string, previews: ReadonlyMap<string, PagePreview>): string {
  let shown = html;
  let embeds = '';
  for (const [url, preview] of previews) {
    const site = videoSiteOf(url);
    if (site === null) embeds += preview.picture === null ? '' : embed(url, preview);
    else if (preview.title !== null) shown = nameLinks(shown, url, `${site} - ${preview.title}`);
  }
  if (embeds === '' || shown === '' || MEDIA_PREVIEW.test(shown)) return shown + embeds;
  return `${shown}\n${embeds}`;
}

/** Media preview at the end: the only block without a newline after it. */
const MEDIA_PREVIEW = /<\/a><\/div>$/;

const VIMEO_HOSTS = new Set(['vimeo.com', 'www.vimeo.com']);
const VIMEO_PATH = /^\/(?:channels\/(?:\w+\/)?|groups\/[^/]+\/videos\/)?\d+\/?$/;

function videoSiteOf(url: string): string | null {
  const parts = splitUrl(url);
  if (!parts) return null;
  if (youtubeId(parts) !== null) return 'YouTube';
  return VIMEO_HOSTS.has(parts.host.toLowerCase()) && VIMEO_PATH.test(parts.path) ? 'Vimeo' : null;
}

/** Replaces the text of links that show their address. */
function nameLinks(html: string, url: string, title: string): string {
  const start = `<a href="${escapeAttribute(url)}">`;
  return html.replaceAll(`${start}${escapeText(url)}</a>`, () => `${start}${escapeText(literal(title))}</a>`);
}

function embed(url: string, { title, description, picture }: PagePreview): string {
  const root = new Element('div');
  const box = root.append('div', { class: 'message_embed' });
  const style = `background-image: url("${picture}")`;
  box.append('a', { class: 'message_embed_image', href: literal(url), style });
  const data = box.append('div', { class: 'data-container' });
  if (title !== null) {
    const attributes: Attributes = { href: literal(url), title: literal(title) };
    data.append('div', { class: 'message_embed_title' }).append('a', attributes).text = literal(title);
  }
  if (description !== null) {
    data.append('div', { class: 'message_embed_description' }).text = literal(description);
  }
  return writeHtml(root, new HtmlStash());
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters mark placeholders of the renderer.
const CONTROLS = /[\u0000-\u001f\u007f]/g;

/** Escapes entities in the text of a page. */
const literal = (text: string): string => text.replaceAll(CONTROLS, ' ').replaceAll('&', '&amp;');
