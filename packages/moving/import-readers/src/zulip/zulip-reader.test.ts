import { readdirSync, type StatsFs } from 'node:fs';
import fileSystem, { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM_GROUPS, systemGroupTitle } from '@parley/domain/access';
import type { ImportedContent, ImportRecord } from '@parley/transfer/records';
import { type ExportFiles, expectStableRecords, readRecords, recordsOf, writeFolder } from '../testing/export-files.js';
import { zulipReader } from './zulip-reader.js';

const UUID = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';
const NO_SETTINGS = { present: () => ({}), read: () => ({}) };
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zulip-reader-'));
});
afterEach(() => rm(folder, { recursive: true }));

const reader = () =>
  zulipReader({
    names: { realm: NO_SETTINGS, user: NO_SETTINGS, permission: (name) => name },
    temporaryFolder: folder,
  });

const ANN = 11;
const BOB = 12;
const CLEO = 13;
const NOTIFIER = 90;

const user = (id: number, full_name: string, more: object = {}) => ({
  ...{ id, full_name, email: `user${id}@zulip.example`, delivery_email: `${full_name.toLowerCase()}@acme.example` },
  ...{ date_joined: 1000, is_active: true, is_bot: false, role: 400, avatar_source: 'J', ...more },
});
const stream = (id: number, name: string, more: object = {}) => ({ id, name, recipient: id, date_created: 1, ...more });
const subscribed = (user_profile: number, recipient: number) => ({ user_profile, recipient });
const message = (id: number, sender: number, recipient: number, content: string, more: object = {}) => ({
  ...{ id, sender, recipient, subject: 'news', content, rendered_content: null, date_sent: 1000 + id },
  ...{ sending_client: 1, last_edit_time: null, edit_history: null, ...more },
});
/** `read` is 1. */
const held = (user_profile: number, messageId: number, flags_mask = 1) => ({
  ...{ user_profile, message: messageId, flags_mask },
});

const PUBLIC = 21;
const PROTECTED = 22;
const GROUP_CONVERSATION = 31;
const BOB_PERSONAL = 32;

const REALM = {
  zerver_realm: [{ id: 1, string_id: 'acme', uuid: UUID, name: 'Acme', date_created: 500 }],
  zerver_userprofile: [user(ANN, 'Ann', { role: 100 }), user(BOB, 'Bob'), user(CLEO, 'Cleo', { is_active: false })],
  zerver_userprofile_crossrealm: [{ id: NOTIFIER, email: 'notification-bot@zulip.com' }],
  zerver_namedusergroup: [
    ...SYSTEM_GROUPS.map(({ name }, index) => ({
      ...{ id: 100 + index, usergroup_ptr: 100 + index, name: systemGroupTitle(name), is_system_group: true },
    })),
    { id: 200, usergroup_ptr: 200, name: 'makers', is_system_group: false },
    { id: 201, usergroup_ptr: 201, name: 'all makers', is_system_group: false },
  ],
  zerver_usergroupmembership: [{ user_group: 200, user_profile: BOB }],
  zerver_groupgroupmembership: [{ supergroup: 201, subgroup: 200 }],
  zerver_stream: [
    stream(PUBLIC, 'general'),
    stream(PROTECTED, 'council', { invite_only: true, history_public_to_subscribers: false }),
  ],
  zerver_recipient: [
    { id: PUBLIC, type: 2, type_id: PUBLIC },
    { id: PROTECTED, type: 2, type_id: PROTECTED },
    { id: GROUP_CONVERSATION, type: 3, type_id: 1 },
    { id: BOB_PERSONAL, type: 1, type_id: BOB },
  ],
  zerver_subscription: [
    ...[subscribed(ANN, PUBLIC), subscribed(BOB, PUBLIC), subscribed(ANN, PROTECTED), subscribed(BOB, PROTECTED)],
    ...[ANN, BOB, CLEO].map((id) => subscribed(id, GROUP_CONVERSATION)),
  ],
  zerver_huddle: [{ id: 1 }],
  zerver_client: [{ id: 1, name: 'website' }],
};

const exportOf = (messages: readonly object[], holders: readonly object[], more: object = {}): ExportFiles => ({
  'realm.json': { ...REALM, ...more },
  'messages-000001.json': { zerver_message: messages, zerver_usermessage: holders },
});

