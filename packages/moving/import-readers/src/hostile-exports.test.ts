import { readFile, writeFile } from 'node:fs/promises';
import type { ImportReader } from '@parley/transfer/records';
import { serialize } from 'bson';
import fc from 'fast-check';
import { DISCORD_READER } from './discord/discord-reader.js';
import { MATTERMOST_READER } from './mattermost/mattermost-reader.js';
import { ROCKETCHAT_READER } from './rocketchat/rocketchat-reader.js';
import { SLACK_READER } from './slack/slack-reader.js';
import { TEAMS_READER } from './teams/teams-reader.js';
import { bytesOf, type ExportFiles, readRecords, recordsOf, writeFolder, writeZip } from './testing/export-files.js';

const SLACK: ExportFiles = {
  'users.json': [
    {
      id: 'U1',
      team_id: 'T1',
      name: 'ann',
      tz: 'x',
      profile: { real_name: 'Ann', image_original: 'https://x.example/a' },
    },
  ],
  'channels.json': [
    {
      id: 'C1',
      name: 'general',
      creator: 'U1',
      created: 7,
      members: ['U1'],
      topic: { value: 'x' },
      pins: [{ id: '1.1', type: 'C', created: 1 }],
    },
  ],
  'dms.json': [{ id: 'D1', members: ['U1', 'U2'] }],
  'D1/2023-11-14.json': [{ ts: '1700000000.000100', user: 'U2', text: 'x', thread_ts: '1700000000.000001' }],
  'general/2023-11-14.json': [
    {
      type: 'message',
      user: 'U1',
      ts: '1700000000.000100',
      thread_ts: '1700000000.000001',
      text: 'Hi <@U1|x> <https://a.slack.com/archives/C1/p1700000000000100|y>',
      edited: { user: 'U1', ts: '1700000001.0' },
      files: [
        { id: 'F1', name: 'a', mimetype: 'b', size: 1, timestamp: 1, user: 'U1', url_private: 'https://x.example/f' },
      ],
      reactions: [{ name: '+1', users: ['U1'], count: 1 }],
      attachments: [{ title: 'x', title_link: 'https://x.example', fields: [{ title: 'a', value: 'b' }], ts: 1 }],
      pinned_to: ['C1'],
      pinned_info: { pinned_ts: 1 },
      room: { date_start: 1, date_end: 2, participants: ['U1'] },
    },
    {
      bot_id: 'B1',
      username: 'hook',
      subtype: 'bot_message',
      ts: '1700000001.000100',
      blocks: [
        { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'user', user_id: 'U1' }] }] },
      ],
    },
    {
      subtype: 'message_changed',
      ts: '1700000002.000100',
      message: { ts: '1700000000.000100', edited: { user: 'U1' } },
      previous_message: { text: 'x' },
    },
    { subtype: 'message_deleted', ts: '1700000003.000100', deleted_ts: '1700000000.000100' },
  ],
};

const MATTERMOST = [
  { type: 'version', version: 1 },
  { type: 'team', team: { name: 'acme', display_name: 'Acme' } },
  { type: 'channel', channel: { team: 'acme', name: 'town', type: 'O', header: 'x' } },
  {
    type: 'user',
    user: {
      username: 'ann',
      email: 'a@x.example',
      auth_service: 'saml',
      auth_data: '7',
      profile_image: 'p.png',
      teams: [{ name: 'acme', channels: [{ name: 'town', last_viewed_at: 1_700_000_000_000 }] }],
    },
  },
  { type: 'bot', bot: { username: 'ci', display_name: 'CI' } },
  { type: 'emoji', emoji: { name: 'parrot', image: 'e.png' } },
  {
    type: 'post',
    post: {
      team: 'acme',
      channel: 'town',
      user: 'ann',
      message: '@ann ~town',
      create_at: 1_700_000_000_000,
      edit_at: 1_700_000_000_001,
      props: { override_username: 'x', attachments: [{ title: 'x' }] },
      reactions: [{ user: 'ann', emoji_name: '+1', create_at: 1 }],
      replies: [{ user: 'ann', message: 'x', create_at: 1_700_000_000_002 }],
      attachments: [{ path: 'a.png' }],
      flagged_by: ['ann'],
    },
  },
  {
    type: 'direct_channel',
    direct_channel: { members: ['ann', 'ci'], participants: [{ username: 'ann', last_viewed_at: 1 }] },
  },
  { type: 'direct_post', direct_post: { channel_members: ['ann', 'ci'], user: 'ann', message: 'x', create_at: 1 } },
];

