import {
  type Block,
  type HtmlNode,
  htmlTextOf,
  type Inline,
  isReadableHtml,
  paragraph,
  plain,
  readHtml,
} from '@parley/domain/markdown';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';

/** Nodes for elements that only the reader of messages understands. */
export interface HtmlReferences {
  /** Returns the node of a mention; `id` is the number in the list of mentions. */
  mention(id: string, text: string): Inline;
  /** Returns the node of a picture. */
  picture(url: string, name: string): Inline | null;
}

/** Parses the HTML of a message; messages of Teams have at most 28 KB. */
export function parseTeamsHtml(html: string, references: HtmlReferences): readonly Block[] {
  if (!isReadableHtml(html)) return [paragraph([plain(html)])];
  return readHtml(nodesOf(parseFragment(html)), {
    underline: 'em',
    inline(element) {
      const { tag, attribute } = element;
      switch (tag) {
        case 'at':
          return references.mention(attribute('id'), htmlTextOf(element));
        case 'emoji':
        case 'customemoji':
          return plain(attribute('alt') || attribute('title'));
        case 'img':
          return references.picture(attribute('src'), attribute('alt') || 'image');
        case 'attachment':
        case 'systemeventmessage':
          return null;
        default:
          return undefined;
      }
    },
  });
}

/** Converts children when they are read, since trees can be deep. */
const nodesOf = ({ childNodes }: DefaultTreeAdapterTypes.ParentNode): readonly HtmlNode[] =>
  childNodes.flatMap((node): readonly HtmlNode[] => {
    if ('value' in node) return [node.value];
    if (!('tagName' in node)) return [];
    let children: readonly HtmlNode[] | undefined;
    return [
      {
        tag: node.tagName,
        attribute: (name) => node.attrs.find((each) => each.name === name)?.value ?? '',
        get children() {
          children ??= nodesOf(node);
          return children;
        },
      },
    ];
  });
