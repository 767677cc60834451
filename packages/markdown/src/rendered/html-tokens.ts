/** A piece of rendered HTML: what messages hold is well formed, and of few shapes. */
export type HtmlToken =
  | { readonly kind: 'open' | 'close' | 'void'; readonly tag: string; readonly html: string }
  | { readonly kind: 'text'; readonly html: string };

const TOKEN = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>|[^<]+|</g;
const VOID_TAGS = new Set(['br', 'hr', 'img', 'input', 'meta', 'link', 'wbr']);

export function* readTokens(html: string): Generator<HtmlToken> {
  for (const [piece, slash, name, rest] of html.matchAll(TOKEN)) {
    if (name === undefined) {
      yield { kind: 'text', html: piece };
      continue;
    }
    const tag = name.toLowerCase();
    const isVoid = VOID_TAGS.has(tag) || rest!.endsWith('/');
    yield { kind: isVoid ? 'void' : slash === '/' ? 'close' : 'open', tag, html: piece };
  }
}

/** The value of an attribute in an opening tag, decoded; null when it is not there. */
export function attributeOf(tag: string, name: string): string | null {
  const value = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return value ? decodeEntities(value[1] ?? value[2] ?? '') : null;
}

export function hasClass(tag: string, name: string): boolean {
  return (attributeOf(tag, 'class') ?? '').split(' ').includes(name);
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