const DISCORD = {
  guild: { id: '9', name: 'Acme' },
  channel: { id: '5', type: 'GuildPublicThread', categoryId: '4', category: 'Work', name: 'general', topic: 'x' },
  messages: [
    {
      id: '1000',
      type: 'Reply',
      timestamp: '2023-11-14T22:13:20.5+00:00',
      timestampEdited: '2023-11-14T22:13:20.5+00:00',
      isPinned: true,
      content: '<@1> @Ann',
      author: {
        id: '1',
        name: 'ann',
        nickname: 'Ann',
        avatarUrl: 'https://x.example/a',
        roles: [{ id: '7', name: 'Devs' }],
      },
      attachments: [{ id: '3', url: 'https://x.example/f', fileName: 'f', fileSizeBytes: 3 }],
      embeds: [
        {
          title: 'x',
          timestamp: '2023-11-14T22:13:20.5+00:00',
          fields: [{ name: 'a', value: 'b' }],
          footer: { text: 'x' },
        },
      ],
      stickers: [{ id: '8', name: 's', format: 'Png', sourceUrl: 'https://x.example/s' }],
      reactions: [
        {
          emoji: { id: '2', name: 'parrot', imageUrl: 'https://x.example/e' },
          count: 2,
          users: [{ id: '2', name: 'ben' }],
        },
      ],
      mentions: [{ id: '1', name: 'ann' }],
      reference: { messageId: '999' },
      poll: { question: { text: 'x' }, answers: [{ text: 'y' }] },
    },
  ],
};

const ROCKETCHAT = {
  users: [
    {
      _id: 'u1',
      username: 'ann',
      emails: [{ address: 'a@x.example', verified: true }],
      roles: ['admin'],
      services: { ldap: { id: '7' } },
      createdAt: 1,
    },
  ],
  rocketchat_team: [{ _id: 't1', name: 'sales' }],
  rocketchat_team_member: [{ _id: 'x', teamId: 't1', userId: 'u1' }],
  rocketchat_room: [
    { _id: 'r1', t: 'c', name: 'general', topic: 'x', ts: 1, u: { _id: 'u1' } },
    { _id: 'r2', t: 'c', prid: 'r1', fname: 'x' },
    { _id: 'r3', t: 'd', uids: ['u1', 'u2'] },
  ],
  rocketchat_subscription: [{ _id: 's1', rid: 'r1', ls: 1_700_000_000_000, u: { _id: 'u1' } }],
  rocketchat_uploads: [
    { _id: 'f1', name: 'a', type: 'b', size: 1, uploadedAt: 1, userId: 'u1', store: 'GridFS:Uploads' },
  ],
  rocketchat_custom_emoji: [{ _id: 'e1', name: 'parrot', aliases: ['bird'], extension: 'gif' }],
  rocketchat_avatars: [{ _id: 'a1', userId: 'u1' }],
  rocketchat_settings: [
    { _id: 'uniqueID', value: 'x' },
    { _id: 'Site_Url', value: 'https://x.example' },
  ],
  rocketchat_message: [
    {
      _id: 'm1',
      rid: 'r1',
      msg: 'Hi <@U1|x> @ann #general',
      ts: 1_700_000_000_000,
      tmid: 'm0',
      tshow: true,
      u: { _id: 'u1', username: 'ann', name: 'Ann' },
      alias: 'x',
      editedAt: 1,
      files: [{ _id: 'f1' }],
      attachments: [
        { message_link: 'x', author_name: 'x', text: 'y' },
        { title: 'x', fields: [{ title: 'a', value: 'b' }] },
      ],
      reactions: { ':+1:': { usernames: ['ann'] } },
      pinned: true,
      pinnedAt: 1,
      starred: [{ _id: 'u1' }],
      location: { coordinates: [1, 2] },
    },
    { _id: 'm2', rid: 'r3', u: { _id: 'u2' }, ts: 1, t: 'uj' },
    { _id: 'm3', rid: 'r1', u: { _id: 'u2' }, ts: 1, _hidden: true, parent: 'm1', msg: 'x', editedBy: { _id: 'u1' } },
  ],
};

