import type { MessageId, RecipientId } from '@parley/domain/kernel';
import { HISTORICAL, type MessageCondition, type MessageFilter, not } from '@parley/domain/messages';
import { aChannel, aMessage, anotherRealm, aRealm, aUser, createFixtureOn } from '../builders.js';
import { chatter, pick } from './chatter.js';
import { idsOf, type OpenStorage, own, shared, stagesOn } from './storage-under-test.js';

export function messagePageReadsContract(open: OpenStorage): void {
  describe('MessagePageReads', () => {
    const stage = stagesOn(open);

    describe('page', () => {
      it('returns the newest up to an id and the oldest from an id, ascending', async () => {
        const fixture = await stage(...chatter);
        const { uow, viewer } = fixture;
        const upTo = (atMost: number | null, limit: number) =>
          uow.read(fixture.realm.id, async (r) =>
            idsOf(await r.pages.listEntriesUpTo(viewer('a'), own(), atMost, limit)),
          );
        const from = (atLeast: number, limit: number) =>
          uow.read(fixture.realm.id, async (r) =>
            idsOf(await r.pages.listEntriesFrom(viewer('a'), own(), atLeast, limit)),
          );
        const [second, fifth] = pick(fixture, 1, 4);
        expect(await upTo(null, 3)).toEqual(pick(fixture, 6, 7, 9));
        expect(await upTo(fifth!, 3)).toEqual(pick(fixture, 2, 3, 4));
        expect(await upTo(second!, 10)).toEqual(pick(fixture, 0, 1));
        expect(await upTo(0, 10)).toEqual([]);
        expect(await upTo(null, 0)).toEqual([]);
        expect(await from(0, 3)).toEqual(pick(fixture, 0, 1, 2));
        expect(await from(fifth!, 3)).toEqual(pick(fixture, 4, 5, 6));
        expect(await from(fifth!, 0)).toEqual([]);
        expect(await from(1e9, 10)).toEqual([]);
      });

      it('returns only own messages, or all messages that match the conditions', async () => {
        const fixture = await stage(...chatter);
        const { uow, viewer, channel } = fixture;
        const general: MessageCondition = {
          kind: 'recipient',
          recipientIds: [channel('general').recipientId],
        };
        await uow.read(fixture.realm.id, async (r) => {
          const page = async (name: string, filter = own()) =>
            idsOf(await r.pages.listEntriesUpTo(viewer(name), filter, null, 100));
          expect(await page('a')).toEqual(pick(fixture, 0, 1, 2, 3, 4, 5, 6, 7, 9));
          expect(await page('b')).toEqual(pick(fixture, 0, 1, 2, 3, 5, 7));
          expect(await page('c')).toEqual(pick(fixture, 5, 8));
          expect(await page('c', own(general))).toEqual([]);
          expect(await page('c', shared(general))).toEqual(pick(fixture, 0, 1, 2, 7));
        });
      });

      it('applies every condition, including negated ones', async () => {
        const fixture = await stage(...chatter);
        const { uow, viewer, channel, user } = fixture;
        const recipient = (recipientId: RecipientId): MessageCondition => ({
          kind: 'recipient',
          recipientIds: [recipientId],
        });
        const general = recipient(channel('general').recipientId);
        const direct = recipient(fixture.messages[3]!.recipientId);
        const topic = (topicKey: string): MessageCondition => ({ kind: 'topic', topicKey });
        const sender = (name: string): MessageCondition => ({ kind: 'sender', userId: user(name).id });
        const message = (i: number): MessageCondition => ({
          kind: 'message',
          messageId: fixture.messages[i]!.id,
        });
        const nothing: MessageCondition = { kind: 'anyOf', conditions: [] };
        await uow.read(fixture.realm.id, async (r) => {
          const page = async (...conditions: MessageCondition[]) => {
            const found = idsOf(await r.pages.listEntriesUpTo(viewer('a'), own(...conditions), null, 100));
            expect(idsOf(await r.pages.listEntriesFrom(viewer('a'), own(...conditions), 0, 100))).toEqual(found);
            return found;
          };
          expect(await page(general)).toEqual(pick(fixture, 0, 1, 2, 7));
          expect(await page(not(general))).toEqual(pick(fixture, 3, 4, 5, 6, 9));
          expect(await page(direct)).toEqual(pick(fixture, 3));
          expect(await page(topic('lunch'))).toEqual(pick(fixture, 0, 1, 4, 7));
          expect(await page(topic('ärger'))).toEqual(pick(fixture, 6, 9));
          expect(await page(topic(''))).toEqual(pick(fixture, 2));
          expect(await page(not(topic('')))).toEqual(pick(fixture, 0, 1, 3, 4, 5, 6, 7, 9));
          expect(await page(general, topic('lunch'), sender('b'))).toEqual(pick(fixture, 1, 7));
          expect(await page(topic('lunch'), not(general))).toEqual(pick(fixture, 4));
          expect(await page(not(topic('lunch')), not(sender('a')))).toEqual(pick(fixture, 3, 5, 6));
          expect(await page(sender('c'))).toEqual(pick(fixture, 5, 6));
          expect(await page(message(4))).toEqual(pick(fixture, 4));
          expect(await page(message(8))).toEqual([]);
          expect(await page(not(message(4)), topic('lunch'))).toEqual(pick(fixture, 0, 1, 7));
          expect(await page(general, recipient(channel('random').recipientId))).toEqual([]);
          expect(await page(nothing)).toEqual([]);
          expect(await page(not(nothing), general)).toEqual(pick(fixture, 0, 1, 2, 7));
        });
      });

      it('applies conditions to shared history', async () => {
        const fixture = await stage(...chatter);
        const { uow, viewer, channel, user } = fixture;
        const general: MessageCondition = {
          kind: 'recipient',
          recipientIds: [channel('general').recipientId],
        };
        const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
        const byA: MessageCondition = { kind: 'sender', userId: user('a').id };
        await uow.read(fixture.realm.id, async (r) => {
          const page = async (...conditions: MessageCondition[]) =>
            idsOf(await r.pages.listEntriesFrom(viewer('c'), shared(...conditions), 0, 100));
          expect(await page(general, lunch)).toEqual(pick(fixture, 0, 1, 7));
          expect(await page(general, not(lunch))).toEqual(pick(fixture, 2));
          expect(await page(general, not(byA))).toEqual(pick(fixture, 1, 7));
          expect(await page(general, lunch, byA)).toEqual(pick(fixture, 0));
        });
      });

      it('excludes several recipients', async () => {
        const fixture = await stage(...chatter);
        const { uow, viewer, channel } = fixture;
        const without = [channel('general').recipientId, fixture.messages[3]!.recipientId];
        const general: MessageCondition = { kind: 'recipient', recipientIds: [without[0]!] };
        await uow.read(fixture.realm.id, async (r) => {
          const page = async (filter: MessageFilter) =>
            idsOf(await r.pages.listEntriesUpTo(viewer('a'), filter, null, 100));
          const elsewhere = not({ kind: 'recipient', recipientIds: without });
          expect(await page(own(elsewhere))).toEqual(pick(fixture, 4, 5, 6, 9));
          expect(await page(shared(general, elsewhere))).toEqual([]);
        });
      });

      it('finds messages in the conversation to which they were moved', async () => {
        const fixture = await stage(...chatter);
        const { uow, realm, viewer, channel } = fixture;
        const random = channel('random');
        await uow.write(realm.id, (tx) =>
          tx.moves.move(realm.id, pick(fixture, 0, 1), {
            channelId: random.id,
            recipientId: random.recipientId,
            topic: 'Dinner',
            isHistoryProtected: false,
          }),
        );
        await uow.read(fixture.realm.id, async (r) => {
          const page = async (name: string, condition: MessageCondition) =>
            idsOf(await r.pages.listEntriesUpTo(viewer(name), own(condition), null, 100));
          const inRandom: MessageCondition = { kind: 'recipient', recipientIds: [random.recipientId] };
          expect(await page('a', inRandom)).toEqual(pick(fixture, 0, 1, 4, 6, 9));
          expect(await page('a', { kind: 'topic', topicKey: 'dinner' })).toEqual(pick(fixture, 0, 1));
          expect(await page('b', inRandom)).toEqual([]);
        });
      });
    });

    it('applies every kind of condition and its negation', async () => {
      const fixture = await stage(
        ...chatter,
        aChannel({ name: 'vault', privacy: 'privateProtectedHistory', subscribers: ['a'] }),
        aMessage({ from: 'b', to: 'vault', topic: '✔ done', hasLink: true, exceptions: { a: { mentioned: true } } }), // 10
        aMessage({ from: 'b', to: 'general', topic: 'Lunch', hasImage: true, mentionsChannel: true }), // 11
        aMessage({ from: 'b', to: ['a'], hasAttachment: true, exceptions: { a: { hasAlertWord: true } } }), // 12
        aMessage({ from: 'b', to: 'random', topic: 'x', exceptions: { a: { topicWildcardMentioned: true } } }), // 13
      );
      const { uow, viewer, channel } = fixture;
      await uow.write(fixture.realm.id, async (tx) => {
        await tx.personal.setFlag(viewer('a'), pick(fixture, 1, 3), 'starred', true);
        await tx.personal.setRead(viewer('a'), pick(fixture, 3, 4, 5, 6, 7), true);
      });
      const received = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13];
      const [general, random] = [channel('general').recipientId, channel('random').recipientId];
      const cases: [MessageCondition, readonly number[]][] = [
        [{ kind: 'recipient', recipientIds: [general, random] }, [0, 1, 2, 4, 6, 7, 9, 11, 13]],
        [{ kind: 'recipient', recipientIds: [] }, []],
        [{ kind: 'direct' }, [3, 5, 12]],
        [{ kind: 'channelPrivacy', privacies: ['public'] }, [0, 1, 2, 4, 6, 7, 9, 11, 13]],
        [{ kind: 'channelPrivacy', privacies: ['privateProtectedHistory', 'webPublic'] }, [10]],
        [
          {
            kind: 'channelTopic',
            topics: [
              { recipientId: general, topicKey: 'lunch' },
              { recipientId: random, topicKey: 'ärger' },
            ],
          },
          [0, 1, 6, 7, 9, 11],
        ],
        [{ kind: 'property', property: 'hasLink' }, [10]],
        [{ kind: 'property', property: 'hasImage' }, [11]],
        [{ kind: 'property', property: 'hasAttachment' }, [12]],
        [{ kind: 'property', property: 'isResolved' }, [10]],
        [{ kind: 'flag', flag: 'starred' }, [1, 3]],
        [{ kind: 'flag', flag: 'read' }, [0, 2, 3, 4, 5, 6, 7, 9]],
        [{ kind: 'flag', flag: 'mentioned' }, [10]],
        [{ kind: 'flag', flag: 'channelWildcardMentioned' }, [11]],
        [{ kind: 'flag', flag: 'topicWildcardMentioned' }, [13]],
        [{ kind: 'flag', flag: 'hasAlertWord' }, [12]],
        [
          {
            kind: 'anyOf',
            conditions: [
              { kind: 'flag', flag: 'starred' },
              { kind: 'allOf', conditions: [{ kind: 'direct' }, not({ kind: 'flag', flag: 'read' })] },
            ],
          },
          [1, 3, 12],
        ],
      ];
      for (const [condition, numbers] of cases) {
        for (const [one, expected] of [
          [condition, numbers],
          [not(condition), received.filter((number) => !numbers.includes(number))],
        ] as const) {
          const [middle] = pick(fixture, 6);
          const [older, newer, last, named, upToMiddle, fromMiddle] = await uow.read(fixture.realm.id, async (r) => [
            await r.pages.listEntriesUpTo(viewer('a'), own(one), null, 100),
            await r.pages.listEntriesFrom(viewer('a'), own(one), 0, 100),
            await r.pages.listEntriesUpTo(viewer('a'), own(one), null, 2),
            await r.pages.listEntries(viewer('a'), pick(fixture, ...received), [one]),
            await r.pages.listEntriesUpTo(viewer('a'), own(one), middle!, 100),
            await r.pages.listEntriesFrom(viewer('a'), own(one), middle!, 100),
          ]);
          expect([one, idsOf(older!)]).toEqual([one, pick(fixture, ...expected)]);
          expect([one, idsOf(newer!)]).toEqual([one, pick(fixture, ...expected)]);
          expect([one, idsOf(last!)]).toEqual([one, pick(fixture, ...expected.slice(-2))]);
          expect([one, idsOf(named!)]).toEqual([one, pick(fixture, ...expected)]);
          expect([one, idsOf(upToMiddle!)]).toEqual([one, pick(fixture, ...expected.filter((number) => number <= 6))]);
          expect([one, idsOf(fromMiddle!)]).toEqual([one, pick(fixture, ...expected.filter((number) => number >= 6))]);
        }
      }
    });

    it('returns all messages in channels of a kind, received or not', async () => {
      const fixture = await stage(
        ...chatter,
        aChannel({ name: 'vault', privacy: 'privateSharedHistory' }),
        aMessage({ from: 'a', to: 'vault' }),
      );
      const inPublic: MessageCondition = { kind: 'channelPrivacy', privacies: ['public', 'webPublic'] };
      await fixture.uow.read(fixture.realm.id, async (r) => {
        const page = async (...more: MessageCondition[]) =>
          idsOf(await r.pages.listEntriesUpTo(fixture.viewer('c'), shared(inPublic, ...more), null, 100));
        expect(await page()).toEqual(pick(fixture, 0, 1, 2, 4, 6, 7, 9));
        expect(await page({ kind: 'topic', topicKey: 'lunch' })).toEqual(pick(fixture, 0, 1, 4, 7));
        expect(await page(not({ kind: 'sender', userId: fixture.user('a').id }))).toEqual(pick(fixture, 1, 6, 7));
      });
    });

    it('changes the version when a rendered form becomes outdated', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, viewer, user, channel } = fixture;
      const [inChannel, direct] = pick(fixture, 1, 5);
      const versions = () =>
        uow.read(realm.id, async (r) => {
          const entries = await r.pages.listEntries(viewer('a'), [inChannel!, direct!]);
          return entries.map((entry) => entry.versions);
        });
      const before = await versions();
      expect(before).toEqual([
        { message: 1, sender: 1, conversation: channel('general').version },
        { message: 1, sender: 1, conversation: 3 },
      ]);

      await uow.write(realm.id, (tx) => tx.users.update({ ...user('b'), fullName: 'Bea' }));
      const renamed = await versions();
      expect(renamed[0]).toEqual({ ...before[0], sender: 2 });
      expect(renamed[1]).toEqual({ ...before[1], conversation: 4 });

      const general = await uow.write(realm.id, (tx) => tx.channels.update({ ...channel('general'), name: 'all' }));
      expect(await versions()).toEqual([{ ...renamed[0], conversation: general.version }, renamed[1]]);

      await uow.write(realm.id, (tx) =>
        tx.moves.move(realm.id, [inChannel!], {
          channelId: general.id,
          recipientId: general.recipientId,
          topic: 'new',
          isHistoryProtected: false,
        }),
      );
      const [moved] = await versions();
      expect(moved!.message).toBeGreaterThan(1);
    });

    it('marks a message as historical if it was never received', async () => {
      const fixture = await stage(...chatter);
      const { uow, viewer, user, channel } = fixture;
      const entries = await uow.read(fixture.realm.id, (r) =>
        r.pages.listEntries(viewer('b'), [...pick(fixture, 4, 0), 9999 as MessageId]),
      );
      expect(entries).toEqual([
        {
          id: fixture.messages[0]!.id,
          senderId: user('a').id,
          recipientId: channel('general').recipientId,
          channelId: channel('general').id,
          versions: entries[0]!.versions,
          flags: { ...HISTORICAL, read: false, historical: false },
        },
        {
          id: fixture.messages[4]!.id,
          senderId: user('a').id,
          recipientId: channel('random').recipientId,
          channelId: channel('random').id,
          versions: entries[1]!.versions,
          flags: HISTORICAL,
        },
      ]);
    });

    it('returns views ascending without unknown ids', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, messages } = fixture;
      const ids = [...pick(fixture, 8, 2), (messages[9]!.id + 1) as MessageId, ...pick(fixture, 5, 2)];
      const views = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, ids));
      expect(views.map(({ message }) => message)).toEqual([messages[2], messages[5], messages[8]]);
      const texts = await uow.read(realm.id, (r) => r.pages.listTexts(realm.id, ids));
      expect(texts).toEqual(
        [messages[2]!, messages[5]!, messages[8]!].map(({ id, topic, renderedContent }) => ({
          id,
          topic,
          renderedContent,
        })),
      );
    });

    it('returns a view with sender and conversation', async () => {
      const fixture = await stage(...chatter);
      const { uow, realm, user, channel } = fixture;
      const settings = { ...user('c').settings, emailAddressVisibility: 'administrators' as const };
      await uow.write(realm.id, (tx) => tx.users.update({ ...user('c'), fullName: 'Cordelia', settings }));
      const bot = await uow.read(realm.id, (r) => r.users.findSystemBot(realm.id, 'notification'));
      const notice = await uow.write(fixture.realm.id, async (tx) => {
        const { id: _, sentRecipientId: __, ordinal: ___, version: ____, ...content } = fixture.messages[0]!;
        return tx.messages.append({ ...content, senderId: bot.id, readBy: [], exceptions: new Map() });
      });
      const person = (name: string) => ({
        id: user(name).id,
        fullName: name,
        email: user(name).email,
        emailVisibility: 'everyone',
        avatar: user(name).avatar,
        isSystemBot: false,
      });
      const cordelia = { ...person('c'), fullName: 'Cordelia', emailVisibility: 'administrators' };
      const views = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [notice.id, ...pick(fixture, 5, 0)]));
      expect(views).toEqual([
        {
          message: fixture.messages[0],
          sender: person('a'),
          submessages: [],
          conversation: { kind: 'channel', channelId: channel('general').id, name: 'general' },
        },
        {
          message: fixture.messages[5],
          sender: cordelia,
          submessages: [],
          conversation: { kind: 'direct', participants: [person('a'), person('b'), cordelia] },
        },
        {
          message: notice,
          sender: expect.objectContaining({ id: bot.id, isSystemBot: true }),
          submessages: [],
          conversation: { kind: 'channel', channelId: channel('general').id, name: 'general' },
        },
      ]);
    });

    it('reports bot emails as visible regardless of their setting', async () => {
      const fixture = await stage(...chatter, aUser({ name: 'robot', botOf: 'a' }));
      const { uow, realm, user } = fixture;
      const settings = { ...user('robot').settings, emailAddressVisibility: 'nobody' as const };
      await uow.write(realm.id, (tx) => tx.users.update({ ...user('robot'), settings }));
      await fixture.add(aMessage({ from: 'robot', to: 'general' }));
      const [view] = await uow.read(realm.id, (r) => r.pages.listViews(realm.id, [fixture.messages.at(-1)!.id]));
      expect(view!.sender.emailVisibility).toBe('everyone');
    });

    it('lists the ids since a time even in a quiet realm with many messages in other realms', async () => {
      const fixture = await stage(...chatter);
      const { uow, clock } = fixture;
      const earlier = fixture.messages.length;
      const busy = await createFixtureOn(
        uow,
        clock,
        aRealm({ stringId: 'busy' }),
        aUser({ name: 'x' }),
        aChannel({ name: 'y' }),
      );
      clock.advance(100);
      const since = clock.now();
      await busy.add(...Array.from({ length: 1100 }, () => aMessage({ from: 'x', to: 'y' })));
      const sentSince = async (
        time: number,
        { realm, messages }: Pick<typeof busy, 'realm' | 'messages'> = fixture,
      ) => {
        const ranges = await uow.read(realm.id, (r) => r.pages.listIdsSince(realm.id, time));
        return idsOf(messages).filter((id) => ranges.some(({ first, last }) => first <= id && id <= last));
      };
      expect(await sentSince(since)).toEqual([]);
      clock.advance(100);
      await fixture.add(aMessage({ from: 'a', to: 'general' }), aMessage({ from: 'a', to: ['b'] }));
      expect(await sentSince(0)).toEqual(idsOf(fixture.messages));
      expect(await sentSince(since)).toEqual(idsOf(fixture.messages.slice(earlier)));
      expect(await sentSince(clock.now() + 1)).toEqual([]);
      expect(await sentSince(since, busy)).toEqual(idsOf(busy.messages));
    });

    it('isolates realms', async () => {
      const fixture = await stage(...chatter);
      const { uow, user, channel } = fixture;
      const other = await anotherRealm(fixture);
      const outsider = { realmId: other.realm.id, userId: user('a').id };
      const ids = idsOf(fixture.messages);
      const general: MessageCondition = { kind: 'recipient', recipientIds: [channel('general').recipientId] };
      const found = await uow.read(other.realm.id, async (r) => [
        await r.pages.listEntries(outsider, ids),
        await r.pages.listEntriesUpTo(outsider, own(), null, 100),
        await r.pages.listEntriesUpTo(outsider, own(not({ kind: 'flag', flag: 'read' })), null, 100),
        await r.pages.listEntriesFrom(outsider, shared(general), 0, 100),
        await r.pages.listEntriesFrom(outsider, shared({ kind: 'channelPrivacy', privacies: ['public'] }), 0, 100),
        await r.pages.listViews(other.realm.id, ids),
        await r.pages.listTexts(other.realm.id, ids),
      ]);
      expect(found).toEqual([[], [], [], [], [], [], []]);
    });
  });
}
