import { aChannel, anotherRealm } from '../builders.js';
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

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow } = fixture;
      const other = await anotherRealm(fixture, aChannel({ name: 'general' }));
      const { id: channelId, recipientId } = other.channel('general');
      const ids = idsOf(fixture.messages);
      await uow.write(other.realm.id, (tx) =>
        tx.moves.move(other.realm.id, ids, { channelId, recipientId, topic: 'gone', isHistoryProtected: false }),
      );
      expect(await uow.read(fixture.realm.id, (r) => r.messages.list(fixture.realm.id, ids))).toEqual(fixture.messages);
    });
  });
}
