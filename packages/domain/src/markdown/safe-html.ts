import { type Shape, text, wrong } from '../kernel/shape.js';

const TAGS = new Set(
  `a audio blockquote br code del div em h1 h2 h3 h4 h5 h6 hr img li ol p pre span strong table tbody td th thead time tr ul
   video b i sup sub source annotation math semantics mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot munder
   mover munderover mtable mtr mtd mstyle mpadded mphantom menclose mglyph svg path line`.split(/\s+/),
);
const ATTRIBUTES = new Set(
  `href title class data-stream-id data-id controls preload src data-original-url data-code-language aria-hidden alt
   data-original-content-type data-original-dimensions data-original-src data-animated data-transcoded-image start style
   data-user-id data-user-group-id aria-label role datetime target rel width height xmlns encoding display stretchy
   mathvariant accent accentunder lspace rspace mathcolor mathbackground linethickness scriptlevel displaystyle rowspacing
   columnalign columnspacing columnlines rowlines minsize maxsize fence separator form notation depth voffset viewBox
   preserveAspectRatio d x1 x2 y1 y2 stroke-width symmetric largeop movablelimits side linebreak data-topic-name`.split(
    /\s+/,
  ),
);
/** CSS properties of rendered formulas. */
const STYLE_PROPERTIES = new Set(
  `background-color border-bottom-width border-color border-right-style border-right-width border-style border-top-width
   border-width bottom color height left margin margin-left margin-right margin-top min-width padding-left text-shadow top
   vertical-align width`.split(/\s+/),
);
const STYLE_VALUE = /^[\w\s.,#%+-]{1,100}$/;
const SCHEMES = new Set(
  `http https ftp file bitcoin geo im irc ircs magnet mailto matrix mms news nntp openpgp4fpr sip sms smsto ssh tel urn
   webcal wtai xmpp zotero`.split(/\s+/),
);
const TAG = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s+[^\s=>"'/<]+(?:="[^"]*")?)*)\s*\/?>/y;
const ATTRIBUTE = /\s+([^\s=>"'/<]+)(?:="([^"]*)")?/g;

/** True if HTML from another server contains only elements of messages: no scripts, external resources or overlays. */
export function isSafeHtml(html: string): boolean {
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    TAG.lastIndex = at;
    const tag = TAG.exec(html);
    if (!tag || !TAGS.has(tag[2]!.toLowerCase())) return false;
    at = TAG.lastIndex;
    const attributes = tag[3]!;
    // Most tags have no attributes, so skip creating an iterator.
    if (attributes === '') continue;
    for (const [, name, value = ''] of attributes.matchAll(ATTRIBUTE)) if (!isSafeAttribute(name!, value)) return false;
  }
  return true;
}

function isSafeAttribute(name: string, value: string): boolean {
  if (!ATTRIBUTES.has(name)) return false;
  if (name === 'href' || name === 'src') return isSafeUrl(value);
  if (name === 'style') return value.split(';').every(isSafeDeclaration);
  return true;
}

/** True if the declaration loads nothing and cannot overlay the page. */
function isSafeDeclaration(declaration: string): boolean {
  if (declaration.trim() === '') return true;
  const colon = declaration.indexOf(':');
  const property = declaration.slice(0, Math.max(0, colon)).trim().toLowerCase();
  const value = declaration.slice(colon + 1).trim();
  if (property === 'position') return value === 'relative';
  return STYLE_PROPERTIES.has(property) && STYLE_VALUE.test(value);
}

function isSafeUrl(value: string): boolean {
  // Browsers decode entities and skip control characters before parsing a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
  const url = value.replace(/[\u0000-\u0020]+/g, '');
  const start = url.slice(0, url.search(/[/?#]|$/));
  if (start.includes('&')) return false;
  const scheme = /^([^:]*):/.exec(start)?.[1];
  return scheme === undefined || SCHEMES.has(scheme.toLowerCase());
}

const PAGE_PREVIEWS = '<div class="message_embed">';

/**
 * Removes the previews of pages at the end of a message (markdown §15.6). User text cannot imitate them, because angle
 * brackets are escaped.
 */
export function withoutPagePreviews(html: string): string {
  const start = html.indexOf(PAGE_PREVIEWS);
  return start === -1 ? html : html.slice(0, start).trimEnd();
}

/** Returns safe HTML, otherwise the source as plain text. Omits page previews: their pictures are on another server. */
export function safeHtml(html: string, source: string): string {
  const text = withoutPagePreviews(html);
  return isSafeHtml(text) ? text : plainTextHtml(source);
}

/** Returns a text as HTML without formatting. */
export const plainTextHtml = (text: string): string => `<p>${escapeHtml(text)}</p>`;

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Reads safe HTML from an untrusted document. */
export const htmlShape: Shape<string> = (value, path) => {
  const html = text()(value, path);
  if (!isSafeHtml(html)) throw wrong(path, 'is HTML that is not safe');
  return html;
};
