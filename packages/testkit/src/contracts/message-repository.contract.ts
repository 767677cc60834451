import {
  HISTORICAL,
  type MessageCondition,
  type MessageFilter,
  type MessageId,
  type NewMessage,
  not,
  type RecipientId,
} from '@parley/domain';
import { aChannel, aMessage, aRealm, aUser, givenOn, type Scene } from '../builders.js';
import { ascending, idsOf, type OpenStorage, own, shared, stagesOn } from './storage-under-test.js';

const people = [aUser({ name: 'a' }), aUser({ name: 'b' }), aUser({ name: 'c' })];

/** Ten messages, here and there; `c` follows nothing. */
const chatter = [
  ...people,
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aChannel({ name: 'random', subscribers: ['a'] }),
  aMessage({ from: 'a', to: 'general', topic: 'Lunch' }), // 0
  aMessage({ from: 'b', to: 'general', topic: 'lunch' }), // 1
  aMessage({ from: 'a', to: 'general', topic: '' }), // 2
  aMessage({ from: 'b', to: ['a'] }), // 3
  aMessage({ from: 'a', to: 'random', topic: 'lunch' }), // 4
  aMessage({ from: 'c', to: ['a', 'b'] }), // 5
  aMessage({ from: 'c', to: 'random', topic: 'ÄRGER' }), // 6
  aMessage({ from: 'b', to: 'general', topic: 'LUNCH' }), // 7
  aMessage({ from: 'c', to: ['c'] }), // 8
  aMessage({ from: 'a', to: 'random', topic: 'ärger' }), // 9
];

const pick = (scene: Scene, ...indexes: readonly number[]): MessageId[] => indexes.map((i) => scene.messages[i]!.id);

