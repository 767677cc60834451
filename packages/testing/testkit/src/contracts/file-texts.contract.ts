import { type FileTextReads, MAX_READ_ATTEMPTS, MAX_READ_BYTES, type NewFile } from '@parley/domain/files';
import type { FileId, RealmId } from '@parley/domain/kernel';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const add = ({ uow, realm, user }: Fixture, name: string, more: Partial<NewFile> = {}) =>
  uow.write(realm.id, (tx) =>
    tx.files.add({
      realmId: realm.id,
      ownerId: user('a').id,
      name,
      pathId: `2/ab/${name}`,
      blob: Buffer.from(name).toString('hex').padEnd(32, '0') as NewFile['blob'],
      size: 10,
      contentType: 'text/plain',
      createdAt: 100,
      image: null,
      ...more,
    }),
  );

export function fileTextsContract(open: OpenStorage): void {
  describe('texts in files', () => {
    const stage = stagesOn(open);
    const take = async ({ uow }: Fixture, after: RealmId | null = null) =>
      (await uow.writeAcross(({ fileTexts }) => fileTexts.take(after)))?.id ?? null;
    const put = ({ uow }: Fixture, realmId: RealmId, id: FileId, ...terms: readonly string[]) =>
      uow.write(realmId, async ({ fileTexts }) => {
        await fileTexts.remove(realmId, id, 1000);
        await fileTexts.add(realmId, id, terms);
        await fileTexts.finish(realmId, id);
      });
    const find = ({ uow, realm }: Fixture, words: Parameters<FileTextReads['find']>[1], limit = 10) =>
      uow.read(realm.id, ({ fileTexts }) => fileTexts.find(realm.id, words, limit));

    it('finds the newest files that contain a term of each word', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const [one, two, three] = [await add(fixture, 'one'), await add(fixture, 'two'), await add(fixture, 'three')];
      const { id: realmId } = fixture.realm;
      expect(await find(fixture, [[['tea']]])).toEqual([]);
      await put(fixture, realmId, one.id, 'tea', 'pot');
      await put(fixture, realmId, two.id, 'tea', 'caf\u00e9');
      await put(fixture, realmId, three.id, 'teapot');
      expect(await find(fixture, [[['tea']]])).toEqual([two.id, one.id]);
      expect(await find(fixture, [[['tea']]], 1)).toEqual([two.id]);
      expect(await find(fixture, [[['tea', 'teapot']]])).toEqual([three.id, two.id, one.id]);
      expect(await find(fixture, [[['tea']], [['pot', 'x']]])).toEqual([one.id]);
      expect(await find(fixture, [[['tea'], ['pot']]])).toEqual([one.id]);
      expect(await find(fixture, [[[{ beginning: 'te' }]]])).toEqual([three.id, two.id, one.id]);
      expect(await find(fixture, [[['x', { beginning: 'caf' }]]])).toEqual([two.id]);
      await put(fixture, realmId, two.id, 'coffee');
      expect(await find(fixture, [[['tea']]])).toEqual([one.id]);
      await fixture.uow.write(realmId, (tx) => tx.files.remove(realmId, one.id));
      expect(await find(fixture, [[['tea']]])).toEqual([]);
    });

    it('adds terms in parts, and removes some of them', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { id: realmId } = fixture.realm;
      const { id } = await add(fixture, 'one');
      await fixture.uow.write(realmId, ({ fileTexts }) => fileTexts.add(realmId, id, ['tea', 'pot']));
      await fixture.uow.write(realmId, ({ fileTexts }) => fileTexts.add(realmId, id, ['tea', 'cup']));
      expect(await find(fixture, [[['tea']], [['pot']], [['cup']]])).toEqual([id]);
      const other = await anotherRealm(fixture);
      const remove = (realm: RealmId, limit: number) =>
        fixture.uow.write(realm, ({ fileTexts }) => fileTexts.remove(realm, id, limit));
      expect(await remove(other.realm.id, 2)).toBe(0);
      expect(await remove(realmId, 2)).toBe(2);
      expect(await find(fixture, [[['tea', 'pot', 'cup']]])).toEqual([id]);
      expect(await remove(realmId, 2)).toBe(1);
      expect(await find(fixture, [[['tea', 'pot', 'cup']]])).toEqual([]);
    });

    it('keeps the files of other realms apart', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture);
      const { id } = await add(fixture, 'one');
      await put(fixture, other.realm.id, id, 'tea');
      expect(await find(fixture, [[['tea']]])).toEqual([]);
      await put(fixture, fixture.realm.id, id, 'tea');
      expect(await find(fixture, [[['tea']]])).toEqual([id]);
      expect(await find(other, [[['tea']]])).toEqual([]);
    });

    it('queues new files of limited size, and drops those that cannot be read', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const [one, two] = [await add(fixture, 'one'), await add(fixture, 'two')];
      await add(fixture, 'large', { size: MAX_READ_BYTES + 1 });
      expect(await take(fixture)).toBe(two.id);
      expect(await take(fixture)).toBe(one.id);
      await put(fixture, fixture.realm.id, one.id, 'tea');
      for (let attempt = 1; attempt < MAX_READ_ATTEMPTS; attempt++) expect(await take(fixture)).toBe(two.id);
      expect(await fixture.uow.readAcross(({ fileTexts }) => fileTexts.hasQueued())).toBe(true);
      expect(await take(fixture)).toBeNull();
      expect(await fixture.uow.readAcross(({ fileTexts }) => fileTexts.hasQueued())).toBe(false);
    });

    it('takes files of the next realm with queued files, and of the first realm after the last one', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture, aUser({ name: 'a' }));
      const [first, second] = [fixture.realm.id, other.realm.id];
      const [one, two, three] = [await add(fixture, 'one'), await add(fixture, 'two'), await add(other, 'three')];
      expect(await take(fixture)).toBe(two.id);
      expect(await take(fixture, first)).toBe(three.id);
      expect(await take(fixture, second)).toBe(one.id);
      await put(fixture, second, three.id);
      expect(await take(fixture, first)).toBe(two.id);
    });

    it('queues all files of a realm or of all realms again', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { id } = await add(fixture, 'one');
      const other = await anotherRealm(fixture);
      const readAgain = (realmId: RealmId | null) =>
        fixture.uow.writeAcross(({ fileTexts }) => fileTexts.readAgain(realmId));
      await put(fixture, fixture.realm.id, id, 'tea');
      await readAgain(other.realm.id);
      expect(await take(fixture)).toBeNull();
      await readAgain(fixture.realm.id);
      expect(await find(fixture, [[['tea']]])).toEqual([id]);
      expect(await take(fixture)).toBe(id);
      await put(fixture, fixture.realm.id, id);
      await readAgain(null);
      expect(await take(fixture)).toBe(id);
    });
  });
}
