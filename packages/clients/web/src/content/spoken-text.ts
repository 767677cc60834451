import type { I18n } from '@lingui/core';
import { withoutShownLinks } from './shown-content.js';
import { type ContentNode, parseContent } from './tree.js';

const BLOCKS: ReadonlySet<string> = new Set('p h1 h2 h3 h4 h5 h6 li tr td th br hr'.split(' '));

/** Text of a message for screen readers, on one line. Names quotes, pictures and code, and omits what spoilers hide. */
export const spokenText = (html: string, baseUrl: string, i18n: I18n): string =>
  oneLine(textOfAll(withoutShownLinks(parseContent(html, baseUrl), baseUrl), i18n));

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const textOfAll = (nodes: readonly ContentNode[], i18n: I18n): string =>
  nodes.map((node) => (typeof node === 'string' ? node : textOf(node, i18n))).join('');

function textOf(node: Exclude<ContentNode, string>, i18n: I18n): string {
  switch (node.type) {
    case 'element':
    case 'cell': {
      const text = textOfAll(node.children, i18n);
      if (node.tag === 'blockquote') return ` ${i18n._('quote: {text}', { text: oneLine(text) })}. `;
      return BLOCKS.has(node.tag) ? ` ${text} ` : text;
    }
    case 'list':
    case 'link':
    case 'change':
    case 'highlight':
      return textOfAll(node.children, i18n);
    case 'spoiler':
      return ` ${i18n._('spoiler: {header}', { header: oneLine(textOfAll(node.header, i18n)) })}. `;
    case 'emoji':
    case 'custom-emoji':
      return node.name;
    case 'time':
      return i18n.date(node.date, { dateStyle: 'full', timeStyle: 'short' });
    case 'math':
      return node.source;
    case 'image':
      return ` ${i18n._('picture: {name}', { name: node.title || fileName(node.href) })}. `;
    case 'video':
      return ` ${node.title || fileName(node.href)} `;
    case 'audio':
      return ` ${node.title || fileName(node.src)} `;
    case 'code': {
      const count = node.text.trimEnd().split('\n').length;
      return ` ${i18n._('code, {count, plural, one {# line} other {# lines}}', { count })}. `;
    }
    case 'embed':
      return '';
    default:
      return node.text;
  }
}

function fileName(url: string): string {
  const name = new URL(url).pathname.split('/').at(-1)!;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
