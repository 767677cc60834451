/**
 * Formatted text of another system as a syntax tree. `writeMarkdown` turns it into Markdown that shows the same.
 * Parsers of foreign markup bound the nesting: writing recurses.
 */
export type Inline =
  /** Literal text; line feeds are line breaks. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: Emphasis; readonly children: readonly Inline[] }
  | { readonly type: 'code'; readonly text: string }
  /** Link without children: shows the address. */
  | { readonly type: 'link'; readonly url: string; readonly children: readonly Inline[] }
  /** `character` is null for custom emoji and unknown names. */
  | { readonly type: 'emoji'; readonly name: string; readonly character: string | null }
  /** Time of day, which clients show in the reader's time zone. In Unix seconds. */
  | { readonly type: 'time'; readonly at: number }
  | Mention;

export type Emphasis = 'strong' | 'em' | 'del';

/** Reference to a user or object of the other system. */
export interface Mention {
  readonly type: 'mention';
  /** `everyone` stands for all members of a channel or organization, its `id` for the kind, such as `here`. */
  readonly of: 'user' | 'group' | 'channel' | 'everyone';
  readonly id: string;
  /** Name without a prefix such as `@`. */
  readonly name: string;
}

export type Block =
  | { readonly type: 'paragraph'; readonly children: readonly Inline[] }
  /** Default level: 2. */
  | { readonly type: 'heading'; readonly children: readonly Inline[]; readonly level?: 1 | 2 | 3 | 4 | 5 | 6 }
  | { readonly type: 'quote' | 'spoiler'; readonly children: readonly Block[] }
  /** `language` is empty if unknown. */
  | { readonly type: 'code'; readonly text: string; readonly language: string }
  | List
  /** The first row is the header. */
  | { readonly type: 'table'; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly type: 'rule' }
  /** Markdown by the sender, in which mentions have no effect. */
  | { readonly type: 'markdown'; readonly text: string };

export interface List {
  readonly type: 'list';
  /** First number; null for bullets. */
  readonly start: number | null;
  readonly items: readonly ListItem[];
}

export interface ListItem {
  readonly children: readonly Inline[];
  readonly lists: readonly List[];
}

export const plain = (text: string): Inline => ({ type: 'text', text });
export const paragraph = (children: readonly Inline[]): Block => ({ type: 'paragraph', children });

/** Returns the text of inline nodes without formatting. */
export const plainText = (inlines: readonly Inline[]): string => inlines.map(textOf).join('');

function textOf(inline: Inline): string {
  switch (inline.type) {
    case 'text':
    case 'code':
      return inline.text;
    case 'emoji':
      return inline.character ?? `:${inline.name}:`;
    case 'time':
      return isoTime(inline.at);
    case 'mention':
      return mentionText(inline);
    case 'link':
      return inline.children.length === 0 ? inline.url : plainText(inline.children);
    default:
      return plainText(inline.children);
  }
}

export const mentionText = ({ of, name }: Mention): string => `${of === 'channel' ? '#' : '@'}${name}`;

/** Latest time with a year of four digits. */
const MAX_TIME = 253_402_300_799;

export const isTime = (at: number): boolean => Number.isFinite(at) && at >= 0 && at <= MAX_TIME;
export const isoTime = (at: number): string => `${new Date(Math.floor(at) * 1000).toISOString().slice(0, 19)}Z`;
