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
import { MATTERMOST_READER } from './mattermost-reader.js';

const VERSION = { type: 'version', version: 1, info: { generator: 'mattermost-server', version: '9.5' } };
const TEAM = { type: 'team', team: { name: 'acme', display_name: 'Acme', type: 'O' } };
const channel = (name: string, more: object = {}) => ({
  type: 'channel',
  channel: { team: 'acme', name, display_name: name.toUpperCase(), type: 'O', ...more },
});
const user = (username: string, more: object = {}, channels: readonly object[] = []) => ({
  type: 'user',
  user: {
    username,
    email: `${username}@acme.example`,
    first_name: username.toUpperCase(),
    last_name: '',
    roles: 'system_user',
    teams: [{ name: 'acme', roles: 'team_user', channels }],
    ...more,
  },
});
const BASE = [VERSION, TEAM, channel('town'), user('ann', {}, [{ name: 'town' }]), user('ben.', {}), user('ben')];

const linesOf = (lines: readonly unknown[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');

const post = (message: string, more: object = {}) => ({
  type: 'post',
  post: { team: 'acme', channel: 'town', user: 'ann', message, create_at: 1_700_000_000_123, ...more },
});

const read = async (lines: readonly unknown[], files: ExportFiles = {}): Promise<ImportRecord[]> =>
  readRecords(MATTERMOST_READER, await writeZip({ 'import.jsonl': linesOf([...BASE, ...lines]), ...files }));

const contentOf = async (message: string, more: object = {}): Promise<ImportedContent> =>
  recordsOf(await read([post(message, more)]), 'message')[0]!.content;

describe('MATTERMOST_READER', () => {
  it.each([
    ['a ZIP', () => writeZip({ 'import.jsonl': linesOf(BASE), 'data/a.png': 'x' })],
    ['a folder', () => writeFolder({ 'import.jsonl': linesOf(BASE) })],
    ['a folder by an older version', () => writeFolder({ 'export.json': linesOf(BASE), 'exported_emoji/a.png': 'x' })],
    ['lines alone', async () => join(await writeFolder({ 'import.jsonl': linesOf(BASE) }), 'import.jsonl')],
    ['a file of another name', () => writeZip({ 'export/mattermost.jsonl': linesOf(BASE) })],
  ])('recognizes %s', async (_, write) => {
    expect(await MATTERMOST_READER.recognizes(await write())).toBe(true);
  });

  it.each([
    ['another archive', () => writeZip({ 'users.json': [] })],
    ['lines of another kind', () => writeZip({ 'import.jsonl': '{"kind": "person"}' })],
    ['an empty file', () => writeZip({ 'import.jsonl': '' })],
    ['nothing', async () => '/nowhere.zip'],
  ])('does not recognize %s', async (_, write) => {
    expect(await MATTERMOST_READER.recognizes(await write())).toBe(false);
  });

  it('reads people, guests, bots and their pictures', async () => {
    const records = await read(
      [
        user('root', {
          roles: 'system_user system_admin',
          auth_service: 'saml',
          auth_data: 'id-7',
          profile_image: 'p/root.png',
        }),
        user('gil', { roles: 'system_guest', nickname: 'Gilly', first_name: '' }),
        user('old', { delete_at: 1_600_000_000_000 }),
        { type: 'bot', bot: { username: 'ci', owner: 'root', display_name: 'CI', delete_at: 7 } },
        post('', { user: 'gone' }),
      ],
      { 'data/p/root.png': 'PNG' },
    );
    expect(recordsOf(records, 'person').slice(3)).toMatchObject([
      {
        id: 'root',
        name: 'ROOT',
        role: 'administrator',
        externalId: 'id-7',
        email: 'root@acme.example',
        avatar: 'p/root.png',
      },
      { id: 'gil', name: 'Gilly', role: 'guest' },
      { id: 'old', isDeactivated: true },
      { id: 'ci', name: 'CI', isBot: true, isDeactivated: true },
      { id: 'gone', isDeactivated: true },
    ]);
    expect(recordsOf(records, 'file')).toMatchObject([{ id: 'p/root.png', path: 'data/p/root.png', size: 3 }]);
    expect(recordsOf(records, 'person')[0]).not.toHaveProperty('isEmailVerified');
  });

  it('reads channels with members, description and reading positions', async () => {
    const records = await read([
      channel('secret', { type: 'P', purpose: 'Plans', header: '**Now** @all' }),
      channel('past', { deleted_at: 1_600_000_000_000 }),
      user('zoe', {}, [
        { name: 'secret', last_viewed_at: 1_700_000_000_500 },
        { name: 'town', last_viewed_at: 0 },
      ]),
    ]);
    expect(recordsOf(records, 'channel')).toMatchObject([
      { id: 'acme/town', name: 'TOWN', privacy: 'public', members: ['ann', 'zoe'], folder: 'Acme' },
      { id: 'acme/secret', privacy: 'private', members: ['zoe'], description: 'Plans\n\n**Now** @everyone' },
      { id: 'acme/past', isArchived: true },
    ]);
    expect(recordsOf(records, 'readPosition')).toMatchObject([
      { person: 'zoe', channel: 'acme/secret', readUntil: 1_700_000_000.5 },
    ]);
  });

  it('makes public channels private if a member is outside the team', async () => {
    const other = { name: 'sales', roles: 'team_user', channels: [{ name: 'deals' }] };
    const records = await read([
      { type: 'team', team: { name: 'sales', display_name: 'Sales' } },
      { type: 'channel', channel: { team: 'sales', name: 'deals', type: 'O' } },
      user('zoe', { teams: [other] }),
    ]);
    expect(recordsOf(records, 'channel').map(({ id, privacy, folder }) => [id, privacy, folder])).toEqual([
      ['acme/town', 'private', 'Acme'],
      ['sales/deals', 'private', 'Sales'],
    ]);
  });

  it('reads threads, reactions, pins and saved posts', async () => {
    const records = await read([
      post('root', {
        edit_at: 1_700_000_009_000,
        is_pinned: true,
        flagged_by: ['ben'],
        reactions: [
          { user: 'ben', emoji_name: '+1_medium_skin_tone', create_at: 1_700_000_001_000 },
          { user: 'ann', emoji_name: 'partyparrot' },
          { user: '', emoji_name: 'x' },
        ],
        replies: [
          {
            user: 'ben',
            message: 'reply',
            create_at: 1_700_000_002_000,
            reactions: [{ user: 'ann', emoji_name: 'tada' }],
          },
        ],
      }),
    ]);
    const id = 'acme/town/1700000000123/ann';
    const replyId = 'acme/town/1700000002000/ben';
    expect(recordsOf(records, 'message')).toEqual([
      {
        source: 'mattermost',
        kind: 'message',
        id,
        channel: 'acme/town',
        sender: 'ann',
        sentAt: 1_700_000_000.123,
        content: 'root',
        editedAt: 1_700_000_009,
      },
      expect.objectContaining({ id: replyId, thread: id, sender: 'ben', content: 'reply' }),
    ]);
    expect(recordsOf(records, 'reaction').map(({ message, person, emoji }) => [message, person, emoji])).toEqual([
      [id, 'ben', '👍🏽'],
      [id, 'ann', 'partyparrot'],
      [replyId, 'ann', '🎉'],
    ]);
    expect(recordsOf(records, 'pin').map(({ message, person }) => [message, person])).toEqual([
      [id, undefined],
      [id, 'ben'],
    ]);
    expect(recordsOf(records, 'skipped')).toMatchObject([{ type: 'mattermost.reaction' }]);
  });

  it('reads direct conversations of any number of teams', async () => {
    const direct = (more: object) => ({
      type: 'direct_post',
      direct_post: {
        channel_members: ['ben', 'ann'],
        user: 'ann',
        message: 'a',
        create_at: 1_700_000_000_000,
        ...more,
      },
    });
    const records = await read([
      { type: 'team', team: { name: 'sales' } },
      { type: 'direct_channel', direct_channel: { members: ['ann', 'ben'] } },
      {
        type: 'direct_channel',
        direct_channel: {
          participants: [{ username: 'ann', last_viewed_at: 1_700_000_000_000 }, { username: 'ben.' }],
        },
      },
      direct({ replies: [{ user: 'ben', message: 'b', create_at: 1_700_000_001_000 }] }),
      direct({ channel_members: ['ann'], message: 'to me' }),
    ]);
    expect(recordsOf(records, 'conversation').map(({ id, members }) => [id, members])).toEqual([
      ['ann,ben', ['ann', 'ben']],
      ['ann,ben.', ['ann', 'ben.']],
      ['ann', ['ann']],
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { conversation: 'ann,ben', content: 'a' },
      { conversation: 'ann,ben', content: 'b', replyTo: 'ann,ben/1700000000000/ann' },
      { conversation: 'ann', content: 'to me' },
    ]);
    expect(recordsOf(records, 'readPosition')).toMatchObject([{ person: 'ann', conversation: 'ann,ben.' }]);
  });

  it.each([
    ['emphasis and code', '_a_ __b__ ~~c~~ `_d_`', '*a* **b** ~~c~~ `_d_`'],
    ['headings', '# A\n### B', '# A\n\n### B'],
    ['nested lists', '- a\n  1. b\n- c', '* a\n  1. b\n* c'],
    ['code in lists', '1. a\n   ```sh\n   x\n   ```\n2. b', '1. a\n\n```sh\nx\n```\n\n2. b'],
    ['quotes', '> a\n> b', '```quote\na\nb\n```'],
    ['fences', '~~~js\n@all\n~~~', '```js\n@all\n```'],
    ['tables', '|a|b|\n|-|-|\n|1|`2`|', '| a | b |\n| --- | --- |\n| 1 | `2` |'],
    [
      'images and links',
      '![x](https://x.example/a.png) <https://x.example> www.x.example',
      '[x](https://x.example/a.png) https://x.example www.x.example',
    ],
    ['escapes', '\\*a\\* <b>', '&#42;a&#42; <b>'],
    ['emoji', ':tada: :partyparrot: 10:30:45', '🎉 :partyparrot: 10&#58;30:45'],
    ['line breaks', 'a\nb', 'a\nb'],
    ['addresses', 'mail me@ann.example @nobody', 'mail me@ann.example @nobody'],
    ['mentions in code', '`@all @ann`', '`@all @ann`'],
    ['Zulip’s syntax', '@**ann** #**town** /me', '@**ann** #**town** /me'],
  ])('converts %s', async (_, message, content) => {
    const found = await contentOf(message);
    if (message.startsWith('@**')) expect(found).not.toMatch(/[@#]\*\*/);
    else expect(found).toBe(content);
  });

  it.each([
    ['@ann!', [{ mention: 'person', id: 'ann', name: 'ANN' }, '!']],
    ['@Ben.', [{ mention: 'person', id: 'ben.', name: 'BEN.' }]],
    ['@ben..', [{ mention: 'person', id: 'ben.', name: 'BEN.' }, '.']],
    ['@ann.', [{ mention: 'person', id: 'ann', name: 'ANN' }, '.']],
    ['@all: @here', [{ mention: 'everyone' }, ': ', { mention: 'everyone' }]],
    ['see ~town', ['see ', { link: 'channel', id: 'acme/town', label: '#TOWN' }]],
  ])('refers to people and channels in %j', async (message, content) => {
    expect(await contentOf(message)).toEqual(content);
  });

  it('reads posts of webhooks with cards, and posts of /me', async () => {
    const props = {
      from_webhook: 'true',
      override_username: 'Deploy',
      attachments: [
        {
          pretext: '_p_',
          title: 'T',
          title_link: 'https://x.example',
          text: '**x**',
          fields: [{ title: 'F', value: 7 }],
          footer: 'f',
        },
        { fallback: 'only' },
      ],
    };
    const [webhook, me] = recordsOf(
      await read([post('', { props, type: 'slack_attachment' }), post('waves', { type: 'me' })]),
      'message',
    );
    expect(webhook).toMatchObject({
      senderName: 'Deploy',
      isAutomatic: true,
      content: '*p*\n\n**[T](https://x.example)**\n\n**x**\n\n**F**\n\n7\n\n*f*\n\nonly',
    });
    expect(me).toMatchObject({ content: '/me waves', id: 'acme/town/1700000000123/ann/2' });
  });

  it('keeps posts of plugins as text with their properties, and system messages as notices', async () => {
    const records = await read([
      post('Call started', { type: 'custom_calls', props: { start_at: 1 } }),
      post('ann updated the header', { type: 'system_header_change' }),
      post('ann joined', { type: 'system_join_channel' }),
      post('ann added ben', { type: 'system_add_to_channel' }),
      post('', { props: { x: 1 } }),
    ]);
    const [call, header, empty] = recordsOf(records, 'message');
    expect(call).toMatchObject({
      content: 'Call started',
      unsupported: [{ type: 'mattermost.post.custom_calls', original: { props: { start_at: 1 } } }],
    });
    expect(header).toMatchObject({ isNotice: true });
    expect(header).not.toHaveProperty('unsupported');
    expect(empty).toMatchObject({
      content: '*Message without text*',
      unsupported: [{ type: 'mattermost.empty_post' }],
    });
    expect(recordsOf(records, 'skipped').map(({ type }) => type)).toEqual([
      'mattermost.system_join_channel',
      'mattermost.system_add_to_channel',
    ]);
  });

  it('reads custom emoji and attachments of older and newer layouts', async () => {
    const attachments = [{ path: 'u/a.png' }, { path: '/data/u/b.png' }, { path: '../../etc/passwd' }];
    const records = await read(
      [
        { type: 'emoji', emoji: { name: 'parrot', image: 'e/parrot.gif' } },
        { type: 'emoji', emoji: {} },
        post('', { attachments }),
      ],
      { 'data/u/a.png': 'A', 'data/u/b.png': 'BB', 'data/e/parrot.gif': 'GIF', 'data/unused.png': '' },
    );
    expect(recordsOf(records, 'emoji')).toMatchObject([{ name: 'parrot', file: 'e/parrot.gif' }]);
    expect(recordsOf(records, 'file')).toMatchObject([
      { id: 'e/parrot.gif', path: 'data/e/parrot.gif' },
      { id: 'u/a.png', path: 'data/u/a.png', name: 'a.png' },
      { id: '/data/u/b.png', path: 'data/u/b.png', size: 2 },
      { id: '../../etc/passwd', missing: 'missing in the export' },
    ]);
    expect(recordsOf(records, 'message')[0]).toMatchObject({ content: '', files: attachments.map(({ path }) => path) });
    expect(recordsOf(records, 'skipped').map(({ type }) => type)).toEqual(['mattermost.emoji', 'mattermost.file']);
  });

  it('keeps posts of 16,383 characters and more', async () => {
    expect(await contentOf('x'.repeat(100_000))).toBe('x'.repeat(100_000));
    expect(((await contentOf('*'.repeat(600_000))) as string).length).toBeGreaterThan(600_000);
  });

  it('counts lines that are damaged or of unknown types', async () => {
    const records = await read([
      '{"type": "post", "post": {',
      '7',
      '{"type": "post", "post": 7}',
      { type: 'role', role: { name: 'x' } },
      { type: 'wiki', wiki: {} },
    ]);
    expect(recordsOf(records, 'skipped').map(({ id, type }) => [id, type])).toEqual([
      ['import.jsonl:7', 'mattermost.damaged_line'],
      ['import.jsonl:8', 'mattermost.damaged_line'],
      ['import.jsonl:9', 'mattermost.damaged_line'],
      ['import.jsonl:10', 'mattermost.role'],
      ['import.jsonl:11', 'mattermost.wiki'],
    ]);
  });

  it('takes values of a wrong type as missing', async () => {
    const records = await read([
      {
        type: 'post',
        post: {
          team: 1,
          channel: [],
          user: {},
          message: 7,
          create_at: 'soon',
          props: 'x',
          reactions: {},
          replies: [null, 3],
          attachments: [7],
          flagged_by: [1],
        },
      },
      '{"type": "post", "post": {"__proto__": {"user": "ann"}, "team": "acme", "channel": "town", "message": "a", "create_at": 1700000000000}}',
      { type: 'user', user: { username: 'odd', teams: [7, { name: [], channels: [null] }], roles: 1 } },
    ]);
    const messages = recordsOf(records, 'message');
    expect(messages).toHaveLength(4);
    expect(messages[0]).toMatchObject({
      channel: '/',
      sender: 'unknown',
      sentAt: 1,
      unsupported: [{ type: 'mattermost.post_without_time' }],
    });
    expect(messages[3]).toMatchObject({ channel: 'acme/town', sender: 'unknown', content: 'a' });
    expect(recordsOf(records, 'channel')).toContainEqual(
      expect.objectContaining({ id: '/', privacy: 'private', members: ['odd', 'unknown'] }),
    );
  });

  it('returns the same records each time, with unique ids', async () => {
    await expectStableRecords(
      MATTERMOST_READER,
      await writeZip({
        'import.jsonl': linesOf([...BASE, post('a @ann'), post('b'), post('c', { replies: [{}, {}] })]),
      }),
    );
  });
});
