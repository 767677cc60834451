import type { RealmId } from '@parley/domain/kernel';
import type { TestRecords } from '@parley/import-plan/testing';
import { FixedClock, MemoryBlobStore } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { ImportLab, messageRecord as message, personRecord as person } from '../testing/import-lab.js';
import type { TestUser } from '../testing/test-server.js';

let lab: ImportLab;
afterEach(() => lab.close());

const EXPORT: TestRecords = [
  person('ann', { role: 'owner' }),
  person('eve'),
  { kind: 'person', id: 'bob', name: 'Bob' },
  { kind: 'channel', id: 'c', name: 'open', privacy: 'public', members: ['ann', 'bob', 'eve'] },
  { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: ['bob', 'eve'] },
  { kind: 'group', id: 'g', name: 'team', members: ['bob'] },
  { kind: 'conversation', id: 'd', members: ['bob', 'eve'] },
  message('m1', 'ann', 100, 'hello'),
  message('m2', 'bob', 110, 'psst', { channel: 's' }),
  { kind: 'message', id: 'm3', conversation: 'd', sender: 'bob', sentAt: 120, content: 'between us' },
];

/** The export with a key for Bob, Ann in everything, and other messages. */
const FORGED: TestRecords = [
  person('ann', { role: 'owner' }),
  person('eve'),
  { kind: 'person', id: 'bob', name: 'Bob', email: 'new@acme.example' },
  { kind: 'channel', id: 'c', name: 'open', privacy: 'public', members: ['ann', 'bob', 'eve'] },
  { kind: 'channel', id: 's', name: 'secret', privacy: 'private', members: ['ann', 'bob', 'eve'] },
  { kind: 'group', id: 'g', name: 'team', members: ['ann', 'bob'] },
  { kind: 'conversation', id: 'd', members: ['bob', 'eve'] },
  message('m1', 'ann', 100, 'forged'),
  message('m2', 'bob', 110, 'forged', { channel: 's' }),
  { kind: 'deletion', id: 'x', message: 'm3' },
  message('m4', 'bob', 130, 'new'),
];

/** Another export of people, by which an owner begins an import of their own. */
const [OWN, OWN_CHANGED] = ['psst', 'forged'].map(
  (text): TestRecords => [
    ...[person('ann', { role: 'owner' }), person('eve')],
    { kind: 'person', id: 'fay', name: 'Fay', email: 'fay@acme.example' },
    { kind: 'channel', id: 'o', name: 'own', privacy: 'public', members: ['ann', 'eve'] },
    { kind: 'conversation', id: 'p', members: ['fay', 'eve'] },
    message('o1', 'ann', 100, text, { channel: 'o' }),
    { kind: 'message', id: 'p1', conversation: 'p', sender: 'fay', sentAt: 120, content: text },
  ],
) as [TestRecords, TestRecords];

const withSource = (records: TestRecords, source: string): TestRecords =>
  records.map((record) => ({ ...record, source }));

async function organization(): Promise<{ readonly realmId: RealmId; readonly ann: TestUser; readonly eve: TestUser }> {
  lab = await ImportLab.start();
  const { realm } = await lab.imported(EXPORT, { claimBy: ['email'] });
  const [ann, eve] = await Promise.all(['ann', 'eve'].map((id) => lab.signIn(realm.id, `${id}@acme.example`)));
  return { realmId: realm.id, ann: ann!, eve: eve! };
}

const textsFor = async (as: TestUser) =>
  (await lab.messagesFor(as)).map(({ content }) => content.replace(/<[^>]*>/g, '')).sort();

