import type { ProfileFieldId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { ascending, type OpenStorage, stagesOn } from './storage-under-test.js';

const FLAGS = { isRequired: false, isEditableByUser: true, isForMatching: false, isInSummary: false };

const addField = ({ uow, realm }: Fixture, name: string) =>
  uow.write(realm.id, (tx) =>
    tx.profileFields.add({ realmId: realm.id, kind: 'shortText', name, hint: '', data: {}, ...FLAGS }),
  );
const put = ({ uow, realm, user }: Fixture, name: string, fieldId: ProfileFieldId, value: string, rendered = null) =>
  uow.write(realm.id, (tx) => tx.profiles.putValue(realm.id, user(name).id, { fieldId, value, rendered }));
const valuesOf = ({ uow, realm, user }: Fixture, ...names: readonly string[]) =>
  uow.read(realm.id, (r) =>
    r.profiles.listValues(
      realm.id,
      names.map((name) => user(name).id),
    ),
  );
const versionOf = async ({ uow, realm, user }: Fixture, name: string) =>
  (await uow.read(realm.id, (r) => r.users.find(realm.id, user(name).id)))!.version;

export function profileRepositoryContract(open: OpenStorage): void {
  describe('profile repository', () => {
    const stage = stagesOn(open);

    it("stores values by user and ascending field, and updates the user's version with each change", async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aUser({ name: 'c' }));
      const [one, two] = [(await addField(fixture, 'one')).id, (await addField(fixture, 'two')).id];
      await put(fixture, 'a', two, 'zwei');
      await put(fixture, 'a', one, 'eins');
      await put(fixture, 'b', one, '');
      await put(fixture, 'a', two, 'deux');
      const before = await versionOf(fixture, 'a');
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.profiles.putValue(fixture.realm.id, fixture.user('a').id, {
          fieldId: one,
          value: 'un',
          rendered: '<p>un</p>',
        }),
      );
      expect(await versionOf(fixture, 'a')).toBe(before + 1);
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      expect(await valuesOf(fixture, 'a', 'b', 'c')).toEqual(
        new Map([
          [
            a,
            [
              { fieldId: one, value: 'un', rendered: '<p>un</p>' },
              { fieldId: two, value: 'deux', rendered: null },
            ],
          ],
          [b, [{ fieldId: one, value: '', rendered: null }]],
        ]),
      );
      const remove = (realmId = fixture.realm.id) =>
        fixture.uow.write(realmId, (tx) => tx.profiles.removeValue(realmId, a, one));
      const other = await anotherRealm(fixture);
      expect(await remove(other.realm.id)).toBe(false);
      expect(await remove()).toBe(true);
      expect(await remove()).toBe(false);
      expect(await versionOf(fixture, 'a')).toBe(before + 2);
      expect(await other.uow.read(other.realm.id, (r) => r.profiles.listValues(other.realm.id, [a, b]))).toEqual(
        new Map(),
      );
    });

    it('removes all or some values of a field in batches', async () => {
      const names = ['a', 'b', 'c', 'd'];
      const fixture = await stage(...names.map((name) => aUser({ name })));
      const [one, two] = [(await addField(fixture, 'one')).id, (await addField(fixture, 'two')).id];
      for (const name of names) await put(fixture, name, one, name === 'd' ? 'other' : 'same');
      await put(fixture, 'a', two, 'same');
      const version = await versionOf(fixture, 'b');
      const remove = (values: readonly string[] | null, limit: number) =>
        fixture.uow.write(fixture.realm.id, (tx) => tx.profiles.removeValuesOf(fixture.realm.id, one, values, limit));
      expect(await remove(['nothing'], 9)).toBe(0);
      expect([await remove(['same'], 2), await remove(['same'], 2), await remove(['same'], 2)]).toEqual([2, 1, 0]);
      expect(await versionOf(fixture, 'b')).toBe(version + 1);
      const left = [...(await valuesOf(fixture, ...names)).keys()];
      expect(ascending(left)).toEqual([fixture.user('a').id, fixture.user('d').id]);
      expect(await remove(null, 9)).toBe(1);
      expect([...(await valuesOf(fixture, ...names)).values()]).toEqual([
        [{ fieldId: two, value: 'same', rendered: null }],
      ]);
    });
  });
}
