import type { HtmlNode } from '@parley/domain/markdown';
import { workMsOf } from '@parley/testkit/process-usage';
import { type DefaultTreeAdapterTypes, parseFragment } from 'parse5';
import { markdownOfNodes } from './pasted-html.js';
import { CLIPBOARDS } from './testing/clipboards.js';

const nodesOf = ({ childNodes }: DefaultTreeAdapterTypes.ParentNode): readonly HtmlNode[] =>
  childNodes.flatMap((node): readonly HtmlNode[] => {
    if ('value' in node) return [node.value];
    if (!('tagName' in node)) return [];
    const attribute = (name: string) => {
      const value = node.attrs.find((each) => each.name === name)?.value;
      return value === '' && name === 'checked' ? name : (value ?? '');
    };
    return [{ tag: node.tagName, attribute, children: nodesOf(node) }];
  });

test.each(CLIPBOARDS)('converts a copy to Markdown: $name', ({ html, text, mode = '', markdown }) => {
  expect(markdownOfNodes(nodesOf(parseFragment(html)), mode) ?? text).toBe(markdown);
});

test.each<[name: string, html: string, markdown: string | null]>([
  ['empty formatting', '<b></b><i> </i>', null],
  ['an address that shows itself', '<a href="https://a.example/">https://a.example/</a>', null],
  ['a script as address', '<a href="javascript:alert(1)"><b>x</b></a>', '**x**'],
  ['brackets in a link', '<a href="https://a.example/">[1]</a>', '[&#91;1&#93;](https://a.example/)'],
  ['a smiley of web mail', '<b>Hi</b> <img src="https://a.example/1.png" alt="🎉">', '**Hi** 🎉'],
  ['a picture in the text', '<b>Hi</b><img src="data:image/png;base64,AA">', '**Hi**'],
  [
    'a link that ends with a space',
    '<b>See</b><a href="https://a.example/"> the page </a>now',
    '**See** [the page](https://a.example/) now',
  ],
  ['an address without its slash', '<a href="https://a.example/">https://a.example</a>', null],
  [
    'a caption',
    '<table><caption>Plan</caption><tr><th>A</th><th>B</th></tr></table>',
    'Plan\n\n| A | B |\n| --- | --- |',
  ],
  ['formatting around paragraphs', '<i><p>a</p><p>b</p></i>', '*a*\n\n*b*'],
])('reads %s', (_, html, markdown) => {
  expect(markdownOfNodes(nodesOf(parseFragment(html)), '')).toBe(markdown);
});

test.each<[name: string, html: string]>([
  [
    'merged cells above many rows',
    `<table><tr>${'<td colspan=50 rowspan=9999>x'.repeat(1000)}</tr>${'<tr><td>'.repeat(2000)}</table>`,
  ],
  ['levels of lists', '<ul data-indent=0><li>x</ul>'.repeat(5000)],
  ['ever deeper lists', Array.from({ length: 5000 }, (_, n) => `<ul data-indent=${n}><li>x</ul>`).join('')],
  ['items with tasks', '<li><input type=checkbox>'.repeat(10_000)],
  ['nested boxes', `${'<div>'.repeat(40)}${'<div>x</div>'.repeat(10_000)}`],
  ['spaces', `<b>${'<i> </i>'.repeat(100)}${' x'.repeat(100_000)}</b>`],
  ['lines', '<div>x</div>'.repeat(20_000)],
])('reads %s within two seconds', async (_, html) => {
  const nodes = nodesOf(parseFragment(html));
  expect(await workMsOf(() => markdownOfNodes(nodes, ''), 2000)).toBeLessThan(2000);
});
