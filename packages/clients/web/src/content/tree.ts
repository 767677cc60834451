import { characterOf } from '../kit/emoji-character.js';

/** Node of a message. Elements not named in the contract (markdown §2.2) become plain text. */
export type ContentNode =
  | string
  | { readonly type: 'element'; readonly tag: PlainTag; readonly children: readonly ContentNode[] }
  | { readonly type: 'list'; readonly start: number; readonly children: readonly ContentNode[] }
  | {
      readonly type: 'cell';
      readonly tag: 'td' | 'th';
      readonly align: Align;
      readonly children: readonly ContentNode[];
    }
  | {
      readonly type: 'link' /** Null if browsers cannot parse the address. */;
      readonly href: string | null;
      readonly title: string;
      readonly children: readonly ContentNode[];
    }
  | Mention
  | { readonly type: 'emoji'; readonly text: string; readonly name: string; readonly title: string }
  | { readonly type: 'custom-emoji'; readonly src: string; readonly name: string }
  | { readonly type: 'time'; readonly date: Date; readonly text: string }
  | CodeNode
  | { readonly type: 'spoiler'; readonly header: readonly ContentNode[]; readonly children: readonly ContentNode[] }
  | MathNode
  | { readonly type: 'math-error'; readonly text: string }
  /** Preview of a linked page (markdown §15.6). */
  | { readonly type: 'embed'; readonly element: Element }
  /** Difference between two versions. */
  | { readonly type: 'change'; readonly tag: 'ins' | 'del'; readonly children: readonly ContentNode[] }
  | { readonly type: 'alert-word'; readonly text: string }
  | { readonly type: 'highlight'; readonly children: readonly ContentNode[] }
  | ImageNode
  | PlayedNode
  | { readonly type: 'unknown'; readonly text: string };

export interface Mention {
  readonly type: 'mention';
  /** User or group id; null for wildcards. */
  readonly id: number | null;
  readonly kind: 'user' | 'group' | 'channel' | 'topic';
  readonly isSilent: boolean;
  readonly text: string;
}

export interface ImageNode {
  readonly type: 'image';
  readonly href: string;
  /** Null until the server has created a thumbnail. */
  readonly src: string | null;
  readonly title: string;
  /** Original width and height in pixels; null for images from other sites. */
  readonly size: readonly [number, number] | null;
  /** True for block content, false for inline content. */
  readonly isBlock: boolean;
  readonly isVideoPreview: boolean;
}

export interface MathNode {
  readonly type: 'math';
  readonly source: string;
  readonly isBlock: boolean;
  readonly element: Element;
}

export type PlayedNode =
  | { readonly type: 'video'; readonly src: string; readonly href: string; readonly title: string }
  | { readonly type: 'audio'; readonly src: string; readonly title: string };

export interface CodeNode {
  readonly type: 'code';
  readonly language: string;
  readonly tokens: readonly CodeToken[];
  readonly text: string;
}

export interface CodeToken {
  /** Pygments token class; empty for plain text. */
  readonly kind: string;
  readonly text: string;
}

type Align = 'left' | 'center' | 'right' | undefined;

