import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DiskRoom } from '@parley/export-files';
import type { ImportedContent, ImportRecord } from '@parley/transfer/records';
import { Binary, ObjectId, serialize } from 'bson';
import { type ExportFiles, readRecords, recordsOf, writeFolder, writeZip } from '../testing/export-files.js';
import { unpackArchive } from './mongo-archive.js';
import { ROCKETCHAT_READER } from './rocketchat-reader.js';

const bson = (...documents: readonly object[]): Buffer => Buffer.concat(documents.map((each) => serialize(each)));
const at = (seconds: number): Date => new Date((1_700_000_000 + seconds) * 1000);

const ANN = {
  _id: 'u1',
  username: 'ann',
  name: 'Ann S',
  emails: [{ address: 'ann@acme.example', verified: true }],
  roles: ['admin'],
  active: true,
  type: 'user',
  services: { ldap: { id: 'ldap-7' } },
};
const BEN = { _id: 'u2', username: 'ben.', name: 'Ben', roles: ['guest'], active: false };
const BOT = { _id: 'u3', username: 'rocket.cat', roles: ['bot'], type: 'bot' };
const GENERAL = { _id: 'GENERAL', t: 'c', name: 'general', topic: '*News*', ro: true, ts: at(0), u: { _id: 'u1' } };
const subscription = (rid: string, user: string, more: object = {}) => ({
  _id: `${rid}-${user}`,
  rid,
  u: { _id: user },
  ...more,
});

/** Dump with messages in the channel and with other collections. */
const dump = (messages: readonly object[], more: ExportFiles = {}): ExportFiles => {
  const collections: ExportFiles = {
    'users.bson': bson(ANN, BEN, BOT),
    'rocketchat_room.bson': bson(GENERAL),
    'rocketchat_subscription.bson': bson(subscription('GENERAL', 'u1', { ls: at(5) }), subscription('GENERAL', 'u2')),
    'rocketchat_settings.bson': bson(
      { _id: 'uniqueID', value: 'S1' },
      { _id: 'Site_Name', value: 'Acme' },
      { _id: 'Site_Url', value: 'https://chat.acme.example/' },
      { _id: 'SMTP_Password', value: 'secret' },
    ),
    'rocketchat_message.bson': bson(...messages),
    ...more,
  };
  return Object.fromEntries(Object.entries(collections).map(([name, bytes]) => [`dump/rocketchat/${name}`, bytes]));
};

const message = (id: string, more: object = {}) => ({
  _id: id,
  rid: 'GENERAL',
  msg: 'a',
  ts: at(1),
  u: { _id: 'u1', username: 'ann' },
  ...more,
});

const read = async (messages: readonly object[], more: ExportFiles = {}): Promise<ImportRecord[]> =>
  readRecords(ROCKETCHAT_READER, await writeFolder(dump(messages, more)));
const contentOf = async (msg: string, more: object = {}): Promise<ImportedContent> =>
  recordsOf(await read([message('m1', { msg, ...more })]), 'message')[0]!.content;

