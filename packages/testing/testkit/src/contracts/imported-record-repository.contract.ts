import { BEFORE_RECORDS, type ImportBatch, type ImportedRecord, type RecordPosition } from '@parley/domain/exports';
import type { ImportBatchId, MessageId } from '@parley/domain/kernel';
import { aChannel, aMessage, anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const BATCH: Omit<ImportBatch, 'id' | 'realmId'> = {
  ...{
    source: 'test:1',
    startedAt: 5,
    status: 'complete',
    createdRealm: false,
    messages: 2,
    lastMessageId: 9,
    requesterId: null,
  },
  version: 3,
};

const addBatch = ({ uow, realm }: Pick<Fixture, 'uow' | 'realm'>): Promise<ImportBatchId> =>
  uow.write(realm.id, async (tx) => (await tx.importBatches.add({ ...BATCH, realmId: realm.id })).id);

const record = (batchId: ImportBatchId, recordId: string, targetId: number, more: Partial<ImportedRecord> = {}) => ({
  ...({ kind: 'message', hash: `hash of ${recordId}`, editedAt: null, reactions: 0 } as const),
  ...{ batchId, recordId, targetId },
  ...more,
});

const put = ({ uow, realm }: Fixture, ...records: readonly ImportedRecord[]) =>
  uow.write(realm.id, (tx) => tx.importedRecords.put(realm.id, records));

const list = ({ uow, realm }: Fixture, recordIds: readonly string[], realmId = realm.id) =>
  uow.read(realmId, ({ importedRecords }) => importedRecords.list(realmId, 'message', recordIds));

export function importedRecordRepositoryContract(open: OpenStorage): void {
  describe('imported-record repository', () => {
    const stage = stagesOn(open);

    it('finds records of one kind by their ids and replaces them', async () => {
      const fixture = await stage();
      const [first, second] = [await addBatch(fixture), await addBatch(fixture)];
      const edited = record(first, 'a', 2, { hash: 'new', editedAt: 7, reactions: 3 });
      const others = [record(second, 'a', 3), record(first, 'é', 4), record(first, 'z', 5)];
      await put(fixture, record(first, 'a', 1), ...others, edited, record(first, 'a', 6, { kind: 'channel' }));
      expect(await list(fixture, ['é', 'a', 'missing'])).toEqual([edited, others[0], others[1]]);
      const other = await anotherRealm(fixture);
      expect(await list(fixture, ['a'], other.realm.id)).toEqual([]);
    });

    it('lists the records of a batch by target in parts', async () => {
      const fixture = await stage();
      const [first, second] = [await addBatch(fixture), await addBatch(fixture)];
      const [one, two] = [record(first, 'c', 1), record(first, 'b', 2)];
      const [merged, three] = [record(first, 'é', 2), record(first, 'a', 3)];
      await put(fixture, merged, three, one, two, record(second, 'd', 2), record(first, 'a', 1, { kind: 'pins' }));
      const listed = (after: RecordPosition, limit: number) =>
        fixture.uow.read(fixture.realm.id, ({ importedRecords }) =>
          importedRecords.listOfBatch(fixture.realm.id, { id: first, kind: 'message' }, after, limit),
        );
      expect(await listed(BEFORE_RECORDS, 2)).toEqual([one, two]);
      expect(await listed(two, 3)).toEqual([merged, three]);
    });

    it('removes records and ignores missing ones', async () => {
      const fixture = await stage();
      const batch = await addBatch(fixture);
      await put(fixture, record(batch, 'a', 1), record(batch, 'b', 2));
      await fixture.uow.write(fixture.realm.id, async (tx) => {
        await tx.importedRecords.remove(fixture.realm.id, [record(batch, 'a', 1), record(batch, 'missing', 1)]);
      });
      expect(await list(fixture, ['a', 'b'])).toEqual([record(batch, 'b', 2)]);
    });

    it('finds messages whose topic or direct conversation has a later message', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aUser({ name: 'b' }),
        aChannel({ name: 'c', subscribers: ['a', 'b'] }),
        aChannel({ name: 'd', subscribers: ['a', 'b'] }),
        aMessage({ from: 'a', to: 'c', topic: 'Plan' }),
        aMessage({ from: 'a', to: 'c', topic: 'other' }),
        aMessage({ from: 'a', to: 'd', topic: 'plan' }),
        aMessage({ from: 'a', to: ['b'] }),
        aMessage({ from: 'a', to: ['a'] }),
        aMessage({ from: 'b', to: 'c', topic: 'plan' }),
        aMessage({ from: 'b', to: ['a'] }),
      );
      const { uow, realm, messages } = fixture;
      const ids = messages.map(({ id }) => id);
      const answered = (last: MessageId, realmId = realm.id) =>
        uow.read(realmId, ({ importedRecords }) => importedRecords.listAnswered(realmId, ids.slice(0, 5), last));
      expect(await answered(ids[4]!)).toEqual(new Set([ids[0], ids[3]]));
      expect(await answered(ids[5]!)).toEqual(new Set([ids[3]]));
      expect(await answered(ids[6]!)).toEqual(new Set());
      const other = await anotherRealm(fixture);
      expect(await answered(ids[4]!, other.realm.id)).toEqual(new Set());
    });
  });
}