const PLAIN_TAGS = [
  ...['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'li', 'blockquote', 'table', 'thead', 'tbody', 'tr'],
  ...['hr', 'br', 'strong', 'em', 'del', 'code'],
] as const;
export type PlainTag = (typeof PLAIN_TAGS)[number];
const isPlainTag = (tag: string): tag is PlainTag => (PLAIN_TAGS as readonly string[]).includes(tag);

/** Schemes rendered by the server (markdown §10.1), except `file`, which browsers reject. */
const SCHEMES =
  'http https ftp bitcoin geo im irc ircs magnet mailto matrix mms news nntp openpgp4fpr sip sms smsto ssh tel urn webcal wtai xmpp zulip'
    .split(' ')
    .map((scheme) => `${scheme}:`);
const TOKEN_CLASS = /^[a-z]{1,3}\d?$/;
const LOADING = 'image-loading-placeholder';

/** Parses message HTML without loading or running anything. */
export const parseContent = (html: string, baseUrl: string): readonly ContentNode[] =>
  new TreeBuilder(baseUrl).children(parse(html));

/** Text of message HTML on one line. */
export const textOf = (html: string): string => parse(html).textContent.replaceAll(/\s+/g, ' ').trim();

/** Document without a window, which neither loads nor runs anything. */
let inert: Document | null = null;

const parse = (html: string): HTMLElement => parseInert(renameStyles(html));

/** Parses any HTML without loading or running anything. Inline styles and style sheets must have been renamed. */
export function parseInert(html: string): HTMLElement {
  inert ??= document.implementation.createHTMLDocument();
  const root = inert.createElement('div');
  root.innerHTML = policy.createHTML(html) as string;
  return root;
}

/**
 * Hides inline styles from the parser, because the content security policy would report each of them. Text and
 * attributes contain no `<` or `>` (markdown §2.1).
 */
const renameStyles = (html: string): string =>
  html.replaceAll(/<[^<>]*>/g, (tag) => tag.replaceAll(' style="', ` ${STYLE}="`));

/** Attribute that holds the renamed inline style. */
export const STYLE = 'data-style';

interface Policy {
  createHTML(html: string): unknown;
}

/** The application's only HTML sink, and inert. */
const policy: Policy = (
  globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): Policy } }
).trustedTypes?.createPolicy('parley-content', { createHTML: (html: string) => html }) ?? {
  createHTML: (html) => html,
};

class TreeBuilder {
  constructor(private readonly baseUrl: string) {}

  children(parent: ParentNode & Node): readonly ContentNode[] {
    const nodes: ContentNode[] = [];
    for (const child of parent.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) nodes.push(child.nodeValue ?? '');
      else if (child instanceof Element) nodes.push(this.element(child));
    }
    return nodes;
  }

  private element(element: Element): ContentNode {
    const tag = element.tagName.toLowerCase();
    if (isPlainTag(tag)) return { type: 'element', tag, children: this.children(element) };
    return this.special(tag, element) ?? { type: 'unknown', text: element.textContent ?? '' };
  }

  private special(tag: string, element: Element): ContentNode | null {
    switch (tag) {
      case 'ol':
        return { type: 'list', start: Number(element.getAttribute('start') ?? 1), children: this.children(element) };
      case 'td':
      case 'th':
        return { type: 'cell', tag, align: alignOf(element), children: this.children(element) };
      case 'a':
        return this.link(element);
      case 'span':
        return this.span(element);
      case 'img':
        return element.className === 'emoji' ? this.customEmoji(element) : this.image(element, null, false);
      case 'time':
        return time(element);
      case 'div':
        return this.block(element);
      case 'audio':
        return this.withUrl(element, 'src', (src) => ({
          type: 'audio',
          src,
          title: element.getAttribute('title') ?? '',
        }));
      default:
        return null;
    }
  }

  private link(element: Element): ContentNode {
    const href = this.url(element.getAttribute('href'));
    return { type: 'link', href, title: element.getAttribute('title') ?? '', children: this.children(element) };
  }

  private span(element: Element): ContentNode | null {
    const classes = element.classList;
    const text = element.textContent ?? '';
    if (classes.contains('emoji'))
      return { type: 'emoji', text: emojiOf(classes), name: element.getAttribute('title') ?? text, title: text };
    if (classes.contains('katex') || classes.contains('katex-display')) return math(element);
    if (classes.contains('tex-error')) return { type: 'math-error', text };
    if (classes.contains('highlight')) return { type: 'highlight', children: this.children(element) };
    if (classes.contains('highlight_text_inserted'))
      return { type: 'change', tag: 'ins', children: this.children(element) };
    if (classes.contains('highlight_text_deleted'))
      return { type: 'change', tag: 'del', children: this.children(element) };
    return mention(element, classes, text);
  }

  private block(element: Element): ContentNode | null {
    const classes = element.classList;
    if (classes.contains('codehilite')) return code(element);
    if (classes.contains('spoiler-block')) return this.spoiler(element);
    if (classes.contains('message_inline_video')) return this.video(element);
    if (classes.contains('message_embed')) return { type: 'embed', element };
    if (classes.contains('message_inline_image')) {
      const [link, image] = [element.querySelector('a'), element.querySelector('img')];
      return link && image && this.image(image, link, !classes.contains('youtube-video'));
    }
    return null;
  }

  private spoiler(element: Element): ContentNode | null {
    const [header, content] = [element.querySelector('.spoiler-header'), element.querySelector('.spoiler-content')];
    return header && content && { type: 'spoiler', header: this.children(header), children: this.children(content) };
  }

  private video(element: Element): ContentNode | null {
    const [link, video] = [element.querySelector('a'), element.querySelector('video')];
    const title = link?.getAttribute('title') ?? '';
    const href = link && this.url(link.getAttribute('href'));
    return href && video && this.withUrl(video, 'src', (src) => ({ type: 'video', src, href, title }));
  }

  private image(image: Element, link: Element | null, isImage: boolean): ContentNode | null {
    const href = this.url(
      link?.getAttribute('href') ?? image.getAttribute('data-original-src') ?? image.getAttribute('src'),
    );
    const src = this.url(image.getAttribute('src'));
    if (href === null || src === null || (!link && !image.classList.contains('inline-image'))) return null;
    const [width, height] = (image.getAttribute('data-original-dimensions') ?? '').split('x').map(Number);
    return {
      type: 'image',
      href,
      src: image.classList.contains(LOADING) ? null : src,
      title: link?.getAttribute('title') ?? image.getAttribute('alt') ?? '',
      size: width && height ? [width, height] : null,
      isBlock: link !== null,
      isVideoPreview: link !== null && !isImage,
    };
  }

  private customEmoji(element: Element): ContentNode | null {
    const name = element.getAttribute('title') ?? '';
    return this.withUrl(element, 'src', (src) => ({ type: 'custom-emoji', src, name }));
  }

  private withUrl(element: Element, attribute: string, make: (url: string) => ContentNode): ContentNode | null {
    const url = this.url(element.getAttribute(attribute));
    return url === null ? null : make(url);
  }

  private url(address: string | null): string | null {
    return safeUrl(address, this.baseUrl);
  }
}

