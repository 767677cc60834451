import type { ContentNode } from './tree.js';

/** Maximum length. Rows and notifications show less. */
const MAX_LENGTH = 200;

const BLOCKS: ReadonlySet<string> = new Set('p h1 h2 h3 h4 h5 h6 li blockquote tr td th br hr'.split(' '));

/**
 * Beginning of a message on one line. Omits hidden text, and the commands of polls and to-do lists. Omits quotes and
 * previews of links if there is other text.
 */
export function firstWords(nodes: readonly ContentNode[]): string {
  const own = nodes.filter(isOwnText);
  return oneLine(own) || oneLine(nodes);
}

const isOwnText = (node: ContentNode): boolean =>
  typeof node === 'string' ||
  (node.type !== 'image' && node.type !== 'video' && !('tag' in node && node.tag === 'blockquote'));

const oneLine = (nodes: readonly ContentNode[]): string =>
  textOfAll(nodes)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^\/(?:poll|todo) /, '')
    .slice(0, MAX_LENGTH);

const textOfAll = (nodes: readonly ContentNode[]): string => nodes.map(textOf).join('');

function textOf(node: ContentNode): string {
  if (typeof node === 'string') return node;
  switch (node.type) {
    case 'element':
    case 'cell':
      return BLOCKS.has(node.tag) ? ` ${textOfAll(node.children)} ` : textOfAll(node.children);
    case 'list':
    case 'link':
    case 'change':
    case 'highlight':
      return textOfAll(node.children);
    case 'spoiler':
      return ` ${textOfAll(node.header)} … `;
    case 'custom-emoji':
      return `:${node.name}:`;
    case 'math':
      return node.source;
    case 'image':
    case 'video':
    case 'audio':
      return ` ${node.title} `;
    case 'code':
      return ` ${node.text} `;
    case 'embed':
      return '';
    default:
      return node.text;
  }
}
