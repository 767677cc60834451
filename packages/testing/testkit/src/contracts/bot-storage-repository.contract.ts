import { measured, type StoredEntry } from '@parley/domain/membership';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'bot', botOf: 'a' }), aUser({ name: 'other', botOf: 'a' })];

const entry = (key: string, value: string): StoredEntry => ({ key, value });
const put = (fixture: Fixture, who: string, ...entries: readonly StoredEntry[]) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.botStorage.put(fixture.realm.id, fixture.user(who).id, entries.map(measured)),
  );
const all = (fixture: Fixture, who = 'bot') =>
  fixture.uow.read(fixture.realm.id, ({ botStorage }) =>
    botStorage.listAfter(fixture.realm.id, fixture.user(who).id, null, 100),
  );
const usage = (fixture: Fixture, who = 'bot') =>
  fixture.uow.read(fixture.realm.id, ({ botStorage }) => botStorage.usage(fixture.realm.id, fixture.user(who).id));

export function botStorageRepositoryContract(open: OpenStorage): void {
  describe('bot storage repository', () => {
    const stage = stagesOn(open);

    it('stores and replaces texts by key, separately for each bot', async () => {
      const fixture = await stage(...pieces);
      expect(await all(fixture)).toEqual([]);
      await put(fixture, 'bot', entry('b', '1'), entry('a', '2'), entry('', ''));
      await put(fixture, 'other', entry('b', 'theirs'));
      await put(fixture, 'bot', entry('b', '3'));
      expect(await all(fixture)).toEqual([entry('', ''), entry('a', '2'), entry('b', '3')]);
      expect(await all(fixture, 'other')).toEqual([entry('b', 'theirs')]);
    });

    it('stores any text unchanged', async () => {
      const fixture = await stage(...pieces);
      const texts = ['__proto__', 'a\0b', 'a\0', 'a', '"\\', '𝕂', '\uffff', 'é', 'e\u0301', ' '];
      await put(fixture, 'bot', ...texts.map((text) => entry(text, `${text}${text}`)));
      const found = await fixture.uow.read(fixture.realm.id, ({ botStorage }) =>
        botStorage.list(fixture.realm.id, fixture.user('bot').id, texts),
      );
      expect(found).toEqual(texts.map((text) => entry(text, `${text}${text}`)));
      expect((await all(fixture)).map(({ key }) => key).slice(-2)).toEqual(['\uffff', '𝕂']);
    });

    it('lists entries after a key in code point order', async () => {
      const fixture = await stage(...pieces);
      await put(fixture, 'bot', ...['c', 'a', 'd', 'b'].map((key) => entry(key, key)));
      const listAfter = (after: string | null, limit: number) =>
        fixture.uow.read(fixture.realm.id, async ({ botStorage }) =>
          (await botStorage.listAfter(fixture.realm.id, fixture.user('bot').id, after, limit)).map(({ key }) => key),
        );
      expect(await listAfter(null, 2)).toEqual(['a', 'b']);
      expect(await listAfter('b', 2)).toEqual(['c', 'd']);
      expect(await listAfter('bb', 9)).toEqual(['c', 'd']);
      expect(await listAfter('d', 2)).toEqual([]);
    });

    it('counts current keys and values in code points', async () => {
      const fixture = await stage(...pieces);
      const { id } = fixture.user('bot');
      expect(await usage(fixture)).toEqual({ size: 0, keys: 0 });
      await put(fixture, 'bot', entry('𝕂𝕂', '𝕍'), entry('key', 'value'));
      expect(await usage(fixture)).toEqual({ size: 11, keys: 2 });
      await put(fixture, 'bot', entry('key', 'v'), entry('k', ''));
      expect(await usage(fixture)).toEqual({ size: 8, keys: 3 });
      const sizes = await fixture.uow.read(fixture.realm.id, ({ botStorage }) =>
        botStorage.sizesOf(fixture.realm.id, id, ['key', '𝕂𝕂', 'key', 'none']),
      );
      expect([...sizes].sort()).toEqual([
        ['key', 4],
        ['𝕂𝕂', 3],
      ]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.botStorage.remove(fixture.realm.id, id, ['key', 'none']));
      expect(await usage(fixture)).toEqual({ size: 4, keys: 2 });
      expect(await usage(fixture, 'other')).toEqual({ size: 0, keys: 0 });
    });

    it('removes entries in batches', async () => {
      const fixture = await stage(...pieces);
      await put(fixture, 'bot', ...['a', 'b', 'c'].map((key) => entry(key, key)));
      await put(fixture, 'other', entry('a', 'a'));
      const removeSome = () =>
        fixture.uow.write(fixture.realm.id, (tx) =>
          tx.botStorage.removeSome(fixture.realm.id, fixture.user('bot').id, 2),
        );
      expect([await removeSome(), await removeSome(), await removeSome()]).toEqual([2, 1, 0]);
      expect([await all(fixture), await usage(fixture)]).toEqual([[], { size: 0, keys: 0 }]);
      expect(await all(fixture, 'other')).toHaveLength(1);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const { id } = fixture.user('bot');
      await put(fixture, 'bot', entry('a', 'b'));
      const other = (await anotherRealm(fixture)).realm.id;
      await fixture.uow.write(other, async ({ botStorage }) => {
        expect(await botStorage.usage(other, id)).toEqual({ size: 0, keys: 0 });
        expect(await botStorage.sizesOf(other, id, ['a'])).toEqual(new Map());
        expect(await botStorage.list(other, id, ['a'])).toEqual([]);
        expect(await botStorage.listAfter(other, id, null, 9)).toEqual([]);
        await botStorage.remove(other, id, ['a']);
        expect(await botStorage.removeSome(other, id, 9)).toBe(0);
      });
      expect(await all(fixture)).toEqual([entry('a', 'b')]);
      expect(await usage(fixture)).toEqual({ size: 2, keys: 1 });
    });
  });
}
