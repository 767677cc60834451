import { TextDecoder } from 'node:util';
import { isParsableUrl } from '@parley/domain/kernel';
import type { PagePreview } from '@parley/domain/markdown';
import { type Token, type TokenHandler, Tokenizer, TokenizerMode } from 'parse5';

/** Lengths in code points. */
const MAX_TITLE_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 500;
/** Length in UTF-16 units. */
const MAX_URL_LENGTH = 2000;

/** Elements with text in which tags have no meaning. */
const TEXT_MODES = new Map<string, Tokenizer['state']>([
  ['title', TokenizerMode.RCDATA],
  ['textarea', TokenizerMode.RCDATA],
  ['script', TokenizerMode.SCRIPT_DATA],
  ...['style', 'xmp', 'iframe', 'noembed', 'noframes'].map((tag) => [tag, TokenizerMode.RAWTEXT] as const),
]);
const BETWEEN_TAGS = new Set<Tokenizer['state']>([
  TokenizerMode.DATA,
  TokenizerMode.RCDATA,
  TokenizerMode.RAWTEXT,
  TokenizerMode.SCRIPT_DATA,
]);
/** Number of characters parsed at a time. */
const SLICE = 2048;
/** Maximum length of a tag or comment, which bounds memory. */
const MAX_TAG_LENGTH = 16 * 1024;

/** Maximum number of attributes of a tag; further ones are ignored. */
const MAX_ATTRIBUTES = 64;

/** Tokenizer with a bounded number of attributes, because it compares each new one with all others of the tag. */
class BoundedTokenizer extends Tokenizer {
  protected override _leaveAttrName(): void {
    if ((this.currentToken as Token.TagToken).attrs.length < MAX_ATTRIBUTES) super._leaveAttrName();
  }
}

/**
 * Reads the head of a page while it arrives. Uses only the tokenizer of parse5, because building its tree can take
 * quadratic time.
 */
export class HtmlHead implements TokenHandler {
  /** True once the rest of the page is irrelevant. */
  isDone = false;
  private readonly tokenizer = new BoundedTokenizer({}, this);
  private decoder: TextDecoder | null = null;
  /** Approximate length of an unfinished tag or comment. */
  private tagLength = 0;
  private title: string | null = null;
  private isInTitle = false;
  private readonly named = new Map<string, string>();

  constructor(
    private readonly url: string,
    private readonly contentType: string,
  ) {}

  write(chunk: Uint8Array): void {
    this.decoder ??= decoderOf(this.contentType, chunk);
    const text = this.decoder.decode(chunk, { stream: true });
    for (let at = 0; at < text.length && !this.isDone; at += SLICE) {
      this.tokenizer.write(text.slice(at, at + SLICE), false);
      this.tagLength = BETWEEN_TAGS.has(this.tokenizer.state) ? 0 : this.tagLength + SLICE;
      if (this.tagLength > MAX_TAG_LENGTH) this.isDone = true;
    }
  }

  /** Returns null if the page has no metadata. */
  preview(): PagePreview | null {
    const title = shortened(this.named.get('og:title') ?? this.title, MAX_TITLE_LENGTH);
    const description = shortened(
      this.named.get('og:description') ?? this.named.get('description'),
      MAX_DESCRIPTION_LENGTH,
    );
    const picture = this.pictureUrl(this.named.get('og:image') ?? this.named.get('og:image:url'));
    return title === null && description === null && picture === null ? null : { title, description, picture };
  }

  onStartTag({ tagName, attrs }: Token.TagToken): void {
    this.tagLength = 0;
    if (tagName === 'body') this.isDone = true;
    if (this.isDone) return;
    const mode = TEXT_MODES.get(tagName);
    if (mode !== undefined) this.tokenizer.state = mode;
    // SVG images may contain titles too.
    if (tagName === 'title' && this.title === null) {
      this.isInTitle = true;
      this.title = '';
    }
    if (tagName === 'meta') this.addMeta(new Map(attrs.map(({ name, value }) => [name, value])));
  }

  onEndTag({ tagName }: Token.TagToken): void {
    this.tagLength = 0;
    this.isInTitle = false;
    if (tagName === 'head') this.isDone = true;
  }

  onCharacter({ chars }: Token.CharacterToken): void {
    if (this.isInTitle && !this.isDone && this.title!.length < SLICE) this.title += chars;
  }

  onWhitespaceCharacter(token: Token.CharacterToken): void {
    this.onCharacter(token);
  }

  onNullCharacter(): void {}
  onComment(): void {
    this.tagLength = 0;
  }

  onDoctype(): void {}
  onEof(): void {}

  /** Keeps the first value, because pages may list several pictures. */
  private addMeta(attributes: ReadonlyMap<string, string>): void {
    const name = (attributes.get('property') ?? attributes.get('name') ?? '').toLowerCase();
    const content = attributes.get('content')?.trim();
    if (WANTED.has(name) && content && !this.named.has(name)) this.named.set(name, content);
  }

  private pictureUrl(address: string | undefined): string | null {
    if (address === undefined || !isParsableUrl(address, this.url)) return null;
    const { protocol, href } = new URL(address, this.url);
    return /^https?:$/.test(protocol) && href.length <= MAX_URL_LENGTH ? href : null;
  }
}

const WANTED = new Set(['og:title', 'og:description', 'og:image', 'og:image:url', 'description']);

/** Returns the text on one line; null if there is none. */
function shortened(text: string | null | undefined, maxLength: number): string | null {
  const line = (text ?? '')
    .slice(0, 4 * maxLength)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const points = [...line];
  if (points.length > maxLength) return `${points.slice(0, maxLength - 1).join('')}…`;
  return line === '' ? null : line;
}

const CHARSET = /charset\s*=\s*["']?\s*([\w:.-]{1,40})/i;

/** Returns a decoder for the declared encoding, in the header or in the first bytes; UTF-8 for an unknown one. */
function decoderOf(contentType: string, start: Uint8Array): TextDecoder {
  const declared = CHARSET.exec(contentType) ?? CHARSET.exec(Buffer.from(start.subarray(0, 1024)).toString('latin1'));
  try {
    return new TextDecoder(declared?.[1] ?? 'utf-8');
  } catch {
    return new TextDecoder();
  }
}