const TEAMS: ExportFiles = {
  'users/usersList.json': [{ Id: 'u1', DisplayName: 'Ann', Mail: 'a@x.example', UserPrincipalName: 'a' }],
  'teams/teamsList.json': [{ Name: 'Acme', Privacy: 'Public', GroupsId: 't1' }],
  'teams/teamsSettings.json': [{ Id: 't1', IsArchived: true }],
  'teams/t1/teamMembers_t1.json': [{ UserId: 'u1', Name: 'Ann' }],
  'teams/t1/channels_t1.json': [
    {
      Id: 'c1',
      DisplayName: 'General',
      TenantId: 'x',
      MembershipType: 'standard',
      CreatedDateTime: '2023-11-14T22:13:20Z',
    },
  ],
  'teams/t1/messages_t1.json': [
    {
      Id: '1700000000000',
      Body: {
        ContentType: 'html',
        Content: '<p>Hi <@U1|x></p><at id="0">Ann</at><img src="https://graph.microsoft.com/x">',
      },
      CreatedDateTime: '2023-11-14T22:13:20Z',
      LastEditedDateTime: '2023-11-14T22:13:20Z',
      Subject: 'x',
      ReplyToId: null,
      From: { User: { Id: 'u1', DisplayName: 'Ann' } },
      Attachments: [
        { ContentType: 'reference', ContentUrl: 'https://x.example', Name: 'x' },
        { ContentType: 'messageReference', Content: '{"messageId":"1"}' },
      ],
      Mentions: [{ Id: 0, Mentioned: { User: { Id: 'u1' } } }],
      Reactions: [{ ReactionType: 'like', CreatedDateTime: '2023-11-14T22:13:20Z', User: { User: { Id: 'u2' } } }],
      ChannelIdentity: { ChannelId: 'c1' },
    },
    { Id: '2', ChatId: 'x', EventDetail: { CallEnded: {} }, Body: { Content: '<systemEventMessage/>' } },
  ],
};

/** Documents by collection; other values cannot be in a dump. */
const bsonFiles = (collections: object): ExportFiles =>
  Object.fromEntries([
    ['rocketchat_message.bson', ''],
    ...Object.entries(collections).map(([name, documents]) => [
      `${name}.bson`,
      Buffer.concat(
        [documents]
          .flat()
          .filter((each) => Object.prototype.toString.call(each) === '[object Object]')
          .map((each) => serialize(each)),
      ),
    ]),
  ]);

const SAMPLES: readonly (readonly [ImportReader, unknown, (sample: unknown) => ExportFiles])[] = [
  [SLACK_READER, SLACK, (sample) => sample as ExportFiles],
  [
    MATTERMOST_READER,
    MATTERMOST,
    (lines) => ({ 'import.jsonl': (lines as unknown[]).map((line) => JSON.stringify(line)).join('\n') }),
  ],
  [ROCKETCHAT_READER, ROCKETCHAT, (collections) => bsonFiles(collections as object)],
  [TEAMS_READER, TEAMS, (sample) => ({ 'users/usersList.json': [], ...(sample as ExportFiles) })],
  [DISCORD_READER, DISCORD, (file) => ({ 'a.json': file })],
];

const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e300,
  '',
  ' ',
  '\0',
  '\ud800',
  '\ufdd01:0\ufdd1**',
  'x'.repeat(1001),
  'https://x.example/'.padEnd(5000, 'y'),
  '*_~`[||'.repeat(5000),
  '> '.repeat(5000),
  '1700000000.000100',
  '2023-11-14T22:13:20Z',
  [],
  {},
  ['', null, 7, 'x'],
  [[['x']]],
  { text: { text: { text: [] } } },
  JSON.parse('{"__proto__": {"id": "U1"}, "constructor": 7, "hasOwnProperty": 1}'),
];

