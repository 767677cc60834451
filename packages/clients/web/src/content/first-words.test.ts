import { firstWords } from './first-words.js';
import type { ContentNode } from './tree.js';

const element = (tag: 'p' | 'blockquote' | 'strong', ...children: readonly ContentNode[]): ContentNode => {
  return { type: 'element', tag, children };
};

describe('first words of a message', () => {
  it('join paragraphs and formatted parts on one line', () => {
    const nodes = [element('p', 'Who ', element('strong', 'goes'), ' there?'), '\n', element('p', 'Nay, answer me')];
    expect(firstWords(nodes)).toBe('Who goes there? Nay, answer me');
  });

  it('begin after a quote', () => {
    const quote = element('blockquote', element('p', 'quoted'));
    expect(firstWords([quote, element('p', 'answer')])).toBe('answer');
    expect(firstWords([quote])).toBe('quoted');
  });

  it('do not reveal a spoiler', () => {
    const spoiler: ContentNode = { type: 'spoiler', header: [element('p', 'The end')], children: ['all die'] };
    expect(firstWords([spoiler])).toBe('The end …');
  });

  it('name emoji and files', () => {
    const nodes: readonly ContentNode[] = [
      { type: 'emoji', text: '🎉', name: 'tada', title: ':tada:' },
      { type: 'custom-emoji', src: '/x.png', name: 'parrot' },
      { type: 'audio', src: '/song.mp3', title: 'song.mp3' },
    ];
    expect(firstWords(nodes)).toBe('🎉:parrot: song.mp3');
  });

  it('begin with the question of a poll', () => {
    expect(firstWords([element('p', '/poll Which wine?\nRed')])).toBe('Which wine? Red');
  });

  it('name linked pictures once', () => {
    const link: ContentNode = { type: 'link', href: '/castle.png', title: '', children: ['castle.png'] };
    const image = { type: 'image', title: 'castle.png' } as ContentNode;
    expect(firstWords([element('p', link), image])).toBe('castle.png');
    expect(firstWords([image])).toBe('castle.png');
  });

  it('are limited to 200 characters', () => {
    expect(firstWords(['x'.repeat(1000)])).toHaveLength(200);
  });
});
