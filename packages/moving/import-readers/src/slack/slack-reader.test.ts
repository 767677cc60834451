import type { ImportedContent, ImportRecord, MessageRecord } from '@parley/transfer/records';
import {
  type ExportFiles,
  expectStableRecords,
  readRecords,
  recordsOf,
  withoutUtf8Flag,
  writeFolder,
  writeZip,
} from '../testing/export-files.js';
import { SLACK_READER } from './slack-reader.js';

const ANN = {
  id: 'U0000ANN',
  team_id: 'T0ACME',
  name: 'ann',
  is_owner: true,
  is_email_confirmed: true,
  tz: 'Europe/Berlin',
  profile: { real_name: 'Ann Smith', email: 'ann@acme.example', image_original: 'https://avatars.example/ann.png' },
};
const BEN = { id: 'U0000BEN', team_id: 'T0ACME', name: 'ben', deleted: true, profile: { real_name: 'Ben' } };
const GUEST = { id: 'U00GUEST', team_id: 'T0ACME', name: 'gil', is_restricted: true, profile: { display_name: 'Gil' } };
const BOT = { id: 'U0000BOT', team_id: 'T0ACME', name: 'ci', is_bot: true, profile: { real_name: 'CI', bot_id: 'B1' } };
const GENERAL = {
  id: 'C0GENERAL',
  name: 'général',
  created: 1_600_000_000,
  creator: 'U0000ANN',
  is_archived: false,
  members: ['U0000ANN', 'U0000BEN'],
  topic: { value: 'News by <@U0000ANN>' },
  purpose: { value: '*Everything*' },
  pins: [
    { id: '1700000000.000100', type: 'C', created: 1_700_000_500, user: 'U0000ANN' },
    { id: 'F0FILE', type: 'F', created: 1_700_000_500 },
  ],
};

const SECRET = { id: 'G0SECRET', name: 'secret', members: ['U0000ANN'] };

/** Export with one day of messages in a channel. */
const withMessages = (messages: unknown, more: ExportFiles = {}): ExportFiles => ({
  'users.json': [ANN, BEN, GUEST, BOT],
  'channels.json': [GENERAL],
  'général/2023-11-14.json': messages,
  ...more,
});

const message = (ts: number, more: object): object => ({
  type: 'message',
  user: 'U0000ANN',
  ts: `17000000${String(ts).padStart(2, '0')}.000100`,
  ...more,
});

const read = async (files: ExportFiles): Promise<ImportRecord[]> => readRecords(SLACK_READER, await writeZip(files));

const readMessages = async (messages: unknown, more: ExportFiles = {}): Promise<readonly MessageRecord[]> =>
  recordsOf(await read(withMessages(messages, more)), 'message');

const contentOf = async (more: object): Promise<ImportedContent> => {
  const [first] = await readMessages([message(0, more)]);
  return first!.content;
};

const richText = (...elements: unknown[]) => ({ blocks: [{ type: 'rich_text', elements }] });
const section = (...elements: unknown[]) => ({ type: 'rich_text_section', elements });
const items = (indent: number, ...texts: string[]) => ({
  type: 'rich_text_list',
  style: 'bullet',
  indent,
  elements: texts.map((text) => section({ type: 'text', text })),
});

