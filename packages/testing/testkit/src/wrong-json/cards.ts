const text = (of: string) => ({ type: 'mrkdwn', text: of });
/** Messages in Slack's format, with each kind of part. */
export const CARDS: readonly object[] = [
  { text: 'hello', icon_emoji: ':tada:' },
  {
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'a', emoji: true } },
      {
        type: 'section',
        text: text('b'),
        fields: [text('c'), text('d')],
        accessory: { type: 'button', text: text('e'), url: 'https://x.example' },
      },
      {
        type: 'context',
        elements: [text('f'), { type: 'image', image_url: 'https://x.example/i.png', alt_text: 'g' }],
      },
      { type: 'image', image_url: 'https://x.example/i.png', title: text('h') },
      {
        type: 'video',
        title: text('i'),
        title_url: 'https://x.example/v',
        description: text('j'),
        thumbnail_url: 'https://x.example/t',
        alt_text: 'k',
      },
      {
        type: 'table',
        rows: [
          [
            { type: 'raw_text', text: 'l' },
            { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'm' }] }] },
          ],
        ],
      },
      { type: 'markdown', text: 'n' },
    ],
  },
  {
    blocks: [
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              { type: 'text', text: 'a', style: { bold: true } },
              { type: 'link', url: 'https://x.example', text: 'b' },
            ],
          },
          {
            type: 'rich_text_list',
            style: 'ordered',
            indent: 1,
            offset: 1,
            border: 1,
            elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'c' }] }],
          },
          {
            type: 'rich_text_quote',
            elements: [
              { type: 'user', user_id: 'U1' },
              { type: 'date', timestamp: 1_700_000_000, format: '{date}', fallback: 'd' },
            ],
          },
          {
            type: 'rich_text_preformatted',
            elements: [
              { type: 'text', text: 'e' },
              { type: 'emoji', name: 'wave', unicode: '1f44b', skin_tone: 2 },
            ],
          },
        ],
      },
    ],
  },
  {
    attachments: [
      {
        color: 'good',
        mrkdwn_in: ['text'],
        pretext: 'a',
        author_name: 'b',
        author_link: 'https://x.example/b',
        title: 'c',
        title_link: 'https://x.example/c',
        text: 'd',
        fields: [{ title: 'e', value: 'f', short: true }],
        actions: [{ type: 'button', text: 'g', url: 'https://x.example/g' }],
        image_url: 'https://x.example/i.png',
        footer: 'h',
        ts: 1_700_000_000,
        fallback: 'i',
      },
    ],
  },
];
