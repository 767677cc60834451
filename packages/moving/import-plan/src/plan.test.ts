import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeRenderer } from '@parley/testkit';
import type { MessageCopy } from '@parley/transfer/exports';
import type { ImportRecord } from '@parley/transfer/records';
import fc from 'fast-check';
import { type ImportPlan, planImport } from './plan.js';
import { targetAccess } from './plan-access.js';
import { aRecord } from './testing/generated-records.js';
import { openRecords } from './testing/open-records.js';
import { couldRead } from './testing/source-readers.js';

let folder: string;
let plans: ImportPlan[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-plan-'));
  plans = [];
});
afterEach(() => {
  for (const plan of plans) plan.close();
  expect(readdirSync(folder)).toEqual([]);
  rmSync(folder, { recursive: true });
});

const unicode = {
  namesByCode: new Map([
    ['1f44d', ['thumbs_up', '+1']],
    ['1f389', ['tada']],
  ]),
  codesByName: new Map([
    ['thumbs_up', '1f44d'],
    ['+1', '1f44d'],
    ['tada', '1f389'],
  ]),
};

type Records = Parameters<typeof openRecords>[0];

async function planned(
  records: Records,
  {
    files = {},
    mappings = [],
  }: { files?: Record<string, Uint8Array>; mappings?: { person: string; email: string }[] } = {},
): Promise<ImportPlan> {
  const plan = await planImport(openRecords(records, files), {
    stringId: 'acme',
    realmUrl: 'https://acme.example',
    mappings: mappings.map((mapping) => ({ ...mapping, name: null })),
    temporaryFolder: folder,
    now: 2_000_000_000,
    renderer: new FakeRenderer(),
    unicodeEmoji: () => unicode,
  });
  plans.push(plan);
  return plan;
}

async function messagesOf({ source }: ImportPlan): Promise<readonly MessageCopy[]> {
  const all: MessageCopy[] = [];
  for await (const page of source.messages()) all.push(...page);
  return all;
}

const contentsOf = async (plan: ImportPlan) =>
  (await messagesOf(plan)).map(({ message }) => [message.topic, message.content]);

const outcomesOf = ({ summary }: ImportPlan, kind: string) =>
  summary.ledger.filter((line) => line.kind === kind).map(({ outcome, reason, count }) => [outcome, reason, count]);

const ann = { kind: 'person', id: 'ann', name: 'Ann', email: 'ann@acme.example', isEmailVerified: true } as const;
const bob = { kind: 'person', id: 'bob', name: 'Bob' } as const;
const general = { kind: 'channel', id: 'c', name: 'general', privacy: 'public', members: ['ann', 'bob'] } as const;
const secret = { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: ['bob'] } as const;
const BASE: Records = [ann, bob, general, secret];
let clock = 1_600_000_000;
const said = (id: string, content: unknown, more: object = {}) =>
  ({ kind: 'message', id, channel: 'c', sender: 'ann', sentAt: clock++, content, ...more }) as Records[number];

