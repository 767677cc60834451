import type { NewCustomEmoji } from '@parley/domain/files';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { code, idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

export function customEmojiRepositoryContract(open: OpenStorage): void {
  describe('custom emoji repository', () => {
    const stage = stagesOn(open);
    const add = ({ uow, realm }: Fixture, name: string, more: Partial<NewCustomEmoji> = {}) =>
      uow.writeAcross((tx) =>
        tx.customEmoji.add({ realmId: realm.id, name, authorId: null, format: 'png', isAnimated: false, ...more }),
      );
    const deactivate = ({ uow, realm }: Fixture, id: Awaited<ReturnType<typeof add>>['id'], realmId = realm.id) =>
      uow.write(realmId, (tx) => tx.customEmoji.deactivate(realmId, id));

    it('finds emoji by id, by name and by realm, oldest first', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const one = await add(fixture, 'one', { authorId: fixture.user('a').id, format: 'gif', isAnimated: true });
      const two = await add(fixture, 'two');
      const foreign = await add(fixture, 'one', { realmId: other.realm.id });
      expect(one).toMatchObject({ name: 'one', format: 'gif', isAnimated: true, isDeactivated: false });
      await uow.readAcross(async ({ customEmoji }) => {
        expect(await customEmoji.find(realm.id, one.id)).toEqual(one);
        expect(await customEmoji.find(realm.id, foreign.id)).toBeNull();
        expect(await customEmoji.listByName(realm.id, ['two', 'none', 'one'])).toEqual([one, two]);
        expect(await customEmoji.listByName(realm.id, [])).toEqual([]);
        expect(await customEmoji.list(realm.id)).toEqual([one, two]);
        expect(await customEmoji.count(realm.id)).toBe(2);
        expect(await customEmoji.list(other.realm.id)).toEqual([foreign]);
      });
    });

    it('frees the name of a deactivated emoji and keeps the emoji', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      const first = await add(fixture, 'one');
      await expect(add(fixture, 'one')).rejects.toEqual(code('CUSTOM_EMOJI_EXISTS'));
      await deactivate(fixture, first.id, other.realm.id);
      await expect(add(fixture, 'one')).rejects.toEqual(code('CUSTOM_EMOJI_EXISTS'));
      await deactivate(fixture, first.id);
      const second = await add(fixture, 'one');
      expect(second.id).toBeGreaterThan(first.id);
      await uow.read(realm.id, async ({ customEmoji }) => {
        expect(await customEmoji.find(realm.id, first.id)).toEqual({ ...first, isDeactivated: true });
        expect(await customEmoji.listByName(realm.id, ['one'])).toEqual([second]);
        expect(idsOf(await customEmoji.list(realm.id))).toEqual([first.id, second.id]);
        expect(await customEmoji.count(realm.id)).toBe(2);
      });
    });
  });
}