export function messageRepositoryContract(open: OpenStorage): void {
  describe('message repository', () => {
    const stage = stagesOn(open);

    it('keeps every part of a message', async () => {
      const { uow, realm, user, channel } = await stage(...people, aChannel({ name: 'general' }));
      const content: Omit<NewMessage, 'readBy' | 'exceptions'> = {
        realmId: realm.id,
        senderId: user('a').id,
        recipientId: channel('general').recipientId,
        channelId: channel('general').id,
        topic: 'Mittag 🍲',
        content: '**hi** ⚓\n```\ncode\n```',
        renderedContent: '<p><strong>hi</strong> ⚓</p>',
        sentAt: 1_700_000_000,
        clientName: 'ZulipMobile',
        isMeMessage: true,
        mentionsChannel: true,
        hasLink: true,
        hasImage: true,
        hasAttachment: true,
        topicLinks: [{ text: '#12', url: 'https://example.com/12' }],
        isReadByDefault: true,
      };
      const message = await uow.write((tx) =>
        tx.messages.append({ ...content, readBy: [content.senderId], exceptions: new Map() }),
      );
      expect(message).toEqual({
        ...content,
        id: message.id,
        sentRecipientId: content.recipientId,
        ordinal: 1,
        lastEditedAt: null,
        lastMovedAt: null,
        version: 1,
      });
      expect(await uow.read((r) => r.messages.find(realm.id, message.id))).toEqual(message);
      const plain = await uow.write((tx) =>
        tx.messages.append({
          ...content,
          ...{ isMeMessage: false, mentionsChannel: false, hasLink: false, hasImage: false, hasAttachment: false },
          ...{ topicLinks: [], isReadByDefault: false, topic: '', readBy: [], exceptions: new Map() },
        }),
      );
      expect(await uow.read((r) => r.messages.find(realm.id, plain.id))).toEqual(plain);
    });

    it('numbers the messages of each recipient 1, 2, 3 …, and never again as it did before', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, messages } = scene;
      expect(messages.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 1, 1, 1, 2, 4, 1, 3]);
      expect(idsOf(messages)).toEqual(ascending(new Set(idsOf(messages))));
      await uow.write((tx) => tx.messages.remove(realm.id, pick(scene, 7, 9)));
      await scene.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: 'random' }));
      expect(messages.slice(10).map(({ ordinal }) => ordinal)).toEqual([5, 4]);
      expect(messages[10]!.id).toBeGreaterThan(messages[9]!.id);
    });

    it('gives the numbers of a message that was never committed to the next one', async () => {
      const scene = await stage(...people, aChannel({ name: 'general' }));
      const failing = scene.uow.write(async (tx) => {
        await aMessage({ from: 'a', to: 'general' })(scene, tx);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      await scene.add(aMessage({ from: 'a', to: 'general' }));
      expect(scene.messages.at(-1)!.ordinal).toBe(1);
      const { id } = scene.messages.at(-1)!;
      expect(await scene.uow.read((r) => r.messages.list(scene.realm.id, [id]))).toHaveLength(1);
    });

    it('lists ascending, without unknown ids', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, messages } = scene;
      const unknown = (messages[9]!.id + 1) as MessageId;
      const ids = [...pick(scene, 8, 2), unknown, ...pick(scene, 5, 2)];
      const expected = [messages[2], messages[5], messages[8]];
      expect(await uow.read((r) => r.messages.list(realm.id, ids))).toEqual(expected);
      const views = await uow.read((r) => r.messages.listViews(realm.id, ids));
      expect(views.map(({ message }) => message)).toEqual(expected);
      expect(await uow.read((r) => r.messages.find(realm.id, unknown))).toBeNull();
    });

    describe('pages', () => {
      it('gives the newest up to an id and the oldest from an id on, ascending', async () => {
        const scene = await stage(...chatter);
        const { uow, viewer } = scene;
        const upTo = (atMost: number | null, limit: number) =>
          uow.read(async (r) => idsOf(await r.messages.listHeadsUpTo(viewer('a'), own(), atMost, limit)));
        const from = (atLeast: number, limit: number) =>
          uow.read(async (r) => idsOf(await r.messages.listHeadsFrom(viewer('a'), own(), atLeast, limit)));
        const [second, fifth] = pick(scene, 1, 4);
        expect(await upTo(null, 3)).toEqual(pick(scene, 6, 7, 9));
        expect(await upTo(fifth!, 3)).toEqual(pick(scene, 2, 3, 4));
        expect(await upTo(second!, 10)).toEqual(pick(scene, 0, 1));
        expect(await upTo(0, 10)).toEqual([]);
        expect(await upTo(null, 0)).toEqual([]);
        expect(await from(0, 3)).toEqual(pick(scene, 0, 1, 2));
        expect(await from(fifth!, 3)).toEqual(pick(scene, 4, 5, 6));
        expect(await from(fifth!, 0)).toEqual([]);
        expect(await from(1e9, 10)).toEqual([]);
      });

      it('shows only own messages, or all that the conditions name', async () => {
        const scene = await stage(...chatter);
        const { uow, viewer, channel } = scene;
        const general: MessageCondition = {
          kind: 'recipient',
          recipientIds: [channel('general').recipientId],
        };
        await uow.read(async (r) => {
          const page = async (name: string, filter = own()) =>
            idsOf(await r.messages.listHeadsUpTo(viewer(name), filter, null, 100));
          expect(await page('a')).toEqual(pick(scene, 0, 1, 2, 3, 4, 5, 6, 7, 9));
          expect(await page('b')).toEqual(pick(scene, 0, 1, 2, 3, 5, 7));
          expect(await page('c')).toEqual(pick(scene, 5, 8));
          expect(await page('c', own(general))).toEqual([]);
          expect(await page('c', shared(general))).toEqual(pick(scene, 0, 1, 2, 7));
        });
      });

      it('holds every condition, negated ones too', async () => {
        const scene = await stage(...chatter);
        const { uow, viewer, channel, user } = scene;
        const recipient = (recipientId: RecipientId): MessageCondition => ({
          kind: 'recipient',
          recipientIds: [recipientId],
        });
        const general = recipient(channel('general').recipientId);
        const direct = recipient(scene.messages[3]!.recipientId);
        const topic = (topicKey: string): MessageCondition => ({ kind: 'topic', topicKey });
        const sender = (name: string): MessageCondition => ({ kind: 'sender', userId: user(name).id });
        const message = (i: number): MessageCondition => ({
          kind: 'message',
          messageId: scene.messages[i]!.id,
        });
        const nothing: MessageCondition = { kind: 'anyOf', conditions: [] };
        await uow.read(async (r) => {
          const page = async (...conditions: MessageCondition[]) => {
            const found = idsOf(await r.messages.listHeadsUpTo(viewer('a'), own(...conditions), null, 100));
            expect(idsOf(await r.messages.listHeadsFrom(viewer('a'), own(...conditions), 0, 100))).toEqual(found);
            return found;
          };
          expect(await page(general)).toEqual(pick(scene, 0, 1, 2, 7));
          expect(await page(not(general))).toEqual(pick(scene, 3, 4, 5, 6, 9));
          expect(await page(direct)).toEqual(pick(scene, 3));
          expect(await page(topic('lunch'))).toEqual(pick(scene, 0, 1, 4, 7));
          expect(await page(topic('ärger'))).toEqual(pick(scene, 6, 9));
          expect(await page(topic(''))).toEqual(pick(scene, 2));
          expect(await page(not(topic('')))).toEqual(pick(scene, 0, 1, 3, 4, 5, 6, 7, 9));
          expect(await page(general, topic('lunch'), sender('b'))).toEqual(pick(scene, 1, 7));
          expect(await page(topic('lunch'), not(general))).toEqual(pick(scene, 4));
          expect(await page(not(topic('lunch')), not(sender('a')))).toEqual(pick(scene, 3, 5, 6));
          expect(await page(sender('c'))).toEqual(pick(scene, 5, 6));
          expect(await page(message(4))).toEqual(pick(scene, 4));
          expect(await page(message(8))).toEqual([]);
          expect(await page(not(message(4)), topic('lunch'))).toEqual(pick(scene, 0, 1, 7));
          expect(await page(general, recipient(channel('random').recipientId))).toEqual([]);
          expect(await page(nothing)).toEqual([]);
          expect(await page(not(nothing), general)).toEqual(pick(scene, 0, 1, 2, 7));
        });
      });

      it('holds conditions on shared history too', async () => {
        const scene = await stage(...chatter);
        const { uow, viewer, channel, user } = scene;
        const general: MessageCondition = {
          kind: 'recipient',
          recipientIds: [channel('general').recipientId],
        };
        const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
        const byA: MessageCondition = { kind: 'sender', userId: user('a').id };
        await uow.read(async (r) => {
          const page = async (...conditions: MessageCondition[]) =>
            idsOf(await r.messages.listHeadsFrom(viewer('c'), shared(...conditions), 0, 100));
          expect(await page(general, lunch)).toEqual(pick(scene, 0, 1, 7));
          expect(await page(general, not(lunch))).toEqual(pick(scene, 2));
          expect(await page(general, not(byA))).toEqual(pick(scene, 1, 7));
          expect(await page(general, lunch, byA)).toEqual(pick(scene, 0));
        });
      });

      it('leaves out several recipients', async () => {
        const scene = await stage(...chatter);
        const { uow, viewer, channel } = scene;
        const without = [channel('general').recipientId, scene.messages[3]!.recipientId];
        const general: MessageCondition = { kind: 'recipient', recipientIds: [without[0]!] };
        await uow.read(async (r) => {
          const page = async (filter: MessageFilter) =>
            idsOf(await r.messages.listHeadsUpTo(viewer('a'), filter, null, 100));
          const elsewhere = not({ kind: 'recipient', recipientIds: without });
          expect(await page(own(elsewhere))).toEqual(pick(scene, 4, 5, 6, 9));
          expect(await page(shared(general, elsewhere))).toEqual([]);
        });
      });

      it('follows messages to where they were moved', async () => {
        const scene = await stage(...chatter);
        const { uow, realm, viewer, channel } = scene;
        const random = channel('random');
        await uow.write((tx) =>
          tx.messages.move(realm.id, pick(scene, 0, 1), {
            channelId: random.id,
            recipientId: random.recipientId,
            topic: 'Dinner',
            isHistoryProtected: false,
          }),
        );
        await uow.read(async (r) => {
          const page = async (name: string, condition: MessageCondition) =>
            idsOf(await r.messages.listHeadsUpTo(viewer(name), own(condition), null, 100));
          const inRandom: MessageCondition = { kind: 'recipient', recipientIds: [random.recipientId] };
          expect(await page('a', inRandom)).toEqual(pick(scene, 0, 1, 4, 6, 9));
          expect(await page('a', { kind: 'topic', topicKey: 'dinner' })).toEqual(pick(scene, 0, 1));
          expect(await page('b', inRandom)).toEqual([]);
        });
      });
    });

    it('tells by its versions when a presented form is no longer true', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, viewer, user, channel } = scene;
      const [inChannel, direct] = pick(scene, 1, 5);
      const versions = () =>
        uow.read(async (r) => {
          const heads = await r.messages.listHeads(viewer('a'), [inChannel!, direct!]);
          return heads.map((head) => head.versions);
        });
      const before = await versions();
      expect(before).toEqual([
        { message: 1, sender: 1, conversation: channel('general').version },
        { message: 1, sender: 1, conversation: 3 },
      ]);

      await uow.write((tx) => tx.users.update({ ...user('b'), fullName: 'Bea' }));
      const renamed = await versions();
      expect(renamed[0]).toEqual({ ...before[0], sender: 2 });
      expect(renamed[1]).toEqual({ ...before[1], conversation: 4 });

      const general = await uow.write((tx) => tx.channels.update({ ...channel('general'), name: 'all' }));
      expect(await versions()).toEqual([{ ...renamed[0], conversation: general.version }, renamed[1]]);

      await uow.write((tx) =>
        tx.messages.move(realm.id, [inChannel!], {
          channelId: general.id,
          recipientId: general.recipientId,
          topic: 'new',
          isHistoryProtected: false,
        }),
      );
      const [moved] = await versions();
      expect(moved!.message).toBeGreaterThan(1);
    });

    it('shows a message that was never received as historical', async () => {
      const scene = await stage(...chatter);
      const { uow, viewer, user, channel } = scene;
      const heads = await uow.read((r) => r.messages.listHeads(viewer('b'), [...pick(scene, 4, 0), 9999 as MessageId]));
      expect(heads).toEqual([
        {
          id: scene.messages[0]!.id,
          senderId: user('a').id,
          recipientId: channel('general').recipientId,
          channelId: channel('general').id,
          versions: heads[0]!.versions,
          flags: { ...HISTORICAL, read: false, historical: false },
        },
        {
          id: scene.messages[4]!.id,
          senderId: user('a').id,
          recipientId: channel('random').recipientId,
          channelId: channel('random').id,
          versions: heads[1]!.versions,
          flags: HISTORICAL,
        },
      ]);
    });

    it('views a message with its sender and its conversation', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, user, channel } = scene;
      const settings = { ...user('c').settings, emailAddressVisibility: 3 as const };
      await uow.write((tx) => tx.users.update({ ...user('c'), fullName: 'Cordelia', settings }));
      const bot = await uow.read((r) => r.users.findSystemBot(realm.id, 'notification'));
      const notice = await uow.write(async (tx) => {
        const { id: _, sentRecipientId: __, ordinal: ___, version: ____, ...content } = scene.messages[0]!;
        return tx.messages.append({ ...content, senderId: bot.id, readBy: [], exceptions: new Map() });
      });
      const person = (name: string) => ({
        id: user(name).id,
        fullName: name,
        email: user(name).email,
        emailVisibility: 1,
        avatar: user(name).avatar,
        isSystemBot: false,
      });
      const cordelia = { ...person('c'), fullName: 'Cordelia', emailVisibility: 3 };
      const views = await uow.read((r) => r.messages.listViews(realm.id, [notice.id, ...pick(scene, 5, 0)]));
      expect(views).toEqual([
        {
          message: scene.messages[0],
          sender: person('a'),
          submessages: [],
          conversation: { kind: 'channel', channelId: channel('general').id, name: 'general' },
        },
        {
          message: scene.messages[5],
          sender: cordelia,
          submessages: [],
          conversation: { kind: 'direct', people: [person('a'), person('b'), cordelia] },
        },
        {
          message: notice,
          sender: expect.objectContaining({ id: bot.id, isSystemBot: true }),
          submessages: [],
          conversation: { kind: 'channel', channelId: channel('general').id, name: 'general' },
        },
      ]);
    });

    it('shows that bots hide their addresses from nobody, whatever their setting', async () => {
      const scene = await stage(...chatter, aUser({ name: 'robot', botOf: 'a' }));
      const { uow, realm, user } = scene;
      const settings = { ...user('robot').settings, emailAddressVisibility: 4 as const };
      await uow.write((tx) => tx.users.update({ ...user('robot'), settings }));
      await scene.add(aMessage({ from: 'robot', to: 'general' }));
      const [view] = await uow.read((r) => r.messages.listViews(realm.id, [scene.messages.at(-1)!.id]));
      expect(view!.sender.emailVisibility).toBe(1);
    });

    it('lists topics, spellings that differ only in case as one, newest message first', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, viewer, channel } = scene;
      const { recipientId } = channel('general');
      const id = (index: number) => scene.messages[index]!.id;
      await uow.read(async (r) => {
        expect(await r.messages.listTopics(realm.id, recipientId)).toEqual([
          { name: 'LUNCH', maxMessageId: id(7) },
          { name: '', maxMessageId: id(2) },
        ]);
        expect(await r.messages.hasMessages(realm.id, recipientId)).toBe(true);
        expect(await r.messages.hasMessages(realm.id, recipientId, 'lunch')).toBe(true);
        expect(await r.messages.hasMessages(realm.id, recipientId, '')).toBe(true);
        expect(await r.messages.hasMessages(realm.id, recipientId, 'ärger')).toBe(false);
        const keys = ['lunch', 'ärger', ''];
        expect(await r.messages.listNewestInTopics(realm.id, recipientId, keys)).toEqual(
          new Map([
            ['lunch', id(7)],
            ['', id(2)],
          ]),
        );
        expect(await r.messages.listNewestInTopics(realm.id, recipientId, [])).toEqual(new Map());
        expect(await r.messages.listOwnTopics(viewer('c'), recipientId)).toEqual([]);
      });

      await uow.write((tx) => tx.messages.remove(realm.id, pick(scene, 7, 2)));
      await uow.read(async (r) => {
        expect(await r.messages.listTopics(realm.id, recipientId)).toEqual([{ name: 'lunch', maxMessageId: id(1) }]);
        expect(await r.messages.hasMessages(realm.id, recipientId, '')).toBe(false);
      });
    });

    it('lists the topics of own messages only', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, viewer, channel, user } = scene;
      const { recipientId } = channel('random');
      await uow.write((tx) => tx.personal.openSpans(realm.id, recipientId, [user('b').id]));
      await scene.add(
        aMessage({ from: 'a', to: 'random', topic: 'Late' }),
        aMessage({ from: 'a', to: 'random', topic: 'lunch' }),
        aMessage({ from: 'a', to: 'random', topic: 'late' }),
      );
      const id = (index: number) => scene.messages[index]!.id;
      expect(await uow.read((r) => r.messages.listOwnTopics(viewer('b'), recipientId))).toEqual([
        { name: 'late', maxMessageId: id(12) },
        { name: 'lunch', maxMessageId: id(11) },
      ]);
      expect(await uow.read((r) => r.messages.listOwnTopics(viewer('a'), recipientId))).toEqual([
        { name: 'late', maxMessageId: id(12) },
        { name: 'lunch', maxMessageId: id(11) },
        { name: 'ärger', maxMessageId: id(9) },
      ]);
      const newestOwn = (name: string, ...keys: readonly string[]) =>
        uow.read((r) => r.messages.listNewestOwnInTopics(viewer(name), recipientId, keys));
      expect(await newestOwn('b', 'lunch', 'late', 'ärger', 'nothing')).toEqual(
        new Map([
          ['lunch', id(11)],
          ['late', id(12)],
        ]),
      );
      expect(await newestOwn('a', 'ärger')).toEqual(new Map([['ärger', id(9)]]));
      // Somebody who left before the topic went on has its newest message from before.
      await uow.write((tx) => tx.personal.closeSpans(realm.id, recipientId, [user('b').id]));
      await scene.add(aMessage({ from: 'a', to: 'random', topic: 'late' }));
      expect(await newestOwn('b', 'late', 'ärger')).toEqual(new Map([['late', id(12)]]));
      expect(await newestOwn('a', 'late')).toEqual(new Map([['late', id(13)]]));
    });

    it('lists who has sent something to a topic', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, user, channel } = scene;
      const { recipientId } = channel('random');
      await uow.read(async (r) => {
        expect(await r.messages.listTopicSenders(realm.id, recipientId, 'ärger')).toEqual([user('a').id, user('c').id]);
        expect(await r.messages.listTopicSenders(realm.id, recipientId, 'nothing')).toEqual([]);
      });
    });

    it('counts what was sent since a time', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, clock, channel } = scene;
      const [general, random] = [channel('general').recipientId, channel('random').recipientId];
      clock.advance(100);
      await scene.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: 'general' }));
      const since = (time: number) => uow.read((r) => r.messages.countSince(realm.id, [random, general], time));
      expect(new Map(await since(clock.now() - 50))).toEqual(new Map([[general, 2]]));
      expect(new Map(await since(clock.now()))).toEqual(new Map([[general, 2]]));
      expect(new Map(await since(clock.now() - 1000))).toEqual(
        new Map([
          [random, 3],
          [general, 6],
        ]),
      );
    });

    it('finds the first id since a time', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, clock, messages } = scene;
      clock.advance(100);
      await scene.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: 'general' }));
      const firstSince = (time: number) => uow.read((r) => r.messages.findFirstIdSince(realm.id, time));
      expect(await firstSince(0)).toBe(messages[0]!.id);
      expect(await firstSince(clock.now())).toBe(messages[10]!.id);
      expect(await firstSince(clock.now() - 99)).toBe(messages[10]!.id);
      expect(await firstSince(clock.now() + 1)).toBeNull();
    });

    it('finds the first id since a time in a quiet realm, however much others have said in between', async () => {
      const scene = await stage(...people, aChannel({ name: 'general' }));
      const { uow, clock, realm } = scene;
      const busy = await givenOn(
        uow,
        clock,
        aRealm({ stringId: 'busy' }),
        aUser({ name: 'x' }),
        aChannel({ name: 'y' }),
      );
      await scene.add(aMessage({ from: 'a', to: 'general' }));
      clock.advance(100);
      const since = clock.now();
      await busy.add(...Array.from({ length: 1100 }, () => aMessage({ from: 'x', to: 'y' })));
      const firstSince = (id = realm.id) => uow.read((r) => r.messages.findFirstIdSince(id, since));
      expect(await firstSince()).toBeNull();
      clock.advance(100);
      await scene.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: ['b'] }));
      expect(await firstSince()).toBe(scene.messages[1]!.id);
      expect(await firstSince(busy.realm.id)).toBe(busy.messages[0]!.id);
    });

    it('moves within a channel and between channels, keeping what messages were', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, channel } = scene;
      const random = channel('random');
      const target = { channelId: random.id, recipientId: random.recipientId, isHistoryProtected: false };
      const [first, second, third] = [scene.messages[0]!, scene.messages[1]!, scene.messages[4]!];
      await uow.write((tx) => tx.messages.move(realm.id, [first.id, second.id], { ...target, topic: null }));
      await uow.write((tx) => tx.messages.move(realm.id, [third.id], { ...target, topic: 'Dinner' }));
      const there = { channelId: random.id, recipientId: random.recipientId };
      const moved = await uow.read((r) => r.messages.list(realm.id, [first.id, second.id, third.id]));
      const changes = moved.map(({ version: _, lastMovedAt: __, ...rest }) => rest);
      const { version: _, lastMovedAt: __, ...thirdBefore } = third;
      expect(changes[0]).toMatchObject({ ...there, topic: 'Lunch', ordinal: 1, sentRecipientId: first.recipientId });
      expect(changes[1]).toMatchObject({ ...there, topic: 'lunch', ordinal: 2, sentRecipientId: first.recipientId });
      expect(changes[2]).toEqual({ ...thirdBefore, topic: 'Dinner' });
      expect(moved.every(({ version }) => version > 1)).toBe(true);

      const topics = await uow.read((r) => r.messages.listTopics(realm.id, random.recipientId));
      expect(topics.map(({ name }) => name)).toEqual(['ärger', 'Dinner', 'lunch']);
      const left = await uow.read((r) => r.messages.listTopics(realm.id, first.recipientId));
      expect(left.map(({ name }) => name)).toEqual(['LUNCH', '']);
    });

    it('removes messages with everything personal, answering those that were there', async () => {
      const scene = await stage(...chatter);
      const { uow, realm, viewer } = scene;
      const [fourth, eighth] = pick(scene, 4, 8);
      await uow.write((tx) => tx.personal.setFlag(viewer('a'), [fourth!], 'starred', true));
      const remove = (...ids: MessageId[]) => uow.write((tx) => tx.messages.remove(realm.id, ids));
      expect(await remove(eighth!, 9999 as MessageId, fourth!)).toEqual([fourth, eighth]);
      expect(await remove(eighth!, fourth!)).toEqual([]);
      await uow.read(async (r) => {
        expect(await r.messages.list(realm.id, [fourth!, eighth!])).toEqual([]);
        expect(await r.messages.listHeads(viewer('a'), [fourth!])).toEqual([]);
        expect((await r.personal.listFlags(viewer('a'), [fourth!])).size).toBe(0);
        expect(await r.personal.listStarred(viewer('a'))).toEqual([]);
        expect(idsOf(await r.personal.listUnread(viewer('a'), 100))).not.toContain(fourth);
        expect(idsOf(await r.messages.listHeadsUpTo(viewer('a'), own(), null, 100))).not.toContain(fourth);
      });
    });

    it('finds and changes nothing of another realm', async () => {
      const scene = await stage(...chatter);
      const { uow, clock, user, channel } = scene;
      const other = await givenOn(uow, clock, aRealm({ stringId: 'other' }), aChannel({ name: 'general' }));
      const otherRealm = other.realm.id;
      const stranger = { realmId: otherRealm, userId: user('a').id };
      const ids = idsOf(scene.messages);
      const { recipientId } = channel('general');
      const general: MessageCondition = { kind: 'recipient', recipientIds: [recipientId] };
      const found = await uow.read(async (r) => [
        await r.messages.find(otherRealm, ids[0]!),
        await r.messages.list(otherRealm, ids),
        await r.messages.listHeads(stranger, ids),
        await r.messages.listHeadsUpTo(stranger, own(), null, 100),
        await r.messages.listHeadsFrom(stranger, shared(general), 0, 100),
        await r.messages.listViews(otherRealm, ids),
        await r.messages.hasMessages(otherRealm, recipientId),
        (await r.messages.listNewestInTopics(otherRealm, recipientId, ['lunch'])).size,
        (await r.messages.listNewestOwnInTopics(stranger, recipientId, ['lunch'])).size,
        await r.messages.listTopicSenders(otherRealm, recipientId, 'lunch'),
        await r.messages.listTopics(otherRealm, recipientId),
        await r.messages.listOwnTopics(stranger, recipientId),
        (await r.messages.countSince(otherRealm, [recipientId], 0)).size,
        await r.messages.findFirstIdSince(otherRealm, 0),
      ]);
      expect(found).toEqual([null, [], [], [], [], [], false, 0, 0, [], [], [], 0, null]);

      const away = other.channel('general');
      await uow.write((tx) =>
        tx.messages.move(otherRealm, ids, {
          channelId: away.id,
          recipientId: away.recipientId,
          topic: 'gone',
          isHistoryProtected: false,
        }),
      );
      expect(await uow.write((tx) => tx.messages.remove(otherRealm, ids))).toEqual([]);
      expect(await uow.read((r) => r.messages.list(scene.realm.id, ids))).toEqual(scene.messages);
    });

    describe('what is attached to messages', () => {
      it('is shown with them, oldest first, in a new version, and goes with them', async () => {
        const scene = await stage(
          aUser({ name: 'a' }),
          aChannel({ name: 'general', subscribers: ['a'] }),
          aMessage({ from: 'a', to: 'general' }),
          aMessage({ from: 'a', to: 'general' }),
        );
        const { uow, realm } = scene;
        const [first, second] = scene.messages.map((message) => message.id) as [MessageId, MessageId];
        const before = (await uow.read((r) => r.messages.find(realm.id, first)))!.version;
        const attached = await uow.write(async (tx) => {
          const add = (messageId: MessageId, content: string) =>
            tx.messages.addSubmessage(realm.id, { messageId, senderId: scene.user('a').id, kind: 'widget', content });
          return [await add(first, '{"a": 1}'), await add(second, '{}'), await add(first, '[]')];
        });
        await uow.read(async (r) => {
          const [one, two] = await r.messages.listViews(realm.id, [first, second]);
          expect(one!.submessages).toEqual([attached[0], attached[2]]);
          expect(two!.submessages).toEqual([attached[1]]);
          expect(one!.message.version).toBeGreaterThan(before);
        });
        await uow.write((tx) => tx.messages.remove(realm.id, [first]));
        const left = await uow.read((r) => r.messages.listViews(realm.id, [first, second]));
        expect(left.map(({ submessages }) => submessages)).toEqual([[attached[1]]]);
      });
    });
  });
}