describe('messages', () => {
  it('removes the temporary folders of imports killed a day ago', async () => {
    const left = join(folder, 'parley-import-killed');
    mkdirSync(left);
    utimesSync(left, 0, 0);
    await planned([ann]);
    expect(existsSync(left)).toBe(false);
  });

  it('puts unthreaded messages into the general topic, in order of time', async () => {
    const plan = await planned([said('m2', 'second', { sentAt: 20 }), ...BASE, said('m1', 'first', { sentAt: 10.5 })]);
    expect(
      (await messagesOf(plan)).map(({ message }) => [message.id, message.sentAt, message.topic, message.content]),
    ).toEqual([
      [1, 10, '', 'first'],
      [2, 20, '', 'second'],
    ]);
  });

  it('moves a thread to a topic named after its root, and leaves a pointer in the channel', async () => {
    const plan = await planned([
      ...BASE,
      said('m1', 'Where is *lunch* today?'),
      said('m2', 'Here', { sender: 'bob', thread: 'm1' }),
      said('m3', 'Everyone, it moved', { thread: 'm1', isBroadcast: true }),
    ]);
    const topic = 'Where is lunch today?';
    expect(await contentsOf(plan)).toEqual([
      [topic, 'Where is *lunch* today?'],
      [
        '',
        expect.stringMatching(
          /^@_\*\*Ann\|4\*\* → \[Where is lunch today\?]\(\/#narrow\/channel\/1-general\/topic\/.*\/near\/1\)$/,
        ),
      ],
      [topic, 'Here'],
      [topic, 'Everyone, it moved'],
      ['', expect.stringContaining('/near/4)')],
    ]);
  });

  it('gives threads with equal names different topics', async () => {
    const plan = await planned([
      ...BASE,
      ...['m1', 'm2'].flatMap((id) => [
        said(id, 'Lunch?', { sentAt: 1_600_000_000 }),
        said(`${id}r`, 'Yes', { thread: id }),
      ]),
    ]);
    const topics = new Set((await contentsOf(plan)).map(([topic]) => topic));
    expect(topics).toEqual(new Set(['Lunch?', 'Lunch? (2020-09-13)', '']));
  });

  it('names a thread by its record, even without a root message', async () => {
    const plan = await planned([
      ...BASE,
      { kind: 'thread', id: 't', channel: 'c', name: 'Release' },
      { kind: 'thread', id: 'empty', channel: 'c' },
      said('m1', 'Soon', { thread: 't' }),
    ]);
    expect(await contentsOf(plan)).toEqual([['Release', 'Soon']]);
    expect(outcomesOf(plan, 'thread')).toEqual([
      ['represented', 'topic', 1],
      ['dropped', 'thread without messages', 1],
    ]);
  });

  it('never names a topic after a deleted message or one in another channel', async () => {
    const plan = await planned([
      ...BASE,
      said('m1', 'password 1234', { channel: 's' }),
      said('m2', 'reply', { thread: 'm1' }),
      said('m3', 'forget this'),
      said('m4', 'reply', { thread: 'm3' }),
      { kind: 'deletion', id: 'd', message: 'm3' },
    ]);
    const inGeneral = (await messagesOf(plan)).filter(({ message }) => message.channelId === 1);
    expect(JSON.stringify(inGeneral)).not.toMatch(/1234|forget/);
    expect(outcomesOf(plan, 'message')).toContainEqual(['dropped', 'deleted in the source', 1]);
  });

  it('keeps the beginning of a long message and the whole text as a file', async () => {
    const text = `start ${'word '.repeat(3000)}`;
    const plan = await planned([...BASE, said('m1', text)]);
    const [{ message }] = (await messagesOf(plan)) as [MessageCopy];
    expect(message.content.length).toBeLessThanOrEqual(10_000);
    expect(message.content).toMatch(/^start word .*\[whole message]\(\/user_uploads\/1\/.*message\.md\)$/s);
    const files: string[] = [];
    for await (const { content } of plan.source.files())
      for await (const bytes of content!) files.push(Buffer.from(bytes).toString());
    expect(files).toEqual([text.trimEnd()].map((whole) => expect.stringContaining(whole)));
  });

  it.each([
    ['attached to', [], ['f1', 'f2']],
    [
      'linked at the end of',
      [
        { link: 'file', id: 'f1' },
        { link: 'file', id: 'f2' },
      ],
      [],
    ],
  ])('keeps the links of files %s a long message in the message', async (_, parts, files) => {
    const plan = await planned(
      [
        ...BASE,
        said('m1', ['word '.repeat(3000), ...parts], { files }),
        { kind: 'file', id: 'f1', name: 'plan.txt', path: 'plan.txt' },
        { kind: 'file', id: 'f2', name: 'far.txt', url: 'https://files.example/far' },
      ],
      { files: { 'plan.txt': Buffer.from('text') } },
    );
    const [{ message }] = (await messagesOf(plan)) as [MessageCopy];
    expect(message.content.length).toBeLessThanOrEqual(10_000);
    expect(message.content).toMatch(
      /\[whole message]\(\S+\)\n\n\[plan\.txt]\(\/user_uploads\/1\/\S*plan\.txt\)\n\nfar\.txt \(not downloaded\)$/,
    );
  });

  it('divides a message with many files, so that each of them has a link, and deletes the parts with it', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => `f${index}`);
    const records: Records = [
      ...BASE,
      said('m1', 'word '.repeat(3000), { files: ids, thread: 'm1' }),
      said('m2', 'a reply', { thread: 'm1' }),
      ...ids.map((id) => ({ kind: 'file', id, name: `${id}.${'_'.repeat(240)}`, path: id }) as const),
    ];
    const files = Object.fromEntries(ids.map((id) => [id, Buffer.from(id)]));
    const plan = await planned(records, { files });
    const messages = (await messagesOf(plan)).filter(({ origin }) => origin?.kind === 'message');
    expect(messages.map(({ origin }) => origin!.recordId)).toEqual(['m1', 'm1#20', 'm1#40', 'm2']);
    for (const { message } of messages) expect(message.content.length).toBeLessThanOrEqual(10_000);
    const links = messages.map(({ message }) => message.content.match(/\/f\d+\._+\)/g) ?? []);
    expect(links.map(({ length }) => length)).toEqual([20, 20, 10, 0]);
    expect(new Set(links.flat()).size).toBe(50);
    const deleted = await planned([...records, { kind: 'deletion', id: 'd', message: 'm1' }], { files });
    expect((await messagesOf(deleted)).map(({ origin }) => origin?.recordId)).toEqual(['m2']);
  });

  it('resolves references to people, groups, channels and messages, and makes mentions silent', async () => {
    const plan = await planned([
      ...BASE,
      { kind: 'group', id: 'g', name: 'role:staff', members: ['ann'] },
      said('m1', [
        { mention: 'person', id: 'bob' },
        ' ',
        { mention: 'group', id: 'g' },
        ' ',
        { mention: 'person', id: 'gone', name: 'Cleo' },
        ' ',
        { link: 'channel', id: 's' },
        ' ',
        { link: 'message', id: 'm1', label: 'this' },
      ]),
      said('m2', [{ link: 'channel', id: 's' }], { channel: 's' }),
    ]);
    expect(await contentsOf(plan)).toEqual([
      [
        '',
        '@_**Bob|5** @_*staff* @Cleo [#private channel](/#narrow/channel/2-private-channel) ' +
          '[this](/#narrow/channel/1-general/topic//near/1)',
      ],
      ['', '[#secret](/#narrow/channel/2-secret)'],
    ]);
  });

  it('replaces missing files by notes and accounts for every file', async () => {
    const plan = await planned(
      [
        ...BASE,
        said('m1', ['See ', { link: 'file', id: 'f1' }], { files: ['f2', 'f3', 'f4'] }),
        { kind: 'file', id: 'f1', name: 'plan.txt', path: 'plan.txt' },
        { kind: 'file', id: 'f2', name: 'old.txt', missing: 'deleted in the source' },
        { kind: 'file', id: 'f3', name: 'far.txt', url: 'https://files.example/far?token=secret' },
        { kind: 'file', id: 'f5', name: 'unused.txt', path: 'plan.txt' },
      ],
      { files: { 'plan.txt': Buffer.from('text') } },
    );
    expect(await contentsOf(plan)).toEqual([
      [
        '',
        expect.stringMatching(
          /^See \[plan\.txt]\(\/user_uploads\/1\/\S*plan\.txt\)\n\nold\.txt \(deleted in the source\)\n\nfar\.txt \(not downloaded\)\n\nfile \(missing\)$/,
        ),
      ],
    ]);
    expect(outcomesOf(plan, 'file')).toEqual([
      ['imported', '', 1],
      ['represented', 'deleted in the source', 1],
      ['waiting', 'not downloaded', 1],
      ['dropped', 'no message refers to it', 1],
    ]);
  });

  it('drops messages with unknown readers and counts them', async () => {
    const plan = await planned([...BASE, said('m1', 'x', { channel: 'unknown' })]);
    expect(await messagesOf(plan)).toEqual([]);
    expect(outcomesOf(plan, 'message')).toEqual([['dropped', expect.stringContaining('readers are unknown'), 1]]);
  });
});

