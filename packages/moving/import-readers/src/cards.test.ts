import { paragraph, plain, writeMarkdown } from '@parley/domain/markdown';
import { wrongJson } from '@parley/testkit/wrong-json';
import { cardBlocks } from './cards.js';

const CARD = {
  pretext: 'a',
  author_name: 'b',
  author_link: 'https://x.example/b',
  title: 'c',
  title_link: 'https://x.example/c',
  text: 'd',
  fields: [{ title: 'e', value: 'f' }],
  actions: [{ type: 'button', name: 'g' }],
  image_url: 'https://x.example/i.png',
  footer: 'h',
};

const markdownOf = (card: unknown): string =>
  writeMarkdown(cardBlocks(card, (text) => (text === '' ? [] : [paragraph([plain(text)])])));

it('shows a value of any JSON type at any place of a card', () => {
  const lost: string[] = [];
  for (const { value, path, shown } of wrongJson(CARD)) {
    const isText = shown !== null && path !== 'actions.type';
    if (isText && !markdownOf(value).includes(shown)) lost.push(`${path}: ${shown}`);
  }
  expect(lost).toEqual([]);
});