describe('ROCKETCHAT_READER', () => {
  it.each([
    ['a folder', () => writeFolder(dump([]))],
    ['a packed folder', () => writeZip({ ...dump([]), 'dump/admin/system.bson': '' })],
    ['a compressed dump', () => writeFolder({ 'rocketchat_message.bson.gz': gzipSync(bson()) })],
  ])('recognizes %s', async (_, write) => {
    expect(await ROCKETCHAT_READER.recognizes(await write())).toBe(true);
  });

  it.each([
    ['another dump', () => writeFolder({ 'dump/other/users.bson': '' })],
    ['nothing', async () => '/nowhere'],
  ])('does not recognize %s', async (_, write) => {
    expect(await ROCKETCHAT_READER.recognizes(await write())).toBe(false);
  });

  it('imports a channel with a join code as private', async () => {
    const records = await read([], { 'rocketchat_room.bson': bson({ ...GENERAL, joinCodeRequired: true }) });
    expect(recordsOf(records, 'channel')).toMatchObject([{ id: 'GENERAL', privacy: 'private' }]);
  });

  it('reads the organization without secrets, people, channels and reading positions', async () => {
    const records = await read([]);
    expect(records[0]).toEqual({
      source: 'rocketchat:S1',
      kind: 'organization',
      id: 'rocketchat:S1',
      name: 'Acme',
      urls: ['https://chat.acme.example'],
    });
    expect(recordsOf(records, 'person')).toMatchObject([
      {
        id: 'u1',
        name: 'Ann S',
        role: 'administrator',
        email: 'ann@acme.example',
        isEmailVerified: true,
        externalId: 'ldap-7',
      },
      { id: 'u2', role: 'guest', isDeactivated: true },
      { id: 'u3', name: 'rocket.cat', isBot: true },
    ]);
    expect(recordsOf(records, 'channel')).toMatchObject([
      {
        id: 'GENERAL',
        name: 'general',
        privacy: 'public',
        members: ['u1', 'u2'],
        description: '**News**',
        isReadOnly: true,
        creator: 'u1',
      },
    ]);
    expect(recordsOf(records, 'readPosition')).toMatchObject([
      { person: 'u1', channel: 'GENERAL', readUntil: 1_700_000_005 },
    ]);
    expect(JSON.stringify(records)).not.toContain('secret');
  });

  it('reads direct rooms, teams, discussions and livechat with the access that they had', async () => {
    const records = await read(
      [
        message('m1', { rid: 'd1', msg: 'direct' }),
        message('m2', { rid: 'open', msg: 'in a discussion' }),
        message('m3', { rid: 'closed', msg: 'in a private discussion' }),
        message('m4', { rid: 'live', msg: 'help', u: { _id: 'v1', username: 'guest-1', name: 'Visitor' }, token: {} }),
        message('m5', { rid: 'gone', msg: 'lost' }),
        message('m6', { rid: 'd1', msg: 'reply', tmid: 'm1' }),
      ],
      {
        'rocketchat_room.bson': bson(
          GENERAL,
          { _id: 'd1', t: 'd', uids: ['u1', 'u2'] },
          { _id: 'team', t: 'c', name: 'sales', teamId: 't1', teamMain: true },
          { _id: 'open', t: 'c', prid: 'GENERAL', fname: 'Lunch?', name: 'x1' },
          { _id: 'closed', t: 'p', prid: 'GENERAL', fname: 'Pay', name: 'x2' },
          { _id: 'live', t: 'l', fname: 'Visitor' },
        ),
        'rocketchat_team.bson': bson({ _id: 't1', name: 'sales', type: 1, roomId: 'team' }),
        'rocketchat_team_member.bson': bson({ _id: 'x', teamId: 't1', userId: 'u2' }),
        'rocketchat_subscription.bson': bson(
          subscription('closed', 'u1'),
          subscription('live', 'u1'),
          subscription('nowhere', 'u1'),
        ),
      },
    );
    expect(recordsOf(records, 'conversation')).toMatchObject([{ id: 'd1', members: ['u1', 'u2'] }]);
    expect(
      recordsOf(records, 'channel').map(({ id, privacy, members, folder }) => [id, privacy, members, folder]),
    ).toEqual([
      ['GENERAL', 'public', [], undefined],
      ['team', 'private', [], 'sales'],
      ['closed', 'private', ['u1'], undefined],
      ['live', 'private', ['u1'], 'Livechat'],
      ['gone', 'private', ['u1'], undefined],
    ]);
    expect(recordsOf(records, 'thread')).toMatchObject([{ id: 'open', channel: 'GENERAL', name: 'Lunch?' }]);
    expect(recordsOf(records, 'group')).toMatchObject([{ id: 't1', name: 'sales', members: ['u2'] }]);
    const [direct, open, closed, live, lost, reply] = recordsOf(records, 'message');
    expect(direct).toMatchObject({ conversation: 'd1' });
    expect(open).toMatchObject({ channel: 'GENERAL', thread: 'open' });
    expect(closed).toMatchObject({ channel: 'closed' });
    expect(live).toMatchObject({ channel: 'live', sender: 'v1' });
    expect(lost).toMatchObject({ channel: 'gone' });
    expect(reply).toMatchObject({ conversation: 'd1', replyTo: 'm1' });
    expect(recordsOf(records, 'person')).toContainEqual(
      expect.objectContaining({ id: 'v1', name: 'Visitor', isExternal: true }),
    );
    expect(recordsOf(records, 'skipped')).toMatchObject([{ type: 'rocketchat.subscription' }]);
  });

  it('reads the members of rooms from people if the dump has no subscriptions', async () => {
    const { 'dump/rocketchat/rocketchat_subscription.bson': _, ...others } = dump([message('m1')], {
      'users.bson': bson({ ...ANN, __rooms: ['GENERAL', 'd1'] }, { ...BEN, __rooms: ['d1'] }),
      'rocketchat_room.bson': bson(GENERAL, { _id: 'd1', t: 'd' }, { _id: 'lost', t: 'p', name: 'lost' }),
    });
    const records = await readRecords(ROCKETCHAT_READER, await writeFolder(others));
    expect(recordsOf(records, 'channel')).toMatchObject([
      { id: 'GENERAL', members: ['u1'] },
      { id: 'lost', members: [], hasMoreMembers: true },
    ]);
    expect(recordsOf(records, 'channel')[0]).not.toHaveProperty('hasMoreMembers');
    expect(recordsOf(records, 'conversation')).toMatchObject([{ id: 'd1', members: ['u1', 'u2'] }]);
  });

  it('reads threads, quotes, edits with their history, reactions, pins and stars', async () => {
    const records = await read([
      message('m1', {
        editedAt: at(9),
        pinned: true,
        pinnedAt: at(10),
        starred: [{ _id: 'u2' }],
        reactions: { ':+1:': { usernames: ['ann', 'gone'] }, ':parrots:': { usernames: ['ben.'] } },
      }),
      message('m2', { tmid: 'm1', tshow: true }),
      message('m3', {
        msg: '[ ](https://chat.acme.example/channel/general?msg=m1) yes',
        attachments: [
          { message_link: 'https://chat.acme.example/channel/general?msg=m1', author_name: 'ann', text: '*a*' },
        ],
      }),
      message('h1', { _hidden: true, parent: 'm1', msg: 'old *text*', editedAt: at(9), editedBy: { _id: 'u1' } }),
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { id: 'm1', sentAt: 1_700_000_001, editedAt: 1_700_000_009 },
      { id: 'm2', thread: 'm1', isBroadcast: true },
      { id: 'm3', replyTo: 'm1', content: 'yes\n\n```quote\n**ann**\n\n**a**\n```' },
    ]);
    expect(recordsOf(records, 'edit')).toMatchObject([{ message: 'm1', person: 'u1', previous: 'old **text**' }]);
    expect(recordsOf(records, 'reaction').map(({ person, emoji }) => [person, emoji])).toEqual([
      ['u1', '👍'],
      ['name:gone', '👍'],
      ['u2', 'parrots'],
    ]);
    expect(recordsOf(records, 'pin').map(({ message: of, person }) => [of, person])).toEqual([
      ['m1', undefined],
      ['m1', 'u2'],
    ]);
  });

  it.each([
    ['emphasis', '*a* **b** _c_ __d__ ~e~ ~~f~~ `*g*`', '**a** **b** *c* *d* ~~e~~ ~~f~~ `*g*`'],
    ['lists and quotes', '- a\n- b\n\n> c', '* a\n* b\n\n```quote\nc\n```'],
    ['code', '```\n@all *x*\n```', '```text\n@all *x*\n```'],
    ['spoilers', 'it was ||him||', '```spoiler\nit was him\n```'],
    ['emoji', ':tada: :parrots:', '🎉 :parrots:'],
    ['addresses', 'mail a@ann.example', 'mail a@ann.example'],
  ])('converts %s', async (_, msg, content) => {
    expect(await contentOf(msg)).toBe(content);
  });

  it.each([
    ['@ann!', [{ mention: 'person', id: 'u1', name: 'Ann S' }, '!']],
    ['@ben..', [{ mention: 'person', id: 'u2', name: 'Ben' }, '.']],
    ['@here', [{ mention: 'everyone' }]],
    ['in #general', ['in ', { link: 'channel', id: 'GENERAL', label: '#general' }]],
    ['@nobody #nowhere', '@nobody #nowhere'],
  ])('refers to people and channels in %j', async (msg, content) => {
    expect(await contentOf(msg)).toEqual(content);
  });

  it('keeps notices, encrypted messages, unknown types and empty messages, and counts joining', async () => {
    const records = await read([
      message('m1', { t: 'uj', msg: 'ann' }),
      message('m2', { t: 'r', msg: 'new-name' }),
      message('m3', { t: 'e2e', msg: 'Y2lwaGVy' }),
      message('m4', { t: 'hologram', msg: 'x' }),
      message('m5', { msg: '', location: { type: 'Point', coordinates: [13.4, 52.5] } }),
      message('m6', { msg: '' }),
      message('m7', { msg: 'b', alias: 'Deploy', bot: { i: 'x' }, attachments: [{ title: 'Build', text: '*ok*' }] }),
    ]);
    expect(recordsOf(records, 'skipped')).toMatchObject([{ type: 'rocketchat.uj', original: { msg: 'ann' } }]);
    expect(recordsOf(records, 'message')).toMatchObject([
      { content: 'Renamed the channel: new-name', isNotice: true },
      {
        content: '*Encrypted message*',
        unsupported: [{ type: 'rocketchat.message.e2e', original: { msg: 'Y2lwaGVy' } }],
      },
      { content: 'x', unsupported: [{ type: 'rocketchat.message.hologram' }] },
      { content: '[52.5, 13.4](https://www.openstreetmap.org/?mlat=52.5&mlon=13.4)' },
      { content: '*Message without text*', unsupported: [{ type: 'rocketchat.empty_message' }] },
      { content: 'b\n\n**Build**\n\n**ok**', senderName: 'Deploy', isAutomatic: true },
    ]);
  });

  it('reads files from GridFS and from a folder, avatars and custom emoji', async () => {
    const chunk = (file: unknown, n: number, text: string) => ({
      _id: new ObjectId(),
      files_id: file,
      n,
      data: new Binary(Buffer.from(text)),
    });
    const folder = await writeFolder({
      ...dump(
        [
          message('m1', {
            msg: '',
            file: { _id: 'f1' },
            files: [{ _id: 'f1' }, { _id: 'thumb' }],
            attachments: [{ type: 'file', title_link: '/file-upload/f1/a.txt', description: '*see*' }],
          }),
        ],
        {
          'rocketchat_uploads.bson': bson(
            {
              _id: 'f1',
              name: 'a.txt',
              type: 'text/plain',
              size: 6,
              store: 'GridFS:Uploads',
              userId: 'u1',
              uploadedAt: at(1),
            },
            { _id: 'f2', name: 'b.txt', store: 'FileSystem:Uploads' },
            { _id: 'f3', name: 'c.txt', store: 'AmazonS3:Uploads' },
          ),
          'rocketchat_uploads.chunks.bson': bson(chunk('f1', 1, 'def'), chunk('f1', 0, 'abc')),
          'rocketchat_avatars.bson': bson({ _id: 'a1', userId: 'u1' }),
          'rocketchat_avatars.chunks.bson': bson(chunk('a1', 0, 'PNG')),
          'rocketchat_custom_emoji.bson': bson({ _id: 'e1', name: 'parrot', aliases: ['bird'], extension: 'gif' }),
          'rocketchat_statistics.bson': bson({ _id: 's' }),
          'custom_emoji.chunks.bson': bson(chunk('parrot.gif', 0, 'GIF')),
          'uploads/f2': 'FILE',
        },
      ),
    });
    const opened = await ROCKETCHAT_READER.open(folder);
    const records: ImportRecord[] = [];
    for await (const record of opened.records()) records.push(record);
    expect(recordsOf(records, 'file')).toMatchObject([
      { id: 'avatar/u1', path: 'gridfs:rocketchat_avatars/a1' },
      {
        id: 'f1',
        name: 'a.txt',
        contentType: 'text/plain',
        size: 6,
        owner: 'u1',
        path: 'gridfs:rocketchat_uploads/f1',
      },
      { id: 'f2', path: 'uploads/f2' },
      { id: 'f3', missing: 'stored outside of the database (AmazonS3:Uploads)' },
      { id: 'emoji/parrot', path: 'gridfs:custom_emoji/parrot.gif' },
    ]);
    expect(recordsOf(records, 'emoji')).toMatchObject([
      { name: 'parrot', file: 'emoji/parrot' },
      { name: 'bird', aliasOf: 'parrot' },
    ]);
    expect(recordsOf(records, 'message')).toMatchObject([{ files: ['f1'], content: '**see**' }]);
    const path = 'gridfs:rocketchat_uploads/f1';
    expect(await opened.sizeOf(path)).toBe(6);
    expect(recordsOf(records, 'skipped')).toMatchObject([
      { type: 'rocketchat.collection', id: 'rocketchat_statistics' },
    ]);
    let text = '';
    for await (const part of (await opened.openFile(path))!) text += Buffer.from(part).toString();
    expect(text).toBe('abcdef');
    expect(await opened.openFile('gridfs:rocketchat_uploads/f9')).toBeNull();
    expect(await opened.sizeOf('../../etc/passwd')).toBeNull();
    await opened.close();
  });

  it('reads compressed dumps', async () => {
    const folder = await writeFolder({
      'users.bson.gz': gzipSync(bson(ANN)),
      'rocketchat_room.bson.gz': gzipSync(bson(GENERAL)),
      'rocketchat_message.bson.gz': gzipSync(bson(message('m1'))),
    });
    const records = await readRecords(ROCKETCHAT_READER, folder);
    expect(recordsOf(records, 'message')).toMatchObject([{ id: 'm1', sender: 'u1' }]);
  });

  it.each([
    [
      'is cut off',
      bson(message('m1'), message('m2')).subarray(0, -3),
      'rocketchat_message.bson: ends within document 2.',
    ],
    [
      'has an impossible length',
      Buffer.concat([bson(message('m1')), Buffer.from([0xff, 0xff, 0xff, 0x7f, 0])]),
      'document 2 has the impossible length 2147483647',
    ],
    ['has a negative length', Buffer.from([0, 0, 0, 0xff, 0]), 'document 1 has the impossible length'],
  ])('rejects a collection that %s', async (_, bytes, reason) => {
    await expect(read([], { 'rocketchat_message.bson': bytes })).rejects.toMatchObject({
      code: 'INVALID_IMPORT',
      message: expect.stringContaining(reason),
    });
  });

  it('rejects compressed collections that expand suspiciously or are damaged', async () => {
    const bomb = { 'rocketchat_message.bson.gz': gzipSync(Buffer.alloc(50_000_000)) };
    const path = await writeFolder({
      ...bomb,
      'users.bson.gz': gzipSync(bson({ _id: 'u', x: 'y'.repeat(5_000_000) })),
    });
    await expect(readRecords(ROCKETCHAT_READER, path)).rejects.toThrow(
      'users.bson.gz: expands to more than 300 times its size.',
    );
    const damaged = await writeFolder({
      'rocketchat_message.bson': '',
      'users.bson.gz': gzipSync(bson(ANN)).subarray(0, 40),
    });
    await expect(readRecords(ROCKETCHAT_READER, damaged)).rejects.toThrow('users.bson.gz: cannot be read');
  });

  it('names files of messages in a dump without uploads', async () => {
    const path = await writeFolder(
      dump([message('m1', { file: { _id: 'f1', name: 'plan.pdf' } }), message('m2', { files: [{ _id: 'f1' }] })]),
    );
    const records = await readRecords(ROCKETCHAT_READER, path);
    expect(recordsOf(records, 'file')).toMatchObject([{ id: 'f1', name: 'plan.pdf', missing: 'missing in the dump' }]);
    expect(recordsOf(records, 'message').map(({ files }) => files)).toEqual([['f1'], ['f1']]);
  });

  it('counts damaged documents, and takes values of a wrong type as missing', async () => {
    const broken = Buffer.from(bson(message('m1')));
    broken[4] = 0x7e;
    const records = await read([], {
      'rocketchat_message.bson': Buffer.concat([
        broken,
        bson(
          { msg: 'x' },
          {
            _id: 'm2',
            rid: 7,
            msg: {},
            ts: 'never',
            u: 'x',
            t: [],
            file: 1,
            files: 'x',
            reactions: [1],
            starred: {},
            attachments: [null],
            mentions: 3,
            pinned: 1,
            editedAt: {},
          },
        ),
      ]),
      'rocketchat_room.bson': bson({ _id: 'r', t: 7, name: {}, uids: 'x', u: 1 }),
      'users.bson': bson(
        { _id: 'u1', emails: 'x', roles: 7, services: [] },
        { _id: new ObjectId('0123456789abcdef01234567') },
      ),
    });
    expect(recordsOf(records, 'skipped').map(({ id }) => id)).toEqual(
      expect.arrayContaining(['rocketchat_message:1', 'rocketchat_message:2']),
    );
    expect(recordsOf(records, 'message')).toMatchObject([
      { id: 'm2', sender: 'unknown', sentAt: 1, unsupported: [{ type: 'rocketchat.message_without_time' }] },
    ]);
    expect(recordsOf(records, 'person').map(({ id }) => id)).toEqual(['u1', '0123456789abcdef01234567', 'unknown']);
  });

  it('returns documents that are nested too deeply as damaged', async () => {
    let nested: object = {};
    for (let depth = 0; depth < 3000; depth++) nested = { a: nested };
    const records = await read([message('m1', { nested }), message('m2')]);
    expect(recordsOf(records, 'message').map(({ id }) => id)).toContain('m2');
  });
});

