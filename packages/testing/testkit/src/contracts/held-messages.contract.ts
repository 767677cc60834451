import type { BlobKey } from '@parley/domain/files';
import type { FileId, HoldId, MessageId } from '@parley/domain/kernel';
import { mentionRemoval } from '@parley/domain/membership';
import { MAX_EDITS } from '@parley/domain/messages';
import type { Hold, HoldCriteria } from '@parley/domain/writing';
import { anotherRealm, type Fixture } from '../builders.js';
import { chatter, pick } from './chatter.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

const ANY: HoldCriteria = { personId: null, channelId: null, messageId: null, since: null, until: null };

export function heldMessagesContract(open: OpenStorage): void {
  describe('held messages', () => {
    const stage = stagesOn(open);

    const hold = ({ uow, realm }: Fixture, criteria: Partial<HoldCriteria>): Promise<Hold> =>
      uow.write(realm.id, (tx) =>
        tx.holds.add({
          ...{ realmId: realm.id, reason: 'case', createdAt: 1, createdBy: null, releasedAt: null, releasedBy: null },
          ...ANY,
          ...criteria,
        }),
      );
    const release = ({ uow, realm }: Fixture, { id }: { readonly id: HoldId }) =>
      uow.write(realm.id, async (tx) => tx.holds.update({ ...(await tx.holds.find(realm.id, id))!, releasedAt: 9 }));
    const remove = ({ uow, realm }: Fixture, ids: readonly MessageId[], deletedAt = 100) =>
      uow.write(realm.id, async (tx) => {
        await tx.archive.keep(realm.id, ids, { deletedAt, deletedBy: null });
        await tx.files.detachAll(realm.id, ids, deletedAt);
        await tx.messages.remove(realm.id, ids);
      });
    const everywhere = { messageId: null, channelId: null, topicKey: null, since: null };
    const restorable = async ({ uow, realm }: Fixture) =>
      idsOf(await uow.read(realm.id, (r) => r.archive.list(realm.id, everywhere, 0, 100)));
    const purge = ({ uow }: Fixture, limit = 100) => uow.writeAcross((tx) => tx.archive.purge(1000, limit));
    const coveredBy = ({ uow, realm }: Fixture, held: Hold) =>
      uow.read(realm.id, async (r) => [
        idsOf((await r.heldMessages.list(held, 0, 100)).held),
        idsOf((await r.heldMessages.listCopies(held, 0, 100)).held),
      ]);

    it('covers messages by person, channel, message and time, deleted or not', async () => {
      const fixture = await stage(...chatter);
      const { user, channel, messages } = fixture;
      const deleted = pick(fixture, 1, 3, 4);
      await remove(fixture, deleted);
      const split = (...ids: readonly MessageId[]) => [
        ids.filter((id) => !deleted.includes(id)),
        ids.filter((id) => deleted.includes(id)),
      ];
      const check = async (criteria: Partial<HoldCriteria>, ...indexes: readonly number[]) =>
        expect(await coveredBy(fixture, await hold(fixture, criteria))).toEqual(split(...pick(fixture, ...indexes)));
      const { sentAt } = messages[4]!;
      const before = messages.flatMap((message, n) => (message.sentAt <= sentAt ? n : []));
      const after = messages.flatMap((message, n) => (message.sentAt >= sentAt ? n : []));
      // Written, and received in direct conversations.
      await check({ personId: user('b').id }, 1, 3, 5, 7);
      await check({ channelId: channel('random').id }, 4, 6, 9);
      await check({ personId: user('a').id, channelId: channel('random').id }, 4, 9);
      await check({ messageId: messages[3]!.id }, 3);
      await check({ until: sentAt }, ...before);
      await check({ since: sentAt }, ...after);
      await check({ since: sentAt + 1_000_000 });
    });

    it('covers messages that were moved out of a held channel', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user, channel } = fixture;
      const random = channel('random');
      const moved = pick(fixture, 0, 1);
      const held = await hold(fixture, { channelId: channel('general').id });
      await uow.write(realm.id, async (tx) => {
        const edit = { userId: user('a').id, editedAt: 5, topic: null, channelId: random.id };
        await tx.edits.add(realm.id, edit, moved);
        const target = {
          channelId: random.id,
          recipientId: random.recipientId,
          topic: null,
          isHistoryProtected: false,
        };
        await tx.moves.move(realm.id, moved, target as never);
      });
      expect((await coveredBy(fixture, held))[0]).toEqual(pick(fixture, 0, 1, 2, 7));
      await remove(fixture, [moved[0]!]);
      expect((await coveredBy(fixture, held))[1]).toEqual([moved[0]]);
    });

    it('keeps held copies after their time without restoring them, until the hold is released', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, channel } = fixture;
      const held = await hold(fixture, { channelId: channel('general').id });
      const other = await hold(fixture, { messageId: fixture.messages[0]!.id });
      await remove(fixture, pick(fixture, 0, 1, 4, 6));
      expect(await restorable(fixture)).toEqual(pick(fixture, 0, 1, 4, 6));
      expect(await purge(fixture)).toEqual({ count: 2, hasMore: false });
      expect(await purge(fixture)).toEqual({ count: 0, hasMore: false });
      expect(await restorable(fixture)).toEqual([]);
      expect(await uow.write(realm.id, (tx) => tx.archive.restore(realm.id, pick(fixture, 0, 1)))).toEqual([]);
      expect((await coveredBy(fixture, held))[1]).toEqual(pick(fixture, 0, 1));
      await release(fixture, held);
      expect(await purge(fixture)).toEqual({ count: 1, hasMore: false });
      expect((await coveredBy(fixture, other))[1]).toEqual(pick(fixture, 0));
      await release(fixture, other);
      expect((await purge(fixture)).count).toBe(1);
    });

    it('keeps held copies while the copies of their sender are purged', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user } = fixture;
      const held = await hold(fixture, { messageId: fixture.messages[0]!.id });
      await remove(fixture, pick(fixture, 0, 2, 4));
      const purged = () => uow.write(realm.id, (tx) => tx.archive.purgeOfSender(realm.id, user('a').id, 0, 100));
      expect(await purged()).toEqual({ count: 2, held: 1, next: null });
      expect(await purged()).toEqual({ count: 0, held: 1, next: null });
      expect(await restorable(fixture)).toEqual([]);
      await release(fixture, held);
      expect(await purged()).toEqual({ count: 1, held: 0, next: null });
    });

    it('finds held messages among others of the organization', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, channel } = fixture;
      const other = await anotherRealm(fixture);
      const held = await hold(fixture, { channelId: channel('random').id });
      const filter = (realmId = realm.id) =>
        uow.read(realmId, (r) => r.heldMessages.filter(realmId, pick(fixture, 4, 0, 9)));
      expect(await filter()).toEqual(pick(fixture, 4, 9));
      expect(await filter(other.realm.id)).toEqual([]);
      await release(fixture, held);
      expect(await filter()).toEqual([]);
    });

    const addFile = ({ uow, realm, user }: Fixture, name: string) =>
      uow.write(realm.id, (tx) =>
        tx.files.add({
          ...{ realmId: realm.id, ownerId: user('a').id, name, pathId: name, blob: name as BlobKey, size: 10 },
          ...{ contentType: 'text/plain', createdAt: 1, image: null },
        }),
      );
    const isFileHeld = ({ uow, realm }: Fixture, id: FileId, realmId = realm.id) =>
      uow.read(realmId, (r) => r.heldMessages.holdsFile(realmId, id));

    it('holds files of held messages, also after an edit and the deletion of the message', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm } = fixture;
      const [one, two, three] = [
        await addFile(fixture, 'one'),
        await addFile(fixture, 'two'),
        await addFile(fixture, 'three'),
      ];
      const [first, second] = pick(fixture, 0, 1) as [MessageId, MessageId];
      await uow.write(realm.id, async (tx) => {
        await tx.files.attach(realm.id, first, [one.id, two.id]);
        await tx.files.attach(realm.id, second, [three.id]);
        await tx.files.detach(realm.id, first, [two.id], 50);
      });
      const held = await hold(fixture, { messageId: first });
      const all = async () => Promise.all([one, two, three].map(({ id }) => isFileHeld(fixture, id)));
      expect(await all()).toEqual([true, true, false]);
      await remove(fixture, [first, second]);
      expect(await all()).toEqual([true, true, false]);
      const files = await uow.read(realm.id, (r) => r.heldMessages.listFiles(realm.id, [first, second]));
      expect([files.get(first), files.get(second)]).toEqual([[one.id, two.id], [three.id]]);
      await release(fixture, held);
      expect(await all()).toEqual([false, false, false]);
    });

    it('hides a file from everybody but keeps it for its held message', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user } = fixture;
      const other = await anotherRealm(fixture);
      const file = await addFile(fixture, 'one');
      const [first] = pick(fixture, 0) as [MessageId];
      await uow.write(realm.id, (tx) => tx.files.attach(realm.id, first, [file.id]));
      await hold(fixture, { messageId: first });
      await uow.write(other.realm.id, (tx) => tx.files.hide(other.realm.id, file.id, 70));
      expect(await uow.read(realm.id, (r) => r.files.spaceOf(realm.id, user('a').id))).toEqual({ count: 1, bytes: 10 });
      await uow.write(realm.id, (tx) => tx.files.hide(realm.id, file.id, 70));
      const { space, attached, unreferenced, found } = await uow.read(realm.id, async (r) => ({
        space: await r.files.spaceOf(realm.id, user('a').id),
        attached: await r.files.listAttached(realm.id, [file.id]),
        unreferenced: await r.files.listUnreferenced(true, 71, 10),
        found: await r.files.listByPath(realm.id, [file.pathId]),
      }));
      expect([space.count, attached[0]!.messageIds, idsOf(unreferenced), found]).toEqual([0, [], [file.id], []]);
      expect(await isFileHeld(fixture, file.id)).toBe(true);
      expect(await isFileHeld(fixture, file.id, other.realm.id)).toBe(false);
    });

    it('keeps all edits of a held message but lists the newest', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user } = fixture;
      const [id] = pick(fixture, 0) as [MessageId];
      const held = await hold(fixture, { messageId: id });
      const edit = (editedAt: number) => ({ userId: user('a').id, editedAt, topic: null, channelId: null });
      const edits = MAX_EDITS + 2;
      await uow.write(realm.id, async (tx) => {
        for (let n = 0; n < edits; n++) await tx.edits.add(realm.id, edit(10 + n), [id], id);
      });
      expect(await uow.read(realm.id, (r) => r.edits.list(realm.id, id))).toHaveLength(MAX_EDITS);
      expect(await uow.read(realm.id, (r) => r.edits.count(realm.id, id))).toBe(edits);
      const original = fixture.messages[0]!;
      await uow.write(realm.id, (tx) =>
        tx.messages.edit(realm.id, id, { ...original, editedAt: 500, exceptions: new Map() } as never),
      );
      const [view] = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [id]));
      expect([view!.edits!.length, view!.edits![0]!.editedAt]).toEqual([MAX_EDITS, 9 + edits]);
      const [message] = (await uow.read(realm.id, (r) => r.heldMessages.list(held, 0, 100))).held;
      expect([message!.edits.length, message!.edits[0]!.editedAt]).toEqual([edits, 9 + edits]);
      await release(fixture, held);
      await uow.write(realm.id, (tx) => tx.edits.add(realm.id, edit(500), [id], id));
      expect(await uow.read(realm.id, (r) => r.edits.count(realm.id, id))).toBe(MAX_EDITS);
      expect((await uow.read(realm.id, (r) => r.heldMessages.list(held, 0, 100))).held[0]!.edits).toHaveLength(
        MAX_EDITS,
      );
    });

    it('leaves mentions in held messages, their edits and copies unchanged', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user, messages } = fixture;
      const { id: personId } = user('c');
      const ids = pick(fixture, 0, 1, 2, 7);
      const content = `@**c|${personId}** hi`;
      await uow.write(realm.id, async (tx) => {
        for (const id of ids) {
          const message = messages.find((each) => each.id === id)!;
          const edit = { userId: message.senderId, editedAt: 5, topic: null, channelId: null };
          for (const text of [content, `${content}!`]) {
            await tx.edits.add(realm.id, edit, [id], id);
            await tx.messages.edit(realm.id, id, {
              ...message,
              content: text,
              editedAt: 5,
              exceptions: new Map(),
            } as never);
          }
        }
      });
      const held = await hold(fixture, { messageId: ids[0]! });
      const heldCopy = await hold(fixture, { messageId: ids[2]! });
      await remove(fixture, [ids[2]!, ids[3]!]);
      const removal = mentionRemoval({ id: personId, fullName: 'c' });
      let [count, kept] = [0, 0];
      await uow.write(realm.id, async (tx) => {
        for (let from = null as never; ; ) {
          const step = await tx.personalData.replaceSome(realm.id, removal, from, 100);
          count += step.count;
          kept += step.held;
          if (step.next === null) break;
          from = step.next as never;
        }
        expect(await tx.personalData.replaceInMessages(realm.id, removal, ids)).toBe(0);
      });
      // The edited message, one of its edits, and the copy with both, each of them held and not held.
      expect([count, kept]).toEqual([3, 3]);
      const texts = await uow.read(realm.id, async (r) => ({
        held: (await r.heldMessages.list(held, 0, 100)).held[0]!,
        copy: (await r.heldMessages.listCopies(heldCopy, 0, 100)).held[0]!,
        other: (await r.messages.list(realm.id, [ids[1]!]))[0]!.content,
      }));
      expect([texts.held.content, texts.copy.content]).toEqual([`${content}!`, `${content}!`]);
      expect(texts.held.edits[0]!.previousContent!.content).toBe(content);
      expect(texts.copy.edits[0]!.previousContent!.content).toBe(content);
      expect(texts.other).toBe(`@**Deleted user|${personId}** hi!`);
    });
  });
}
