import type { MessageId, UserId } from '@parley/domain/kernel';
import type { ArchiveSelection } from '@parley/domain/writing';
import { anotherRealm, type Fixture } from '../builders.js';
import { chatter, pick } from './chatter.js';
import { idsOf, type OpenStorage, own, stagesOn } from './storage-under-test.js';

const ALL: ArchiveSelection = { messageId: null, channelId: null, topicKey: null, since: null };
const SMILE = { type: 'unicode', code: '1f642', name: 'smile' } as const;

export function messageArchiveContract(open: OpenStorage): void {
  describe('message archive', () => {
    const stage = stagesOn(open);

    const remove = ({ uow, realm, user }: Fixture, ids: readonly MessageId[], deletedAt: number) =>
      uow.write(realm.id, async (tx) => {
        await tx.archive.keep(realm.id, ids, { deletedAt, deletedBy: user('a').id });
        await tx.messages.remove(realm.id, ids);
      });
    const list = ({ uow, realm }: Fixture, selection: Partial<ArchiveSelection> = {}, after = 0, limit = 100) =>
      uow.read(realm.id, (r) => r.archive.list(realm.id, { ...ALL, ...selection }, after, limit));
    const restore = ({ uow, realm }: Fixture, ids: readonly MessageId[]) =>
      uow.write(realm.id, (tx) => tx.archive.restore(realm.id, ids));

    it('restores messages completely in a new version', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, viewer, user, channel } = fixture;
      const ids = pick(fixture, 0, 1, 4, 7, 9);
      const random = channel('random');
      await uow.write(realm.id, async (tx) => {
        await tx.personal.setFlag(viewer('a'), ids, 'starred', true);
        await tx.personal.addHistorical(viewer('c'), [ids[0]!]);
        await tx.reactions.add(realm.id, ids[0]!, { ...SMILE, userId: user('b').id });
        await tx.messages.addSubmessage(realm.id, {
          messageId: ids[1]!,
          senderId: user('a').id,
          kind: 'widget',
          content: '{"a": "ä\\n🍲"}',
        });
        await tx.edits.add(
          realm.id,
          { userId: user('a').id, editedAt: 5, topic: 'Dinner', channelId: random.id },
          [ids[2]!],
          ids[2]!,
        );
        await tx.moves.move(realm.id, [ids[2]!], {
          channelId: random.id,
          recipientId: random.recipientId,
          topic: 'Dinner',
          isHistoryProtected: false,
        });
      });
      const state = () =>
        uow.read(realm.id, async (r) => ({
          views: (await r.pages.listViews(realm.id, ids)).map(({ message: { version: _, ...message }, ...view }) => ({
            message,
            ...view,
          })),
          flags: await r.personal.listFlagsOf(
            realm.id,
            ['a', 'b', 'c'].map((name) => user(name).id),
            ids,
          ),
          pages: idsOf(await r.pages.listEntriesUpTo(viewer('a'), own(), null, 100)),
          starred: await r.personal.listStarred(viewer('a')),
          recent: await r.recipients.listRecentDirect(realm.id, user('a').id, 10),
        }));
      const versions = async () =>
        new Map(
          (await uow.read(realm.id, (r) => r.messages.list(realm.id, ids))).map(({ id, version }) => [id, version]),
        );
      const [before, versionsBefore] = [await state(), await versions()];
      await remove(fixture, ids, 100);
      expect((await state()).views).toEqual([]);
      expect(await restore(fixture, [9999 as MessageId, ...ids])).toEqual(ids);
      expect(await state()).toEqual(before);
      for (const [id, version] of await versions()) expect(version).toBeGreaterThan(versionsBefore.get(id)!);
      expect(await restore(fixture, ids)).toEqual([]);
      expect(await list(fixture)).toEqual([]);
      // Restored messages can be deleted again.
      await remove(fixture, ids, 101);
      expect(idsOf(await list(fixture))).toEqual(ids);
    });

    it('lists deleted messages by message, channel, topic and time', async () => {
      const fixture = await stage(...chatter);
      const { channel, user, messages } = fixture;
      const [early, late] = [pick(fixture, 0, 1, 2), pick(fixture, 4, 7)];
      await remove(fixture, early, 100);
      await remove(fixture, late, 200);
      const general = channel('general').id;
      const inGeneral = messages.filter(
        ({ id, channelId }) => channelId === general && [...early, ...late].includes(id),
      );
      const deletedBy = user('a').id;
      const all = await list(fixture);
      expect(all).toEqual(
        [...early, ...late].map((id) => ({
          id,
          channelId: messages.find((message) => message.id === id)!.channelId,
          deletedAt: early.includes(id) ? 100 : 200,
          deletedBy,
        })),
      );
      expect(idsOf(await list(fixture, { channelId: general }))).toEqual(idsOf(inGeneral));
      const lunch = inGeneral.filter(({ topic }) => topic.toLowerCase() === 'lunch');
      expect(idsOf(await list(fixture, { channelId: general, topicKey: 'lunch' }))).toEqual(idsOf(lunch));
      expect(idsOf(await list(fixture, { since: 101 }))).toEqual(late);
      expect(idsOf(await list(fixture, { messageId: early[1]! }))).toEqual([early[1]]);
      expect(idsOf(await list(fixture, {}, early[1]!, 2))).toEqual([early[2], late[0]]);
    });

    it('purges the oldest deletions first', async () => {
      const fixture = await stage(...chatter);
      const { uow } = fixture;
      await remove(fixture, pick(fixture, 4), 100);
      await remove(fixture, pick(fixture, 0, 1), 200);
      const purge = (before: number, limit: number) => uow.writeAcross((tx) => tx.archive.purge(before, limit));
      expect(await purge(100, 10)).toEqual({ count: 0, hasMore: false });
      expect(await purge(201, 2)).toEqual({ count: 2, hasMore: true });
      expect(idsOf(await list(fixture))).toEqual(pick(fixture, 1));
      expect(await purge(201, 2)).toEqual({ count: 1, hasMore: false });
      expect(await restore(fixture, pick(fixture, 0, 1, 4))).toEqual([]);
    });

    it('purges the copies of one sender, a limited number at a time', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user, messages } = fixture;
      const ids = pick(fixture, 0, 1, 2, 3, 4);
      const senderOf = (id: MessageId) => messages.find((message) => message.id === id)!.senderId;
      const own = ids.filter((id) => senderOf(id) === user('a').id);
      expect(own.length).toBeGreaterThan(0);
      expect(own.length).toBeLessThan(ids.length);
      await remove(fixture, ids, 100);
      let count = 0;
      let steps = 0;
      for (let next: number | null = 0; next !== null; steps++) {
        const from: number = next;
        const step = await uow.write(realm.id, (tx) => tx.archive.purgeOfSender(realm.id, user('a').id, from, 2));
        count += step.count;
        next = step.next;
      }
      expect([count, steps]).toEqual([own.length, 3]);
      expect(idsOf(await list(fixture))).toEqual(ids.filter((id) => !own.includes(id)));
      const other = await anotherRealm(fixture);
      const purged = await uow.write(other.realm.id, (tx) =>
        tx.archive.purgeOfSender(other.realm.id, user('b').id, 0, 100),
      );
      expect(purged).toEqual({ count: 0, held: 0, next: null });
      expect(idsOf(await list(fixture))).toEqual(ids.filter((id) => !own.includes(id)));
    });

    it('purges reactions and submessages of the sender in copies of other messages', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user } = fixture;
      const [id] = pick(fixture, 0) as [MessageId];
      const { senderId } = fixture.messages.find((message) => message.id === id)!;
      const [one, two] = ['a', 'b', 'c'].map((name) => user(name).id).filter((each) => each !== senderId);
      await uow.write(realm.id, async (tx) => {
        for (const userId of [one!, two!]) {
          await tx.reactions.add(realm.id, id, { ...SMILE, userId });
          const submessage = { messageId: id, senderId: userId, kind: 'widget', content: `{"a": ${userId}}` };
          await tx.messages.addSubmessage(realm.id, submessage);
        }
      });
      await remove(fixture, [id], 100);
      const purge = (userId: UserId) => uow.write(realm.id, (tx) => tx.archive.purgeOfSender(realm.id, userId, 0, 100));
      expect(await purge(one!)).toEqual({ count: 0, held: 0, next: null });
      await restore(fixture, [id]);
      const shown = async () => (await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [id])))[0]!;
      const view = await shown();
      expect(view.reactions).toEqual([{ ...SMILE, userId: two }]);
      expect(view.submessages).toMatchObject([{ senderId: two }]);
      await remove(fixture, [id], 100);
      await purge(two!);
      await restore(fixture, [id]);
      expect(await shown()).toMatchObject({ submessages: [], message: { hasReactions: false } });
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow } = fixture;
      const other = await anotherRealm(fixture);
      const ids = pick(fixture, 0, 1);
      await uow.write(other.realm.id, (tx) => tx.archive.keep(other.realm.id, ids, { deletedAt: 1, deletedBy: null }));
      expect(await list(fixture)).toEqual([]);
      await remove(fixture, ids, 100);
      expect(await list(other)).toEqual([]);
      expect(await restore(other, ids)).toEqual([]);
      expect(await list(fixture)).toHaveLength(2);
    });
  });
}