/** Lists of documents end with the length -1. */
const END = Buffer.from([0xff, 0xff, 0xff, 0xff]);
const MAGIC = Buffer.from([0x6d, 0xe2, 0x99, 0x81]);

/** Archive by `mongodump --archive` with the blocks of documents, which may alternate between collections. */
function archiveOf(blocks: readonly (readonly [collection: string, documents: Buffer])[], db = 'rocketchat'): Buffer {
  const names = [...new Set(blocks.map(([collection]) => collection))];
  const header = (collection: string, EOF: boolean) => bson({ db, collection, EOF, CRC: 0 });
  return Buffer.concat([
    MAGIC,
    bson({ concurrent_collections: 4, version: '0.1' }),
    ...names.map((collection) => bson({ db, collection, metadata: '{}', size: 1 })),
    END,
    ...blocks.flatMap(([collection, documents]) => [header(collection, false), documents, END]),
    ...names.flatMap((collection) => [header(collection, true), END]),
  ]);
}

const BLOCKS: readonly (readonly [string, Buffer])[] = [
  ['users', bson(ANN)],
  ['rocketchat_message', bson(message('m1'))],
  ['rocketchat_room', bson(GENERAL)],
  ['users', bson(BEN)],
  ['rocketchat_subscription', bson(subscription('GENERAL', 'u1'))],
  ['rocketchat_message', bson(message('m2'))],
];

