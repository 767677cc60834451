import type { MessageId, RealmId, UserId } from '@parley/domain/kernel';
import type { NewMessage } from '@parley/domain/messages';
import { aChannel, aMessage, anotherRealm, aUser } from '../builders.js';
import { chatter, people, pick } from './chatter.js';
import { ascending, idsOf, type OpenStorage, own, stagesOn } from './storage-under-test.js';

export function messageRepositoryContract(open: OpenStorage): void {
  describe('message repository', () => {
    const stage = stagesOn(open);

    it('stores every property of a message', async () => {
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
      const message = await uow.write(content.realmId, (tx) =>
        tx.messages.append({ ...content, readBy: [content.senderId], exceptions: new Map() }),
      );
      expect(message).toEqual({
        ...content,
        id: message.id,
        sentRecipientId: content.recipientId,
        ordinal: 1,
        hasReactions: false,
        hasData: false,
        isEdited: false,
        lastEditedAt: null,
        lastMovedAt: null,
        version: 1,
      });
      expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, message.id))).toEqual(message);
      const plain = await uow.write(content.realmId, (tx) =>
        tx.messages.append({
          ...content,
          ...{ isMeMessage: false, mentionsChannel: false, hasLink: false, hasImage: false, hasAttachment: false },
          ...{ topicLinks: [], isReadByDefault: false, topic: '', readBy: [], exceptions: new Map() },
        }),
      );
      expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, plain.id))).toEqual(plain);
    });

    it('returns when the latest message of all realms was sent', async () => {
      const fixture = await stage(...people, aChannel({ name: 'general' }));
      const latest = () => fixture.uow.readAcross(({ messages }) => messages.latestSentAt());
      expect(await latest()).toBeNull();
      await fixture.add(aMessage({ from: 'a', to: 'general' }));
      const { sentAt } = fixture.messages[0]!;
      fixture.clock.advance(-100);
      const other = await anotherRealm(fixture, aUser({ name: 'x' }), aChannel({ name: 'general' }));
      expect(await latest()).toBe(sentAt);
      await other.add(aMessage({ from: 'x', to: 'general' }));
      expect(await latest()).toBe(other.messages[0]!.sentAt);
    });

    it('numbers the messages of each recipient 1, 2, 3 … and never reuses a number', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, messages } = fixture;
      expect(messages.map(({ ordinal }) => ordinal)).toEqual([1, 2, 3, 1, 1, 1, 2, 4, 1, 3]);
      expect(idsOf(messages)).toEqual(ascending(new Set(idsOf(messages))));
      await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, pick(fixture, 7, 9)));
      await fixture.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: 'random' }));
      expect(messages.slice(10).map(({ ordinal }) => ordinal)).toEqual([5, 4]);
      expect(messages[10]!.id).toBeGreaterThan(messages[9]!.id);
    });

    it('reuses numbers of messages that were never committed', async () => {
      const fixture = await stage(...people, aChannel({ name: 'general' }));
      const failing = fixture.uow.write(fixture.realm.id, async (tx) => {
        await aMessage({ from: 'a', to: 'general' })(fixture, tx);
        throw new Error('no');
      });
      await expect(failing).rejects.toThrow('no');
      await fixture.add(aMessage({ from: 'a', to: 'general' }));
      expect(fixture.messages.at(-1)!.ordinal).toBe(1);
      const { id } = fixture.messages.at(-1)!;
      expect(await fixture.uow.read(fixture.realm.id, (r) => r.messages.list(fixture.realm.id, [id]))).toHaveLength(1);
    });

    it('lists messages ascending without unknown ids', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, messages } = fixture;
      const unknown = (messages[9]!.id + 1) as MessageId;
      const ids = [...pick(fixture, 8, 2), unknown, ...pick(fixture, 5, 2)];
      const expected = [messages[2], messages[5], messages[8]];
      expect(await uow.read(realm.id, (r) => r.messages.list(realm.id, ids))).toEqual(expected);
      expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, unknown))).toBeNull();
    });

    it('lists the oldest messages of a recipient up to an id', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, channel, messages } = fixture;
      const { recipientId } = channel('general');
      const there = idsOf(messages.filter((message) => message.recipientId === recipientId));
      const list = (realmId: typeof realm.id, limit: number, before?: MessageId) =>
        uow.read(realmId, (r) => r.messages.listOldestIds(realmId, recipientId, limit, before));
      expect(await list(realm.id, 100)).toEqual(there);
      expect(await list(realm.id, 2)).toEqual(there.slice(0, 2));
      expect(await list(realm.id, 100, there[2])).toEqual(there.slice(0, 2));
      const other = await anotherRealm(fixture);
      expect(await list(other.realm.id, 100)).toEqual([]);
    });

    it('removes messages with all personal data and returns those that existed', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, viewer } = fixture;
      const [fourth, eighth] = pick(fixture, 4, 8);
      await uow.write(realm.id, (tx) => tx.personal.setFlag(viewer('a'), [fourth!], 'starred', true));
      const remove = (...ids: MessageId[]) => uow.write(realm.id, (tx) => tx.messages.remove(realm.id, ids));
      expect(await remove(eighth!, 9999 as MessageId, fourth!)).toEqual([fourth, eighth]);
      expect(await remove(eighth!, fourth!)).toEqual([]);
      await uow.read(realm.id, async (r) => {
        expect(await r.messages.list(realm.id, [fourth!, eighth!])).toEqual([]);
        expect(await r.pages.listEntries(viewer('a'), [fourth!])).toEqual([]);
        expect((await r.personal.listFlags(viewer('a'), [fourth!])).size).toBe(0);
        expect(await r.personal.listStarred(viewer('a'))).toEqual([]);
        expect(idsOf(await r.personal.listUnread(viewer('a'), 100))).not.toContain(fourth);
        expect(idsOf(await r.pages.listEntriesUpTo(viewer('a'), own(), null, 100))).not.toContain(fourth);
      });
    });

    it('changes the rendered content in a new version without an edit', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, messages } = fixture;
      const before = messages[4]!;
      await uow.write(realm.id, (tx) => tx.messages.rerender(realm.id, before.id, '<p>new</p>'));
      await uow.write(realm.id, (tx) => tx.messages.rerender(realm.id, 9999 as MessageId, '<p>new</p>'));
      const after = { ...before, renderedContent: '<p>new</p>', version: before.version + 1 };
      expect(await uow.read(realm.id, (r) => r.messages.find(realm.id, before.id))).toEqual(after);
    });

    it('changes the sender of the messages of one user, in a new version', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, messages } = fixture;
      const from = messages[0]!.senderId;
      const to = messages.find(({ senderId }) => senderId !== from)!.senderId;
      const ids = [...idsOf(messages), 9999 as MessageId];
      await uow.write(realm.id, (tx) => tx.messages.changeSender(realm.id, ids, from, to));
      expect(await uow.read(realm.id, (r) => r.messages.list(realm.id, ids))).toEqual(
        messages.map((message) =>
          message.senderId === from ? { ...message, senderId: to, version: message.version + 1 } : message,
        ),
      );
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow } = fixture;
      const other = await anotherRealm(fixture);
      const ids = idsOf(fixture.messages);
      expect(await uow.read(other.realm.id, (r) => r.messages.find(other.realm.id, ids[0]!))).toBeNull();
      expect(await uow.read(other.realm.id, (r) => r.messages.list(other.realm.id, ids))).toEqual([]);
      expect(await uow.write(other.realm.id, (tx) => tx.messages.remove(other.realm.id, ids))).toEqual([]);
      await uow.write(other.realm.id, (tx) => tx.messages.rerender(other.realm.id, ids[0]!, '<p>new</p>'));
      const { senderId } = fixture.messages[0]!;
      await uow.write(other.realm.id, (tx) => tx.messages.changeSender(other.realm.id, ids, senderId, senderId));
      expect(await uow.read(fixture.realm.id, (r) => r.messages.list(fixture.realm.id, ids))).toEqual(fixture.messages);
    });

    describe('message attachment', () => {
      it('appears and disappears with its message, in a new version', async () => {
        const fixture = await stage(
          aUser({ name: 'a' }),
          aChannel({ name: 'general', subscribers: ['a'] }),
          aMessage({ from: 'a', to: 'general' }),
          aMessage({ from: 'a', to: 'general' }),
        );
        const { uow, realm } = fixture;
        const [first, second] = fixture.messages.map((message) => message.id) as [MessageId, MessageId];
        const before = (await uow.read(realm.id, (r) => r.messages.find(realm.id, first)))!.version;
        const attached = await uow.write(realm.id, async (tx) => {
          const add = (messageId: MessageId, content: string) =>
            tx.messages.addSubmessage(realm.id, { messageId, senderId: fixture.user('a').id, kind: 'widget', content });
          return [await add(first, '{"a": "😀"}'), await add(second, '{}'), await add(first, '[]')];
        });
        await uow.read(realm.id, async (r) => {
          const [one, two] = await r.pages.listViews(realm.id, [first, second]);
          expect(one!.submessages).toEqual([attached[0], attached[2]]);
          expect(two!.submessages).toEqual([attached[1]]);
          expect(one!.message.version).toBeGreaterThan(before);
        });
        const author = fixture.user('a').id;
        await uow.read(realm.id, async ({ messages }) => {
          expect(await messages.summarizeSubmessages(realm.id, first, author)).toEqual({
            count: 2,
            length: 12,
            first: attached[0],
            hasOfAuthor: true,
          });
          expect(await messages.listSubmessagesOf(realm.id, author, 0, 2)).toEqual(attached.slice(0, 2));
          expect(await messages.listSubmessagesOf(realm.id, author, attached[1]!.id, 2)).toEqual([attached[2]]);
          expect(await messages.listSubmessagesOf((realm.id + 1) as RealmId, author, 0, 2)).toEqual([]);
          const none = { count: 0, length: 0, first: null, hasOfAuthor: false };
          const byNobody = { count: 1, length: 2, first: attached[1], hasOfAuthor: false };
          expect(await messages.summarizeSubmessages(realm.id, second, (author + 1) as UserId)).toEqual(byNobody);
          expect(await messages.summarizeSubmessages((realm.id + 1) as RealmId, first, author)).toEqual(none);
          expect(await messages.summarizeSubmessages(realm.id, (second + 1) as MessageId, author)).toEqual(none);
        });
        const versions = async () =>
          (await uow.read(realm.id, (r) => r.messages.list(realm.id, [first, second]))).map(({ version }) => version);
        const former = await versions();
        await uow.write((realm.id + 1) as RealmId, (tx) =>
          tx.messages.removeSubmessages((realm.id + 1) as RealmId, [attached[2]!]),
        );
        await uow.write(realm.id, (tx) => tx.messages.removeSubmessages(realm.id, [attached[2]!]));
        const [shown] = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [first]));
        expect(shown!.submessages).toEqual([attached[0]]);
        expect(await versions()).toEqual([former[0]! + 1, former[1]]);
        await uow.write(realm.id, (tx) => tx.messages.remove(realm.id, [first]));
        const left = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [first, second]));
        expect(left.map(({ submessages }) => submessages)).toEqual([[attached[1]]]);
      });
    });
  });
}
