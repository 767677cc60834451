import { isOnlyEmoji, withoutShownLinks } from './shown-content.js';
import type { ContentNode } from './tree.js';

const BASE = 'https://chat.example.com/';
const paragraph = (...children: ContentNode[]): ContentNode => ({ type: 'element', tag: 'p', children });
const emoji: ContentNode = { type: 'emoji', text: '🎉', name: 'tada', title: 'tada' };
const link = (href: string): ContentNode => ({ type: 'link', href, title: '', children: ['lamp.png'] });
const image = (href: string): ContentNode => {
  return { type: 'image', href, src: href, title: 'lamp.png', size: [1, 1], isBlock: true, isVideoPreview: false };
};

describe('isOnlyEmoji', () => {
  it.each([
    [true, 'emoji', [paragraph(emoji)]],
    [true, 'several emoji', [paragraph(emoji, ' ', emoji), '\n']],
    [true, 'custom emoji', [paragraph({ type: 'custom-emoji', src: '', name: 'parrot' })]],
    [false, 'many emoji', [paragraph(...Array.from({ length: 13 }, () => emoji))]],
    [false, 'emoji and words', [paragraph(emoji, ' done')]],
    [false, 'two paragraphs', [paragraph(emoji), paragraph(emoji)]],
    [false, 'nothing', []],
  ] as const)('returns %s for %s', (expected, _, nodes) => {
    expect(isOnlyEmoji(nodes)).toBe(expected);
  });
});

describe('withoutShownLinks', () => {
  const href = `${BASE}user_uploads/1/lamp.png`;

  it('removes a paragraph with links of the images below it', () => {
    const nodes = [paragraph(link(href), '\n'), '\n', image(href)];
    expect(withoutShownLinks(nodes, BASE)).toEqual(['\n', image(href)]);
  });

  it.each([
    ['with words', [paragraph('See ', link(href)), image(href)]],
    ['of another file', [paragraph(link(`${BASE}user_uploads/1/other.txt`)), image(href)]],
    ['of a page elsewhere', [paragraph(link('https://example.com/a.png')), image('https://example.com/a.png')]],
    ['without an image', [paragraph(link(href))]],
  ])('keeps a paragraph %s', (_, nodes) => {
    expect(withoutShownLinks(nodes, BASE)).toEqual(nodes);
  });
});
