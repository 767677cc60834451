import type { ChannelId, PersonCopy, RealmCopy, RealmId } from '@parley/domain/kernel';
import { aRecord, couldRead, type TestRecords } from '@parley/import-plan/testing';
import { type MessageCopy, RealmReader } from '@parley/transfer/exports';
import fc from 'fast-check';
import type { Wire } from '../testing/expectations.js';
import { labPerSuite, personRecord as person } from '../testing/import-lab.js';

/** `npm run endurance` sets both. */
const RUNS = process.env.HOSTILE_LOAD === 'long' ? 500 : 8;
const SEED = Number(process.env.HOSTILE_SEED ?? 1);

const { lab } = labPerSuite();

const PEOPLE = ['a', 'b', 'zoe'];
const emailOf = (name: string) => `${name}@x.example`;
const LIVING: TestRecords = [
  { kind: 'organization', id: 'o', name: 'Acme' },
  ...PEOPLE.map((id) => person(id, { email: emailOf(id), role: id === 'a' ? 'owner' : 'member' })),
  { kind: 'group', id: 'g', name: 'makers', members: ['a', 'b'] },
  { kind: 'channel', id: 'c', name: 'general', privacy: 'public', members: PEOPLE },
  { kind: 'conversation', id: 'd', members: ['a', 'b'] },
  { kind: 'message', id: 'l1', channel: 'c', sender: 'a', sentAt: 1000, content: 'hello **all**' },
  { kind: 'message', id: 'l2', conversation: 'd', sender: 'b', sentAt: 1010, content: 'hi' },
  { kind: 'reaction', id: 'r', message: 'l1', person: 'b', emoji: 'tada' },
];

const someRecords = fc.array(aRecord, { minLength: 1, maxLength: 60 });
const someMessages = fc.uniqueArray(fc.integer({ min: 1, max: 6 }).map((n) => `m${n}`));

/** Export and a newer one of the same source, in which messages were edited, deleted and added. */
const twoExports = fc
  .record({ records: someRecords, added: someRecords, edited: someMessages, deleted: someMessages })
  .map(({ records, added, edited, deleted }) => {
    const first = JSON.parse(JSON.stringify(records).replaceAll('"path":"a.png"', '"path":"cat.png"')) as Wire[];
    const newer = [
      ...first.map((record) =>
        record.kind === 'message' && edited.includes(record.id)
          ? { ...record, content: `edited ${record.id}`, editedAt: 30 }
          : record,
      ),
      ...(JSON.parse(JSON.stringify(added)) as Wire[])
        .filter(({ kind }) => !['person', 'channel', 'conversation', 'thread'].includes(kind))
        .map((record) => ({ ...record, id: `${record.id}+` })),
      ...deleted.map((message) => ({ kind: 'deletion', id: `x ${message}`, message })),
    ];
    return { first: first as TestRecords, newer: newer as TestRecords };
  });

interface Snapshot {
  readonly realm: RealmCopy;
  readonly people: readonly PersonCopy[];
  readonly messages: readonly MessageCopy[];
}

async function snapshotOf(realmId: RealmId): Promise<Snapshot> {
  const source = await lab.server.parley.useCase(RealmReader).open(realmId, { covers: 'all' });
  const people: PersonCopy[] = [];
  for await (const one of source.people()) people.push(one);
  const messages: MessageCopy[] = [];
  for await (const page of source.messages()) messages.push(...page);
  return { realm: source.realm, people, messages };
}

