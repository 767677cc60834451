import { linkifiers, OPTIONS } from '../fixtures/world.js';
import { ZulipMarkdownRenderer } from '../zulip-markdown-renderer.js';

const renderer = new ZulipMarkdownRenderer();
const trac = OPTIONS.linkifiers;
const ticket = { text: '#123', url: 'https://trac.example.com/ticket/123' };

describe('findTopicLinks', () => {
  it.each([
    ['fix #123 and https://a.example/x', [ticket, { text: 'https://a.example/x', url: 'https://a.example/x' }]],
    ['example.com is up', [{ text: 'example.com', url: 'https://example.com' }]],
    ['see (#123)', [ticket]],
    ['#123 #123', [ticket, ticket]],
    ['https://a.example/#123 x', [{ text: 'https://a.example/#123', url: 'https://a.example/#123' }]],
    ['me@a.example', [{ text: 'me@a.example', url: 'https://me@a.example' }]],
    ['a.com/x(y)', []],
    ['no match here', []],
    ['', []],
  ])('links the topic %s', (topic, expected) => {
    expect(renderer.topicLinks(topic, trac)).toEqual(expected);
  });

  it('prefers the first linkifier if matches overlap', () => {
    const rules = linkifiers([
      ['http', 'https://x.example'],
      ['b#(?P<id>[a-z]+)', 'https://b.example/{id}'],
      ['a#(?P<aid>[a-z]+) b#(?P<bid>[a-z]+)', 'https://ab.example/{aid}/{bid}'],
      ['a#(?P<id>[a-z]+)', 'https://a.example/{id}'],
    ]);
    const texts = renderer.topicLinks('http://foo.com a#asd b#bar', rules).map(({ text }) => text);
    expect(texts).toEqual(['http', 'a#asd', 'b#bar']);
  });

  it('never returns a forbidden scheme', () => {
    expect(renderer.topicLinks('js x', linkifiers([['js', 'javascript:alert(1)']]))).toEqual([]);
  });
});