describe('SLACK_READER', () => {
  it.each([
    ['a ZIP', () => writeZip(withMessages([]))],
    ['a folder', () => writeFolder(withMessages([]))],
    ['a packed folder', () => writeZip({ 'Acme/users.json': [], 'Acme/channels.json': [] })],
  ])('recognizes %s', async (_, write) => {
    expect(await SLACK_READER.recognizes(await write())).toBe(true);
  });

  it.each([
    ['another archive', () => writeZip({ 'import.jsonl': '' })],
    ['a damaged archive', async () => `${await writeFolder({ 'a.zip': 'PK' })}/a.zip`],
    ['nothing', async () => '/nowhere.zip'],
  ])('does not recognize %s', async (_, write) => {
    expect(await SLACK_READER.recognizes(await write())).toBe(false);
  });

  it('names the organization after the ZIP, and the source after the workspace', async () => {
    const path = await writeZip(withMessages([]), 'Acme Slack export Jan 1 2023 - Feb 1 2023.zip');
    const [organization, ...others] = await readRecords(SLACK_READER, path);
    const expected = { source: 'slack:T0ACME', kind: 'organization', id: 'slack:T0ACME', name: 'Acme' };
    expect(organization).toEqual({ ...expected, messageFiles: 'days' });
    expect(new Set(others.map(({ source }) => source))).toEqual(new Set(['slack:T0ACME']));
  });

  it('reads people with their roles, pictures and states', async () => {
    const records = await read(withMessages([]));
    expect(recordsOf(records, 'person')).toMatchObject([
      {
        id: 'U0000ANN',
        name: 'Ann Smith',
        userName: 'ann',
        email: 'ann@acme.example',
        isEmailVerified: true,
        timeZone: 'Europe/Berlin',
        avatar: 'avatar/U0000ANN',
        role: 'owner',
      },
      { id: 'U0000BEN', name: 'Ben', isDeactivated: true, role: 'member' },
      { id: 'U00GUEST', name: 'Gil', role: 'guest' },
      { id: 'U0000BOT', name: 'CI', isBot: true },
    ]);
    expect(recordsOf(records, 'file')).toMatchObject([
      { id: 'avatar/U0000ANN', url: 'https://avatars.example/ann.png' },
    ]);
  });

  it('reads channels, groups, group conversations and direct conversations', async () => {
    const records = await read(
      withMessages([], {
        'groups.json': [{ id: 'G0SECRET', name: 'secret', is_archived: true, members: ['U0000ANN'] }],
        'mpims.json': [{ id: 'G0MPIM', name: 'mpdm-ann--ben--gil-1', members: ['U0000ANN', 'U0000BEN', 'U00GUEST'] }],
        'dms.json': [{ id: 'D0DIRECT', members: ['U0000ANN', 'U0000BEN'] }],
        'mpdm-ann--ben--gil-1/2023-11-14.json': [message(1, { text: 'a' })],
        'D0DIRECT/2023-11-14.json': [
          message(2, { text: 'b', thread_ts: '1700000002.000100' }),
          message(3, { text: 'c', thread_ts: '1700000002.000100' }),
        ],
        'secret/2023-11-14.json': [message(4, { text: 'd' })],
      }),
    );
    expect(recordsOf(records, 'channel')).toMatchObject([
      {
        id: 'C0GENERAL',
        name: 'général',
        privacy: 'public',
        description: '**Everything**\n\nNews by @Ann Smith',
        members: ['U0000ANN', 'U0000BEN'],
        createdAt: 1_600_000_000,
        creator: 'U0000ANN',
      },
      { id: 'G0SECRET', privacy: 'private', isArchived: true, members: ['U0000ANN'] },
    ]);
    expect(recordsOf(records, 'conversation')).toMatchObject([
      { id: 'G0MPIM', members: ['U0000ANN', 'U0000BEN', 'U00GUEST'] },
      { id: 'D0DIRECT', members: ['U0000ANN', 'U0000BEN'] },
    ]);
    const [secret, group, root, reply] = recordsOf(records, 'message');
    expect(secret).toMatchObject({ channel: 'G0SECRET', content: 'd' });
    expect(group).toMatchObject({ conversation: 'G0MPIM', content: 'a' });
    expect(root).not.toHaveProperty('replyTo');
    expect(reply).toMatchObject({ conversation: 'D0DIRECT', content: 'c', replyTo: root!.id });
    expect(reply).not.toHaveProperty('thread');
  });

  it('treats channels of slackdump as private if they say so', async () => {
    const channels = [
      { id: 'C1', name: 'a', is_private: true, members: null },
      { id: 'D1', is_im: true, user: 'U0000BEN' },
      { id: 'G1', name: 'mpdm', is_mpim: true, members: ['U0000ANN'] },
    ];
    const records = await read({ 'users.json': [ANN, BEN], 'channels.json': channels });
    expect(recordsOf(records, 'channel')).toMatchObject([{ id: 'C1', privacy: 'private', members: [] }]);
    expect(recordsOf(records, 'conversation')).toMatchObject([
      { id: 'D1', members: ['U0000BEN'] },
      { id: 'G1', members: ['U0000ANN'] },
    ]);
  });

  it('reads the workspaces of an Enterprise organization into folders, and people of several only once', async () => {
    const member = { ...ANN, enterprise_user: { id: 'W1', enterprise_id: 'E0CORP' } };
    const records = await read({
      'org_users.json': [member],
      'channels.json': [{ id: 'C1', name: 'all', members: [] }],
      'all/2023-11-14.json': [message(1, { text: 'a' })],
      'teams/Sales/users.json': [member],
      'teams/Sales/channels.json': [{ id: 'C2', name: 'all', members: [] }],
      'teams/Sales/all/2023-11-14.json': [message(2, { text: 'b' })],
    });
    expect(recordsOf(records, 'person').map(({ id }) => id)).toEqual(['U0000ANN']);
    expect(recordsOf(records, 'channel').map(({ id, folder }) => [id, folder])).toEqual([
      ['C1', undefined],
      ['C2', 'Sales'],
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { source: 'slack:E0CORP', channel: 'C1', content: 'a' },
      { channel: 'C2', content: 'b' },
    ]);
  });

  it.each([
    [
      'bold, code and links',
      { text: '*a* `*b*` <https://x.example|c> &amp; [d]' },
      '**a** `*b*` [c](https://x.example) & &#91;d&#93;',
    ],
    ['quotes and fences', { text: '> q\n```\n*x* &lt;y&gt;\n```' }, '```quote\nq\n```\n\n```text\n*x* <y>\n```'],
    ['nested lists', richText(items(0, 'a'), items(1, 'b', 'c'), items(0, 'd')), '* a\n  * b\n  * c\n* d'],
    ['emoji with a skin tone', richText(section({ type: 'emoji', name: 'wave', skin_tone: 3 })), '👋🏼'],
    ['custom emoji', { text: ':party-parrot:' }, ':party-parrot:'],
    ['an app’s card', { attachments: [{ title: 'Build 7', text: 'passed', color: 'good' }] }, '**Build 7**\npassed'],
    ['a message of /me', { subtype: 'me_message', text: 'waves' }, '/me waves'],
  ])('converts %s', async (_, more, content) => {
    expect(await contentOf(more)).toBe(content);
  });

  it.each([
    ['a person', '<@U0000ANN>', { mention: 'person', id: 'U0000ANN', name: 'Ann Smith' }],
    ['an unknown person', '<@U0STRANGE|zoe>', { mention: 'person', id: 'U0STRANGE', name: 'zoe' }],
    ['a group', '<!subteam^S0TEAM|@design>', { mention: 'group', id: 'S0TEAM', name: 'design' }],
    ['everyone', '<!here>', { mention: 'everyone' }],
    ['a channel', '<#C0GENERAL>', { link: 'channel', id: 'C0GENERAL', label: '#général' }],
    [
      'a message',
      '<https://acme.slack.com/archives/C0GENERAL/p1700000000000100?thread_ts=1|see>',
      {
        link: 'message',
        id: 'C0GENERAL/1700000000.000100',
        url: 'https://acme.slack.com/archives/C0GENERAL/p1700000000000100?thread_ts=1',
        label: 'see',
      },
    ],
    ['a channel that is listed later', '<#C00LATER>', { link: 'channel', id: 'C00LATER', label: '#later' }],
    ['a private channel', '<#G0SECRET|secret>', { link: 'channel', id: 'G0SECRET' }],
    ['an unknown channel', '<#C000GONE|gone>', { link: 'channel', id: 'C000GONE', label: '#gone' }],
    [
      'a message of a channel that is listed later',
      '<https://acme.slack.com/archives/G0SECRET/p1700000000000100>',
      {
        link: 'message',
        id: 'G0SECRET/1700000000.000100',
        url: 'https://acme.slack.com/archives/G0SECRET/p1700000000000100',
      },
    ],
  ])('refers to %s by a part', async (_, text, part) => {
    const lists = { 'channels.json': [GENERAL, { id: 'C00LATER', name: 'later' }], 'groups.json': [SECRET] };
    const [first] = await readMessages([message(0, { text: `Hi ${text}!` })], lists);
    expect(first!.content).toEqual(['Hi ', part, '!']);
  });

  it('writes mentions inside code and in labels of links as names', async () => {
    expect(await contentOf({ text: '`@U0000ANN` <https://x.example|by @ann>' })).toBe(
      '`@Ann Smith` [by @ann](https://x.example)',
    );
  });

  it('writes short ids of people in code as names', async () => {
    const users = { 'users.json': JSON.stringify([{ id: 'U2', profile: { real_name: 'Bea' } }]) };
    const records = await read({ ...withMessages([message(0, { text: '`<@U2>` `<@U3>`' })]), ...users });
    expect(recordsOf(records, 'message')[0]!.content).toBe('`@Bea` `@U3`');
  });

  it('separates emphasis from a mention before it', async () => {
    const elements = [
      { type: 'user', user_id: 'U0000ANN' },
      { type: 'text', text: 'x', style: { bold: true } },
    ];
    expect(await contentOf(richText(section(...elements)))).toEqual([
      { mention: 'person', id: 'U0000ANN', name: 'Ann Smith' },
      '\u2060**x**',
    ]);
  });

  it('reads threads, their broadcasts and replies without a root', async () => {
    const root = '1700000000.000100';
    const records = await read(
      withMessages([
        message(0, { text: 'root', thread_ts: root, reply_count: 2 }),
        message(1, { text: 'reply', thread_ts: root }),
        message(2, { text: 'to all', thread_ts: root, subtype: 'thread_broadcast' }),
        message(3, { text: 'orphan', thread_ts: '1600000000.000100' }),
      ]),
    );
    expect(recordsOf(records, 'message')).toMatchObject([
      { id: `C0GENERAL/${root}`, thread: `C0GENERAL/${root}` },
      { thread: `C0GENERAL/${root}` },
      { thread: `C0GENERAL/${root}`, isBroadcast: true },
      { thread: 'C0GENERAL/1600000000.000100' },
    ]);
    expect(recordsOf(records, 'thread')).toEqual([
      { source: 'slack:T0ACME', kind: 'thread', id: 'C0GENERAL/1600000000.000100', channel: 'C0GENERAL' },
    ]);
  });

  it('reads times of edits, earlier texts and deletions', async () => {
    const records = await read(
      withMessages([
        message(0, { text: 'new', edited: { user: 'U0000ANN', ts: '1700000009.000000' } }),
        message(9, {
          subtype: 'message_changed',
          message: { ts: '1700000000.000100', text: 'new', edited: { user: 'U0000ANN' } },
          previous_message: { ts: '1700000000.000100', text: '*old*' },
        }),
        message(10, { subtype: 'message_deleted', deleted_ts: '1700000003.000100' }),
      ]),
    );
    expect(recordsOf(records, 'message')).toMatchObject([{ content: 'new', editedAt: 1_700_000_009 }]);
    expect(recordsOf(records, 'edit')).toMatchObject([
      { message: 'C0GENERAL/1700000000.000100', person: 'U0000ANN', previous: '**old**' },
    ]);
    expect(recordsOf(records, 'deletion')).toMatchObject([{ message: 'C0GENERAL/1700000003.000100' }]);
  });

  it('reads files with the URL and the token, or with the reason for their absence', async () => {
    const url = 'https://files.slack.com/files-pri/T0-F1/a.png?t=xoxe-secret';
    const files = [
      {
        id: 'F1',
        name: 'a.png',
        mimetype: 'image/png',
        size: 7,
        timestamp: 1_700_000_000,
        user: 'U0000ANN',
        url_private: url,
      },
      { id: 'F2', mode: 'tombstone' },
      { id: 'F3', name: 'c', mode: 'hidden_by_limit' },
      { id: 'F4', name: 'd', file_access: 'access_denied' },
      { id: 'F5', name: 'e', file_access: 'file_not_found' },
      { id: 'F6', name: 'f', url_private: 'javascript:alert(1)' },
      { id: 'F7', name: 'Plan', is_external: true, url_private: 'https://docs.example/plan' },
    ];
    const records = await read(
      withMessages([message(0, { text: '', files }), message(1, { text: 'again', files: [files[0]] })]),
    );
    expect(recordsOf(records, 'file').slice(1)).toMatchObject([
      { id: 'F1', name: 'a.png', contentType: 'image/png', size: 7, owner: 'U0000ANN', url },
      { id: 'F2/deleted', missing: 'deleted in Slack' },
      { id: 'F3', missing: "hidden by the limits of Slack's free plan" },
      { id: 'F4', missing: 'not accessible to the export' },
      { id: 'F5', missing: 'not found by Slack' },
      { id: 'F6', missing: 'without a URL in the export' },
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { files: ['F1', 'F2/deleted', 'F3', 'F4', 'F5', 'F6'], content: '[Plan](https://docs.example/plan)' },
      { files: ['F1'], content: 'again' },
    ]);
  });

  it('reads the files of cards and shared messages', async () => {
    const files = [{ id: 'F1', name: 'a.png', url_private: 'https://files.slack.com/files-pri/T0-F1/a.png' }];
    const records = await read(
      withMessages([
        message(0, { text: 'Build', files, attachments: [{ fallback: 'Chart', files }, { files: [{ id: 'F2' }] }] }),
      ]),
    );
    expect(recordsOf(records, 'file').slice(1)).toMatchObject([{ id: 'F1', name: 'a.png' }, { id: 'F2' }]);
    expect(recordsOf(records, 'message')).toMatchObject([{ files: ['F1', 'F2'] }]);
  });

  it('does not share the files of linked messages, nor the texts of linked private messages', async () => {
    const linked = {
      is_msg_unfurl: true,
      text: 'Secret',
      files: [{ id: 'F1', name: 'secret.png' }],
      from_url: 'https://acme.slack.com/archives/G0PRIVATE/p1700000000000100',
    };
    const records = await read(
      withMessages([
        message(0, { text: 'See', attachments: [linked] }),
        message(1, { text: 'See', attachments: [{ ...linked, private_channel_prompt: true }] }),
      ]),
    );
    const [shown, hidden] = recordsOf(records, 'message');
    expect([shown!.files, hidden!.files]).toEqual([undefined, undefined]);
    expect(JSON.stringify(shown!.content)).toContain('Secret');
    expect(JSON.stringify(hidden!.content)).not.toContain('Secret');
  });

  it.each([['__uploads/F1/a.png'], ['général/attachments/F1-a.png']])(
    'finds the files that slackdump downloaded at %s',
    async (path) => {
      const zip = await writeZip(
        withMessages([message(0, { files: [{ id: 'F1', name: 'a.png' }] })], { [path]: 'PNG' }),
      );
      const opened = await SLACK_READER.open(zip);
      const records = [];
      for await (const record of opened.records()) records.push(record);
      expect(recordsOf(records, 'file').at(-1)).toMatchObject({ id: 'F1', path });
      expect(recordsOf(records, 'skipped').map(({ type }) => type)).not.toContain('slack.file');
      expect(await opened.sizeOf(path)).toBe(3);
      let bytes = '';
      for await (const chunk of (await opened.openFile(path))!) bytes += Buffer.from(chunk).toString();
      expect(bytes).toBe('PNG');
      expect(await opened.openFile('__uploads/F2/b.png')).toBeNull();
      await opened.close();
    },
  );

  it('reads reactions with skin tones, and counts the people whom Slack leaves out', async () => {
    const reactions = [
      { name: '+1::skin-tone-2', users: ['U0000ANN', 'U0GONE'], count: 2 },
      { name: 'party-parrot', users: ['U0000BEN'], count: 60 },
    ];
    const records = await read(withMessages([message(0, { text: 'a', reactions })]));
    expect(recordsOf(records, 'reaction').map(({ person, emoji }) => [person, emoji])).toEqual([
      ['U0000ANN', '👍🏻'],
      ['U0GONE', '👍🏻'],
      ['U0000BEN', 'party-parrot'],
    ]);
    expect(recordsOf(records, 'skipped')).toContainEqual(
      expect.objectContaining({ type: 'slack.reaction', reason: 'Slack exports only the first people of a reaction' }),
    );
    expect(recordsOf(records, 'person')).toContainEqual(
      expect.objectContaining({ id: 'U0GONE', name: 'U0GONE', isExternal: true }),
    );
  });

  it('reads pins of the list of channels and of messages only once', async () => {
    const pinned = { text: 'a', pinned_to: ['C0GENERAL'], pinned_info: { pinned_ts: 1_700_000_600 } };
    const records = await read(withMessages([message(0, pinned), message(1, pinned)]));
    expect(recordsOf(records, 'pin')).toMatchObject([
      { message: 'C0GENERAL/1700000000.000100', at: 1_700_000_500 },
      { message: 'C0GENERAL/1700000001.000100', at: 1_700_000_600 },
    ]);
    expect(recordsOf(records, 'skipped')).toMatchObject([
      { type: 'slack.pin', reason: 'Parley pins messages, not files' },
    ]);
  });

  it('reads messages of apps, webhooks and strangers of Slack Connect', async () => {
    const records = await read(
      withMessages([
        message(0, { user: 'U0000BOT', bot_id: 'B1', text: 'a' }),
        {
          type: 'message',
          subtype: 'bot_message',
          bot_id: 'B2',
          username: 'Deploy',
          bot_profile: { name: 'Hooks' },
          ts: '1700000001.000100',
          text: 'b',
        },
        { type: 'message', subtype: 'bot_message', username: 'Old hook', ts: '1700000002.000100', text: 'c' },
        message(3, { user: 'U0STRANGE', user_profile: { real_name: 'Zoe' }, text: 'd' }),
        { type: 'message', ts: '1700000004.000100', text: 'e' },
        message(5, { user: 'U0000BOT', bot_id: 'B1', username: 'Nightly CI', text: 'f' }),
        { type: 'message', subtype: 'bot_message', bot_id: 'B1', username: 'CI', ts: '1700000006.000100', text: 'g' },
      ]),
    );
    expect(recordsOf(records, 'message')).toMatchObject([
      { sender: 'U0000BOT', isAutomatic: true },
      { sender: 'B2', senderName: 'Deploy', isAutomatic: true },
      { sender: 'name:Old hook', isAutomatic: true },
      { sender: 'U0STRANGE' },
      { sender: 'unknown' },
      { sender: 'U0000BOT', senderName: 'Nightly CI', isAutomatic: true },
      { sender: 'U0000BOT', isAutomatic: true },
    ]);
    expect(recordsOf(records, 'person').slice(4)).toMatchObject([
      { id: 'B2', name: 'Hooks', isBot: true },
      { id: 'name:Old hook', name: 'Old hook', isBot: true },
      { id: 'U0STRANGE', name: 'Zoe', isExternal: true },
      { id: 'unknown', name: 'Unknown sender', isBot: true },
    ]);
  });

  it('describes huddles, deleted messages and renamed channels as notices', async () => {
    const [huddle, deleted, renamed] = await readMessages([
      message(0, {
        subtype: 'huddle_thread',
        text: 'A huddle started',
        room: { date_start: 1_700_000_000, date_end: 1_700_000_100, participant_history: ['U0000ANN', 'U0000BEN'] },
      }),
      message(1, { subtype: 'tombstone', user: 'USLACKBOT', text: 'This message was deleted.' }),
      message(2, { subtype: 'channel_name', text: '<@U0000ANN> has renamed the channel' }),
    ]);
    expect(huddle).toMatchObject({
      isNotice: true,
      content: [
        'A huddle started\n\nDuration: 2 min · Participants: ',
        { mention: 'person', id: 'U0000ANN' },
        ', ',
        { mention: 'person', id: 'U0000BEN' },
      ],
    });
    expect(deleted).toMatchObject({ isNotice: true, content: 'This message was deleted.' });
    expect(renamed).toMatchObject({ isNotice: true });
    expect([huddle, deleted, renamed].map((each) => each!.unsupported)).toEqual([undefined, undefined, undefined]);
  });

  it('counts joining and leaving without making messages of them', async () => {
    const records = await read(withMessages([message(0, { subtype: 'channel_join', text: '<@U0000ANN> has joined' })]));
    expect(recordsOf(records, 'message')).toEqual([]);
    expect(recordsOf(records, 'skipped')).toContainEqual(expect.objectContaining({ type: 'slack.channel_join' }));
  });

  it('quotes shared messages, and omits previews of links next to other text', async () => {
    const shared = {
      is_share: true,
      author_name: 'Ben',
      text: 'Look',
      from_url: 'https://acme.slack.com/archives/C0GENERAL/p1700000000000100',
    };
    expect(await contentOf({ text: 'FYI', attachments: [shared] })).toEqual([
      'FYI\n\n',
      { link: 'message', id: 'C0GENERAL/1700000000.000100', url: shared.from_url },
      '\n\n```quote\n**Ben**\n\nLook\n```',
    ]);
    const preview = { from_url: 'https://x.example', title: 'X', title_link: 'https://x.example', text: 'About' };
    expect(await contentOf({ text: '<https://x.example>', attachments: [preview] })).toBe('https://x.example');
    expect(await contentOf({ text: '', attachments: [preview] })).toBe('**[X](https://x.example)**\nAbout');
  });

  it('keeps unknown messages, blocks and elements as text with their JSON, without tokens', async () => {
    const [unknown, block, element, empty] = await readMessages([
      message(0, {
        subtype: 'hologram',
        text: 'Hello',
        urls: ['https://files.slack.com/x?t=xoxe-1-secret', 'https://files.slack.com/x?history=1&token=xoxe-1-secret'],
      }),
      message(1, { text: 'Call', blocks: [{ type: 'call', call_id: 'R1' }] }),
      message(2, { ...richText(section({ type: 'text', text: 'a' }, { type: 'hologram', data: 1 })) }),
      message(3, { text: '' }),
    ]);
    expect(unknown).toMatchObject({
      content: 'Hello',
      unsupported: [
        {
          type: 'slack.message.hologram',
          original: { urls: ['https://files.slack.com/x?t=', 'https://files.slack.com/x?history=1&token='] },
        },
      ],
    });
    expect(block).toMatchObject({
      content: 'Call',
      unsupported: [{ type: 'slack.block.call', original: { call_id: 'R1' } }],
    });
    expect(element).toMatchObject({
      content: 'a',
      unsupported: [{ type: 'slack.element.hologram', original: { data: 1 } }],
    });
    expect(empty).toMatchObject({ content: '*Message without text*' });
  });

  it('keeps texts of any length', async () => {
    const content = await contentOf({ text: 'word '.repeat(30_000) });
    expect((content as string).length).toBe(149_999);
    const blocks = Array.from({ length: 300 }, () => ({
      type: 'section',
      text: { type: 'mrkdwn', text: 'a'.repeat(3000) },
    }));
    expect(((await contentOf({ blocks })) as string).length).toBeGreaterThan(900_000);
  });

  it('represents damaged messages, and reads what follows', async () => {
    const text = `[{"type":"message","user":"U0000ANN","text":"a","ts":"1700000000.000100"},\n{"text": x},\n7,\n{"text":"b","ts":"soon"},\n{"user":"U0000BEN","text":"c","ts":"1700000001.000100"},\n{"text":"cut`;
    const records = await readMessages(text);
    expect(records.map(({ id, sender, isNotice }) => [id, sender, isNotice])).toEqual([
      ['C0GENERAL/1700000000.000100', 'U0000ANN', undefined],
      ['C0GENERAL/2023-11-14.json#1', 'unknown', true],
      ['C0GENERAL/2023-11-14.json#2', 'unknown', true],
      ['C0GENERAL/2023-11-14.json#3', 'unknown', true],
      ['C0GENERAL/1700000001.000100', 'U0000BEN', undefined],
      ['C0GENERAL/2023-11-14.json#4', 'unknown', true],
    ]);
    expect(records[1]).toMatchObject({
      sentAt: 1_699_920_000,
      content: 'The export contains JSON that is not valid JSON here (général/2023-11-14.json, line 2).',
      unsupported: [{ type: 'slack.damaged_json', original: '\n{"text": x}' }],
    });
    expect(records[3]).toMatchObject({ unsupported: [{ type: 'slack.damaged_message', original: { text: 'b' } }] });
  });

  it('keeps all damaged messages of one line, with ids that do not depend on lines', async () => {
    const ids = ['C0GENERAL/2023-11-14.json#1', 'C0GENERAL/2023-11-14.json#2'];
    expect((await readMessages('[{"text": x}, {"text":"b","ts":"soon"}]')).map(({ id }) => id)).toEqual(ids);
    const good = '{"user":"U0000ANN","text":"a","ts":"1700000000.000100"}';
    const moved = await readMessages(`[${good},\n\n{"text": x},\n{"text":"b","ts":"soon"}]`);
    expect(moved.slice(1).map(({ id }) => id)).toEqual(ids);
  });

  it.each([[[[null]]], [[null]], [['x']], [[{}]], [null], [7], ['x'], [{}], [[[{ type: 'section' }]]]])(
    'keeps the text of a message whose blocks are %j',
    async (blocks) => {
      expect(JSON.stringify(await contentOf({ text: 'hello', blocks }))).toContain('hello');
    },
  );

  it('takes values of a wrong type as missing', async () => {
    const records = await read(
      withMessages(
        [
          {
            ts: '1700000000.000100',
            user: 7,
            text: {},
            files: 'x',
            reactions: [{ name: 1 }, 'y'],
            attachments: [null],
            blocks: {},
            edited: [],
            thread_ts: 1,
            pinned_to: 'C',
            room: 1,
            __proto__: null,
          },
          JSON.parse(
            '{"ts": "1700000001.000100", "text": "a", "__proto__": {"user": "U0000ANN", "subtype": "tombstone"}}',
          ),
        ],
        {
          'groups.json': [{ id: 'G1', name: [], members: [1, null, 'U0000ANN'], pins: {}, topic: 'x', created: 'y' }],
          'dms.json': [{ members: [] }, 'x'],
          'mpims.json': { a: 1 },
        },
      ),
    );
    expect(recordsOf(records, 'message')).toMatchObject([
      { sender: 'unknown', content: '*Message without text*' },
      { sender: 'unknown', content: 'a' },
    ]);
    expect(recordsOf(records, 'channel')[1]).toEqual({
      source: 'slack:T0ACME',
      kind: 'channel',
      id: 'G1',
      name: 'G1',
      privacy: 'private',
      members: ['U0000ANN'],
    });
    expect(recordsOf(records, 'skipped').filter(({ type }) => type === 'slack.channel')).toHaveLength(3);
  });

  it('reads comments on canvases into private channels with the title of the canvas', async () => {
    const name = 'FC:F0CANVAS:🔗 Links';
    const records = await read(
      withMessages([], {
        'file_conversations.json': [{ id: 'C0CANVAS', name, members: ['U0000ANN'] }],
        [`${name}/2023-11-14.json`]: [message(0, { text: 'Add one' })],
      }),
    );
    expect(recordsOf(records, 'channel')[1]).toMatchObject({
      id: 'C0CANVAS',
      name: '🔗 Links',
      privacy: 'private',
      members: ['U0000ANN'],
    });
    expect(recordsOf(records, 'message')).toMatchObject([{ channel: 'C0CANVAS', content: 'Add one' }]);
  });

  it('reads folders without an entry as unlisted private channels of their authors, and counts unknown files', async () => {
    const records = await read(
      withMessages([], {
        'lost/2023-11-14.json': [message(0, { text: 'a' })],
        'integration_logs.json': [{ user_id: 'U0000ANN', service_type: 'GitHub' }],
        'huddle_transcripts.json': [{ id: 'F0HUDDLE' }],
        '.slack-manifest.json': { version: 2 },
        'readme.txt': 'x',
      }),
    );
    expect(recordsOf(records, 'channel')[1]).toMatchObject({
      id: 'folder:lost',
      name: 'lost',
      privacy: 'private',
      members: ['U0000ANN'],
      hasMoreMembers: true,
      isUnlisted: true,
    });
    expect(recordsOf(records, 'message')).toMatchObject([{ channel: 'folder:lost', content: 'a' }]);
    expect(recordsOf(records, 'skipped').map(({ type, id }) => [type, id])).toEqual([
      ['slack.pin', 'C0GENERAL/pin/1'],
      ['slack.slack-manifest', '.slack-manifest.json:1'],
      ['slack.huddle_transcripts', 'huddle_transcripts.json:2'],
      ['slack.integration_logs', 'integration_logs.json:2'],
      ['slack.file', 'readme.txt:1'],
    ]);
  });

  it.each([
    ['without the flag for UTF-8', (name: string) => name],
    ['decomposed', (name: string) => name.normalize('NFD')],
    ['read as code page 437', () => 'g├⌐n├⌐ral'],
    ['read as Latin-1', () => 'gÃ©nÃ©ral'],
  ])('finds folders with names %s', async (how, damage) => {
    const { 'général/2023-11-14.json': day, ...others } = withMessages([message(0, { text: 'a' })]);
    const path = await writeZip({ ...others, [`${damage('général')}/2023-11-14.json`]: day });
    if (how === 'without the flag for UTF-8') await withoutUtf8Flag(path);
    expect(recordsOf(await readRecords(SLACK_READER, path), 'message')).toMatchObject([{ channel: 'C0GENERAL' }]);
  });

  it('returns the same records each time, with unique ids', async () => {
    await expectStableRecords(
      SLACK_READER,
      await writeZip(withMessages([message(0, { text: 'a <@U0000ANN>' }), message(1, {})])),
    );
  });
});

