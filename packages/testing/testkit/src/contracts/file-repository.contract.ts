import type { BlobKey, FileImage, NewFile, StoredThumbnail } from '@parley/domain/files';
import type { FileId } from '@parley/domain/kernel';
import { aMessage, anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, SEED, stagesOn } from './storage-under-test.js';

const pieces = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aMessage({ from: 'a', to: ['b'] }),
  aMessage({ from: 'a', to: ['b'] }),
];

const IMAGE: FileImage = { width: 30, height: 20, isAnimated: false, thumbnail: 'pending' };

const blobOf = (name: string): BlobKey => Buffer.from(name).toString('hex').padEnd(32, '0') as BlobKey;

const add = (fixture: Fixture, who: string, name: string, more: Partial<NewFile> = {}) =>
  fixture.uow.write(fixture.realm.id, (tx) =>
    tx.files.add({
      realmId: fixture.realm.id,
      ownerId: fixture.user(who).id,
      name,
      pathId: `2/ab/${name}`,
      blob: blobOf(name),
      size: 10,
      contentType: 'text/plain',
      createdAt: 100,
      image: null,
      ...more,
    }),
  );

export function fileRepositoryContract(open: OpenStorage): void {
  describe('file repository', () => {
    const stage = stagesOn(open);
    const message = (fixture: Fixture, index: number) => fixture.messages[index]!.id;
    const attach = (fixture: Fixture, index: number, ...ids: FileId[]) =>
      fixture.uow.write(fixture.realm.id, (tx) => tx.files.attach(fixture.realm.id, message(fixture, index), ids));
    const detach = (fixture: Fixture, index: number, at: number, ...ids: FileId[]) =>
      fixture.uow.write(fixture.realm.id, (tx) => tx.files.detach(fixture.realm.id, message(fixture, index), ids, at));
    const messagesOf = async (fixture: Fixture, id: FileId) =>
      (await fixture.uow.read(fixture.realm.id, ({ files }) => files.listAttached(fixture.realm.id, [id])))[0]
        ?.messageIds;
    const unreferenced = async (fixture: Fixture, wasAttached: boolean, before: number, limit = 10) =>
      (await fixture.uow.readAcross(({ files }) => files.listUnreferenced(wasAttached, before, limit))).map(
        ({ id }) => id,
      );

    it('finds files by id, by path and by owner, oldest first', async () => {
      const fixture = await stage(...pieces);
      const [one, two, other] = [
        await add(fixture, 'a', 'one'),
        await add(fixture, 'a', 'two'),
        await add(fixture, 'b', 'other'),
      ];
      const { id: realmId } = fixture.realm;
      const { id: a } = fixture.user('a');
      await fixture.uow.read(realmId, async ({ files }) => {
        expect(one.seed).toMatch(SEED);
        expect(one.seed).not.toBe(two.seed);
        expect(await files.find(realmId, one.id)).toEqual(one);
        expect(await files.listByPath(realmId, ['2/ab/other', '2/ab/none', '2/ab/one'])).toEqual([one, other]);
        expect(await files.list(realmId, a, 0, 9)).toEqual([
          { ...one, messageIds: [] },
          { ...two, messageIds: [] },
        ]);
        expect(await files.list(realmId, a, 0, 1)).toEqual([{ ...one, messageIds: [] }]);
        expect(await files.list(realmId, a, one.id, 9)).toEqual([{ ...two, messageIds: [] }]);
        expect(await files.spaceOf(realmId, a)).toEqual({ count: 2, bytes: one.size + two.size });
        expect(await files.filterBlobs([blobOf('one'), blobOf('none')])).toEqual(new Set([blobOf('one')]));
      });
    });

    it('lists files of all realms, and changes the bytes of a file of the realm', async () => {
      const fixture = await stage(...pieces);
      const { id: realmId } = fixture.realm;
      const [one, two] = [await add(fixture, 'a', 'one', { image: IMAGE }), await add(fixture, 'b', 'two')];
      const other = (await anotherRealm(fixture)).realm.id;
      await fixture.uow.write(other, (tx) => tx.files.setBlob(other, one.id, blobOf('stolen')));
      await fixture.uow.write(realmId, (tx) => tx.files.setBlob(realmId, two.id, blobOf('clean')));
      await fixture.uow.readAcross(async ({ files }) => {
        expect(await files.listAcross(0, 9)).toEqual([one, { ...two, blob: blobOf('clean') }]);
        expect(await files.listAcross(0, 1)).toEqual([one]);
        expect(await files.listAcross(one.id, 9)).toEqual([{ ...two, blob: blobOf('clean') }]);
        expect(await files.filterBlobs([blobOf('two'), blobOf('clean')])).toEqual(new Set([blobOf('clean')]));
      });
    });

    it('gives files of the realm to another user', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [await add(fixture, 'a', 'one', { image: IMAGE }), await add(fixture, 'a', 'two')];
      await attach(fixture, 0, one.id);
      const { id: realmId } = fixture.realm;
      const { id: b } = fixture.user('b');
      const other = await anotherRealm(fixture);
      const give = (realm: typeof realmId, ...ids: FileId[]) =>
        fixture.uow.write(realm, (tx) => tx.files.changeOwner(realm, ids, b));
      await give(other.realm.id, two.id);
      await give(realmId, one.id);
      await fixture.uow.read(realmId, async ({ files }) => {
        expect(await files.find(realmId, one.id)).toEqual({ ...one, ownerId: b });
        expect(await files.list(realmId, b, 0, 9)).toEqual([{ ...one, ownerId: b, messageIds: [message(fixture, 0)] }]);
        expect(await files.spaceOf(realmId, b)).toEqual({ count: 1, bytes: one.size });
        expect(await files.findPendingImage(realmId, b, one.id)).toMatchObject({ id: one.id });
        expect((await files.find(realmId, two.id))?.ownerId).toBe(fixture.user('a').id);
      });
    });

    it('counts the bytes of a realm', async () => {
      const fixture = await stage(...pieces);
      const used = () => fixture.uow.read(fixture.realm.id, ({ files }) => files.usedBytes(fixture.realm.id));
      expect(await used()).toBe(0);
      const one = await add(fixture, 'a', 'one', { size: 5 });
      await add(fixture, 'b', 'two', { size: 7 });
      expect(await used()).toBe(12);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.files.remove(fixture.realm.id, one.id));
      await fixture.uow.write(fixture.realm.id, (tx) => tx.files.remove(fixture.realm.id, one.id));
      expect(await used()).toBe(7);
      expect((await add(fixture, 'a', 'three')).id).toBeGreaterThan(one.id + 1);
    });

    it('returns the messages that link to files', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [await add(fixture, 'a', 'one'), await add(fixture, 'a', 'two')];
      await attach(fixture, 1, one.id);
      await attach(fixture, 0, two.id, one.id);
      await attach(fixture, 0, one.id);
      expect(await messagesOf(fixture, one.id)).toEqual([message(fixture, 0), message(fixture, 1)]);
      const ofMessage = (index: number) =>
        fixture.uow.read(fixture.realm.id, ({ files }) =>
          files.listIdsOfMessage(fixture.realm.id, message(fixture, index)),
        );
      expect(await ofMessage(0)).toEqual([one.id, two.id]);
      await detach(fixture, 0, 500, one.id);
      expect(await ofMessage(0)).toEqual([two.id]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.files.remove(fixture.realm.id, two.id));
      expect(await ofMessage(0)).toEqual([]);
      expect(await messagesOf(fixture, two.id)).toBeUndefined();
    });

    it('lists unreferenced files by time and by whether they were ever referenced', async () => {
      const fixture = await stage(...pieces);
      const one = await add(fixture, 'a', 'one', { createdAt: 300 });
      const two = await add(fixture, 'a', 'two', { createdAt: 200 });
      expect(await unreferenced(fixture, false, 300)).toEqual([two.id]);
      expect(await unreferenced(fixture, false, 301)).toEqual([two.id, one.id]);
      expect(await unreferenced(fixture, false, 301, 1)).toEqual([two.id]);
      await attach(fixture, 0, one.id);
      await attach(fixture, 1, one.id);
      expect(await unreferenced(fixture, false, 301)).toEqual([two.id]);
      await detach(fixture, 0, 400, one.id);
      expect(await unreferenced(fixture, true, 999)).toEqual([]);
      await detach(fixture, 1, 500, two.id, one.id);
      expect(await unreferenced(fixture, true, 500)).toEqual([]);
      expect(await unreferenced(fixture, true, 501)).toEqual([one.id]);
      expect(await unreferenced(fixture, false, 201)).toEqual([two.id]);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.files.postpone(fixture.realm.id, one.id, 700));
      expect(await unreferenced(fixture, true, 700)).toEqual([]);
      expect(await unreferenced(fixture, true, 701)).toEqual([one.id]);
    });

    it('detaches files of removed messages and attaches them again on restore', async () => {
      const fixture = await stage(...pieces);
      const [one, two] = [await add(fixture, 'a', 'one'), await add(fixture, 'a', 'two')];
      await attach(fixture, 0, one.id, two.id);
      await attach(fixture, 1, two.id);
      const ids = [message(fixture, 0)];
      const { id: realmId } = fixture.realm;
      const detached = await fixture.uow.write(realmId, async (tx) => {
        await tx.archive.keep(realmId, ids, { deletedBy: null, deletedAt: 400 });
        const files = await tx.files.detachAll(realmId, ids, 400);
        await tx.messages.remove(realmId, ids);
        return files;
      });
      expect(detached).toEqual([one.id, two.id]);
      expect(await messagesOf(fixture, one.id)).toEqual([]);
      expect(await messagesOf(fixture, two.id)).toEqual([message(fixture, 1)]);
      expect(await unreferenced(fixture, true, 401)).toEqual([one.id]);
      await fixture.uow.write(realmId, async (tx) => {
        await tx.files.remove(realmId, two.id);
        await tx.archive.restore(realmId, ids);
      });
      expect(await messagesOf(fixture, one.id)).toEqual(ids);
      const ofMessage = await fixture.uow.read(realmId, ({ files }) => files.listIdsOfMessage(realmId, ids[0]!));
      expect(ofMessage).toEqual([one.id]);
    });

    it('returns the size of images and their displayed replacement', async () => {
      const fixture = await stage(...pieces);
      const { id: realmId } = fixture.realm;
      const one = await add(fixture, 'a', 'one', { image: IMAGE });
      const two = await add(fixture, 'a', 'two');
      const ready: FileImage = { width: 60, height: 40, isAnimated: true, thumbnail: 'ready' };
      const thumbnails: readonly StoredThumbnail[] = [
        { name: '2.webp', blob: blobOf('t2'), size: 7 },
        { name: '1.webp', blob: blobOf('t1'), size: 5 },
      ];
      expect(one.image).toEqual(IMAGE);
      await fixture.uow.read(realmId, async ({ files }) => {
        expect((await files.find(realmId, one.id))?.image).toEqual(IMAGE);
        expect((await files.find(realmId, two.id))?.image).toBeNull();
        expect(await files.listThumbnails(realmId, one.id)).toEqual([]);
      });
      await fixture.uow.write(realmId, async (tx) => {
        await tx.files.setImage(realmId, one.id, ready, thumbnails);
        await tx.files.setImage(realmId, two.id, IMAGE, []);
        await tx.files.setImage(realmId, (two.id + 1) as FileId, IMAGE, thumbnails);
      });
      await fixture.uow.read(realmId, async ({ files }) => {
        expect((await files.listByPath(realmId, [one.pathId, two.pathId])).map(({ image }) => image)).toEqual([
          ready,
          IMAGE,
        ]);
        expect((await files.listAttached(realmId, [one.id]))[0]?.image).toEqual(ready);
        expect(await files.listThumbnails(realmId, one.id)).toEqual([thumbnails[1], thumbnails[0]]);
        expect(await files.filterBlobs([blobOf('t1'), blobOf('t3')])).toEqual(new Set([blobOf('t1')]));
        expect(await files.usedBytes(realmId)).toBe(20);
      });
      await fixture.uow.write(realmId, (tx) => tx.files.remove(realmId, one.id));
      await fixture.uow.read(realmId, async ({ files }) => {
        expect(await files.listThumbnails(realmId, one.id)).toEqual([]);
        expect(await files.filterBlobs([blobOf('t1')])).toEqual(new Set());
      });
    });

    it("finds an owner's oldest image after a given file that still needs thumbnails", async () => {
      const fixture = await stage(...pieces);
      const { id: realmId } = fixture.realm;
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      const one = await add(fixture, 'a', 'one', { image: IMAGE });
      await add(fixture, 'a', 'text');
      await add(fixture, 'b', 'theirs', { image: IMAGE });
      const two = await add(fixture, 'a', 'two', { image: IMAGE });
      const find = (from: FileId, owner = a, realm = realmId) =>
        fixture.uow.read(realm, ({ files }) => files.findPendingImage(realm, owner, from));
      expect(await find(one.id)).toEqual(one);
      expect(await find((one.id + 1) as FileId)).toEqual(two);
      expect(await find((two.id + 1) as FileId)).toBeNull();
      expect(await find(two.id, b)).toBeNull();
      expect(await find(one.id, a, (await anotherRealm(fixture)).realm.id)).toBeNull();
      const done: FileImage = { ...IMAGE, thumbnail: 'ready' };
      await fixture.uow.write(realmId, (tx) => tx.files.setImage(realmId, one.id, done, []));
      expect(await find(one.id)).toEqual(two);
    });

    it('returns the messages that show a placeholder', async () => {
      const fixture = await stage(...pieces);
      const { id: realmId } = fixture.realm;
      const one = await add(fixture, 'a', 'one', { image: IMAGE });
      const two = await add(fixture, 'a', 'two', { image: IMAGE });
      const awaiting = (id: FileId, limit = 9) =>
        fixture.uow.read(realmId, ({ files }) => files.listAwaiting(realmId, id, limit));
      const ids = [message(fixture, 0), message(fixture, 1)] as const;
      await fixture.uow.write(realmId, async (tx) => {
        await tx.files.awaitThumbnails(realmId, ids[1], [one.id, two.id]);
        await tx.files.awaitThumbnails(realmId, ids[0], [one.id]);
        await tx.files.awaitThumbnails(realmId, ids[0], [one.id]);
      });
      expect(await awaiting(one.id)).toEqual(ids);
      expect(await awaiting(one.id, 1)).toEqual([ids[0]]);
      expect(await awaiting(two.id)).toEqual([ids[1]]);
      await fixture.uow.write(realmId, (tx) => tx.files.endAwaiting(realmId, one.id, [ids[0]]));
      expect(await awaiting(one.id)).toEqual([ids[1]]);
      await fixture.uow.write(realmId, (tx) => tx.messages.remove(realmId, [ids[1]]));
      expect([await awaiting(one.id), await awaiting(two.id)]).toEqual([[], []]);
    });

    it('isolates realms', async () => {
      const fixture = await stage(...pieces);
      const one = await add(fixture, 'a', 'one');
      await attach(fixture, 0, one.id);
      const { realm } = await anotherRealm(fixture);
      const [messageId, { ownerId }] = [message(fixture, 0), one];
      await fixture.uow.writeAcross(async (tx) => {
        await tx.files.remove(realm.id, one.id);
        await tx.files.postpone(realm.id, one.id, 7);
        await tx.files.detach(realm.id, messageId, [one.id], 7);
        await tx.files.attach(realm.id, message(fixture, 1), [one.id]);
        expect(await tx.files.detachAll(realm.id, [messageId], 7)).toEqual([]);
        expect(await tx.files.find(realm.id, one.id)).toBeNull();
        expect(await tx.files.listByPath(realm.id, [one.pathId])).toEqual([]);
        expect(await tx.files.listAttached(realm.id, [one.id])).toEqual([]);
        expect(await tx.files.list(realm.id, ownerId, 0, 9)).toEqual([]);
        expect(await tx.files.listIdsOfMessage(realm.id, messageId)).toEqual([]);
        expect(await tx.files.spaceOf(realm.id, ownerId)).toEqual({ count: 0, bytes: 0 });
        expect(await tx.files.usedBytes(realm.id)).toBe(0);
        await tx.files.setImage(realm.id, one.id, IMAGE, [{ name: 'x', blob: blobOf('x'), size: 1 }]);
        expect(await tx.files.filterBlobs([blobOf('x')])).toEqual(new Set());
        await tx.files.awaitThumbnails(realm.id, messageId, [one.id]);
        await tx.files.awaitThumbnails(fixture.realm.id, messageId, [one.id]);
        await tx.files.endAwaiting(realm.id, one.id, [messageId]);
        expect(await tx.files.listAwaiting(realm.id, one.id, 9)).toEqual([]);
        expect(await tx.files.listAwaiting(fixture.realm.id, one.id, 9)).toEqual([messageId]);
      });
      expect(await messagesOf(fixture, one.id)).toEqual([messageId]);
    });
  });
}