/** Returns the absolute address; null if its scheme may be harmful. */
export function safeUrl(address: string | null | undefined, baseUrl: string): string | null {
  if (address == null) return null;
  // Organization addresses are relative to its mount path.
  const relative = address.startsWith('/') && !address.startsWith('//') ? address.slice(1) : address;
  if (!URL.canParse(relative, baseUrl)) return null;
  const url = new URL(relative, baseUrl);
  return SCHEMES.includes(url.protocol) ? url.href : null;
}

function alignOf(cell: Element): Align {
  const [, align] = /^text-align: (left|center|right);$/.exec(cell.getAttribute(STYLE) ?? '') ?? [];
  return align as Align;
}

const emojiOf = (classes: DOMTokenList): string =>
  characterOf([...classes].find((name) => name.startsWith('emoji-'))?.slice('emoji-'.length) ?? '');

function math(element: Element): ContentNode | null {
  const source = element.querySelector('annotation')?.textContent;
  const drawn = element.querySelector('.katex-html');
  if (!source || !drawn) return null;
  return { type: 'math', source, isBlock: element.classList.contains('katex-display'), element: drawn };
}

function mention(element: Element, classes: DOMTokenList, text: string): Mention | null {
  const isSilent = classes.contains('silent');
  if (classes.contains('topic-mention')) return { type: 'mention', id: null, kind: 'topic', isSilent, text };
  if (classes.contains('user-group-mention')) {
    return { type: 'mention', id: Number(element.getAttribute('data-user-group-id')), kind: 'group', isSilent, text };
  }
  if (!classes.contains('user-mention')) return null;
  const id = element.getAttribute('data-user-id');
  if (id === '*') return { type: 'mention', id: null, kind: 'channel', isSilent, text };
  return { type: 'mention', id: Number(id), kind: 'user', isSilent, text };
}

function time(element: Element): ContentNode | null {
  const date = new Date(element.getAttribute('datetime') ?? '');
  return Number.isNaN(date.getTime()) ? null : { type: 'time', date, text: element.textContent ?? '' };
}

function code(element: Element): ContentNode | null {
  const block = element.querySelector('pre > code');
  if (!block) return null;
  const tokens = [...block.childNodes].map((node) => ({
    kind: node instanceof Element ? ([...node.classList].find((name) => TOKEN_CLASS.test(name)) ?? '') : '',
    text: node.textContent ?? '',
  }));
  const language = element.getAttribute('data-code-language') ?? '';
  return { type: 'code', language, tokens, text: block.textContent ?? '' };
}
