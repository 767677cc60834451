import type { DataFilter, DataKey, DataKeyDeclaration, HostData, MessageId, Transaction } from '@parley/domain/kernel';
import { type MessageCondition, not } from '@parley/domain/messages';
import { aChannel, aMessage, anotherRealm, aUser, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, own, shared, stagesOn } from './storage-under-test.js';

const pieces = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aChannel({ name: 'private', subscribers: ['a'] }),
  aMessage({ from: 'a', to: 'general' }),
  aMessage({ from: 'a', to: 'private' }),
  aMessage({ from: 'b', to: 'general' }),
];

const KEYS: readonly DataKeyDeclaration[] = [
  { kind: 'message', name: 'orderId', type: 'number' },
  { kind: 'message', name: 'state', type: 'string' },
  { kind: 'channel', name: 'orderId', type: 'number' },
  { kind: 'user', name: 'isPaying', type: 'boolean' },
];

const idOf = (fixture: Fixture, index: number): MessageId => fixture.messages[index]!.id;

export function dataKeyRepositoryContract(open: OpenStorage): void {
  describe('data key repository', () => {
    const stage = stagesOn(open);

    const write = <T>(fixture: Fixture, work: (tx: Transaction) => Promise<T>) =>
      fixture.uow.write(fixture.realm.id, work);
    const keysIn = (fixture: Fixture, realmId = fixture.realm.id): Promise<readonly DataKey[]> =>
      fixture.uow.read(realmId, ({ dataKeys }) => dataKeys.list(realmId));
    const declare = async (fixture: Fixture, keys = KEYS) => {
      await write(fixture, async ({ dataKeys }) => {
        for (const key of keys) await dataKeys.add(fixture.realm.id, key);
      });
      while (await write(fixture, ({ dataKeys }) => dataKeys.indexSome(fixture.realm.id, 1)));
      return keysIn(fixture);
    };
    const put = (fixture: Fixture, index: number, data: HostData['data'], version = 1) =>
      write(fixture, ({ hostData }) =>
        hostData.put(fixture.realm.id, { kind: 'message', id: idOf(fixture, index) }, { data, version }),
      );
    const find = (fixture: Fixture, filter: DataFilter, after = 0, limit = 100, realmId = fixture.realm.id) =>
      fixture.uow.read(realmId, ({ dataKeys }) => dataKeys.listObjects(realmId, filter, after, limit));
    const order = (fixture: Fixture, key: DataKey, value: string) => find(fixture, { key, value });
    const indices = (fixture: Fixture, ids: readonly number[]) =>
      ids.map((id) => fixture.messages.findIndex((message) => message.id === id));

    it('lists declared keys, indexed once all earlier data was examined', async () => {
      const fixture = await stage(...pieces);
      const other = await anotherRealm(fixture);
      await put(fixture, 0, { orderId: 7 });
      await put(fixture, 1, { orderId: 8 });
      await write(fixture, ({ dataKeys }) => dataKeys.add(fixture.realm.id, KEYS[0]!));
      const [key] = await keysIn(fixture);
      expect(key).toEqual({ ...KEYS[0], id: expect.any(Number), isIndexed: false });
      const [declared] = await declare(fixture, []);
      expect(declared).toEqual({ ...key, isIndexed: true });
      expect(indices(fixture, await order(fixture, key!, '7'))).toEqual([0]);
      expect(await keysIn(fixture, other.realm.id)).toEqual([]);
      expect(await find(fixture, { key: key!, value: '7' }, 0, 100, other.realm.id)).toEqual([]);
    });

    it('finds objects of each kind by their present values of the type', async () => {
      const fixture = await stage(...pieces);
      const [orderId, state, ofChannel, isPaying] = await declare(fixture);
      await put(fixture, 0, { orderId: 7, state: 'open' });
      await put(fixture, 1, { orderId: '7', state: 'open' });
      await put(fixture, 2, { orderId: 7, state: { open: true } });
      const channel = { kind: 'channel', id: fixture.channel('general').id } as const;
      const user = { kind: 'user', id: fixture.user('b').id } as const;
      await write(fixture, async ({ hostData }) => {
        await hostData.put(fixture.realm.id, channel, { data: { orderId: 7 }, version: 1 });
        await hostData.put(fixture.realm.id, user, { data: { isPaying: true }, version: 1 });
      });
      expect(indices(fixture, await order(fixture, orderId!, '7'))).toEqual([0, 2]);
      expect(indices(fixture, await order(fixture, state!, 'open'))).toEqual([0, 1]);
      expect(await order(fixture, ofChannel!, '7')).toEqual([channel.id]);
      expect(await order(fixture, isPaying!, 'true')).toEqual([user.id]);
      await put(fixture, 0, { orderId: 9 }, 2);
      expect(indices(fixture, await order(fixture, orderId!, '7'))).toEqual([2]);
      expect(indices(fixture, await order(fixture, orderId!, '9'))).toEqual([0]);
      expect(indices(fixture, await order(fixture, state!, 'open'))).toEqual([1]);
    });

    it('returns pages of ids in ascending order', async () => {
      const fixture = await stage(...pieces);
      const [key] = await declare(fixture);
      for (const index of [2, 0, 1]) await put(fixture, index, { orderId: 7 });
      const filter = { key: key!, value: '7' };
      expect(indices(fixture, await find(fixture, filter, 0, 2))).toEqual([0, 1]);
      expect(indices(fixture, await find(fixture, filter, idOf(fixture, 1), 2))).toEqual([2]);
    });

    it('removes a key at once and its values in parts', async () => {
      const fixture = await stage(...pieces);
      const [key] = await declare(fixture);
      for (const index of [0, 1, 2]) await put(fixture, index, { orderId: 7 });
      await write(fixture, ({ dataKeys }) => dataKeys.remove(fixture.realm.id, key!.id));
      expect((await keysIn(fixture)).map(({ name }) => name)).toEqual(['state', 'orderId', 'isPaying']);
      while (await write(fixture, ({ dataKeys }) => dataKeys.removeSome(fixture.realm.id, 2)));
      expect(await order(fixture, key!, '7')).toEqual([]);
      const again = (await declare(fixture, [KEYS[0]!])).at(-1)!;
      expect(again.id).not.toBe(key!.id);
      expect(indices(fixture, await order(fixture, again, '7'))).toEqual([0, 1, 2]);
    });

    it('finds a restored message by the keys of that time', async () => {
      const fixture = await stage(...pieces);
      const { realm } = fixture;
      const ids = [idOf(fixture, 0)];
      await put(fixture, 0, { orderId: 7 });
      await write(fixture, async (tx) => {
        await tx.archive.keep(realm.id, ids, { deletedAt: 1000, deletedBy: null });
        await tx.messages.remove(realm.id, ids);
      });
      const [key] = await declare(fixture);
      expect(await order(fixture, key!, '7')).toEqual([]);
      await write(fixture, async (tx) => {
        await tx.archive.restore(realm.id, ids);
        await tx.dataKeys.index(realm.id, 'message', ids);
      });
      expect(await order(fixture, key!, '7')).toEqual(ids);
    });

    it('narrows messages to a value, within those of the viewer', async () => {
      const fixture = await stage(...pieces);
      const { realm, viewer, channel } = fixture;
      const [key] = await declare(fixture);
      for (const index of [0, 1]) await put(fixture, index, { orderId: 7 });
      await put(fixture, 2, { orderId: 8 });
      const orders = (value: string): MessageCondition => ({ kind: 'data', key: key!, value });
      const page = async (name: string, filter = own(orders('7'))) =>
        indices(
          fixture,
          idsOf(await fixture.uow.read(realm.id, ({ pages }) => pages.listEntriesFrom(viewer(name), filter, 0, 100))),
        );
      const general: MessageCondition = { kind: 'recipient', recipientIds: [channel('general').recipientId] };
      expect(await page('a')).toEqual([0, 1]);
      expect(await page('b')).toEqual([0]);
      expect(await page('a', own(not(orders('7'))))).toEqual([2]);
      expect(await page('a', own(orders('7'), general))).toEqual([0]);
      expect(await page('b', shared(orders('7'), general))).toEqual([0]);
      expect(await page('a', own(orders('7'), orders('8')))).toEqual([]);
      expect(await page('a', own(orders('7'), { kind: 'flag', flag: 'read' }))).toEqual([0, 1]);
      expect(await page('b', own(orders('7'), { kind: 'flag', flag: 'read' }))).toEqual([]);
      const among = await fixture.uow.read(realm.id, ({ pages }) =>
        pages.listEntries(
          viewer('a'),
          fixture.messages.map(({ id }) => id),
          [orders('7')],
        ),
      );
      expect(indices(fixture, idsOf(among))).toEqual([0, 1]);
    });

    it('narrows messages to a frequent value', async () => {
      const fixture = await stage(
        ...pieces,
        ...Array.from({ length: 2000 }, () => aMessage({ from: 'a', to: 'general' })),
      );
      const { realm, viewer, messages } = fixture;
      const [key] = await declare(fixture);
      await write(fixture, async ({ hostData }) => {
        for (const { id } of messages.slice(3)) {
          await hostData.put(realm.id, { kind: 'message', id }, { data: { orderId: 7 }, version: 1 });
        }
      });
      await put(fixture, 1, { orderId: 7 });
      const newest = (name: string) =>
        fixture.uow.read(realm.id, ({ pages }) =>
          pages.listEntriesUpTo(viewer(name), own({ kind: 'data', key: key!, value: '7' }), null, 3000),
        );
      expect((await newest('a')).length).toBe(2001);
      expect((await newest('b')).length).toBe(2000);
    }, 60_000);
  });
}
