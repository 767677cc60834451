import { join } from 'node:path';
import type { ImportedContent, ImportRecord } from '@parley/transfer/records';
import {
  type ExportFiles,
  expectStableRecords,
  readRecords,
  recordsOf,
  writeFolder,
  writeZip,
} from '../testing/export-files.js';
import { DISCORD_READER } from './discord-reader.js';

const GUILD = { id: '900', name: 'Acme', iconUrl: 'https://cdn.example/icon.png' };
const ANN = {
  id: '1',
  name: 'ann',
  discriminator: '0000',
  nickname: 'Ann S',
  isBot: false,
  roles: [{ id: '70', name: 'Devs' }],
};
const BEN = { id: '2', name: 'ben', nickname: 'Ben', isBot: false };

const file = (messages: readonly unknown[], channel: object = {}, more: object = {}) => ({
  guild: GUILD,
  channel: {
    id: '500',
    type: 'GuildTextChat',
    categoryId: '400',
    category: 'Work',
    name: 'general',
    topic: '**All**',
    ...channel,
  },
  dateRange: { after: null, before: null },
  ...more,
  messages,
  messageCount: messages.length,
});

const message = (id: string, more: object = {}) => ({
  id,
  type: 'Default',
  timestamp: '2023-11-14T22:13:20.5+00:00',
  timestampEdited: null,
  isPinned: false,
  content: 'a',
  author: ANN,
  attachments: [],
  embeds: [],
  stickers: [],
  reactions: [],
  mentions: [],
  ...more,
});

const read = async (files: ExportFiles): Promise<ImportRecord[]> => readRecords(DISCORD_READER, await writeZip(files));
const readMessages = async (...messages: readonly unknown[]) =>
  recordsOf(await read({ 'general [500].json': file(messages) }), 'message');
const contentOf = async (content: string, more: object = {}): Promise<ImportedContent> =>
  (await readMessages(message('1000', { content, ...more })))[0]!.content;

