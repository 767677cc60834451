import { anotherRealm } from '../builders.js';
import { code, type OpenStorage, stagesOn } from './storage-under-test.js';

const EMOJI = { authorId: null, format: 'png', isAnimated: false, isDeactivated: false } as const;

export function customEmojiRepositoryContract(open: OpenStorage): void {
  describe('custom emoji repository', () => {
    const stage = stagesOn(open);

    it('finds active emoji by name, oldest first, and frees the name of a deactivated emoji', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const other = await anotherRealm(fixture);
      await uow.writeAcross(async ({ customEmoji }) => {
        const add = (name: string, realmId = realm.id) => customEmoji.add({ ...EMOJI, realmId, name });
        const [one, two] = [await add('one'), await add('two')];
        await add('one', other.realm.id);
        expect(await customEmoji.listByName(realm.id, ['two', 'none', 'one'])).toEqual([one, two]);
        expect(await customEmoji.listByName(realm.id, [])).toEqual([]);
        await expect(add('one')).rejects.toEqual(code('CUSTOM_EMOJI_EXISTS'));
        const deactivated = { ...one, isDeactivated: true };
        await customEmoji.update(deactivated);
        const again = await add('one');
        expect(await customEmoji.listByName(realm.id, ['one'])).toEqual([again]);
        expect(await customEmoji.findByKey(realm.id, 'one')).toEqual(again);
        expect(await customEmoji.list(realm.id)).toEqual([deactivated, two, again]);
      });
    });
  });
}