/** Returns a copy with a value in place of the node with the number, in the order of a walk. */
function mutated(sample: unknown, number: number, value: unknown): unknown {
  let count = 0;
  const copy = (node: unknown, depth: number): unknown => {
    if (depth > 0 && count++ === number) return value;
    if (Array.isArray(node)) return node.map((each) => copy(each, depth + 1));
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, each]) => [key, copy(each, depth + 1)]));
  };
  return copy(sample, 0);
}

const nodesOf = (node: unknown): number =>
  typeof node === 'object' && node !== null
    ? Object.values(node).reduce((sum: number, each) => sum + 1 + nodesOf(each), 0)
    : 0;

describe.each(SAMPLES)('forged exports of %#', (reader, sample, filesOf) => {
  it('yield records of the documented form whatever value a member has', async () => {
    const change = fc.tuple(fc.nat(nodesOf(sample) - 1), fc.constantFrom(...VALUES));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const forged = changes.reduce((found, [number, value]) => mutated(found, number, value), sample);
        const records = await readRecords(reader, await writeFolder(filesOf(forged)));
        expect(records[0]!.kind).toBe('organization');
      }),
      { numRuns: 300 },
    );
  });

  it('keep the whole text of messages that are too long', async () => {
    const long = JSON.parse(
      JSON.stringify(sample)
        .replaceAll('Hi <@U1|x>', 'x'.repeat(1_500_000))
        .replaceAll('@ann ~town', 'x'.repeat(1_500_000))
        .replaceAll('<@1> @Ann', 'x'.repeat(1_500_000)),
    );
    const records = recordsOf(await readRecords(reader, await writeFolder(filesOf(long))), 'message');
    const cut = records.find(({ unsupported = [] }) => unsupported.some(({ type }) => type === 'long_text'));
    expect(JSON.stringify(cut!.content).length).toBeLessThan(1_000_100);
    expect(JSON.stringify(cut!.unsupported).length).toBeGreaterThan(1_500_000);
  });
});

/** Damage of bytes at a position between 0 and 1. */
const DAMAGES: Readonly<Record<string, (bytes: Buffer, at: number) => Buffer>> = {
  cut: (bytes, at) => bytes.subarray(0, at),
  hole: (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 9)]),
  zeros: (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(9), bytes.subarray(at + 9)]),
  other: (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff, 0x22, 0x5b, 0x80]), bytes.subarray(at + 4)]),
  twice: (bytes, at) => Buffer.concat([bytes, bytes.subarray(at)]),
};

describe.each(SAMPLES)('damaged exports of %#', (reader, sample, filesOf) => {
  const files = Object.entries(filesOf(sample)).map(([name, value]) => [name, bytesOf(value)] as const);
  const names = [...files.map(([name]) => name.split('/').at(-1)!), 'export.zip'];
  const damage = fc.tuple(fc.constantFrom(...Object.values(DAMAGES)), fc.double({ min: 0, max: 1, noNaN: true }));
  const damaged = ([change, part]: readonly [(typeof DAMAGES)[string], number], bytes: Buffer) =>
    change(bytes, Math.floor(part * bytes.length));

  /** Expects an error that names a file, or records of the documented form. */
  async function expectOutcome(path: string): Promise<void> {
    const outcome = await readRecords(reader, path).catch((error: { code?: string; message: string }) => error);
    if (Array.isArray(outcome)) return expect(outcome[0]!.kind).toBe('organization');
    expect(outcome).toMatchObject({ code: 'INVALID_IMPORT' });
    expect(names.some((name) => (outcome as { message: string }).message.includes(name))).toBe(true);
  }

  it('yield records of the documented form, or an error that names the file, whatever bytes are damaged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(files.length - 1), damage, fc.boolean(), async (number, change, isZip) => {
        const all = Object.fromEntries(
          files.map(([name, bytes], index) => [name, index === number ? damaged(change, bytes) : bytes]),
        );
        await expectOutcome(await (isZip ? writeZip(all) : writeFolder(all)));
      }),
      { numRuns: 100 },
    );
  });

  it('are rejected or read as far as possible if the ZIP is damaged', async () => {
    await fc.assert(
      fc.asyncProperty(damage, async (change) => {
        const path = await writeZip(Object.fromEntries(files));
        await writeFile(path, damaged(change, await readFile(path)));
        await expectOutcome(path);
      }),
      { numRuns: 100 },
    );
  });
});