describe('details', () => {
  it('imports reactions once per person and emoji, prefers custom emoji to names of other systems, and drops unknown ones', async () => {
    const reaction = (id: string, emoji: string, person = 'ann') =>
      ({ kind: 'reaction', id, message: 'm1', person, emoji }) as const;
    const plan = await planned([
      ...BASE,
      said('m1', 'x'),
      { kind: 'emoji', id: 'e', name: 'Party Cat' },
      { kind: 'emoji', id: 'a', name: 'hooray', aliasOf: 'tada' },
      reaction('1', '+1'),
      reaction('2', '👍🏽'),
      reaction('3', 'Party Cat'),
      reaction('4', 'hooray', 'bob'),
      reaction('5', 'no_such'),
      { ...reaction('6', '+1'), message: 'gone' },
      { kind: 'emoji', id: 'c', name: 'clown' },
      reaction('7', 'clown', 'bob'),
      reaction('8', 'thumbup', 'bob'),
    ]);
    const [{ reactions }] = (await messagesOf(plan)) as [MessageCopy];
    expect(reactions.map(({ userId, name }) => [userId, name])).toEqual([
      [4, '+1'],
      [4, 'party_cat'],
      [5, 'tada'],
      [5, 'clown'],
      [5, 'thumbs_up'],
    ]);
    expect(outcomesOf(plan, 'reaction')).toEqual([
      ['imported', '', 5],
      ['merged', 'same reaction by the same person', 1],
      ['dropped', 'its message is not imported', 1],
      ['dropped', 'unknown emoji', 1],
    ]);
  });

  it('keeps edits newest first, stars saved messages and lists pins', async () => {
    const plan = await planned([
      ...BASE,
      said('m1', 'now'),
      { kind: 'edit', id: '1', message: 'm1', at: 100, previous: 'first' },
      { kind: 'edit', id: '2', message: 'm1', at: 200, previous: 'second' },
      { kind: 'pin', id: '1', message: 'm1', person: 'ann' },
      { kind: 'pin', id: '2', message: 'm1' },
    ]);
    const [message, pins] = (await messagesOf(plan)) as [MessageCopy, MessageCopy];
    expect(message.edits.map(({ previousContent }) => previousContent!.content)).toEqual(['second', 'first']);
    expect(message.message).toMatchObject({ isEdited: true, lastEditedAt: 200 });
    expect(message.holders).toEqual([{ userId: 4, flags: expect.objectContaining({ starred: true, read: true }) }]);
    expect([pins.message.topic, pins.message.content]).toEqual(['pinned messages', expect.stringContaining('[now](')]);
  });

  it('leaves messages after the read position unread for people with an account', async () => {
    const plan = await planned([
      ...BASE,
      said('m1', 'old', { sender: 'bob', sentAt: 10 }),
      said('m2', 'new', { sender: 'bob', sentAt: 20 }),
      { kind: 'readPosition', id: '1', person: 'ann', channel: 'c', readUntil: 10 },
      { kind: 'readPosition', id: '2', person: 'bob', channel: 'c', readUntil: 10 },
    ]);
    expect(
      (await messagesOf(plan)).map(({ holders }) => holders.map(({ userId, flags }) => [userId, flags.read])),
    ).toEqual([[], [[4, false]]]);
    expect(outcomesOf(plan, 'readPosition')).toContainEqual(['dropped', 'the person has no account', 1]);
  });

  it('merges conversations of the same people and people with the same email', async () => {
    const plan = await planned(
      [
        ...BASE,
        { ...ann, id: 'ann2', name: 'Ann again' },
        { kind: 'conversation', id: 'd1', members: ['ann', 'bob'] },
        { kind: 'conversation', id: 'd2', members: ['bob', 'ann2'] },
      ],
      { mappings: [{ person: 'bob', email: 'bob@acme.example' }] },
    );
    expect(plan.source.realm.conversations).toEqual([{ recipientId: 3, userIds: [4, 5] }]);
    expect(outcomesOf(plan, 'person').map(([outcome]) => outcome)).toEqual(['imported', 'imported', 'merged']);
  });
});

