import type { RealmId } from '@parley/domain/kernel';
import type { TestRecords } from '@parley/import-plan/testing';
import { labPerTest, messageRecord as message, personRecord as person } from '../testing/import-lab.js';
import type { TestUser } from '../testing/test-server.js';

const { lab } = labPerTest();

const BASE: TestRecords = [
  person('ann', { role: 'owner' }),
  { kind: 'channel', id: 'c', name: 'open', privacy: 'public', members: ['ann'] },
  ...[1, 2, 3].map((n) => message(`m${n}`, 'ann', 100 + n, `text ${n}`)),
];
const pinned = (...ids: readonly string[]): TestRecords =>
  [...BASE, ...ids.map((id) => ({ kind: 'pin', id: `pin of ${id}`, message: id }) as const)].map((record) => ({
    ...record,
    source: 'test:1',
  }));

/** Returns the texts of the listed messages, by list. */
async function listsOf(realmId: RealmId): Promise<readonly (readonly string[])[]> {
  const ann: TestUser = await lab.signIn(realmId, 'ann@acme.example');
  const lists = await lab.messagesFor(ann, [
    { operator: 'channel', operand: 'open' },
    { operator: 'topic', operand: 'pinned messages' },
  ]);
  expect(lists.every(({ flags }) => flags.includes('read'))).toBe(true);
  return lists.map(({ content }) => content.match(/text \d/g));
}

const first = async (records: TestRecords): Promise<RealmId> => (await lab.imported(records)).realm.id;
const undoLast = async (realmId: RealmId) => lab.undo(realmId, { batchId: (await lab.batches(realmId)).at(-1)!.id });

describe('pins in a newer export', () => {
  it('lists messages of earlier imports that were pinned since, once', async () => {
    const realmId = await first(pinned('m1'));
    const { messages, changes, summary } = await lab.merged(realmId, pinned('m1', 'm2', 'm3'));
    expect({ messages, changed: changes.changed }).toEqual({ messages: 1, changed: 0 });
    expect(summary.ledger.filter(({ kind }) => kind === 'pin').map(({ outcome, count }) => [outcome, count])).toEqual([
      ['merged', 1],
      ['represented', 2],
    ]);
    expect(await listsOf(realmId)).toEqual([['text 1'], ['text 2', 'text 3']]);
    expect((await lab.merged(realmId, pinned('m1', 'm2', 'm3'))).batch).toBeNull();
  });

  it('begins a list in a channel without one, and keeps lists of messages that are no longer pinned', async () => {
    const realmId = await first(pinned());
    await lab.merged(realmId, pinned('m2'));
    expect(await listsOf(realmId)).toEqual([['text 2']]);
    expect((await lab.merged(realmId, pinned())).batch).toBeNull();
    expect(await listsOf(realmId)).toEqual([['text 2']]);
  });

  it('lists pinned messages again after their list was undone', async () => {
    const realmId = await first(pinned('m1'));
    await lab.merged(realmId, pinned('m1', 'm2'));
    await undoLast(realmId);
    expect(await listsOf(realmId)).toEqual([['text 1']]);
    await lab.merged(realmId, pinned('m1', 'm2'));
    expect(await listsOf(realmId)).toEqual([['text 1'], ['text 2']]);
  });
});
