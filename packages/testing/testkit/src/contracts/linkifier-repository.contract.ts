import { anotherRealm, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const linkifiersOf = async ({ uow, realm }: Fixture) =>
  (await uow.read(realm.id, ({ realms }) => realms.get(realm.id))).linkifiers;
const add = ({ uow, realm }: Fixture, fields = LINKIFIER) =>
  uow.write(realm.id, (tx) => tx.linkifiers.add({ ...fields, realmId: realm.id }));

const LINKIFIER = {
  pattern: '#(?P<id>[0-9]+) "`',
  urlTemplate: 'https://example.com/{id}',
  exampleInput: '#5',
  reverseTemplate: null,
  alternativeUrlTemplates: ['https://a/{id}', 'https://b/{id}'],
};

export function linkifierRepositoryContract(open: OpenStorage): void {
  describe('linkifier repository', () => {
    const stage = stagesOn(open);

    it('loads linkifiers in order with their organization', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      expect(await linkifiersOf(fixture)).toEqual([]);
      const [first, second] = [await add(fixture), await add(fixture, { ...LINKIFIER, pattern: 'b' })];
      expect(await linkifiersOf(fixture)).toEqual([
        { id: first.id, ...LINKIFIER },
        { id: second.id, ...LINKIFIER, pattern: 'b' },
      ]);
      expect(await linkifiersOf(other)).toEqual([]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.linkifiers.update({ ...second, position: 0 }));
      expect(idsOf(await linkifiersOf(fixture))).toEqual([second.id, first.id]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.linkifiers.remove(fixture.realm.id, second.id));
      expect(idsOf(await linkifiersOf(fixture))).toEqual([first.id]);
    });

    it('shows a change within its transaction, and keeps linkifiers through rollbacks and organization changes', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const { id } = await uow.write(realm.id, async (tx) => {
        const added = await tx.linkifiers.add({ ...LINKIFIER, realmId: realm.id });
        expect(idsOf((await tx.realms.get(realm.id)).linkifiers)).toEqual([added.id]);
        return added;
      });
      const failing = uow.write(realm.id, async (tx) => {
        await tx.linkifiers.remove(realm.id, id);
        expect((await tx.realms.get(realm.id)).linkifiers).toEqual([]);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      expect(idsOf(await linkifiersOf(fixture))).toEqual([id]);
      await uow.write(realm.id, (tx) => tx.realms.update({ ...realm, linkifiers: [], name: 'New' }));
      expect(idsOf(await linkifiersOf(fixture))).toEqual([id]);
    });
  });
}
