import { CARDS, wrongJson } from '@parley/testkit/wrong-json';
import { parseSlackMessage } from './slack-message.js';
import { writeMarkdown } from './write-markdown.js';

/** Members that are not text: they choose how or whether other members are shown. */
const WITHOUT_TEXT =
  /(?:^|\.)(?:type|style|bold|mrkdwn_in|color|short|emoji|unicode|skin_tone|indent|offset|border|format|timestamp|fallback|ts|icon_emoji|name)$/;
/** Length of a message with every member replaced by a short value. */
const MAX_LENGTH = 5000;

const markdownOf = (card: unknown): string => writeMarkdown(parseSlackMessage(card));

it('shows a value of any JSON type at any place of a card', () => {
  const lost: string[] = [];
  let count = 0;
  for (const card of CARDS) {
    for (const { value, path, shown } of wrongJson(card)) {
      const markdown = markdownOf(value);
      expect(markdown.length).toBeLessThan(MAX_LENGTH);
      if (shown !== null && !WITHOUT_TEXT.test(path) && !markdown.includes(shown)) lost.push(`${path}: ${shown}`);
      count++;
    }
  }
  expect([...new Set(lost)]).toEqual([]);
  expect(count).toBeGreaterThan(1000);
});