async function writeArchive(bytes: Buffer): Promise<string> {
  const path = join(await writeFolder({}), 'dump.archive');
  await writeFile(path, bytes);
  return path;
}

const unpacked = () => readdirSync(tmpdir()).filter((name) => /^parley-import-\w{6}$/.test(name));

describe('an archive by mongodump', () => {
  it.each([
    ['plain', (bytes: Buffer) => bytes],
    ['compressed', gzipSync],
  ])('has the records of its alternating collections, %s', async (_, pack) => {
    const path = await writeArchive(pack(archiveOf(BLOCKS)));
    expect(await ROCKETCHAT_READER.recognizes(path)).toBe(true);
    const before = unpacked();
    const records = await readRecords(ROCKETCHAT_READER, path);
    expect(recordsOf(records, 'message').map(({ id }) => id)).toEqual(['m1', 'm2']);
    expect(recordsOf(records, 'person').map(({ id }) => id)).toEqual(['u1', 'u2']);
    expect(unpacked()).toEqual(before);
  });

  it('has the bytes of files in GridFS', async () => {
    const path = await writeArchive(
      archiveOf([
        ...BLOCKS,
        ['rocketchat_uploads', bson({ _id: 'f1', name: 'a.txt', store: 'GridFS:Uploads' })],
        ['rocketchat_uploads.chunks', bson({ _id: 1, files_id: 'f1', n: 0, data: new Binary(Buffer.from('hello')) })],
      ]),
    );
    const opened = await ROCKETCHAT_READER.open(path);
    const files = [];
    for await (const record of opened.records()) if (record.kind === 'file') files.push(record);
    expect(await opened.sizeOf(files[0]!.path!)).toBe(5);
    await opened.close();
  });

  it('is not recognized without messages of Rocket.Chat', async () => {
    expect(await ROCKETCHAT_READER.recognizes(await writeArchive(archiveOf([['users', bson(ANN)]])))).toBe(false);
  });

  const whole = archiveOf(BLOCKS);
  it.each<[string, Buffer, string]>([
    ['is cut off within a document', whole.subarray(0, whole.length - 6), 'ends within a document'],
    [
      'lacks the end of a collection',
      Buffer.concat([archiveOf([]), bson({ db: 'a', collection: 'b' }), END]),
      'ends within the collection b',
    ],
    ['has an impossible length', Buffer.concat([whole, Buffer.from([1, 0, 0, 0])]), 'impossible length 1'],
    ['has a huge length', Buffer.concat([whole, Buffer.from([0, 0, 0, 0x7f])]), 'impossible length'],
    ['names a collection that leads out of the folder', archiveOf([['../../etc', bson(ANN)]]), 'unsafe name'],
    ['names a database that leads out of the folder', archiveOf(BLOCKS, '..'), 'unsafe name'],
    ['has a damaged header', Buffer.concat([archiveOf([]), bson({}), END]), 'unsafe name'],
    [
      'expands too much',
      gzipSync(
        Buffer.concat([archiveOf([]), bson({ db: 'a', collection: 'b' }), bson({ a: 'x'.repeat(8_000_000) }), END]),
      ),
      'expands to more than',
    ],
  ])('is rejected if it %s', async (_, bytes, reason) => {
    const before = unpacked();
    await expect(ROCKETCHAT_READER.open(await writeArchive(bytes))).rejects.toThrow(reason);
    expect(unpacked()).toEqual(before);
  });

  it('is rejected before it uses up the reserved disk space', async () => {
    const mib = 1024 ** 2;
    const block = [
      bson({ db: 'a', collection: 'b' }),
      ...Array.from({ length: 3 }, () => bson({ a: randomBytes(8 * mib) })),
    ];
    const path = await writeArchive(Buffer.concat([archiveOf([]), ...block, END]));
    const before = unpacked();
    for (const free of [[20], [60, 11]]) {
      const roomOf = async (folder: string) => new DiskRoom(folder, 10 * mib, async () => (free.shift() ?? 0) * mib);
      await expect(unpackArchive(path, undefined, roomOf)).rejects.toMatchObject({ code: 'SERVER_BUSY' });
      expect(unpacked()).toEqual(before);
    }
  });

  it('is rejected if it unpacks to more than the caller allows', async () => {
    const block = [bson({ db: 'a', collection: 'b' }), bson({ a: 'x'.repeat(1000) })];
    const path = await writeArchive(Buffer.concat([archiveOf([]), ...block, END]));
    const before = unpacked();
    await expect(ROCKETCHAT_READER.open(path, 1000)).rejects.toThrow('unpacks to more than 1000 bytes');
    expect(unpacked()).toEqual(before);
  });

  it('is rejected if it has more than ten thousand collections', async () => {
    const blocks = Array.from({ length: 10_001 }, (_, n) => [bson({ db: 'a', collection: `c${n}`, EOF: true }), END]);
    const bytes = Buffer.concat([archiveOf([]), ...blocks.flat()]);
    await expect(ROCKETCHAT_READER.open(await writeArchive(bytes))).rejects.toThrow('more than 10000 collections');
  });
});
