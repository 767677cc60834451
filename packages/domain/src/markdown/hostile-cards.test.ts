import { CARDS, wrongJson } from '@parley/testkit/wrong-json';
import { parseSlackMessage } from './slack-message.js';
import { writeMarkdown } from './write-markdown.js';

/** Length of a message with short values. */
const MAX_LENGTH = 5000;
/** Every combination would take minutes. */
const STRIDE = 23;

it('converts cards with two members that are absent or have a value of any JSON type', () => {
  let longest = 0;
  let count = 0;
  for (const card of CARDS) {
    const first = [...wrongJson(card)].filter((_, index) => index % STRIDE === 0);
    for (const one of first) {
      for (const { value } of wrongJson(one.value)) {
        longest = Math.max(longest, writeMarkdown(parseSlackMessage(value)).length);
        count++;
      }
    }
  }
  expect(longest).toBeLessThan(MAX_LENGTH);
  expect(count).toBeGreaterThan(30_000);
});
