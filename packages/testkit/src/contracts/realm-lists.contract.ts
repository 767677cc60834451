import type { LinkifierFields } from '@parley/domain/realms';
import { anotherRealm, type Fixture } from '../builders.js';
import { code, idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const ACME = { domain: 'acme.com', allowsSubdomains: false };
const EXAMPLE = { domain: 'example.com', allowsSubdomains: true };
const linkifier = (n: number): LinkifierFields => ({
  pattern: `#${n}(?P<id>[0-9]+) "`,
  urlTemplate: `https://example.com/${n}/{id}`,
  exampleInput: n === 1 ? null : `#${n}5`,
  reverseTemplate: n === 1 ? null : `#${n}{id}`,
  alternativeUrlTemplates: n === 1 ? [] : ['https://a/{id}', 'https://b/{id}'],
});
const PLAYGROUND = { name: 'Play', language: 'Python', urlTemplate: 'https://example.com/{code}' };

const domainsOf = ({ uow, realm }: Fixture) =>
  uow.read(realm.id, ({ allowedDomains }) => allowedDomains.list(realm.id));
const linkifiersOf = async ({ uow, realm }: Fixture) =>
  (await uow.read(realm.id, ({ realms }) => realms.get(realm.id))).linkifiers;
const playgroundsOf = ({ uow, realm }: Fixture) => uow.read(realm.id, ({ playgrounds }) => playgrounds.list(realm.id));

export function realmListsContract(open: OpenStorage): void {
  describe('allowed domain repository', () => {
    const stage = stagesOn(open);

    it('lists domains in order of addition, separately for each realm', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const add = (realm: Fixture['realm'], domain: typeof ACME) =>
        fixture.uow.write(realm.id, (tx) => tx.allowedDomains.add(realm.id, domain));
      const ids = [await add(fixture.realm, EXAMPLE), await add(other.realm, EXAMPLE), await add(fixture.realm, ACME)];
      expect(new Set(ids).size).toBe(3);
      expect(await domainsOf(fixture)).toEqual([
        { id: ids[0], ...EXAMPLE },
        { id: ids[2], ...ACME },
      ]);
      expect(await domainsOf(other)).toEqual([{ id: ids[1], ...EXAMPLE }]);
      await expect(add(fixture.realm, ACME)).rejects.toEqual(code('ALLOWED_DOMAIN_EXISTS'));
    });

    it('changes and removes domains within their realm and reports whether they existed', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const id = await fixture.uow.write(fixture.realm.id, (tx) => tx.allowedDomains.add(fixture.realm.id, ACME));
      const wider = { ...ACME, allowsSubdomains: true };
      const change = (realm: Fixture['realm']) =>
        fixture.uow.write(realm.id, (tx) => tx.allowedDomains.update(realm.id, wider));
      const remove = (realm: Fixture['realm']) =>
        fixture.uow.write(realm.id, (tx) => tx.allowedDomains.remove(realm.id, ACME.domain));
      expect([await change(other.realm), await change(fixture.realm)]).toEqual([false, true]);
      expect(await domainsOf(fixture)).toEqual([{ id, ...wider }]);
      expect([await remove(other.realm), await remove(fixture.realm), await remove(fixture.realm)]).toEqual([
        false,
        true,
        false,
      ]);
      expect(await domainsOf(fixture)).toEqual([]);
      const next = await fixture.uow.write(fixture.realm.id, (tx) => tx.allowedDomains.add(fixture.realm.id, ACME));
      expect(next).toBeGreaterThan(id);
    });
  });

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

  describe('playground repository', () => {
    const stage = stagesOn(open);

    it('lists playgrounds by id and removes them, separately for each realm', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      const add = (realm: Fixture['realm'], name: string) =>
        fixture.uow.write(realm.id, (tx) => tx.playgrounds.add(realm.id, { ...PLAYGROUND, name }));
      const remove = (realm: Fixture['realm'], id: number) =>
        fixture.uow.write(realm.id, (tx) => tx.playgrounds.remove(realm.id, id));
      const [a, b] = [await add(fixture.realm, 'a'), await add(fixture.realm, 'b')];
      expect(await playgroundsOf(fixture)).toEqual([
        { id: a, ...PLAYGROUND, name: 'a' },
        { id: b, ...PLAYGROUND, name: 'b' },
      ]);
      expect(await playgroundsOf(other)).toEqual([]);
      expect([await remove(other.realm, b), await remove(fixture.realm, b), await remove(fixture.realm, b)]).toEqual([
        false,
        true,
        false,
      ]);
      expect(idsOf(await playgroundsOf(fixture))).toEqual([a]);
      expect(await add(fixture.realm, 'c')).toBeGreaterThan(b);
    });
  });
}