/** Returns the export of an organization as text, without people and places that `before` lacks. */
function exportOf({ realm, people, messages }: Snapshot, { realm: before }: Snapshot): string {
  const idsOf = (list: readonly { readonly id: number }[]) => new Set(list.map(({ id }) => id));
  const users = idsOf(before.users.map(({ user }) => user));
  const [groups, channels] = [idsOf(before.groups), idsOf(before.channels)];
  const recipients = new Set(before.conversations.map(({ recipientId }) => recipientId));
  return JSON.stringify(
    {
      realm: {
        ...realm,
        users: realm.users.filter(({ user }) => users.has(user.id)),
        groups: realm.groups
          .filter(({ id }) => groups.has(id))
          .map((group) => ({ ...group, memberIds: group.memberIds.filter((id) => users.has(id)) })),
        channels: realm.channels.filter(({ id }) => channels.has(id)),
        conversations: realm.conversations.filter(({ recipientId }) => recipients.has(recipientId)),
        customEmoji: before.customEmoji,
        channelFolders: before.channelFolders,
      },
      people: people
        .filter(({ userId }) => users.has(userId))
        .map((one) => ({ ...one, subscriptions: one.subscriptions.filter((each) => channels.has(each.channelId)) })),
      messages,
    },
    null,
    1,
  );
}

/** Expects that people read only those imported channels that they could read in the source. */
async function expectLawfulAccess(realmId: RealmId, stringId: string, records: TestRecords): Promise<void> {
  const entries = (records as readonly Wire[]).map((record) => [`${record.kind} ${record.id}`, record] as const);
  const unique = new Map<string, Wire>([...entries].reverse());
  const allowed = couldRead([...unique.values()], (id) => {
    const { email = null, isEmailVerified, isBot } = unique.get(`person ${id}`) ?? {};
    return isEmailVerified && !isBot ? email : null;
  });
  const ids = [...unique.values()].filter(({ kind }) => kind === 'channel').map(({ id }) => id);
  const imported = await lab.server.storage.uow.read(realmId, (reads) =>
    reads.importedRecords.list(realmId, 'channel', ids),
  );
  for (const name of PEOPLE) {
    const user = await lab.signIn(realmId, emailOf(name));
    for (const { recordId, targetId } of imported) {
      const narrow = [{ operator: 'channel', operand: targetId as ChannelId }];
      const readable = (await lab.messagesFor(user, narrow, stringId)).length > 0;
      if (readable) expect([recordId, ...allowed.get(`channel ${recordId}`)!]).toContain(user.email);
    }
  }
}

async function expectUnchanged(realmId: RealmId, records: TestRecords): Promise<void> {
  const before = JSON.stringify(await snapshotOf(realmId));
  expect(await lab.merged(realmId, records)).toMatchObject({ batch: null, messages: 0 });
  expect(JSON.stringify(await snapshotOf(realmId))).toBe(before);
}

it('merges any export and any newer one lawfully, changes nothing when repeated, and is undone completely', async () => {
  let runs = 0;
  const property = fc.asyncProperty(twoExports, async ({ first, newer }) => {
    const stringId = `acme-${++runs}`;
    const { id: realmId } = (await lab.imported(LIVING, { stringId })).realm;
    const before = await snapshotOf(realmId);
    const from = (records: TestRecords) => records.map((record) => ({ ...record, source: 'test:2' }));
    for (const records of [first, newer].map(from)) {
      const { summary } = await lab.merged(realmId, records);
      expect(summary.ledger.reduce((sum, { count }) => sum + count, 0)).toBe(records.length);
      await expectLawfulAccess(realmId, stringId, records);
      await expectUnchanged(realmId, records);
      const batch = (await lab.batches(realmId)).findLast(({ source }) => source === 'test:2');
      if (batch) expect(await lab.verify(realmId, records, batch.id)).toMatchObject({ differences: [], added: [] });
      const living = (await snapshotOf(realmId)).messages.slice(0, before.messages.length);
      expect(JSON.stringify(living)).toBe(JSON.stringify(before.messages));
    }
    for (const { id, source } of [...(await lab.batches(realmId))].reverse()) {
      if (source === 'test:2') expect(await lab.undo(realmId, { batchId: id })).toMatchObject({ kept: 0 });
    }
    expect(exportOf(await snapshotOf(realmId), before)).toBe(exportOf(before, before));
  });
  await fc.assert(property, { numRuns: RUNS, seed: SEED });
});