describe('DISCORD_READER', () => {
  it.each([
    ['a folder', () => writeFolder({ 'Acme - general [500].json': file([]) })],
    ['a single file', async () => join(await writeFolder({ 'general.json': file([]) }), 'general.json')],
    ['a packed folder', () => writeZip({ 'Discord/a.json': file([]), 'Discord/b.txt': 'x' })],
  ])('recognizes %s', async (_, write) => {
    expect(await DISCORD_READER.recognizes(await write())).toBe(true);
  });

  it.each([
    ['another archive', () => writeZip({ 'users.json': [], 'b.json': { guild: 1, messages: [] } })],
    ['nothing', async () => '/nowhere'],
  ])('does not recognize %s', async (_, write) => {
    expect(await DISCORD_READER.recognizes(await write())).toBe(false);
  });

  it('reads channels, partitions and people', async () => {
    const records = await read({
      'general [500].json': file([message('1000')]),
      'general [500] [part 2].json': file([
        message('1001', { author: BEN, timestampEdited: '2023-11-14T23:00:00+00:00', isPinned: true }),
      ]),
    });
    const organization = { source: 'discord:900', kind: 'organization', id: 'discord:900', name: 'Acme' };
    expect(records[0]).toEqual({ ...organization, messageFiles: 'threads' });
    expect(recordsOf(records, 'channel')).toEqual([
      {
        source: 'discord:900',
        kind: 'channel',
        id: '500',
        name: 'general',
        privacy: 'private',
        members: ['1', '2'],
        hasMoreMembers: true,
        description: '**All**',
        folder: 'Work',
      },
    ]);
    expect(recordsOf(records, 'person')).toMatchObject([
      { id: '1', name: 'Ann S', userName: 'ann' },
      { id: '2', name: 'Ben' },
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { id: '1000', channel: '500', sender: '1', sentAt: 1_700_000_000.5, content: 'a' },
      { id: '1001', editedAt: 1_700_002_800 },
    ]);
    expect(recordsOf(records, 'pin')).toMatchObject([{ message: '1001' }]);
    expect(recordsOf(records, 'group')).toMatchObject([{ id: '70', name: 'Devs', members: ['1'] }]);
  });

  it('reads threads, forum posts, private threads and direct conversations', async () => {
    const thread = (id: string, type: string, name: string, parent: string) => ({
      id,
      type,
      name,
      categoryId: parent,
      category: 'general',
      topic: null,
    });
    const records = await read({
      'a.json': file([message('1001')], thread('1000', 'GuildPublicThread', 'Release', '500')),
      'b.json': file([message('1000')]),
      'c.json': file([message('1002')], thread('1002', 'GuildPublicThread', 'How to?', '600')),
      'd.json': file([message('1003', { author: BEN })], thread('1003', 'GuildPrivateThread', 'Secret', '500')),
      'e.json': file(
        [message('1004'), message('1005', { author: BEN })],
        { id: '700', type: 'DirectTextChat', name: 'Ben' },
        { guild: { id: '0', name: 'Direct Messages' } },
      ),
    });
    expect(recordsOf(records, 'thread').map(({ id, channel, name }) => [id, channel, name])).toEqual([
      ['1000', '500', 'Release'],
      ['1002', '600', 'How to?'],
    ]);
    expect(
      recordsOf(records, 'message').map(({ id, channel, conversation, thread: of }) => [
        id,
        channel ?? conversation,
        of,
      ]),
    ).toEqual([
      ['1001', '500', '1000'],
      ['1000', '500', undefined],
      ['1002', '600', '1002'],
      ['1003', '1003', undefined],
      ['1004', '700', undefined],
      ['1005', '700', undefined],
    ]);
    expect(recordsOf(records, 'channel').map(({ id, name, folder, members }) => [id, name, folder, members])).toEqual([
      ['500', 'general', 'Work', ['1']],
      ['600', 'general', undefined, ['1']],
      ['1003', 'general: Secret', undefined, ['2']],
    ]);
    expect(recordsOf(records, 'conversation')).toMatchObject([{ id: '700', members: ['1', '2'] }]);
  });

  it.each([
    ['emphasis', '**a** *b* _c_ __d__ ~~e~~ `**f**`', '**a** *b* *c* *d* ~~e~~ `**f**`'],
    ['code', '```js\n@everyone\n```', '```js\n@everyone\n```'],
    ['quotes and headings', '# A\n> b', '# A\n\n```quote\nb\n```'],
    ['small text', '-# small', 'small'],
    ['spoilers', 'the ||butler|| did it', '```spoiler\nthe butler did it\n```'],
    ['spoilers in lists', '- a\n- ||b||', '```spoiler\n* a\n* b\n```'],
    ['bars in code', '`||a||`', '`||a||`'],
    ['custom emoji', '<:parrot:123> <a:wave2:9> :tada:', ':parrot: :wave2: 🎉'],
    ['times', '<t:1700000000:R>', '<time:2023-11-14T22:13:20Z>'],
    ['commands', '</play:123>', '`/play`'],
    ['Zulip’s mentions', '#**x**', '#\u2060**x**'],
  ])('converts %s', async (_, content, markdown) => {
    expect(await contentOf(content)).toBe(markdown);
  });

  it.each([
    ['<@1>', [{ mention: 'person', id: '1', name: 'Ann S' }]],
    ['<@!9>', [{ mention: 'person', id: '9', name: 'unknown' }]],
    ['@Ben, look', [{ mention: 'person', id: '2', name: 'Ben' }, ', look']],
    ['<@&70>', [{ mention: 'group', id: '70', name: 'Devs' }]],
    ['@everyone', [{ mention: 'everyone' }]],
    ['<#500>', [{ link: 'channel', id: '500', label: '#general' }]],
    ['in #general.', ['in ', { link: 'channel', id: '500', label: '#general' }, '.']],
    [
      'https://discord.com/channels/900/500/999',
      [{ link: 'message', id: '999', url: 'https://discord.com/channels/900/500/999' }],
    ],
  ])('refers to people, roles, channels and messages in %j', async (content, parts) => {
    expect(await contentOf(content, { mentions: [BEN] })).toEqual(parts);
  });

  it('shows rules and tables as text, as Discord does', async () => {
    expect(await contentOf('|a|\n---')).not.toMatch(/^---$/m);
  });

  it('leaves names without a mention as text', async () => {
    expect(await contentOf('@Ben and #nowhere')).toBe('@Ben and #nowhere');
  });

  it('reads replies, webhooks and forwarded messages', async () => {
    const hook = (name: string) => ({ id: '80', name, discriminator: '0000', isBot: true });
    const [, reply, first, second, forwarded] = await readMessages(
      message('1000'),
      message('1001', { type: 'Reply', reference: { messageId: '1000', channelId: '500' } }),
      message('1002', { author: hook('GitHub') }),
      message('1003', { author: hook('CI') }),
      message('1004', {
        content: '',
        reference: { messageId: '7' },
        forwardedMessage: { content: 'old', attachments: [] },
      }),
    );
    expect(reply).toMatchObject({ replyTo: '1000' });
    expect(first).toMatchObject({ sender: '80', isAutomatic: true });
    expect(first).not.toHaveProperty('senderName');
    expect(second).toMatchObject({ sender: '80', senderName: 'CI' });
    expect(forwarded).toMatchObject({ content: '```quote\nold\n```' });
    expect(forwarded).not.toHaveProperty('replyTo');
  });

  it('reads the embeds and stickers of forwarded messages', async () => {
    const records = await read({
      'general.json': file([
        message('1000', {
          content: '',
          forwardedMessage: {
            content: 'old',
            attachments: [{ id: '60', fileName: 'a.txt', url: 'https://cdn.example/a.txt' }],
            embeds: [{ title: 'Push', description: '1 commit' }],
            stickers: [{ id: '61', name: 'Wave', format: 'Png', sourceUrl: 'https://cdn.example/61.png' }],
          },
        }),
      ]),
    });
    expect(recordsOf(records, 'message')).toMatchObject([
      { content: '```quote\nold\n\n**Push**\n\n1 commit\n```', files: ['60', 'sticker/61'] },
    ]);
  });

  it('shows the buttons of apps', async () => {
    const button = { type: 'Button', style: 'Link', label: 'Open', url: 'https://x.example' };
    const components = [{ type: 'ActionRow', components: [button, { type: 'Button', label: 'Close', url: null }] }];
    expect(await contentOf('Ticket', { components })).toBe('Ticket\n\n[Open](https://x.example) · Close');
  });

  it('links the pictures of embeds if the media were downloaded', async () => {
    const image = { url: 'general.json_Files\\i-1A2B3.png', canonicalUrl: 'https://x.example/i.png' };
    expect(await contentOf('', { embeds: [{ image, images: [image] }] })).toBe('[image](https://x.example/i.png)');
  });

  it('reads embeds of bots, and omits previews of links in the text', async () => {
    const embed = {
      title: 'Push',
      url: 'https://x.example/p',
      timestamp: '2023-11-14T22:13:20+00:00',
      description: '1 **commit**',
      author: { name: 'ann', url: 'https://x.example/ann' },
      image: { url: 'https://x.example/i.png' },
      footer: { text: 'GitHub' },
      fields: [{ name: 'Branch', value: '`main`' }],
    };
    expect(await contentOf('', { embeds: [embed] })).toBe(
      '[ann](https://x.example/ann)\n\n**[Push](https://x.example/p)**\n\n1 **commit**\n\n**Branch**\n\n`main`\n\n' +
        '[image](https://x.example/i.png)\n\n*GitHub · <time:2023-11-14T22:13:20Z>*',
    );
    expect(await contentOf('see https://x.example/p', { embeds: [embed] })).toBe('see https://x.example/p');
  });

  it('reads files of the media folder, stickers, avatars and custom emoji', async () => {
    const records = await read({
      'Acme/general [500].json': file([
        message('1000', {
          author: { ...ANN, avatarUrl: 'general [500].json_Files\\avatar-1.png' },
          attachments: [
            { id: '30', url: 'general [500].json_Files\\a b-1.png', fileName: 'a b.png', fileSizeBytes: 3 },
            { id: '31', url: 'https://cdn.discordapp.com/x.png', fileName: 'x.png' },
            { id: '32', url: 'general [500].json_Files\\gone.png', fileName: 'gone.png' },
          ],
          stickers: [{ id: '40', name: 'Wave', format: 'Lottie', sourceUrl: 'https://cdn.example/40.json' }],
          inlineEmojis: [{ id: '50', name: 'parrot', isAnimated: true, imageUrl: 'https://cdn.example/50.gif' }],
        }),
      ]),
      'Acme/general [500].json_Files/a b-1.png': 'PNG',
      'Acme/general [500].json_Files/avatar-1.png': 'PNG',
      'Acme/general [500].json_Files/unused.png': '',
      'note.txt': '',
    });
    expect(recordsOf(records, 'file')).toMatchObject([
      { id: 'emoji/50', url: 'https://cdn.example/50.gif' },
      { id: 'avatar/1', path: 'Acme/general [500].json_Files/avatar-1.png' },
      { id: '30', name: 'a b.png', path: 'Acme/general [500].json_Files/a b-1.png' },
      { id: '31', url: 'https://cdn.discordapp.com/x.png' },
      { id: '32', missing: 'missing in the export' },
      { id: 'sticker/40', name: 'Wave.json', url: 'https://cdn.example/40.json' },
    ]);
    expect(recordsOf(records, 'message')[0]).toMatchObject({ files: ['30', '31', '32', 'sticker/40'] });
    expect(recordsOf(records, 'emoji')).toMatchObject([{ id: '50', name: 'parrot', file: 'emoji/50' }]);
    expect(recordsOf(records, 'skipped').map(({ id }) => id)).toEqual([
      'Acme/general [500].json_Files/unused.png',
      'note.txt',
    ]);
  });

  it('reads reactions of people, and counts those of old versions without people', async () => {
    const reactions = [
      { emoji: { id: '', name: '👍', code: 'thumbsup' }, count: 2, users: [BEN, { id: '3', name: 'gone' }] },
      { emoji: { id: '50', name: 'parrot' }, count: 4 },
    ];
    const records = await read({ 'a.json': file([message('1000', { reactions })]) });
    expect(recordsOf(records, 'reaction').map(({ person, emoji }) => [person, emoji])).toEqual([
      ['2', '👍'],
      ['3', '👍'],
    ]);
    expect(recordsOf(records, 'skipped')).toMatchObject([{ type: 'discord.reaction', original: { count: 4 } }]);
  });

  it('counts members who join and repeated starts of threads, and keeps notices and unknown types', async () => {
    const records = await read({
      'a.json': file([
        message('1000', { type: 'GuildMemberJoin' }),
        message('1001', { type: '21' }),
        message('1002', { type: 'ChannelPinnedMessage', content: 'Pinned a message.' }),
        message('1003', { type: '999' }),
        message('1004', { content: '' }),
        message('1005', { content: '', poll: { question: { text: 'Tea?' }, answers: [{ text: 'yes' }] } }),
      ]),
    });
    expect(recordsOf(records, 'skipped').map(({ type }) => type)).toEqual(['discord.GuildMemberJoin', 'discord.21']);
    expect(recordsOf(records, 'message')).toMatchObject([
      { id: '1002', isNotice: true },
      { id: '1003', content: 'a', unsupported: [{ type: 'discord.message.999', original: { id: '1003' } }] },
      { id: '1004', content: '*Message without text*', unsupported: [{ type: 'discord.empty_message' }] },
      { id: '1005', content: '**Tea?**\n\n* yes', unsupported: [{ type: 'discord.poll' }] },
    ]);
  });

  it('represents damaged messages, and reads what follows', async () => {
    const [before, after] = JSON.stringify(file([message('1000')])).split(/(?<="messages":\[)/) as [string, string];
    const text = `${before}\n7, {"id": x},\n{"id": "1001", "timestamp": 5, "author": []},\n${after.replace(/\],"messageCount.*/, '')},\n{"id": "10`;
    const messages = recordsOf(await read({ 'a.json': text, 'b.json': file([], { id: '501' }) }), 'message');
    expect(messages.map(({ id }) => id)).toEqual(['a.json#1', 'a.json#2', '1001', '1000', 'a.json#3']);
    expect(messages[2]).toMatchObject({ sender: 'unknown', sentAt: 5 });
    // The notice follows the message before the damage.
    expect(messages[4]!.sentAt).toBe(messages[3]!.sentAt);
  });

  it('counts missing partitions', async () => {
    const records = await read({
      'a.json': file([message('1000')]),
      'a [part 2].json': file([message('1001')]),
      'a [part 5].json': file([message('1004')]),
      'b [part 2].json': file([], { id: '501' }),
    });
    expect(recordsOf(records, 'skipped').map(({ id, reason }) => [id, reason])).toEqual([
      ['a [part 3].json', 'One or more partitions of the export are missing, with their messages'],
      ['b.json', 'One or more partitions of the export are missing, with their messages'],
    ]);
  });

  it('rejects several servers in one folder, with the file', async () => {
    const files = { 'a.json': file([]), 'b.json': file([], {}, { guild: { id: '901', name: 'Other' } }) };
    await expect(read(files)).rejects.toThrow(
      'b.json, line 1: belongs to another server; import the servers one by one.',
    );
  });

  it('returns the same records each time, with unique ids', async () => {
    const messages = [
      message('1000', { content: '<@1>' }),
      message('1001', { reactions: [{ emoji: { name: 'x' }, count: 1 }] }),
    ];
    await expectStableRecords(DISCORD_READER, await writeZip({ 'a.json': file(messages) }));
  });
});