const read = async (
  messages: readonly object[],
  holders: readonly object[] = [],
  more: object = {},
  files: ExportFiles = {},
): Promise<ImportRecord[]> =>
  readRecords(reader(), await writeFolder({ ...exportOf(messages, holders, more), ...files }));

/** Archive with one attached file, a picture of an emoji and an avatar. */
const FILES = {
  'attachment.json': {
    zerver_attachment: [
      {
        ...{ id: 1, owner: ANN, file_name: 'plan.txt', path_id: '1/ab/plan.txt', create_time: 5, size: 4 },
        messages: [1],
      },
      { id: 2, owner: ANN, file_name: 'gone.txt', path_id: '1/cd/gone.txt', create_time: 5, size: 4, messages: [2] },
    ],
  },
  'uploads/1/ab/plan.txt': 'plan',
  'emoji/records.json': [{ path: '1/emoji/images/7.png', user_profile_id: null }],
  'emoji/1/emoji/images/7.png': 'picture',
  'avatars/records.json': [{ path: '1/a.png', user_profile_id: ANN }],
  'avatars/1/a.png': 'face',
};

const contentOf = async (content: string): Promise<ImportedContent> =>
  recordsOf(await read([message(1, ANN, PUBLIC, content)], [], {}, FILES), 'message')[0]!.content;