/** File of slackdump's dump folder. */
const dumped = (channel: string, messages: readonly object[], more: object = {}) => ({
  channel_id: channel,
  name: 'random',
  messages,
  ...more,
});

describe('a dump folder of slackdump', () => {
  const ROOT = message(1, { text: 'root', thread_ts: '1700000001.000100', reply_count: 1 });
  const REPLY = message(2, { text: 'reply', user: 'U0000BEN', thread_ts: '1700000001.000100' });

  it('is recognized without lists of people and channels', async () => {
    expect(await SLACK_READER.recognizes(await writeFolder({ 'C051D4052.json': dumped('C051D4052', []) }))).toBe(true);
    expect(await SLACK_READER.recognizes(await writeFolder({ 'CONTRIBUTORS.json': {}, 'c051d4052.json': {} }))).toBe(
      false,
    );
  });

  it('has messages with their replies and files, in a private channel of their authors', async () => {
    const file = { id: 'F0000001', name: 'a.txt', url_private: 'https://files.slack.com/a.txt' };
    const records = await read({
      'C051D4052.json': dumped('C051D4052', [
        { ...ROOT, files: [file], slackdump_thread_replies: [REPLY] },
        message(3, { text: 'later' }),
      ]),
      'C051D4052/F0000001-a.txt': 'hello',
    });
    expect(recordsOf(records, 'channel')).toMatchObject([
      { id: 'C051D4052', name: 'random', privacy: 'private', members: ['U0000ANN', 'U0000BEN'] },
    ]);
    const root = 'C051D4052/1700000001.000100';
    expect(recordsOf(records, 'message').map(({ content, thread }) => [content, thread])).toEqual([
      ['root', root],
      ['reply', root],
      ['later', undefined],
    ]);
    expect(recordsOf(records, 'file')).toMatchObject([{ id: 'F0000001', path: 'C051D4052/F0000001-a.txt' }]);
    expect(JSON.stringify(records)).not.toContain('slackdump_thread_replies');
  });

  it('has the privacy and members of its list of channels', async () => {
    const records = await read({
      'users.json': [ANN, BEN],
      'channels.json': [{ id: 'C051D4052', name: 'random', members: ['U0000ANN'] }],
      'C051D4052.json': dumped('C051D4052', [ROOT]),
      'C051D4052-1700000001.000100.json': dumped('C051D4052', [ROOT, REPLY], { thread_ts: '1700000001.000100' }),
    });
    expect(recordsOf(records, 'channel')).toMatchObject([{ privacy: 'public', members: ['U0000ANN'] }]);
    expect(recordsOf(records, 'message').map(({ content }) => content)).toEqual(['root', 'root', 'reply']);
  });

  it('has the authors of direct messages as members of the conversation', async () => {
    const records = await read({ 'D051D4052.json': dumped('D051D4052', [ROOT, REPLY]) });
    expect(recordsOf(records, 'conversation')).toMatchObject([{ id: 'D051D4052', members: ['U0000ANN', 'U0000BEN'] }]);
  });

  it.each<[string, string]>([
    ['a cut file', '{"channel_id":"C051D4052","messages":[{"ts":"1700000001.000100","text":"a"},{"ts":'],
    ['messages of another type', '{"channel_id":"C051D4052","messages":{"a":1}}'],
    ['replies of another type', '{"messages":[{"ts":"1700000001.000100","slackdump_thread_replies":[1,null,"x"]}]}'],
    ['forged members', '{"__proto__":{"name":"x"},"messages":[{"__proto__":{"ts":"1700000001.000100"},"ts":7}]}'],
    ['no object', '[[]]'],
  ])('survives %s', async (_, json) => {
    const records = await read({ 'C051D4052.json': json });
    expect(recordsOf(records, 'channel').map(({ id }) => id)).toEqual(['C051D4052']);
  });
});