describe('limits', () => {
  it('keeps the newest hundred edits and bounds the reactions to one message', async () => {
    const edits = Array.from({ length: 130 }, (_, at) => ({
      ...({ kind: 'edit', id: `${at}`, message: 'm1', at, previous: `${at}` } as const),
    }));
    const reactions = Array.from({ length: 10_100 }, (_, index) => ({
      ...({ kind: 'reaction', id: `${index}`, message: 'm1', person: `p${index}`, emoji: '+1' } as const),
    }));
    const plan = await planned([...BASE, said('m1', 'x'), ...edits, ...reactions]);
    expect(outcomesOf(plan, 'edit')).toEqual([
      ['imported', '', 100],
      ['dropped', 'more than 100 edits', 30],
    ]);
    expect(outcomesOf(plan, 'reaction')).toEqual([
      ['imported', '', 5000],
      ['dropped', 'too many reactions to one message', 5100],
    ]);
    const [copy] = await messagesOf(plan);
    expect([copy!.edits.length, copy!.edits[0]!.editedAt, copy!.reactions.length]).toEqual([100, 129, 5000]);
  });
});

describe('records', () => {
  it('merges repeated records and drops others with the same id', async () => {
    const plan = await planned([...BASE, ann, { ...ann, name: 'Another' }]);
    expect(outcomesOf(plan, 'person')).toEqual([
      ['imported', 'account by verified email', 1],
      ['imported', 'placeholder, because no verified email is known', 1],
      ['merged', 'repeated record', 1],
      ['dropped', 'another record has the same id', 1],
    ]);
  });

  it('rejects an empty export and records of two sources', async () => {
    await expect(planned([])).rejects.toMatchObject({ code: 'INVALID_IMPORT', message: 'It has no records.' });
    const opened = openRecords(BASE);
    const records = async function* () {
      for await (const record of opened.records()) yield { ...record, source: record.id } as ImportRecord;
    };
    const options = { stringId: 'a', realmUrl: '', mappings: [], temporaryFolder: folder, now: 1 };
    const plan = planImport(
      { ...opened, records },
      { ...options, renderer: new FakeRenderer(), unicodeEmoji: () => unicode },
    );
    await expect(plan).rejects.toThrow('record 2 is of another source');
  });

  it('stores the bytes that several files of a sender name once', async () => {
    const file = (id: string, name: string) => ({ kind: 'file', id, name, path: 'a.bin', owner: 'ann' }) as const;
    const message = { kind: 'message', channel: 'c', sender: 'ann', sentAt: 1, content: 'x' } as const;
    const plan = await planned(
      [
        ...[...BASE, file('f', 'a.bin'), file('g', 'b.bin')],
        { ...message, id: 'x', files: ['f'] },
        { ...message, id: 'y', files: ['g'] },
        { kind: 'file', id: 'h', name: 'a.bin', path: 'a.bin', owner: 'bob' },
        { ...message, id: 'z', sender: 'bob', files: ['h'] },
      ],
      { files: { 'a.bin': Buffer.from('bytes') } },
    );
    const contents = (await messagesOf(plan)).slice(-3).map(({ message: { content } }) => content);
    const [first, second, third] = contents.map((text) => /\/user_uploads\/([^)]*)/.exec(text)![1]);
    expect([second, contents[1]]).toEqual([first, expect.stringContaining('[b.bin]')]);
    expect(third).not.toBe(first);
    expect(plan.summary).toMatchObject({ files: 2, fileBytes: 10 });
    const files = [];
    for await (const { file: each } of plan.source.files()) files.push(each.pathId);
    expect(files).toEqual([first, third]);
  });

  it('refuses an account for a bot by name, unless it is the account of a person', async () => {
    const hubot = { kind: 'person', id: 'hubot', name: 'Hubot', isBot: true } as const;
    const mappings = [{ person: 'hubot', email: 'hubot@acme.example' }];
    await expect(planned([hubot, ...BASE], { mappings })).rejects.toThrow(
      'The mapping file gives the bot hubot the account hubot@acme.example. Map the bot to the account of a person, or remove the row.',
    );
    const mapped = await planned([hubot, ...BASE], { mappings: [{ person: 'hubot', email: 'ann@acme.example' }] });
    expect(mapped.summary).toMatchObject({ accounts: 1, unusedMappings: [] });
  });

  it('keeps the tokens of file URLs out of the temporary database', async () => {
    const plan = await planned([
      ...BASE,
      { kind: 'file', id: 'f', name: 'a', url: 'https://files.example/a?token=secret' },
    ]);
    expect(JSON.stringify(plan.summary)).not.toContain('token=');
    const [name] = readdirSync(folder);
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(folder, name!, 'records.sqlite'), 'latin1')).not.toContain('token=');
  });
});

