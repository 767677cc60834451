import type { MessageId, RecipientId } from '@parley/domain/kernel';
import { aChannel, aMessage, anotherRealm, aUser } from '../builders.js';
import { chatter } from './chatter.js';
import { idsOf, type OpenStorage, stagesOn } from './storage-under-test.js';

export function messageMovesContract(open: OpenStorage): void {
  describe('message move', () => {
    const stage = stagesOn(open);

    it('moves messages within and between channels and keeps their flags', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, channel } = fixture;
      const random = channel('random');
      const target = { channelId: random.id, recipientId: random.recipientId, isHistoryProtected: false };
      const [first, second, third] = [fixture.messages[0]!, fixture.messages[1]!, fixture.messages[4]!];
      await uow.write(realm.id, (tx) => tx.moves.move(realm.id, [first.id, second.id], { ...target, topic: null }));
      await uow.write(realm.id, (tx) => tx.moves.move(realm.id, [third.id], { ...target, topic: 'Dinner' }));
      const there = { channelId: random.id, recipientId: random.recipientId };
      const moved = await uow.read(realm.id, (r) => r.messages.list(realm.id, [first.id, second.id, third.id]));
      const changes = moved.map(({ version: _, lastMovedAt: __, ...rest }) => rest);
      const { version: _, lastMovedAt: __, ...thirdBefore } = third;
      expect(changes[0]).toMatchObject({ ...there, topic: 'Lunch', ordinal: 1, sentRecipientId: first.recipientId });
      expect(changes[1]).toMatchObject({ ...there, topic: 'lunch', ordinal: 2, sentRecipientId: first.recipientId });
      expect(changes[2]).toEqual({ ...thirdBefore, topic: 'Dinner', isEdited: true });
      expect(moved.every(({ version }) => version > 1)).toBe(true);

      const topics = await uow.read(realm.id, (r) => r.topics.listTopics(realm.id, random.recipientId));
      expect(topics.map(({ name }) => name)).toEqual(['ärger', 'Dinner', 'lunch']);
      const left = await uow.read(realm.id, (r) => r.topics.listTopics(realm.id, first.recipientId));
      expect(left.map(({ name }) => name)).toEqual(['LUNCH', '']);
    });

    it('stores times of moves, except when resolving topics, and topic links', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, channel, messages } = fixture;
      const { id: channelId, recipientId } = channel('general');
      const target = { channelId, recipientId, isHistoryProtected: false };
      const topicLinks = [{ text: '#1', url: 'https://example.com/1' }];
      const [one, two] = [messages[0]!.id, messages[1]!.id];
      const move = (id: typeof one, more: object) =>
        uow.write(realm.id, (tx) => tx.moves.move(realm.id, [id], { ...target, topic: null, ...more }));
      const shown = async () =>
        (await uow.read(realm.id, (r) => r.messages.list(realm.id, [one, two]))).map((message) => [
          message.topic,
          message.topicLinks,
          message.lastMovedAt,
        ]);
      await move(one, { topic: 'about #1', topicLinks, movedAt: 70 });
      await move(two, { topic: '✔ lunch' });
      expect(await shown()).toEqual([
        ['about #1', topicLinks, 70],
        ['✔ lunch', [], null],
      ]);
      await move(one, { movedAt: 80 });
      expect(await shown()).toContainEqual(['about #1', topicLinks, 80]);
      await move(one, { topic: '✔ about' });
      expect(await shown()).toContainEqual(['✔ about', [], 80]);
    });

    it('moves direct messages to the conversation of other people', async () => {
      const fixture = await stage(
        ...['ann', 'bob', 'cleo', 'dan'].map((name) => aUser({ name })),
        aMessage({ from: 'ann', to: ['bob', 'cleo'], content: 'one' }),
        aMessage({ from: 'bob', to: ['ann', 'cleo'], content: 'two' }),
        aMessage({ from: 'bob', to: ['ann', 'dan'], content: 'three' }),
      );
      const { uow, realm, messages, viewer } = fixture;
      const [one, two, three] = [messages[0]!, messages[1]!, messages[2]!];
      const moveTo = async (recipientId: RecipientId, ...ids: MessageId[]) => {
        await uow.write(realm.id, (tx) => tx.moves.moveDirect(realm.id, ids, recipientId));
        return uow.read(realm.id, (r) => r.messages.list(realm.id, ids));
      };
      const newest = (name: string) =>
        uow.read(realm.id, async (r) =>
          (await r.recipients.listRecentDirect(realm.id, viewer(name).userId, 5)).map((it) => Object.values(it)),
        );
      const flags = (name: string, id: MessageId) =>
        uow.read(realm.id, async (r) => (await r.personal.listFlags(viewer(name), [id])).get(id));
      await uow.write(realm.id, (tx) => tx.personal.setFlag(viewer('bob'), [one.id], 'starred', true));
      await uow.write(realm.id, (tx) => tx.personal.setFlag(viewer('cleo'), [one.id], 'starred', true));

      expect(await moveTo(three.recipientId, one.id)).toEqual([
        { ...one, recipientId: three.recipientId, version: one.version + 1 },
      ]);
      expect(await newest('bob')).toEqual([
        [three.recipientId, three.id],
        [two.recipientId, two.id],
      ]);
      expect(await flags('bob', one.id)).toMatchObject({ starred: true, read: false });
      expect(await flags('dan', one.id)).toMatchObject({ starred: false, read: true, historical: false });
      expect(await flags('cleo', one.id)).toBeUndefined();
      await moveTo(three.recipientId, one.id, two.id);
      expect(await newest('cleo')).toEqual([]);
      expect(await newest('dan')).toEqual([[three.recipientId, three.id]]);

      const [back] = await moveTo(one.recipientId, one.id);
      expect(back).toEqual({ ...one, version: one.version + 2 });
      expect(await newest('cleo')).toEqual([[one.recipientId, one.id]]);
      expect(await flags('bob', one.id)).toMatchObject({ starred: true, read: false });
      expect(await flags('cleo', one.id)).toMatchObject({ starred: false, read: true });
      expect(await flags('dan', one.id)).toBeUndefined();
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow } = fixture;
      const other = await anotherRealm(fixture, aChannel({ name: 'general' }));
      const { id: channelId, recipientId } = other.channel('general');
      const ids = idsOf(fixture.messages);
      await uow.write(other.realm.id, (tx) =>
        tx.moves.move(other.realm.id, ids, { channelId, recipientId, topic: 'gone', isHistoryProtected: false }),
      );
      await uow.write(other.realm.id, (tx) => tx.moves.moveDirect(other.realm.id, ids, recipientId));
      expect(await uow.read(fixture.realm.id, (r) => r.messages.list(fixture.realm.id, ids))).toEqual(fixture.messages);
    });
  });
}
