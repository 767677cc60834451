import type { LinkifierFields } from '@parley/domain/realms';
import { anotherRealm, type Fixture } from '../builders.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const linkifier = (n: number): LinkifierFields => ({
  pattern: `#${n}(?P<id>[0-9]+) "`,
  urlTemplate: `https://example.com/${n}/{id}`,
  exampleInput: n === 1 ? null : `#${n}5`,
  reverseTemplate: n === 1 ? null : `#${n}{id}`,
  alternativeUrlTemplates: n === 1 ? [] : ['https://a/{id}', 'https://b/{id}'],
});
const linkifiersOf = async ({ uow, realm }: Fixture) =>
  (await uow.read(realm.id, ({ realms }) => realms.get(realm.id))).linkifiers;
export function linkifierRepositoryContract(open: OpenStorage): void {
  describe('linkifier repository', () => {
    const stage = stagesOn(open);

    const addThree = (fixture: Fixture) =>
      fixture.uow.write(fixture.realm.id, async (tx) => [
        await tx.linkifiers.add(fixture.realm.id, linkifier(1)),
        await tx.linkifiers.add(fixture.realm.id, linkifier(2)),
        await tx.linkifiers.add(fixture.realm.id, linkifier(3)),
      ]);

    it('loads linkifiers in order with their organization', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      expect(await linkifiersOf(fixture)).toEqual([]);
      const [a, b, c] = (await addThree(fixture)) as [number, number, number];
      expect(await linkifiersOf(fixture)).toEqual([
        { id: a, ...linkifier(1) },
        { id: b, ...linkifier(2) },
        { id: c, ...linkifier(3) },
      ]);
      expect(await linkifiersOf(other)).toEqual([]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.linkifiers.reorder(fixture.realm.id, [c, a, b]));
      expect(idsOf(await linkifiersOf(fixture))).toEqual([c, a, b]);
      const d = await fixture.uow.write(fixture.realm.id, (tx) => tx.linkifiers.add(fixture.realm.id, linkifier(4)));
      await fixture.uow.write(fixture.realm.id, (tx) => tx.linkifiers.remove(fixture.realm.id, a));
      expect(idsOf(await linkifiersOf(fixture))).toEqual([c, b, d]);
    });

    it('keeps the position of a changed linkifier, within its realm', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const [a, b, c] = (await addThree(fixture)) as [number, number, number];
      const changed = { ...linkifier(1), id: b, pattern: 'new' };
      const change = (realm: Fixture['realm']) =>
        fixture.uow.write(realm.id, (tx) => tx.linkifiers.update(realm.id, changed));
      const remove = (realm: Fixture['realm']) =>
        fixture.uow.write(realm.id, (tx) => tx.linkifiers.remove(realm.id, a));
      expect([await change(other.realm), await remove(other.realm), await change(fixture.realm)]).toEqual([
        false,
        false,
        true,
      ]);
      expect(await linkifiersOf(fixture)).toEqual([{ id: a, ...linkifier(1) }, changed, { id: c, ...linkifier(3) }]);
    });

    it('shows a change within its transaction, and keeps linkifiers through rollbacks and organization changes', async () => {
      const fixture = await stage();
      const { uow, realm } = fixture;
      const id = await uow.write(realm.id, async (tx) => {
        const added = await tx.linkifiers.add(realm.id, linkifier(1));
        expect(idsOf((await tx.realms.get(realm.id)).linkifiers)).toEqual([added]);
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
