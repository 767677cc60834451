import { workMsOf } from '@parley/testkit/process-usage';
import type { MessageId } from '../kernel/ids.js';
import { MAX_QUOTED_MESSAGES, quotedMessages, withoutQuotesOf } from './quotes.js';

const link = (id: number, word = 'said', url = 'https://chat.example.com') =>
  `@_**Iago|5** [${word}](${url}/#narrow/channel/3-town/topic/a.20b/near/${id}):`;
const quote = (id: number, text: string, fence = '```') => `${link(id)}\n${fence}quote\n${text}\n${fence}`;
const withoutQuote = (content: string) => withoutQuotesOf(7 as MessageId, content);

describe('withoutQuotesOf', () => {
  it.each([
    [
      'a quote between other text',
      `Look:\n\n${quote(7, 'a\n\nb')}\nOh!`,
      `Look:\n\n${quote(7, '(deleted message)')}\nOh!`,
    ],
    [
      'all quotes of the message',
      `${quote(7, 'a')}\n${quote(7, 'b')}`,
      `${quote(7, '(deleted message)')}\n`.repeat(2).trim(),
    ],
    ['a quote without an end', `${link(7)}\n\`\`\`quote\na\nb`, `${link(7)}\n\`\`\`quote\n(deleted message)`],
    [
      'a quote with a long fence, which contains other blocks',
      quote(7, '```py\nx = 1\n```\n````quote\nb\n````', '`````'),
      quote(7, '(deleted message)', '`````'),
    ],
    [
      'a quote inside a quote of another message',
      quote(8, `${quote(7, 'a')}\nb`, '````'),
      quote(8, `${quote(7, '(deleted message)')}\nb`, '````'),
    ],
    [
      'a quote inside a quote with the same fence',
      quote(8, `${quote(7, 'a')}\nb`),
      quote(8, `${quote(7, '(deleted message)')}\nb`),
    ],
    [
      'a quote in a spoiler',
      `\`\`\`spoiler Plot\n${quote(7, 'a')}\n\`\`\``,
      `\`\`\`spoiler Plot\n${quote(7, '(deleted message)')}\n\`\`\``,
    ],
    [
      'a quote after an empty line, with other characters',
      `${link(7)}\n\n~~~ Quote\na\n~~~  `,
      `${link(7)}\n\n~~~ Quote\n(deleted message)\n~~~  `,
    ],
    [
      'a quote in another language, with a relative link',
      `${link(7, 'a dit', '')}\n\`\`\`quote\na\n\`\`\``,
      `${link(7, 'a dit', '')}\n\`\`\`quote\n(deleted message)\n\`\`\``,
    ],
  ])('replaces %s', (_, content, expected) => {
    expect(withoutQuote(content)).toBe(expected);
  });

  it('replaces quotes of the message among quotes of others', () => {
    const content = [quote(6, 'a'), quote(7, 'b'), quote(77, 'c'), 'd'].join('\n\n');
    expect(withoutQuote(content)).toBe(content.replace('\nb\n', '\n(deleted message)\n'));
  });

  it.each([
    ['text without links', 'a\n```quote\nb\n```'],
    ['a quote of another message', quote(70, 'a')],
    ['a quote after the quote of the message', `${quote(7, '(deleted message)')}\n\`\`\`quote\nb\n\`\`\``],
    ['a quote after other text', `${link(7)}\nNo.\n\`\`\`quote\nb\n\`\`\``],
    ['code after a link to the message', `${link(7)}\n\`\`\`py\na\n\`\`\``],
    ['code with the form of a quote', `\`\`\`\`md\n${quote(7, 'a')}\n\`\`\`\``],
    ['a quote after a link to another page', `[a](https://example.com/near/7)\n\`\`\`quote\nb\n\`\`\``],
    ['a quote after a link to a conversation', `[a](/#narrow/channel/7-town)\n\`\`\`quote\nb\n\`\`\``],
  ])('keeps %s', (_, content) => {
    expect(withoutQuote(content)).toBe(content);
  });

  it('takes linear time', async () => {
    const work = () => {
      for (const part of ['#narrow/', '](', '/near/7', '```quote\n', `${link(7)}\n\`\`\`quote\n`, '`', '```\n']) {
        const content = `](/near/${part.repeat(100_000 / part.length)}\n\`\`\`quote`;
        withoutQuote(content);
        quotedMessages(content);
      }
    };
    expect(await workMsOf(work, 1000)).toBeLessThan(1000);
  });
});

describe('quotedMessages', () => {
  it('returns the ids of all quoted messages once', () => {
    const content = [quote(9, `${quote(7, 'a')}\nb`, '````'), quote(8, 'c'), quote(7, 'd'), link(6)].join('\n');
    expect(quotedMessages(content)).toEqual([9, 7, 8]);
  });

  it('returns nothing for text without quotes', () => {
    expect(quotedMessages('a')).toEqual([]);
    expect(quotedMessages(link(7))).toEqual([]);
  });

  it('returns a limited number of ids', () => {
    const content = Array.from({ length: MAX_QUOTED_MESSAGES + 1 }, (_, n) => quote(n + 1, 'a')).join('\n');
    expect(quotedMessages(content)).toHaveLength(MAX_QUOTED_MESSAGES);
  });
});
