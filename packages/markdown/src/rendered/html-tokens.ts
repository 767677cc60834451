/** A piece of rendered HTML: what messages hold is well formed, and of few shapes. */
export type HtmlToken =
  | { readonly kind: 'open' | 'close' | 'void'; readonly tag: string; readonly html: string }
  | { readonly kind: 'text'; readonly html: string }
  /** As a whole, since it may be thousands of tags that nobody but a browser looks at. */
  | { readonly kind: 'formula'; readonly html: string };

const TOKEN = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)[^>"']*(?:(?:"[^"]*"|'[^']*')[^>"']*)*>|[^<]+|</g;
const VOID_TAGS = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr']);
const FORMULA = '<span class="katex">';
const SPAN = /<(\/?)span[\s>]/g;
const ATTRIBUTE = /\s([^\s=>"'/]+)=(?:"([^"]*)"|'([^']*)')/g;

export function* readTokens(html: string): Generator<HtmlToken> {
  for (let at = 0; at < html.length; ) {
    // Whoever reads the tokens may read those of another text in between.
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(html);
    if (!match) return;
    const [piece, slash, name] = match;
    at = TOKEN.lastIndex;
    if (name === undefined) {
      yield { kind: 'text', html: piece };
    } else if (piece === FORMULA) {
      const end = endOfSpan(html, match.index);
      yield { kind: 'formula', html: html.slice(match.index, end) };
      at = end;
    } else {
      const tag = name.toLowerCase();
      const isVoid = VOID_TAGS.has(tag) || piece.endsWith('/>');
      yield { kind: isVoid ? 'void' : slash === '/' ? 'close' : 'open', tag, html: piece };
    }
  }
}

function endOfSpan(html: string, start: number): number {
  const pattern = new RegExp(SPAN);
  pattern.lastIndex = start;
  let depth = 0;
  for (let match = pattern.exec(html); match; match = pattern.exec(html)) {
    depth += match[1] === '/' ? -1 : 1;
    if (depth === 0) return pattern.lastIndex;
  }
  return html.length;
}

/** The attributes of an opening tag that have a value, in their order, decoded. */
export function* attributesOf(tag: string): Generator<readonly [name: string, value: string]> {
  if (!tag.includes('=')) return;
  for (const [, name, value, other] of tag.matchAll(ATTRIBUTE)) yield [name!, decodeEntities(value ?? other ?? '')];
}

/** Null when it is not there. */
export function attributeOf(tag: string, wanted: string): string | null {
  if (!tag.includes(wanted)) return null;
  for (const [name, value] of attributesOf(tag)) if (name === wanted) return value;
  return null;
}

export function hasClass(tag: string, name: string): boolean {
  return tag.includes(name) && (attributeOf(tag, 'class') ?? '').split(' ').includes(name);
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  copy: '©',
  reg: '®',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  euro: '€',
};

/** Those that rendering makes, numbers, and the few that people type; any other stays as it is. */
export function decodeEntities(html: string): string {
  if (!html.includes('&')) return html;
  return html.replace(/&(?:#(\d+)|#[xX]([0-9a-fA-F]+)|([a-zA-Z]+));/g, (entity, decimal, hexadecimal, name) => {
    if (name !== undefined) return NAMED[name] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : entity;
  });
}
