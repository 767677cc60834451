import { quotesIn } from './quotes.js';

/** Marks the lines of a text: `|` for quoted ones. */
const marksOf = (text: string): string =>
  quotesIn(text)
    .flatMap((run) => run.text.split('\n').map(() => (run.isQuote ? '|' : '.')))
    .join('');

it.each([
  ['Words', '.'],
  ['> One\n> Two\n\nWords', '||..'],
  ['   > One\n    > Code\nA > b', '|..'],
  ['@_**Iago** said:\n```quote\nOne\n\nTwo\n```\nAnswer', '.|||||.'],
  ['~~~~ quote\n~~~ quote\nInner\n~~~\nOuter\n~~~~\n', '||||||.'],
  ['```quote\n~~~\n> Code\n~~~\n```', '|||||'],
  ['```\n> Code\n```\n> Quote', '...|'],
  ['```js\n> Code', '..'],
  ['```quote\nStill being written', '||'],
])('marks the quoted lines of %j', (text, marks) => {
  expect(marksOf(text)).toBe(marks);
  expect(
    quotesIn(text)
      .map((run) => run.text)
      .join('\n'),
  ).toBe(text);
});
