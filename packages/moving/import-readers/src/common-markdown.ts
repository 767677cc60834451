import { firstOf } from '@parley/domain/kernel';
import {
  type Block,
  type Emphasis,
  type Inline,
  type List,
  type ListItem,
  paragraph,
  plain,
} from '@parley/domain/markdown';
import MarkdownIt, { type Token } from 'markdown-it';

/** Longer texts are not parsed; no message of a chat is as long. */
const MAX_LENGTH = 500_000;

// Addresses without a scheme are too often file names.
const PARSER = new MarkdownIt({ breaks: true, linkify: true });
PARSER.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

/** Discord knows neither tables, rules, images, indented code nor underlined headings. */
const DISCORD_PARSER = new MarkdownIt({ breaks: true, linkify: true });
DISCORD_PARSER.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
DISCORD_PARSER.disable(['table', 'hr', 'image', 'code', 'lheading', 'reference', 'entity']);

export type Dialect = 'mattermost' | 'discord' | 'rocketchat';

/**
 * Parses CommonMark with tables and strikethrough. `parseText` finds mentions and the like in text outside code and
 * labels of links.
 */
export function parseCommonMark(
  text: string,
  parseText: (text: string) => readonly Inline[],
  dialect: Dialect = 'mattermost',
): readonly Block[] {
  if (text.length > MAX_LENGTH) return [paragraph([plain(text)])];
  const parser = dialect === 'discord' ? DISCORD_PARSER : PARSER;
  return new TokenReader(parser.parse(text, {}), parseText, dialect).blocks();
}

const EMPHASIS: Readonly<Record<string, Emphasis>> = { strong_open: 'strong', em_open: 'em', s_open: 'del' };
type Level = 1 | 2 | 3 | 4 | 5 | 6;

/** Reads a flat list of tokens, in which `*_open` and `*_close` enclose children. */
class TokenReader {
  private at = 0;

  constructor(
    private readonly tokens: readonly Token[],
    private readonly parseText: (text: string) => readonly Inline[],
    private readonly dialect: Dialect,
  ) {}

  /** Reads up to the end of the enclosing block. */
  blocks(): readonly Block[] {
    const blocks: Block[] = [];
    for (let token = this.tokens[this.at]; token && token.nesting >= 0; token = this.tokens[this.at]) {
      this.at++;
      blocks.push(...this.block(token));
    }
    this.at++;
    return blocks;
  }

  private block(token: Token): readonly Block[] {
    switch (token.type) {
      case 'inline':
        return [paragraph(this.inlines(token))];
      case 'heading_open': {
        const children = this.blocks().flatMap((block) => (block.type === 'paragraph' ? block.children : []));
        return [{ type: 'heading', children, level: Number(token.tag.slice(1)) as Level }];
      }
      case 'blockquote_open':
        return [{ type: 'quote', children: this.blocks() }];
      case 'fence':
      case 'code_block':
        return [
          { type: 'code', text: token.content.replace(/\n$/, ''), language: firstOf(token.info.trim().split(/\s/, 1)) },
        ];
      case 'hr':
        return [{ type: 'rule' }];
      case 'bullet_list_open':
        return this.list(null);
      case 'ordered_list_open':
        return this.list(Number(token.attrGet('start') ?? 1));
      case 'table_open':
        return [{ type: 'table', rows: this.rows() }];
      default:
        return token.nesting === 1 ? this.blocks() : [paragraph([plain(token.content)])];
    }
  }

  /** Code, quotes and tables of an item stand after it, between two lists. */
  private list(start: number | null): readonly Block[] {
    const blocks: Block[] = [];
    let items: ListItem[] = [];
    let first = start;
    const endList = () => {
      if (items.length > 0) blocks.push({ type: 'list', start: first, items });
      if (first !== null) first += items.length;
      items = [];
    };
    while (this.tokens[this.at]?.type === 'list_item_open') {
      this.at++;
      const children: Inline[] = [];
      const lists: List[] = [];
      const others: Block[] = [];
      for (const block of this.blocks()) {
        if (block.type === 'list' && others.length === 0) lists.push(block);
        else if (block.type === 'paragraph' && lists.length === 0 && others.length === 0) {
          children.push(...(children.length > 0 ? [plain('\n')] : []), ...block.children);
        } else others.push(block);
      }
      items.push({ children, lists });
      if (others.length > 0) {
        endList();
        blocks.push(...others);
      }
    }
    this.at++;
    endList();
    return blocks;
  }

  private rows(): readonly (readonly (readonly Inline[])[])[] {
    const rows: (readonly Inline[])[][] = [];
    for (let depth = 1; depth > 0; this.at++) {
      const token = this.tokens[this.at]!;
      depth += token.nesting;
      if (token.type === 'tr_open') rows.push([]);
      else if (token.type === 'inline') rows.at(-1)?.push(this.inlines(token));
    }
    return rows;
  }

  private inlines(token: Token): readonly Inline[] {
    const children = token.children ?? [];
    let at = 0;
    const read = (isInLink: boolean): readonly Inline[] => {
      const nodes: Inline[] = [];
      for (let child = children[at]; child && child.nesting >= 0; child = children[at]) {
        at++;
        if (child.type === 'link_open')
          nodes.push({ type: 'link', url: child.attrGet('href') ?? '', children: read(true) });
        else if (child.nesting === 1) nodes.push({ type: this.emphasisOf(child), children: read(isInLink) });
        else nodes.push(...this.inline(child, isInLink));
      }
      at++;
      return nodes;
    };
    return read(false);
  }

  /** Discord underlines text between `__`, which Parley cannot; Rocket.Chat has `*bold*` and `__italic__`. */
  private emphasisOf({ type, markup }: Token): Emphasis {
    if (this.dialect !== 'mattermost' && markup === '__') return 'em';
    if (this.dialect === 'rocketchat' && markup === '*') return 'strong';
    return EMPHASIS[type] ?? 'em';
  }

  private inline(token: Token, isInLink: boolean): readonly Inline[] {
    switch (token.type) {
      case 'softbreak':
      case 'hardbreak':
        return [plain('\n')];
      case 'code_inline':
        return [{ type: 'code', text: token.content }];
      case 'image':
        return [{ type: 'link', url: token.attrGet('src') ?? '', children: [plain(token.content || 'image')] }];
      default:
        return isInLink ? [plain(token.content)] : this.parseText(token.content);
    }
  }
}