// biome-ignore lint/suspicious/noExplicitAny: generated records, distinguished by assertions.
type Wire = any;

it('accounts for every record and grants nobody access in any export', async () => {
  const files = { 'a.png': Buffer.from('89504e47', 'hex') };
  await fc.assert(
    fc.asyncProperty(fc.array(aRecord, { minLength: 1, maxLength: 60 }), async (generated) => {
      const records = JSON.parse(JSON.stringify(generated)) as Records;
      const plan = await planned(records, { files });
      const { source, summary } = plan;
      expect(summary.ledger.reduce((sum, { count }) => sum + count, 0)).toBe(records.length);

      const messages = await messagesOf(plan);
      expect(messages.map(({ message }) => message.id)).toEqual(messages.map((_, index) => index + 1));
      expect(messages.length).toBe(summary.messages);
      const imported = summary.ledger.filter(({ kind, outcome }) => kind === 'message' && outcome === 'imported');
      const added = Object.entries(summary.notes).filter(([what]) => /^(lines in|lists of)/.test(what));
      expect(messages.length).toBe(
        [...imported.map(({ count }) => count), ...added.map(([, count]) => count)].reduce((a, b) => a + b, 0),
      );
      for (const { message } of messages) {
        expect(message.content.length).toBeLessThanOrEqual(10_000);
        expect(message.content).not.toBe('');
      }

      // The first record with an id counts.
      const first = new Map(records.map((record) => [`${record.kind} ${record.id}`, record] as const).reverse());
      const unique = [...new Set(first.values())] as Wire[];
      const emails = new Map(
        source.realm.users.filter(({ user }) => user.isActive).map(({ user }) => [user.id, user.email]),
      );
      const emailOf = (person: string) => {
        const { email = null, isEmailVerified, isBot } = (first.get(`person ${person}`) ?? {}) as Wire;
        return isEmailVerified && !isBot ? email : null;
      };
      const before = couldRead(unique, emailOf);
      const people = [];
      for await (const person of source.people()) people.push(person);
      const { fullMembers, conversations } = targetAccess(source.realm, people);
      for (const channel of source.realm.channels) {
        const { isOpen, readers } = conversations.get(String(channel.recipientId))!;
        const record = unique
          .filter(({ kind }) => kind === 'channel')
          .sort((a, b) => records.indexOf(a as never) - records.indexOf(b as never))[channel.id - 1]!;
        const can = [...readers, ...(isOpen ? fullMembers : [])].map((userId) => emails.get(userId));
        for (const email of can) expect([...before.get(`channel ${record.id}`)!]).toContain(email);
      }
      plan.close();
      plans.pop();
    }),
    { numRuns: 60 },
  );
}, 60_000);