describe('import by an owner', () => {
  it('changes no people, members and messages of an import by the operator', async () => {
    const { realmId, ann, eve } = await organization();
    const before = await lab.stateOf(realmId);
    const merged = await lab.merged(realmId, FORGED, { requesterId: ann.id, claimBy: ['email'] });
    expect(merged).toMatchObject({ messages: 1, changes: { changed: 0, deleted: 0, kept: 0 } });
    expect(merged.summary).toMatchObject({ claimable: 0, members: [], groupMembers: [], deleted: 0 });
    expect(await lab.stateOf(realmId)).toEqual({ ...before, imports: [expect.anything(), ['complete', 1]] });
    expect(await textsFor(ann)).toEqual(['hello', 'new']);
    expect(await textsFor(eve)).toEqual(['between us', 'hello', 'new', 'psst']);
  });

  it('adds keys to the placeholders of its own imports only, whatever address leads to others', async () => {
    const { realmId, ann } = await organization();
    const users = await lab.server.storage.uow.read(realmId, async ({ users: reads }) =>
      reads.list(
        realmId,
        (await reads.listEntries(realmId)).map(({ id }) => id),
      ),
    );
    const { email } = users.find(({ fullName }) => fullName === 'Bob')!;
    const records: TestRecords = [
      { kind: 'person', id: 'other', name: 'Bob', email: 'new@acme.example' },
      { kind: 'person', id: 'fay', name: 'Fay', email: 'fay@acme.example' },
    ];
    const options = { requesterId: ann.id, claimBy: ['email'], mappings: [{ person: 'other', email, name: null }] };
    for (const _ of [1, 2]) {
      await lab.merged(realmId, withSource(records, 'own:1'), options);
      expect((await lab.stateOf(realmId)).keys).toEqual(['email:fay@acme.example']);
    }
  });

  it('changes its own messages in the name of the import, except those that the owner cannot read', async () => {
    const { realmId, ann, eve } = await organization();
    await lab.merged(realmId, withSource(OWN, 'own:1'), { requesterId: ann.id });
    const { changes } = await lab.merged(realmId, withSource(OWN_CHANGED, 'own:1'), { requesterId: ann.id });
    expect(changes).toMatchObject({ changed: 1, kept: 1, keptMessages: [{ reason: 'private' }] });
    expect(await textsFor(eve)).toEqual(['between us', 'forged', 'hello', 'psst', 'psst']);
    const forged = (await lab.messagesFor(ann)).find(({ content }) => content.includes('forged'))!;
    const path = `/messages/${forged.id}/history`;
    const history = fieldsOf(await lab.server.request('GET', path, { as: ann, realm: 'acme' })) as Wire;
    const editors = history.message_history.map(({ user_id }: Wire) => user_id);
    expect(editors).toEqual([ann.id, expect.any(Number)]);
    expect([ann.id, eve.id]).not.toContain(editors[1]);
  });

  it('stops with its next unit of work once the owner is demoted', async () => {
    const { realmId, ann } = await organization();
    const demote = () =>
      lab.server.storage.uow.write(realmId, async (tx) => {
        const user = (await tx.users.find(realmId, ann.id))!;
        await tx.users.update({ ...user, role: 'member' });
      });
    const options = { requesterId: ann.id, beforeChanges: demote };
    await lab.merged(realmId, withSource(OWN, 'own:1'), { requesterId: ann.id });
    await expect(lab.merged(realmId, withSource(OWN_CHANGED, 'own:1'), options)).rejects.toThrow(
      'Must be an organization owner',
    );
    expect((await lab.messagesFor(ann)).some(({ content }) => content.includes('forged'))).toBe(false);
  });

  it('does not continue the interrupted import of anybody else', async () => {
    const { realmId, ann } = await organization();
    const stopped = { afterPlan: () => Promise.resolve(), beforeChanges: () => Promise.reject(new Error('killed')) };
    await expect(lab.merged(realmId, withSource(OWN, 'own:1'), stopped)).rejects.toThrow('killed');
    const records = withSource(OWN, 'own:1');
    await expect(lab.merged(realmId, records, { requesterId: ann.id })).rejects.toThrow('Another import or undo');
  });

  const FILES: TestRecords = [
    { kind: 'file', id: 'cat', name: 'cat.png', contentType: 'image/png', path: 'cat.png' },
    { kind: 'file', id: 'plan', name: 'plan.txt', contentType: 'text/plain', path: 'plan.txt' },
    message('o2', 'ann', 130, 'look', { channel: 'o', files: ['cat', 'plan'] }),
  ];

  it.each([
    ['an owner', 1],
    ['the operator', 2],
  ])(
    'the undo of an import by %s leaves %i files with bytes, one of which another message refers to',
    async (who, left) => {
      const blobs = new MemoryBlobStore(new FixedClock());
      lab = await ImportLab.start({ blobs });
      const { realm } = await lab.imported(EXPORT);
      const ann = await lab.signIn(realm.id, 'ann@acme.example');
      const requesterId = who === 'an owner' ? ann.id : null;
      await lab.merged(realm.id, withSource([...OWN, ...FILES], 'own:1'), { requesterId });
      const { content } = (await lab.messagesFor(ann)).find((it) => it.content.includes('plan.txt'))!;
      const [path] = /\/user_uploads\/[^"]*plan\.txt/.exec(content)!;
      const params = { type: 'stream', to: JSON.stringify('open'), topic: 'kept', content: `[plan](${path})` };
      await lab.server.request('POST', '/messages', { as: ann, params, realm: 'acme' });
      expect(blobs.size).toBe(2);
      await lab.undo(realm.id, { batchId: (await lab.batches(realm.id)).at(-1)!.id });
      expect(blobs.size).toBe(left);
      const used = await lab.server.storage.uow.read(realm.id, ({ files }) => files.usedBytes(realm.id));
      expect(used === 'the plan'.length).toBe(left === 1);
      const read = await lab.server.request('GET', path, { as: ann, realm: 'acme' });
      expect(read.status).toBe(200);
    },
  );

  it('stores equal bytes of several records of a sender once', async () => {
    const blobs = new MemoryBlobStore(new FixedClock());
    lab = await ImportLab.start({ blobs });
    const { realm } = await lab.imported(EXPORT);
    const ann = await lab.signIn(realm.id, 'ann@acme.example');
    const records: TestRecords = [
      ...FILES,
      { kind: 'file', id: 'copy', name: 'copy.txt', contentType: 'text/plain', path: 'copy.txt' },
      { kind: 'file', id: 'other', name: 'other.txt', contentType: 'text/plain', path: 'other.txt' },
      { kind: 'file', id: 'csv', name: 'plan.csv', contentType: 'text/csv', path: 'copy.txt' },
      { kind: 'file', id: 'eves', name: 'eves.txt', contentType: 'text/plain', path: 'plan.txt' },
      message('o3', 'ann', 140, 'again', { channel: 'o', files: ['copy', 'other', 'csv'] }),
      message('o4', 'eve', 150, 'too', { channel: 'o', files: ['copy', 'eves'] }),
    ];
    await lab.merged(realm.id, withSource([...OWN, ...records], 'own:1'), { requesterId: ann.id });
    const names = (await lab.messagesFor(ann)).map(({ content }) =>
      [...content.matchAll(/<a href="\/user_uploads\/[^"]*\/([^"]*)">([^<]*)</g)].map(([, name, text]) => [name, text]),
    );
    expect(names.filter(({ length }) => length > 0)).toEqual([
      [
        ['cat.png', 'cat.png'],
        ['plan.txt', 'plan.txt'],
      ],
      [
        ['plan.txt', 'copy.txt'],
        ['other.txt', 'other.txt'],
        ['plan.csv', 'plan.csv'],
      ],
      [
        ['plan.txt', 'copy.txt'],
        ['eves.txt', 'eves.txt'],
      ],
    ]);
    expect(blobs.size).toBe(5);
  });

  it('stops where its files exceed the limit of uploads', async () => {
    lab = await ImportLab.start({ fileLimits: { quotaMib: 0.00001, userQuotaMib: null, maxFileMib: 25 } });
    const { realm } = await lab.imported(EXPORT);
    const ann = await lab.signIn(realm.id, 'ann@acme.example');
    const records = withSource(
      [
        ...OWN,
        { kind: 'file', id: 'f', name: 'cat.png', contentType: 'image/png', path: 'cat.png' },
        message('o2', 'ann', 130, 'look', { channel: 'o', files: ['f'] }),
      ],
      'own:1',
    );
    await expect(lab.merged(realm.id, records, { requesterId: ann.id })).rejects.toThrow('upload quota');
  });
});
