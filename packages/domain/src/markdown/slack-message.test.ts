import { parseSlackMessage } from './slack-message.js';
import { writeMarkdown } from './write-markdown.js';

const markdownOf = (message: unknown): string => writeMarkdown(parseSlackMessage(message));

const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const plain = (text: string) => ({ type: 'plain_text', text, emoji: true });
const section = (...elements: unknown[]) => ({ type: 'rich_text_section', elements });
const text = (value: string, ...styles: string[]) => ({
  type: 'text',
  text: value,
  style: Object.fromEntries(styles.map((style) => [style, true])),
});
const items = (style: string, indent: number, texts: string[], more: object = {}) => ({
  type: 'rich_text_list',
  style,
  indent,
  elements: texts.map((each) => section(text(each))),
  ...more,
});

describe('parseSlackMessage', () => {
  it.each<[title: string, blocks: unknown[], markdown: string]>([
    ['a header', [{ type: 'header', text: plain('Done :tada: *really* #') }], '## Done 🎉 &#42;really&#42; &#35;'],
    ['a section', [{ type: 'section', text: mrkdwn('*a*') }], '**a**'],
    [
      'a section of plain text',
      [{ type: 'section', text: plain('*a* https://x.example') }],
      '&#42;a&#42; https://x.example',
    ],
    ['emoji switched off', [{ type: 'section', text: { ...plain(':tada:'), emoji: false } }], '&#58;tada:'],
    [
      'fields',
      [{ type: 'section', fields: [mrkdwn('*Host:*\nweb1'), plain('b'), mrkdwn('c\nd'), mrkdwn(' ')] }],
      '* **Host:** web1\n* b\n* c\n  d',
    ],
    [
      'accessories',
      [
        {
          type: 'section',
          text: mrkdwn('a'),
          accessory: { type: 'image', image_url: 'https://x.example/a.png', alt_text: 'a [cat]' },
        },
        {
          type: 'section',
          text: mrkdwn('b'),
          accessory: { type: 'button', text: plain('View'), url: 'https://x.example/b' },
        },
        { type: 'section', text: mrkdwn('c'), accessory: { type: 'datepicker', placeholder: plain('Pick') } },
      ],
      'a\n\n[a &#91;cat&#93;](https://x.example/a.png)\n\nb\n\n[View](https://x.example/b)\n\nc',
    ],
    [
      'a context',
      [
        {
          type: 'context',
          elements: [
            { type: 'image', image_url: 'https://x.example/i.png', alt_text: 'CI' },
            mrkdwn('by *CI*'),
            plain('now'),
          ],
        },
      ],
      '[CI](https://x.example/i.png) · by **CI** · now',
    ],
    [
      'actions',
      [
        {
          type: 'actions',
          elements: [
            { type: 'button', text: plain('Approve') },
            { type: 'button', text: plain('Log'), url: 'https://x.example/l' },
            { type: 'static_select' },
          ],
        },
      ],
      'Approve · [Log](https://x.example/l)',
    ],
    [
      'a divider',
      [{ type: 'section', text: plain('a') }, { type: 'divider' }, { type: 'section', text: plain('b') }],
      'a\n\n---\n\nb',
    ],
    [
      'images',
      [
        { type: 'image', image_url: 'https://x.example/1.png', alt_text: 'alt', title: plain('Title') },
        { type: 'image', image_url: 'https://x.example/2.png', alt_text: 'alt' },
        { type: 'image', slack_file: { url: 'https://x.example/3.png' } },
        { type: 'image', alt_text: 'nothing' },
      ],
      '[Title](https://x.example/1.png)\n\n[alt](https://x.example/2.png)\n\n[image](https://x.example/3.png)',
    ],
    [
      'a video',
      [
        {
          type: 'video',
          title: plain('Demo'),
          title_url: 'https://x.example/v',
          description: plain('How'),
          thumbnail_url: 'https://x.example/t.png',
          alt_text: 'thumb',
        },
      ],
      '[Demo](https://x.example/v)\n\nHow\n\n[thumb](https://x.example/t.png)',
    ],
    [
      'a table',
      [
        {
          type: 'table',
          rows: [
            [
              { type: 'raw_text', text: 'a|b' },
              { type: 'rich_text', elements: [section(text('c', 'bold'))] },
            ],
            [{ type: 'raw_text', text: '1' }],
          ],
        },
      ],
      '| a&#124;b | **c** |\n| --- | --- |\n| 1 |  |',
    ],
    [
      'Markdown',
      [
        {
          type: 'markdown',
          text: '# Title\n@**all** #**x** `@*a*`\n![Chart](https://x.example/_a_.png) _it_ __bold__ snake_case_name \\*no\\* @__all__\n```js\n@**all** _a_\n````\n```quote\n@**all**',
        },
        { type: 'section', text: plain('b') },
      ],
      [
        '# Title\n@\u2060**all** #\u2060**x** `@\u2060*a*`',
        '[Chart](https://x.example/_a_.png) *it* **bold** snake_case_name &#42;no&#42; @\u2060**all**',
        '```js\n@\u2060**all** _a_\n```',
        '```text\n@\u2060**all**\n```\n\nb',
      ].join('\n'),
    ],
    ['an unknown block with text', [{ type: 'future', text: mrkdwn('*a*') }], '**a**'],
  ])('converts %s', (_, blocks, markdown) => {
    expect(markdownOf({ text: 'fallback', blocks })).toBe(markdown);
  });

  it.each([
    null,
    'a',
    5,
    {},
    [null],
    [[null]],
    [[{ a: 1 }]],
    [{}],
    [{ a: null }],
    [{ type: null }],
    [{ type: 5 }],
    [{ text: {} }],
    [{ fields: [null] }],
    [null, [null], { a: 1 }],
    [{ type: 'unknown' }],
  ])('shows the text of a message with the blocks %j', (blocks) => {
    expect(markdownOf({ text: 'words', blocks })).toContain('words');
  });

  it.each<[title: string, elements: unknown[], markdown: string]>([
    [
      'styled text',
      [
        section(
          text('a ', 'bold'),
          text('b', 'bold', 'italic'),
          text(' c'),
          text('d', 'strike'),
          text('@**all**', 'code'),
        ),
      ],
      '**a *b*\u2060** c~~d~~`@**all**`',
    ],
    [
      'text that looks like markup',
      [section(text('*a* <b> &amp; :tada: > # x'))],
      '&#42;a&#42; <b> &amp;amp; &#58;tada: > # x',
    ],
    [
      'links',
      [
        section({ type: 'link', url: 'https://x.example/a' }, text(' '), {
          type: 'link',
          url: 'https://x.example',
          text: 'b',
          style: { bold: true },
        }),
      ],
      'https://x.example/a **[b](https://x.example)**',
    ],
    [
      'emoji',
      [
        section(
          { type: 'emoji', name: 'wave', unicode: '1f44b-1f3fd' },
          { type: 'emoji', name: 'wave', skin_tone: 2 },
          { type: 'emoji', name: 'partyparrot' },
          { type: 'emoji', name: 'one', unicode: '0031-fe0f-20e3' },
        ),
      ],
      '👋🏽👋🏻:partyparrot:1️⃣',
    ],
    [
      'code points without an emoji',
      [section({ type: 'emoji', name: '@**all**', unicode: '0040-002a-002a-0061' })],
      ':@&#42;&#42;all&#42;&#42;:',
    ],
    [
      'mentions',
      [
        section(
          { type: 'user', user_id: 'U1' },
          text(' '),
          { type: 'usergroup', usergroup_id: 'S1' },
          text(' '),
          { type: 'channel', channel_id: 'C1' },
          text(' '),
          { type: 'broadcast', range: 'here' },
        ),
      ],
      '@U1 @S1 #C1 @here',
    ],
    [
      'dates and colors',
      [
        section({ type: 'date', timestamp: 1392734382, format: '{date} at {time}', fallback: 'x' }, text(' '), {
          type: 'color',
          value: '#ff0000',
        }),
      ],
      '<time:2014-02-18T14:39:42Z> `#ff0000`',
    ],
    [
      'nested lists',
      [
        section(text('Do:\n')),
        items('bullet', 0, ['a', 'b\nc']),
        items('ordered', 1, ['d']),
        items('bullet', 2, ['e']),
        items('ordered', 1, ['f'], { offset: 1 }),
        items('bullet', 0, ['g']),
      ],
      'Do:\n\n* a\n* b\n  c\n  1. d\n    * e\n  2. f\n* g',
    ],
    [
      'a list of another kind at the same level',
      [items('bullet', 0, ['a']), items('ordered', 0, ['b'], { offset: 4 })],
      '* a\n\n5. b',
    ],
    ['a list without its parents', [items('bullet', 3, ['a']), items('bullet', 9, ['b'])], '* a\n  * b'],
    [
      'a quote with line breaks',
      [{ type: 'rich_text_quote', elements: [text('a\n\n- b')] }],
      '```quote\na\n\n&#45; b\n```',
    ],
    [
      'code',
      [
        {
          type: 'rich_text_preformatted',
          language: 'python',
          elements: [text('x = 1\n```\n'), { type: 'link', url: 'https://x.example' }],
        },
      ],
      '````python\nx = 1\n```\nhttps://x.example\n````',
    ],
    [
      'code that would be a quote',
      [{ type: 'rich_text_preformatted', language: 'quote', elements: [text('@**all**')] }],
      '```text\n@**all**\n```',
    ],
    [
      'a list in a quote',
      [
        { type: 'rich_text_quote', elements: [text('a')] },
        items('bullet', 0, ['b'], { border: 1 }),
        items('bullet', 0, ['c']),
      ],
      '```quote\na\n\n* b\n```\n\n* c',
    ],
    ['unknown elements', [section({ type: 'future', text: 'a' }, { type: 'future', fallback: 'b' }, {}, null)], 'ab'],
  ])('converts rich text: %s', (_, elements, markdown) => {
    expect(markdownOf({ blocks: [{ type: 'rich_text', elements }] })).toBe(markdown);
  });

  it.each<[title: string, attachment: object, markdown: string]>([
    [
      'all parts',
      {
        pretext: '*Build* <https://x.example/1|#1>',
        author_name: 'Ann *',
        author_link: 'https://x.example/ann',
        title: 'Failed [main] <3',
        title_link: 'https://x.example/t',
        text: '3 tests\n> quoted',
        fields: [{ title: 'Branch', value: '`main`' }, { title: '', value: '*b*' }, { title: 'c' }],
        image_url: 'https://x.example/i.png',
        thumb_url: 'https://x.example/t.png',
        actions: [
          { type: 'button', text: 'Runbook :book:', url: 'https://x.example/r' },
          { type: 'select', text: 'Pick' },
        ],
        footer: 'Grafana *v11*',
        ts: 1700000000,
      },
      [
        '**Build** [#1](https://x.example/1)\n[Ann &#42;](https://x.example/ann)\n**[Failed &#91;main&#93; <3](https://x.example/t)**\n3 tests',
        '```quote\nquoted\n```',
        '* **Branch**: `main`\n* **b**\n* **c**:',
        '[image](https://x.example/i.png)\n[Runbook 📖](https://x.example/r)\n*Grafana &#42;v11&#42; · <time:2023-11-14T22:13:20Z>*',
      ].join('\n\n'),
    ],
    ['a thumbnail', { text: 'a', thumb_url: 'https://x.example/t.png' }, 'a\n[image](https://x.example/t.png)'],
    [
      'texts without formatting',
      { pretext: '*a*', text: '*b* <https://x.example|c>', mrkdwn_in: ['pretext'] },
      '**a**\n&#42;b&#42; [c](https://x.example)',
    ],
    ['blocks', { color: '#f00', blocks: [{ type: 'section', text: mrkdwn('*a*') }] }, '**a**'],
    ['a time as text', { text: 'a', ts: '1700000000.5' }, 'a\n*<time:2023-11-14T22:13:20Z>*'],
    ['a fallback', { fallback: 'only *this*', color: 'good' }, 'only &#42;this&#42;'],
  ])('converts an attachment: %s', (_, attachment, markdown) => {
    expect(markdownOf({ attachments: [attachment] })).toBe(markdown);
  });

  it.each<[message: unknown, markdown: string]>([
    [{ text: '*a*', icon_emoji: ':ghost:' }, '👻 **a**'],
    [{ text: '&gt; a', icon_emoji: ':own_icon:' }, ':own_icon:\n\n```quote\na\n```'],
    [{ text: 'a', icon_emoji: 'ghost' }, 'a'],
    [{ icon_emoji: ':ghost:' }, ''],
    [{ text: '*a* <https://x.example|b>', mrkdwn: false }, '&#42;a&#42; [b](https://x.example)'],
    [{ text: 'a', attachments: [{ text: 'b' }, { text: 'c' }] }, 'a\n\nb\n\nc'],
    [{ text: 'a', blocks: 'x', attachments: { 0: { text: 'b' } } }, 'a\n\nx\n\nb'],
    [
      { text: 'a', blocks: [null, 1, {}, { type: 'section', fields: 'x' }, { type: 'image', title: 3 }] },
      '1\n\n* x\n\n3',
    ],
    [{ text: 7, blocks: [], attachments: [] }, '7'],
    [
      {
        attachments: [
          {
            fields: [
              { title: 'CPU', value: 93.5 },
              { title: 'Up', value: false },
            ],
          },
        ],
      },
      '* **CPU**: 93.5\n* **Up**: false',
    ],
    [
      { attachments: [{ title: 'a', title_link: 'x.example/b', text: { type: 'mrkdwn', text: 'c' } }] },
      '**a (x.example/b)**\nc',
    ],
    [{ attachments: [{ data: [1, 'x'] }] }, '{"data":&#91;1,"x"&#93;}'],
    [{ attachments: Array.from({ length: 120 }, () => ({})).concat() }, '… and 20 more'],
    [{ text: '/me waves' }, '&#47;me waves'],
    [null, ''],
    ['text', ''],
  ])('converts %j', (message, markdown) => {
    expect(markdownOf(message)).toBe(markdown);
  });

  it('limits the length of all texts together', () => {
    const blocks = Array.from({ length: 100 }, () => ({ type: 'section', text: plain('a'.repeat(3000)) }));
    expect(markdownOf({ blocks }).replace(/[^a]/g, '').length).toBeLessThanOrEqual(40_000);
    const limits = { maxParts: 100, maxText: 1_000_000 };
    expect(writeMarkdown(parseSlackMessage({ blocks }, limits)).replace(/[^a]/g, '')).toHaveLength(300_000);
  });
});
