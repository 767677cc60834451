import { aChannel, aMessage, anotherRealm, aUser } from '../builders.js';
import { chatter, pick } from './chatter.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function topicReadsContract(open: OpenStorage): void {
  describe('TopicReads', () => {
    const stage = stagesOn(open);

    it('lists topics, merging spellings that differ in case, newest message first', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, viewer, channel } = fixture;
      const { recipientId } = channel('general');
      const id = (index: number) => fixture.messages[index]!.id;
      await uow.read(realm.id, async (r) => {
        expect(await r.topics.listTopics(realm.id, recipientId)).toEqual([
          { name: 'LUNCH', maxMessageId: id(7) },
          { name: '', maxMessageId: id(2) },
        ]);
        expect(await r.topics.hasMessages(realm.id, recipientId)).toBe(true);
        expect(await r.topics.hasMessages(realm.id, recipientId, 'lunch')).toBe(true);
        expect(await r.topics.hasMessages(realm.id, recipientId, '')).toBe(true);
        expect(await r.topics.hasMessages(realm.id, recipientId, 'ärger')).toBe(false);
        expect(await r.topics.hasNamedTopics(realm.id, recipientId)).toBe(true);
        const keys = ['lunch', 'ärger', ''];
        expect(await r.topics.listNewestInTopics(realm.id, recipientId, keys)).toEqual(
          new Map([
            ['lunch', id(7)],
            ['', id(2)],
          ]),
        );
        expect(await r.topics.listNewestInTopics(realm.id, recipientId, [])).toEqual(new Map());
        expect(await r.topics.listOwnTopics(viewer('c'), recipientId)).toEqual([]);
      });

      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, pick(fixture, 7, 2)));
      await uow.read(realm.id, async (r) => {
        expect(await r.topics.listTopics(realm.id, recipientId)).toEqual([{ name: 'lunch', maxMessageId: id(1) }]);
        expect(await r.topics.hasMessages(realm.id, recipientId, '')).toBe(false);
        expect(await r.topics.hasNamedTopics(realm.id, recipientId)).toBe(true);
      });
    });

    it('reports whether a channel has named topics', async () => {
      const fixture = await stage(
        aUser({ name: 'a' }),
        aChannel({ name: 'nameless', subscribers: ['a'] }),
        aChannel({ name: 'silent', subscribers: ['a'] }),
        aMessage({ from: 'a', to: 'nameless', topic: '' }),
      );
      const other = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs', topic: 'lunch' }));
      const { recipientId } = other.channel('theirs');
      await fixture.uow.readAcross(async ({ topics }) => {
        for (const name of ['nameless', 'silent']) {
          expect(await topics.hasNamedTopics(fixture.realm.id, fixture.channel(name).recipientId)).toBe(false);
        }
        expect(await topics.hasNamedTopics(other.realm.id, recipientId)).toBe(true);
        expect(await topics.hasNamedTopics(fixture.realm.id, recipientId)).toBe(false);
      });
    });

    it('lists the topics of own messages only', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, viewer, channel, user } = fixture;
      const { recipientId } = channel('random');
      await uow.write(realm.id, (tx) => tx.personal.openSpans(realm.id, [recipientId], [user('b').id]));
      await fixture.add(
        aMessage({ from: 'a', to: 'random', topic: 'Late' }),
        aMessage({ from: 'a', to: 'random', topic: 'lunch' }),
        aMessage({ from: 'a', to: 'random', topic: 'late' }),
      );
      const id = (index: number) => fixture.messages[index]!.id;
      expect(await uow.read(realm.id, (r) => r.topics.listOwnTopics(viewer('b'), recipientId))).toEqual([
        { name: 'late', maxMessageId: id(12) },
        { name: 'lunch', maxMessageId: id(11) },
      ]);
      expect(await uow.read(realm.id, (r) => r.topics.listOwnTopics(viewer('a'), recipientId))).toEqual([
        { name: 'late', maxMessageId: id(12) },
        { name: 'lunch', maxMessageId: id(11) },
        { name: 'ärger', maxMessageId: id(9) },
      ]);
      const newestOwn = (name: string, ...keys: readonly string[]) =>
        uow.read(realm.id, (r) => r.topics.listNewestOwnInTopics(viewer(name), recipientId, keys));
      expect(await newestOwn('b', 'lunch', 'late', 'ärger', 'nothing')).toEqual(
        new Map([
          ['lunch', id(11)],
          ['late', id(12)],
        ]),
      );
      expect(await newestOwn('a', 'ärger')).toEqual(new Map([['ärger', id(9)]]));
      // A user who unsubscribed before the topic continued still sees its earlier newest message.
      await uow.write(realm.id, (tx) => tx.personal.closeSpans(realm.id, [recipientId], [user('b').id]));
      await fixture.add(aMessage({ from: 'a', to: 'random', topic: 'late' }));
      expect(await newestOwn('b', 'late', 'ärger')).toEqual(new Map([['late', id(12)]]));
      expect(await newestOwn('a', 'late')).toEqual(new Map([['late', id(13)]]));
    });

    it('lists the senders of a topic', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user, channel } = fixture;
      const { recipientId } = channel('random');
      await uow.read(realm.id, async (r) => {
        expect(await r.topics.listTopicSenders(realm.id, recipientId, 'ärger')).toEqual([user('a').id, user('c').id]);
        expect(await r.topics.listTopicSenders(realm.id, recipientId, 'nothing')).toEqual([]);
      });
    });

    it('counts messages since a time', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, clock, channel } = fixture;
      const [general, random] = [channel('general').recipientId, channel('random').recipientId];
      clock.advance(100);
      await fixture.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: 'general' }));
      const since = (time: number) => uow.read(realm.id, (r) => r.topics.countSince(realm.id, [random, general], time));
      expect(new Map(await since(clock.now() - 50))).toEqual(new Map([[general, 2]]));
      expect(new Map(await since(clock.now()))).toEqual(new Map([[general, 2]]));
      expect(new Map(await since(clock.now() - 1000))).toEqual(
        new Map([
          [random, 3],
          [general, 6],
        ]),
      );
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow, user, channel } = fixture;
      const otherRealm = (await anotherRealm(fixture)).realm.id;
      const outsider = { realmId: otherRealm, userId: user('a').id };
      const { recipientId } = channel('general');
      const found = await uow.read(otherRealm, async (r) => [
        await r.topics.hasMessages(otherRealm, recipientId),
        (await r.topics.listNewestInTopics(otherRealm, recipientId, ['lunch'])).size,
        (await r.topics.listNewestOwnInTopics(outsider, recipientId, ['lunch'])).size,
        await r.topics.listTopicSenders(otherRealm, recipientId, 'lunch'),
        await r.topics.listTopics(otherRealm, recipientId),
        await r.topics.listOwnTopics(outsider, recipientId),
        (await r.topics.countSince(otherRealm, [recipientId], 0)).size,
      ]);
      expect(found).toEqual([false, 0, 0, [], [], [], 0]);
    });
  });
}
