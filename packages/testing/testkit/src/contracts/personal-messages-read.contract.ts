import type { MessageId, RecipientId, Transaction } from '@parley/domain/kernel';
import { type Message, type MessageCondition, type MessageFilter, not } from '@parley/domain/messages';
import { aChannel, type Fixture, type MessageSpec } from '../builders.js';
import {
  conditionIn,
  flagsOf,
  mark,
  markIn,
  move,
  READ,
  scene,
  send,
  star,
  subscribe,
  unreadOf,
  unsubscribe,
} from './personal-messages.fixture.js';
import { ascending, idsOf, type OpenStorage, own, shared, stagesOn } from './storage-under-test.js';

/** Read state of messages; part of personal-messages.contract.ts. */
export function readMessagesContract(open: OpenStorage): void {
  const stage = stagesOn(open);

  describe('personal message that is read', () => {
    it("returns changes ascending and leaves other viewers' messages unchanged", async () => {
      const fixture = await stage(...scene);
      const [m1, m2, m3] = [
        await send(fixture, { from: 'a', to: 'general' }),
        await send(fixture, { from: 'a', to: 'random' }),
        await send(fixture, { from: 'a', to: 'general' }),
      ];
      expect(await mark(fixture, 'b', [m3, m2, m1, m3], true)).toEqual([m1.id, m3.id]);
      expect(await mark(fixture, 'b', [m1, m3], true)).toEqual([]);
      expect(await flagsOf(fixture, 'b', m1)).toEqual(READ);
      expect(await flagsOf(fixture, 'b', m2)).toBeNull();
      expect(await mark(fixture, 'b', [m3, m2], false)).toEqual([m3.id]);
      expect(await unreadOf(fixture, 'b')).toEqual([m3.id]);
      expect(await unreadOf(fixture, 'a')).toEqual([]);
      expect(await mark(fixture, 'b', [], true)).toEqual([]);
    });

    it('separates the read state of interleaved topics', async () => {
      const fixture = await stage(...scene);
      const sent: Message[] = [];
      for (let i = 0; i < 30; i++) sent.push(await send(fixture, { from: 'a', to: 'general', topic: `t${i % 3}` }));
      const ofTopic = (n: number) => sent.filter((_, i) => i % 3 === n);
      expect(await mark(fixture, 'b', ofTopic(1), true)).toEqual(idsOf(ofTopic(1)));
      expect(await unreadOf(fixture, 'b')).toEqual(idsOf(sent.filter((_, i) => i % 3 !== 1)));
      await mark(fixture, 'b', ofTopic(2), true);
      expect(await unreadOf(fixture, 'b')).toEqual(idsOf(ofTopic(0)));
      await mark(fixture, 'b', ofTopic(2).slice(3, 5), false);
      expect(await unreadOf(fixture, 'b')).toEqual(ascending(idsOf([...ofTopic(0), ...ofTopic(2).slice(3, 5)])));
      await mark(fixture, 'b', sent, true);
      expect(await unreadOf(fixture, 'b')).toEqual([]);
    });

    it('marks everything as read', async () => {
      const fixture = await stage(...scene);
      const first = await send(fixture, { from: 'b', to: 'general' });
      await send(fixture, { from: 'b', to: 'random' });
      await send(fixture, { from: 'b', to: ['a'] });
      await unsubscribe(fixture, 'general', 'a');
      await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.setRead(fixture.viewer('a'), [first.id], false));
      expect(await unreadOf(fixture, 'a')).toHaveLength(3);
      const markAll = () => fixture.uow.write(fixture.realm.id, (tx) => tx.personal.markAllRead(fixture.viewer('a')));
      await markAll();
      await markAll();
      expect(await unreadOf(fixture, 'a')).toEqual([]);
      const later = await send(fixture, { from: 'b', to: ['a'] });
      expect(await unreadOf(fixture, 'a')).toEqual([later.id]);
      expect(await unreadOf(fixture, 'b')).toEqual([]);
    });

    it('marks the conversations of a batch as read', async () => {
      const fixture = await stage(...scene);
      await send(fixture, { from: 'b', to: 'general' });
      const second = await send(fixture, { from: 'b', to: 'random' });
      const third = await send(fixture, { from: 'b', to: ['a'] });
      const marks = (after: RecipientId | null) =>
        fixture.uow.write(fixture.realm.id, (tx) => tx.personal.markAllRead(fixture.viewer('a'), { after, limit: 1 }));
      const next = await marks(null);
      expect(await unreadOf(fixture, 'a')).toEqual([second.id, third.id]);
      const last = await marks(next);
      expect(await unreadOf(fixture, 'a')).toEqual([third.id]);
      expect(await marks(last)).toBeNull();
      expect(await unreadOf(fixture, 'a')).toEqual([]);
    });

    it('marks the unread messages of a filter and returns the changes', async () => {
      const fixture = await stage(...scene);
      const sent: Message[] = [];
      for (let i = 0; i < 12; i++) {
        sent.push(await send(fixture, { from: 'b', to: 'general', topic: ['Lunch', 'dinner', 'lunch'][i % 3]! }));
      }
      const elsewhere = await send(fixture, { from: 'b', to: 'random', topic: 'lunch' });
      const general = conditionIn(fixture, 'general');
      const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
      const byC: MessageCondition = { kind: 'sender', userId: fixture.user('c').id };
      const dinners = sent.filter((_, i) => i % 3 === 1);
      await mark(fixture, 'a', sent.slice(2, 4), true);
      const expected = idsOf(sent.filter((message, i) => !dinners.includes(message) && (i < 2 || i > 3)));
      expect(await markIn(fixture, 'a', own(general, lunch))).toEqual(expected);
      expect(await unreadOf(fixture, 'a')).toEqual([...idsOf(dinners), elsewhere.id]);
      expect(await markIn(fixture, 'a', own(general, lunch))).toEqual([]);
      expect(await markIn(fixture, 'a', own(general, { kind: 'anyOf', conditions: [] }))).toEqual([]);
      expect(await markIn(fixture, 'a', own(general, byC))).toEqual([]);
      expect(await markIn(fixture, 'c', own(general))).toEqual([]);
      expect(await markIn(fixture, 'a', own(general))).toEqual(idsOf(dinners));
      const later = await send(fixture, { from: 'b', to: 'general', topic: 'lunch' });
      expect(await unreadOf(fixture, 'a')).toEqual([elsewhere.id, later.id]);
      expect(await markIn(fixture, 'a', own(lunch))).toEqual([elsewhere.id, later.id]);
      expect(await unreadOf(fixture, 'a')).toEqual([]);
    });

    it('marks all messages of a filter in parts with a limit, past read, deleted and other messages', async () => {
      const fixture = await stage(...scene);
      const channel = conditionIn(fixture, 'general');
      const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
      const byB: MessageCondition = { kind: 'sender', userId: fixture.user('b').id };
      for (const filter of [own(channel), own(channel, lunch), own(channel, byB)]) {
        const sent: Message[] = [];
        for (let i = 0; i < 24; i++) {
          const topic = i % 8 < 5 ? 'dinner' : 'lunch';
          sent.push(await send(fixture, { from: 'b', to: 'general', topic }));
        }
        await mark(fixture, 'a', sent.slice(5, 14), true);
        await fixture.uow.write(fixture.realm.id, (tx) =>
          tx.messages.remove(fixture.realm.id, idsOf(sent.slice(15, 20))),
        );
        const expected = await unreadOf(fixture, 'a', filter);
        const marked: MessageId[] = [];
        for (let part = [] as readonly MessageId[], parts = 0; parts === 0 || part.length >= 2; parts++) {
          part = await markIn(fixture, 'a', filter, 2);
          expect(part.length).toBeLessThan(6);
          marked.push(...part);
        }
        expect(marked.sort((a, b) => a - b)).toEqual(expected);
        expect(await unreadOf(fixture, 'a', filter)).toEqual([]);
      }
    });

    it('marks messages of a filter that were marked unread or moved there, but only own messages', async () => {
      const fixture = await stage(...scene);
      const old = await send(fixture, { from: 'b', to: 'general' });
      const moved = await send(fixture, { from: 'b', to: 'general' });
      const between = await send(fixture, { from: 'b', to: 'random' });
      const away = await send(fixture, { from: 'b', to: 'random' });
      const notice = await send(fixture, { from: 'b', to: 'random', isReadByDefault: true });
      const quiet = await send(fixture, { from: 'b', to: 'random', isReadByDefault: true });
      await unsubscribe(fixture, 'random', 'a');
      const missed = await send(fixture, { from: 'b', to: 'random' });
      await subscribe(fixture, 'random', 'a');
      await fixture.uow.write(fixture.realm.id, (tx) =>
        tx.personal.muteSender(fixture.viewer('a'), fixture.user('b').id, 5),
      );
      const muted = await send(fixture, { from: 'b', to: 'random' });
      const again = await send(fixture, { from: 'b', to: 'random' });
      const heard = await send(fixture, { from: 'c', to: 'random' });
      await mark(fixture, 'a', [notice, again], false);
      await move(fixture, [away], 'general');
      await move(fixture, [moved], 'random');
      const random = own(conditionIn(fixture, 'random'));
      const expected = idsOf([moved, between, notice, again, heard]);
      expect(await unreadOf(fixture, 'a', random)).toEqual(expected);
      expect(await markIn(fixture, 'a', random)).toEqual(expected);
      expect(await unreadOf(fixture, 'a')).toEqual([old.id, away.id]);
      expect(await flagsOf(fixture, 'a', missed)).toBeNull();
      for (const message of [quiet, muted, again]) expect(await flagsOf(fixture, 'a', message)).toEqual(READ);
      expect(await unreadOf(fixture, 'b')).toEqual([]);
      expect(await markIn(fixture, 'a', own(conditionIn(fixture, 'general')))).toEqual([old.id, away.id]);
    });

    it('lists the newest unread messages, ascending, with conversation and mentions', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, {
        from: 'b',
        to: 'general',
        topic: 'Lunch',
        exceptions: { a: { mentioned: true } },
      });
      const m2 = await send(fixture, { from: 'b', to: ['a'], mentionsChannel: true });
      const m3 = await send(fixture, { from: 'b', to: 'random', topic: '' });
      const m4 = await send(fixture, {
        from: 'b',
        to: 'general',
        exceptions: { a: { topicWildcardMentioned: true, hasAlertWord: true } },
      });
      await move(fixture, [m1], 'random', 'Dinner');
      const entry = ({ id, senderId, recipientId, channelId, topic }: Message) => ({
        id,
        senderId,
        recipientId,
        channelId,
        topic,
        isMentioned: false,
        isWildcardMentioned: false,
      });
      const random = fixture.channel('random');
      const list = (limit: number) =>
        fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer('a'), limit));
      expect(await list(100)).toEqual([
        {
          ...entry(m1),
          recipientId: random.recipientId,
          channelId: random.id,
          topic: 'Dinner',
          isMentioned: true,
        },
        { ...entry(m2), isWildcardMentioned: true },
        entry(m3),
        { ...entry(m4), isWildcardMentioned: true },
      ]);
      expect(idsOf(await list(2))).toEqual([m3.id, m4.id]);
      expect(await list(0)).toEqual([]);
    });

    it.each<[string, MessageSpec, (tx: Transaction, fixture: Fixture, id: MessageId) => Promise<unknown>]>([
      ['mentioned', { from: 'b', to: 'general', exceptions: { a: { mentioned: true } } }, async () => {}],
      [
        'mentioned by a topic',
        { from: 'b', to: 'general', exceptions: { a: { topicWildcardMentioned: true } } },
        async () => {},
      ],
      ['alerted by a word', { from: 'b', to: 'general', exceptions: { a: { hasAlertWord: true } } }, async () => {}],
      [
        'collapsed',
        { from: 'b', to: 'general' },
        (tx, fixture, id) => tx.personal.setFlag(fixture.viewer('a'), [id], 'collapsed', true),
      ],
      [
        'unread again',
        { from: 'b', to: 'general', isReadByDefault: true },
        (tx, fixture, id) => tx.personal.setRead(fixture.viewer('a'), [id], false),
      ],
      [
        'taken from history',
        { from: 'b', to: 'secret' },
        (tx, fixture, id) => tx.personal.addHistorical(fixture.viewer('a'), [id]),
      ],
    ])('keeps a message %s when its star is removed or it is read', async (_, given, prepare) => {
      const fixture = await stage(...scene);
      const message = await send(fixture, given);
      await fixture.uow.write(fixture.realm.id, (tx) => prepare(tx, fixture, message.id));
      const before = await flagsOf(fixture, 'a', message);
      expect(before).not.toBeNull();
      await star(fixture, 'a', [message], true);
      expect(await flagsOf(fixture, 'a', message)).toEqual({ ...before, starred: true });
      await star(fixture, 'a', [message], false);
      expect(await flagsOf(fixture, 'a', message)).toEqual(before);
      await mark(fixture, 'a', [message], true);
      expect(await flagsOf(fixture, 'a', message)).toEqual({ ...before, read: true });
    });

    it('keeps a star when a message marked unread is read', async () => {
      const fixture = await stage(...scene);
      const message = await send(fixture, { from: 'b', to: 'general', isReadByDefault: true });
      await star(fixture, 'a', [message], true);
      await mark(fixture, 'a', [message], false);
      await mark(fixture, 'a', [message], true);
      expect(await flagsOf(fixture, 'a', message)).toEqual({ ...READ, starred: true });
      await mark(fixture, 'a', [message], false);
      await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.markAllRead(fixture.viewer('a')));
      expect(await flagsOf(fixture, 'a', message)).toEqual({ ...READ, starred: true });
    });

    it('groups the newest unread messages by conversation', async () => {
      const fixture = await stage(...scene);
      const toGeneral = { from: 'b', to: 'general' };
      const m1 = await send(fixture, { ...toGeneral, topic: 'Lunch', exceptions: { a: { mentioned: true } } });
      const m2 = await send(fixture, { from: 'b', to: ['a'], mentionsChannel: true });
      const m3 = await send(fixture, {
        ...toGeneral,
        topic: 'lunch',
        exceptions: { a: { topicWildcardMentioned: true } },
      });
      const m4 = await send(fixture, { ...toGeneral, topic: '' });
      const m5 = await send(fixture, { from: 'b', to: 'random', topic: 'lunch', mentionsChannel: true });
      await move(fixture, [m4], 'random', 'LUNCH');
      const [general, random] = [fixture.channel('general'), fixture.channel('random')];
      const overview = (limit: number) =>
        fixture.uow.read(fixture.realm.id, (r) => r.personal.overviewUnread(fixture.viewer('a'), limit));
      const direct = { recipientId: m2.recipientId, channelId: null, topic: '', ids: [m2.id] };
      const moved = {
        recipientId: random.recipientId,
        channelId: random.id,
        topic: 'LUNCH',
        ids: [m4.id, m5.id],
      };
      const lunch = { recipientId: general.recipientId, channelId: general.id };
      expect(await overview(100)).toEqual({
        conversations: [{ ...lunch, topic: 'Lunch', ids: [m1.id, m3.id] }, direct, moved],
        mentionedIds: [m1.id],
        wildcardMentionedIds: [m2.id, m3.id, m5.id],
        oldOnesAreMissing: false,
      });
      expect(await overview(5)).toMatchObject({ oldOnesAreMissing: false });
      expect(await overview(3)).toEqual({
        conversations: [{ ...lunch, topic: 'lunch', ids: [m3.id] }, moved],
        mentionedIds: [],
        wildcardMentionedIds: [m3.id, m5.id],
        oldOnesAreMissing: true,
      });
      expect(
        await fixture.uow.read(fixture.realm.id, (r) => r.personal.overviewUnread(fixture.viewer('b'), 9)),
      ).toEqual({
        conversations: [],
        mentionedIds: [],
        wildcardMentionedIds: [],
        oldOnesAreMissing: false,
      });
    });

    it('finds unread messages of a filter', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'b', to: 'general', topic: 'lunch' });
      const m2 = await send(fixture, { from: 'c', to: 'random', topic: 'lunch' });
      const m3 = await send(fixture, { from: 'b', to: 'general', topic: 'dinner' });
      const m4 = await send(fixture, { from: 'b', to: ['a'] });
      const general: MessageCondition = { kind: 'recipient', recipientIds: [m1.recipientId] };
      const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
      const notLunch: MessageCondition = not(lunch);
      const byB: MessageCondition = { kind: 'sender', userId: fixture.user('b').id };
      const first = (filter = own()) =>
        fixture.uow.read(fixture.realm.id, (r) => r.personal.findFirstUnread(fixture.viewer('a'), filter));
      expect(await unreadOf(fixture, 'a', own(general))).toEqual([m1.id, m3.id]);
      expect(await unreadOf(fixture, 'a', own(notLunch, byB))).toEqual([m3.id, m4.id]);
      expect(await unreadOf(fixture, 'a', own(not({ kind: 'recipient', recipientIds: [m1.recipientId] })))).toEqual([
        m2.id,
        m4.id,
      ]);
      expect(await first()).toBe(m1.id);
      expect(await first(own(lunch))).toBe(m1.id);
      expect(await first(own(notLunch))).toBe(m3.id);
      expect(await first(shared(general))).toBe(m1.id);
      expect(await first(own(not({ kind: 'recipient', recipientIds: [m1.recipientId, m2.recipientId] })))).toBe(m4.id);
      expect(await first(own({ kind: 'anyOf', conditions: [] }))).toBeNull();
      await mark(fixture, 'a', [m1], true);
      expect(await first()).toBe(m2.id);
      expect(await first(own(general))).toBe(m3.id);
      expect(await first(own(general, lunch))).toBeNull();
      expect(
        await fixture.uow.read(fixture.realm.id, (r) =>
          r.personal.findFirstUnread(fixture.viewer('c'), shared(general)),
        ),
      ).toBeNull();
    });

    it('finds the newest and oldest unread messages of viewers with hundreds of conversations', async () => {
      const names = Array.from({ length: 510 }, (_, n) => `order ${n}`);
      const fixture = await stage(...scene, ...names.map((name) => aChannel({ name, subscribers: ['a'] })));
      const history = await send(fixture, { from: 'b', to: 'secret' });
      const before = await send(fixture, { from: 'c', to: 'secret' });
      await subscribe(fixture, 'secret', 'a');
      const since = await send(fixture, { from: 'b', to: 'secret' });
      const sent: Message[] = [];
      for (const to of names.slice(0, 120)) sent.push(await send(fixture, { from: 'b', to }));
      await mark(fixture, 'a', sent.slice(60, 90), true);
      await mark(fixture, 'a', sent.slice(85, 86), false);
      await unsubscribe(fixture, names[100]!, 'a');
      await send(fixture, { from: 'b', to: names[100]! });
      await move(fixture, sent.slice(101, 102), 'random');
      await fixture.add(aChannel({ name: 'hidden', subscribers: ['b'] }));
      await move(fixture, sent.slice(102, 103), 'hidden');
      await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('a'), [history.id]));
      await mark(fixture, 'a', [history], false);
      const inOrders = sent.filter((_, n) => n < 60 || n === 85 || (n >= 90 && n !== 102));
      const unread = [history.id, since.id, ...idsOf(inOrders)];
      expect(unread).not.toContain(before.id);
      expect(await unreadOf(fixture, 'a')).toEqual(unread);

      const isUnread: MessageCondition = not({ kind: 'flag', flag: 'read' });
      const page = (filter: MessageFilter, atMost: number | null, limit: number) =>
        fixture.uow.read(fixture.realm.id, async ({ pages }) =>
          idsOf(await pages.listEntriesUpTo(fixture.viewer('a'), filter, atMost, limit)),
        );
      expect(await page(own(isUnread), null, 100)).toEqual(unread);
      expect(await page(own(isUnread), null, 40)).toEqual(unread.slice(-40));
      expect(await page(own(isUnread), sent[30]!.id, 10)).toEqual(idsOf(sent.slice(21, 31)));
      expect(await page(own(isUnread, not(conditionIn(fixture, names[119]!))), null, 2)).toEqual(
        idsOf(sent.slice(117, 119)),
      );
      const pageFrom = (filter: MessageFilter, atLeast: number, limit: number) =>
        fixture.uow.read(fixture.realm.id, async ({ pages }) =>
          idsOf(await pages.listEntriesFrom(fixture.viewer('a'), filter, atLeast, limit)),
        );
      expect(await pageFrom(own(isUnread), 0, 100)).toEqual(unread);
      expect(await pageFrom(own(isUnread), 0, 40)).toEqual(unread.slice(0, 40));
      expect(await pageFrom(own(isUnread), sent[58]!.id, 4)).toEqual(idsOf([58, 59, 85, 90].map((n) => sent[n]!)));
      const firstUnread = (...conditions: MessageCondition[]) =>
        fixture.uow.read(fixture.realm.id, ({ personal }) =>
          personal.findFirstUnread(fixture.viewer('a'), own(...conditions)),
        );
      expect(await firstUnread()).toBe(history.id);
      await mark(fixture, 'a', [history, since], true);
      expect(await firstUnread()).toBe(sent[0]!.id);
      expect(await firstUnread(not(conditionIn(fixture, names[0]!)))).toBe(sent[1]!.id);
      await mark(fixture, 'a', [history, since], false);
      const overview = await fixture.uow.read(fixture.realm.id, ({ personal }) =>
        personal.overviewUnread(fixture.viewer('a'), 10),
      );
      expect(ascending(overview.conversations.flatMap(({ ids }) => ids))).toEqual(unread.slice(-10));
      expect(overview.oldOnesAreMissing).toBe(true);
    });
  });
}