describe('zulipReader', () => {
  it('recognizes folders and archives by their name', async () => {
    const path = await writeFolder(exportOf([], []));
    await writeFile(join(path, 'export.tar.gz'), 'x');
    expect(await reader().recognizes(path)).toBe(true);
    expect(await reader().recognizes(join(path, 'export.tar.gz'))).toBe(true);
    expect(await reader().recognizes(await writeFolder({ 'users.json': [] }))).toBe(false);
    expect(await reader().recognizes(join(path, 'realm.json'))).toBe(false);
  });

  it('rejects a damaged archive and an incomplete export, and leaves no files behind', async () => {
    const path = await writeFolder({ ...exportOf([], []), 'messages-000002.json.partial': '{}' });
    await expect(reader().open(path)).rejects.toThrow('is incomplete');
    await writeFile(join(path, 'export.tar.gz'), 'x');
    await expect(reader().open(join(path, 'export.tar.gz'))).rejects.toThrow('is damaged');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('rejects an archive without one of its message files instead of treating the messages as deleted', async () => {
    const { 'messages-000001.json': messages, ...others } = exportOf([], []) as Record<string, unknown>;
    const path = await writeFolder({ ...others, 'messages-000002.json': messages ?? { zerver_message: [] } });
    const opened = reader()
      .open(path)
      .then(async (found) => {
        for await (const _ of found.records());
      });
    await expect(opened).rejects.toThrow('is incomplete: messages-000001.json is missing');
  });

  it('refuses an archive that would take more than half of the free space', async () => {
    const path = join(await writeFolder(exportOf([], [])), 'export.tar.gz');
    await writeFile(path, 'x');
    const free = (bytes: number) => ({ bavail: bytes, bsize: 1 }) as StatsFs;
    const statfs = jest
      .spyOn(fileSystem, 'statfs')
      .mockResolvedValueOnce(free(2 ** 30))
      .mockResolvedValue(free(2 ** 28));
    await expect(reader().open(path)).rejects.toThrow('Not enough space');
    statfs.mockRestore();
  });

  it('yields equal records in every reading', async () => {
    const path = await writeFolder({ ...exportOf([message(1, ANN, PUBLIC, 'a')], [held(ANN, 1)]), ...FILES });
    await expectStableRecords(reader(), path);
  });

  it('converts the organization, people and groups with the members of subgroups', async () => {
    const records = await read([]);
    expect(recordsOf(records, 'organization')).toEqual([
      { source: `zulip:${UUID}`, kind: 'organization', id: UUID, name: 'Acme', createdAt: 500 },
    ]);
    expect(recordsOf(records, 'person')).toMatchObject([
      { id: '11', name: 'Ann', email: 'ann@acme.example', isEmailVerified: true, role: 'owner', joinedAt: 1000 },
      { id: '12', name: 'Bob', role: 'member' },
      { id: '13', name: 'Cleo', isDeactivated: true },
    ]);
    expect(recordsOf(records, 'person')[2]).not.toHaveProperty('isEmailVerified');
    expect(recordsOf(records, 'group').map(({ name, members }) => [name, members])).toEqual([
      ['makers', ['12']],
      ['all makers', ['12']],
    ]);
  });

  it('converts messages of channels, of groups and between two people', async () => {
    const records = await read([
      message(1, ANN, PUBLIC, 'hello', { subject: '' }),
      message(2, ANN, GROUP_CONVERSATION, 'three', { subject: '\u0007' }),
      message(3, ANN, BOB_PERSONAL, 'two', { subject: '\u0007' }),
      message(4, BOB, BOB_PERSONAL, 'alone', { subject: '\u0007' }),
      message(5, NOTIFIER, PUBLIC, 'created'),
    ]);
    expect(recordsOf(records, 'conversation').map(({ id, members }) => [id, members])).toEqual([
      ['11,12,13', ['11', '12', '13']],
      ['11,12', ['11', '12']],
      ['12', ['12']],
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { id: '1', channel: '21', topic: '', sender: '11', sentAt: 1001, content: 'hello' },
      { id: '2', conversation: '11,12,13' },
      { id: '3', conversation: '11,12' },
      { id: '4', conversation: '12' },
      { id: '5', channel: '21', topic: 'news', sender: '90', isAutomatic: true, isNotice: true },
    ]);
    expect(recordsOf(records, 'person').at(-1)).toMatchObject({ id: '90', isBot: true });
    expect(recordsOf(records, 'channel')[0]).toMatchObject({ id: '21', privacy: 'public', members: ['11', '12'] });
  });

  it('divides a channel with protected history by the readers of its messages', async () => {
    const records = await read(
      [message(1, ANN, PROTECTED, 'early'), message(2, ANN, PROTECTED, 'late'), message(3, ANN, PROTECTED, 'left')],
      [held(ANN, 1), held(ANN, 2), held(BOB, 2), held(ANN, 3), held(BOB, 3), held(CLEO, 3)],
    );
    const membersOf = new Map(recordsOf(records, 'channel').map(({ id, members }) => [id, members]));
    const readers = recordsOf(records, 'message').map(({ content, channel }) => [content, membersOf.get(channel!)]);
    // Cleo has left the channel.
    expect(readers).toEqual([
      ['early', ['11']],
      ['late', ['11', '12']],
      ['left', ['11', '12']],
    ]);
    expect(new Set(recordsOf(records, 'message').map(({ channel }) => channel)).size).toBe(3);
    expect(recordsOf(records, 'channel').map(({ name, privacy }) => [name, privacy])).toEqual([
      ['general', 'public'],
      ...Array(3).fill(['council', 'private']),
    ]);
  });

  it('skips messages with an unknown sender or conversation', async () => {
    const records = await read([message(1, 999, PUBLIC, 'x'), message(2, ANN, 999, 'y'), message(3, ANN, PUBLIC, 'z')]);
    expect(recordsOf(records, 'message').map(({ id }) => id)).toEqual(['3']);
    expect(recordsOf(records, 'skipped').filter(({ type }) => type === 'zulip.message')).toMatchObject([
      { id: 'message/1', reason: 'Its sender is not in the archive' },
      { id: 'message/2', reason: 'Its conversation is not in the archive' },
    ]);
  });

  it('skips messages beyond the maximum number of groups of readers', async () => {
    const more = Array.from({ length: 101 }, (_, index) => user(1000 + index, `U${index}`));
    const records = await read(
      more.map((_, index) => message(index + 1, ANN, PROTECTED, 'x')),
      more.map(({ id }, index) => held(id, index + 1)),
      { zerver_userprofile: [...REALM.zerver_userprofile, ...more] },
    );
    expect(recordsOf(records, 'message')).toHaveLength(100);
    expect(recordsOf(records, 'skipped').filter(({ id }) => id === 'message/101')).toHaveLength(1);
  });

  it('converts edits, moves, reactions, stars and polls', async () => {
    const history = [
      { user_id: BOB, timestamp: 1200, prev_content: 'second', prev_rendered_content: '<p>second</p>' },
      { user_id: ANN, timestamp: 1150, prev_topic: 'old', topic: 'news' },
      { user_id: ANN, timestamp: 1100, prev_content: 'first', prev_rendered_content: '<p>first</p>' },
    ];
    const edited = message(1, ANN, PUBLIC, 'third', { last_edit_time: 1200, edit_history: JSON.stringify(history) });
    const reaction = (id: number, emoji_name: string, emoji_code: string, reaction_type: string) => ({
      ...{ id, user_profile: BOB, message: 1, emoji_name, emoji_code, reaction_type },
    });
    const records = await read([edited], [held(ANN, 1, 1 | 2), held(BOB, 1, 1 | 4)], {
      zerver_reaction: [reaction(1, 'thumbs_up', '1f44d', 'unicode_emoji'), reaction(2, 'old', '7', 'realm_emoji')],
      zerver_realmemoji: [{ id: 7, name: 'cat', author: ANN, file_name: '7.png', deactivated: false }],
      zerver_submessage: [{ id: 1, message: 1, sender: BOB, msg_type: 'widget', content: '{}' }],
    });
    expect(recordsOf(records, 'edit').map(({ id, person, at, previous }) => [id, person, at, previous])).toEqual([
      ['1/0', '11', 1100, 'first'],
      ['1/2', '12', 1200, 'second'],
    ]);
    expect(recordsOf(records, 'reaction').map(({ emoji, person }) => [emoji, person])).toEqual([
      ['👍', '12'],
      ['cat', '12'],
    ]);
    expect(recordsOf(records, 'pin')).toMatchObject([{ message: '1', person: '11' }]);
    expect(recordsOf(records, 'message')[0]).toMatchObject({
      editedAt: 1200,
      unsupported: [{ type: 'zulip.submessages', original: [{ senderId: 12, kind: 'widget', content: '{}' }] }],
    });
    const skipped = recordsOf(records, 'skipped').map(({ type }) => type);
    expect(skipped).toEqual(expect.arrayContaining(['zulip.move', 'zulip.collapsed']));
  });

  it('takes messages after the last read one as unread, and counts earlier unread ones', async () => {
    const records = await read(
      [1, 2, 3].map((id) => message(id, ANN, PUBLIC, 'x')),
      [held(BOB, 1, 0), held(BOB, 2, 1), held(BOB, 3, 0), ...[1, 2, 3].map((id) => held(ANN, id))],
    );
    expect(recordsOf(records, 'readPosition')).toMatchObject([{ person: '12', channel: '21', readUntil: 1002 }]);
    expect(recordsOf(records, 'skipped').filter(({ type }) => type === 'zulip.unread')).toMatchObject([
      { original: { messages: 1 } },
    ]);
  });

  it.each<[string, ImportedContent]>([
    ['@**Bob** and @_**Bob|12**', [person('12', 'Bob'), ' and ', person('12', 'Bob')]],
    ['@**|12**', [person('12', 'Bob')]],
    ['@**Nobody** a@**Bob**', '@**Nobody** a@**Bob**'],
    ['@*makers*, @**all**', [{ mention: 'group', id: '200', name: 'makers' }, ', ', { mention: 'everyone' }]],
    ['@*role:everyone*', '@*role:everyone*'],
    ['#**general**', [{ link: 'channel', id: '21', label: '#general' }]],
    ['#**general>lunch**', [{ link: 'channel', id: '21', label: '#general > lunch' }]],
    ['#**general>lunch@4**', [{ link: 'message', id: '4', label: '#general > lunch' }]],
    ['[plan](/user_uploads/1/ab/plan.txt)', [{ link: 'file', id: '1/ab/plan.txt', label: 'plan' }]],
    ['![](/user_uploads/1/ab/plan.txt)', [{ link: 'file', id: '1/ab/plan.txt' }]],
    ['https://acme.example/user_uploads/1/ab/plan.txt', [{ link: 'file', id: '1/ab/plan.txt' }]],
    [
      '[said](https://acme.example/#narrow/channel/21-general/topic/a/near/4):',
      [{ link: 'message', id: '4', label: 'said' }, ':'],
    ],
    ['[she](/#narrow/dm/11,12-dm/near/4)', [{ link: 'message', id: '4', label: 'she' }]],
    ['see [us](#narrow/dm/11,12-dm) or [it](#narrow/channel/999-x)', 'see us or it'],
    ['[stars](#narrow/is/starred)', '[stars](#narrow/is/starred)'],
    [
      'https://other.example/#narrow/channel/21-elsewhere/topic/a/near/4',
      'https://other.example/#narrow/channel/21-elsewhere/topic/a/near/4',
    ],
    ['`@**Bob**` @**Bob**', ['`@**Bob**` ', person('12', 'Bob')]],
    ['``a`@**Bob**``', '``a`@**Bob**``'],
    ['\\` "@**Bob**" `', ['\\` "', person('12', 'Bob'), '" `']],
    ['```\n@**Bob**\n```\n@**Bob**', ['```\n@**Bob**\n```\n', person('12', 'Bob')]],
    ['```quote\n@**Bob**\n```', ['```quote\n', person('12', 'Bob'), '\n```']],
    ['~~~~py\n```\n@**Bob**\n~~~~', '~~~~py\n```\n@**Bob**\n~~~~'],
    ['`a\n\n@**Bob**`', ['`a\n\n', person('12', 'Bob'), '`']],
  ])('converts the references of %j', async (text, expected) => {
    expect(await contentOf(text)).toEqual(expected);
  });

  it('links only files that are attached to the message, and attaches those without a link', async () => {
    const link = '[a](/user_uploads/1/ab/plan.txt)';
    const records = await read([message(1, ANN, PUBLIC, 'x'), message(2, BOB, PUBLIC, link)], [], {}, FILES);
    expect(recordsOf(records, 'message').map(({ content, files }) => [content, files])).toEqual([
      ['x', ['1/ab/plan.txt']],
      [link, ['1/cd/gone.txt']],
    ]);
    expect(recordsOf(records, 'file').map(({ id, path, missing }) => [id, path ?? missing])).toEqual([
      ['1/ab/plan.txt', 'uploads/1/ab/plan.txt'],
      ['1/cd/gone.txt', 'missing in the archive'],
    ]);
  });

  it('opens files, avatars and pictures of emoji, and no others', async () => {
    const path = await writeFolder({
      ...exportOf([], [], {
        zerver_userprofile: [user(ANN, 'Ann', { avatar_source: 'U' })],
        zerver_realmemoji: [{ id: 7, name: 'cat', author: ANN, file_name: '7.png', deactivated: false }],
        ...{ zerver_usergroupmembership: [], zerver_subscription: [] },
      }),
      ...FILES,
    });
    const records = recordsOf(await readRecords(reader(), path), 'file');
    const paths = records.flatMap(({ path: it }) => it ?? []);
    expect(paths).toEqual(['avatars/1/a.png', 'emoji/1/emoji/images/7.png', 'uploads/1/ab/plan.txt']);
    const opened = await reader().open(path);
    const texts: string[] = [];
    for (const name of paths) for await (const chunk of (await opened.openFile(name))!) texts.push(String(chunk));
    expect(texts).toEqual(['face', 'picture', 'plan']);
    expect(await opened.sizeOf('uploads/1/ab/plan.txt')).toBe(4);
    expect([await opened.sizeOf('uploads/none'), await opened.openFile('uploads/none')]).toEqual([null, null]);
    await expect(opened.sizeOf('../realm.json')).rejects.toThrow('cannot be that of a file');
    await opened.close();
  });

  it('names tables, personal data and files without records', async () => {
    const records = await read(
      [],
      [],
      {
        zerver_realmfilter: [{ id: 1, pattern: 'a', url_template: 'https://a.example' }],
        zerver_alertword: [{ id: 1, user_profile: ANN, word: 'ghost' }],
        zerver_scheduledmessage: [{ id: 1 }, { id: 2 }],
      },
      { 'realm_icons/1/icon.png': 'icon', 'uploads/1/ef/stray.txt': 'stray', 'migration_status.json': '{}' },
    );
    const counts = new Map<string, number>();
    for (const { type } of recordsOf(records, 'skipped')) counts.set(type, (counts.get(type) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toMatchObject({
      'zulip.organization_settings': 1,
      'zulip.settings': 3,
      'zulip.linkifiers': 1,
      'zulip.alertWords': 1,
      'zulip.zerver_scheduledmessage': 2,
      'zulip.channel_settings': 2,
      'zulip.group_settings': 2,
      'zulip.subgroup': 1,
      'zulip.conversation': 1,
      'zulip.file': 3,
    });
  });
});

function person(id: string, name: string) {
  return { mention: 'person', id, name } as const;
}
