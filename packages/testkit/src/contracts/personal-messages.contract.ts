import {
  HISTORICAL,
  type Message,
  type MessageCondition,
  type MessageFilter,
  not,
  type PersonalFlags,
} from '@parley/domain/messages';
import type { EventSeq, MessageId, Transaction, UserId } from '@parley/domain/shared';
import { aChannel, aMessage, aRealm, aUser, createFixtureOn, type Fixture, type GivenMessage } from '../builders.js';
import { ascending, idsOf, type OpenStorage, own, shared, stagesOn } from './storage-under-test.js';

const NONE: PersonalFlags = { ...HISTORICAL, read: false, historical: false };
const READ: PersonalFlags = { ...NONE, read: true };

/** `a` and `b` follow `general`, `a` follows `random`, `b` and `c` follow `secret`. */
const place = [
  aUser({ name: 'a' }),
  aUser({ name: 'b' }),
  aUser({ name: 'c' }),
  aChannel({ name: 'general', subscribers: ['a', 'b'] }),
  aChannel({ name: 'random', subscribers: ['a'] }),
  aChannel({ name: 'secret', privacy: 'privateProtectedHistory', subscribers: ['b', 'c'] }),
];

async function send(fixture: Fixture, message: GivenMessage): Promise<Message> {
  await fixture.add(aMessage(message));
  return fixture.messages.at(-1)!;
}

const flagsOf = async (fixture: Fixture, name: string, { id }: Message): Promise<PersonalFlags | null> =>
  fixture.uow.read(async (r) => (await r.personal.listFlags(fixture.viewer(name), [id])).get(id) ?? null);

const unreadOf = (fixture: Fixture, name: string, filter = own()): Promise<MessageId[]> =>
  fixture.uow.read(async ({ personal }) => {
    const viewer = fixture.viewer(name);
    if (filter.conditions.length === 0) {
      const { conversations } = await personal.overviewUnread(viewer, 100);
      expect(ascending(conversations.flatMap(({ ids }) => ids))).toEqual(idsOf(await personal.listUnread(viewer, 100)));
    }
    return idsOf(await personal.listUnread(viewer, 100, filter));
  });

const historyOf = (fixture: Fixture, name: string): Promise<MessageId[]> =>
  fixture.uow.read(async (r) => idsOf(await r.pages.listEntriesUpTo(fixture.viewer(name), own(), null, 100)));

const startFollowing = (fixture: Fixture, channel: string, ...names: readonly string[]): Promise<void> =>
  fixture.uow.write((tx) =>
    tx.personal.openSpans(
      fixture.realm.id,
      fixture.channel(channel).recipientId,
      names.map((name) => fixture.user(name).id),
    ),
  );

const stopFollowing = (fixture: Fixture, channel: string, ...names: readonly string[]): Promise<void> =>
  fixture.uow.write((tx) =>
    tx.personal.closeSpans(
      fixture.realm.id,
      fixture.channel(channel).recipientId,
      names.map((name) => fixture.user(name).id),
    ),
  );

const move = (fixture: Fixture, messages: readonly Message[], to: string, topic: string | null = null): Promise<void> =>
  fixture.uow.write((tx) => {
    const { id, recipientId, privacy } = fixture.channel(to);
    return tx.moves.move(fixture.realm.id, idsOf(messages), {
      channelId: id,
      recipientId,
      topic,
      isHistoryProtected: privacy === 'privateProtectedHistory',
    });
  });

const mark = (
  fixture: Fixture,
  name: string,
  messages: readonly Message[],
  read: boolean,
): Promise<readonly MessageId[]> =>
  fixture.uow.write((tx) => tx.personal.setRead(fixture.viewer(name), idsOf(messages), read));

/** Marks everything of a filter as read. */
const markIn = (fixture: Fixture, name: string, filter: MessageFilter): Promise<readonly MessageId[]> =>
  fixture.uow.write((tx) => tx.personal.markRead(fixture.viewer(name), filter));

const conditionIn = (fixture: Fixture, channel: string): MessageCondition => ({
  kind: 'recipient',
  recipientIds: [fixture.channel(channel).recipientId],
});

const star = (fixture: Fixture, name: string, messages: readonly Message[], on = true): Promise<readonly MessageId[]> =>
  fixture.uow.write((tx) => tx.personal.setFlag(fixture.viewer(name), idsOf(messages), 'starred', on));

export function personalMessagesContract(open: OpenStorage): void {
  describe('personal messages', () => {
    const stage = stagesOn(open);

    describe('receiving', () => {
      it('knows who mutes whom', async () => {
        const fixture = await stage(...place);
        const { uow, viewer, user } = fixture;
        const [a, b, c] = ['a', 'b', 'c'].map((name) => user(name).id) as [UserId, UserId, UserId];
        await uow.write(async ({ personal }) => {
          await personal.muteSender(viewer('a'), b);
          await personal.muteSender(viewer('c'), a);
        });
        const muting = (name: string, ids = [a, b, c]) =>
          uow.read(async ({ personal }) => ascending(await personal.filterMuting(viewer(name), ids)));
        expect(await muting('a')).toEqual([b, c]);
        expect(await muting('b')).toEqual([a]);
        expect(await muting('a', [b])).toEqual([b]);
        expect(await muting('a', [])).toEqual([]);
        await uow.write(({ personal }) => personal.unmuteSender(viewer('a'), b));
        expect(await muting('a')).toEqual([c]);
      });

      it('makes a message own to those who subscribe to the channel, unread but for the sender', async () => {
        const fixture = await stage(...place);
        const message = await send(fixture, { from: 'a', to: 'general' });
        expect(await flagsOf(fixture, 'a', message)).toEqual(READ);
        expect(await flagsOf(fixture, 'b', message)).toEqual(NONE);
        expect(await flagsOf(fixture, 'c', message)).toBeNull();
        const unread = await send(fixture, { from: 'a', to: 'general', isReadBySender: false });
        expect(await flagsOf(fixture, 'a', unread)).toEqual(NONE);
      });

      it('gives a sender who does not subscribe to the channel nothing', async () => {
        const fixture = await stage(...place);
        const message = await send(fixture, { from: 'c', to: 'general' });
        expect(await flagsOf(fixture, 'c', message)).toBeNull();
        expect(await historyOf(fixture, 'c')).toEqual([]);
      });

      it('marks who is named, and everybody when the channel is', async () => {
        const fixture = await stage(...place);
        const message = await send(fixture, {
          from: 'a',
          to: 'general',
          mentionsChannel: true,
          exceptions: {
            b: { mentioned: true, hasAlertWord: true, topicWildcardMentioned: true },
            a: { mentioned: true },
          },
        });
        expect(await flagsOf(fixture, 'a', message)).toEqual({
          ...READ,
          channelWildcardMentioned: true,
          mentioned: true,
        });
        expect(await flagsOf(fixture, 'b', message)).toEqual({
          ...NONE,
          channelWildcardMentioned: true,
          mentioned: true,
          hasAlertWord: true,
          topicWildcardMentioned: true,
        });
      });

      it('reaches a named bot that does not subscribe to the channel', async () => {
        const fixture = await stage(...place, aUser({ name: 'bot', botOf: 'a' }));
        const message = await send(fixture, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } });
        const later = await send(fixture, { from: 'a', to: 'general' });
        expect(await flagsOf(fixture, 'bot', message)).toEqual({ ...NONE, mentioned: true });
        expect(await flagsOf(fixture, 'bot', later)).toBeNull();
        expect(await unreadOf(fixture, 'bot')).toEqual([message.id]);
        expect(await historyOf(fixture, 'bot')).toEqual([message.id]);
        expect(await mark(fixture, 'bot', [message], true)).toEqual([message.id]);
        expect(await unreadOf(fixture, 'bot')).toEqual([]);
      });

      it('delivers a notice as read, but for those it names', async () => {
        const fixture = await stage(...place);
        const notice = await send(fixture, {
          from: 'a',
          to: 'general',
          isReadBySender: false,
          isReadByDefault: true,
          exceptions: { b: { unread: true } },
        });
        expect(await flagsOf(fixture, 'a', notice)).toEqual(READ);
        expect(await flagsOf(fixture, 'b', notice)).toEqual(NONE);
        expect(await unreadOf(fixture, 'a')).toEqual([]);
        expect(await unreadOf(fixture, 'b')).toEqual([notice.id]);
        await mark(fixture, 'b', [notice], true);
        await mark(fixture, 'a', [notice], false);
        expect(await unreadOf(fixture, 'a')).toEqual([notice.id]);
        expect(await unreadOf(fixture, 'b')).toEqual([]);
      });

      it('starts with the next message, ends with the last one before, and may start again', async () => {
        const fixture = await stage(...place);
        const before = await send(fixture, { from: 'a', to: 'general' });
        await startFollowing(fixture, 'general', 'c', 'c');
        await startFollowing(fixture, 'general', 'c');
        const during = await send(fixture, { from: 'a', to: 'general' });
        await stopFollowing(fixture, 'general', 'c');
        await stopFollowing(fixture, 'general', 'c');
        const between = await send(fixture, { from: 'a', to: 'general' });
        await startFollowing(fixture, 'general', 'c');
        const again = await send(fixture, { from: 'a', to: 'general' });
        expect(await historyOf(fixture, 'c')).toEqual([during.id, again.id]);
        expect(await unreadOf(fixture, 'c')).toEqual([during.id, again.id]);
        expect(await flagsOf(fixture, 'c', before)).toBeNull();
        expect(await flagsOf(fixture, 'c', between)).toBeNull();
      });
    });

    describe('reading', () => {
      it('answers what changed, ascending, and leaves messages of other viewers alone', async () => {
        const fixture = await stage(...place);
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

      it('keeps apart what is read of interleaved topics', async () => {
        const fixture = await stage(...place);
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

      it('marks everything there is', async () => {
        const fixture = await stage(...place);
        const first = await send(fixture, { from: 'b', to: 'general' });
        await send(fixture, { from: 'b', to: 'random' });
        await send(fixture, { from: 'b', to: ['a'] });
        await stopFollowing(fixture, 'general', 'a');
        await fixture.uow.write((tx) => tx.personal.setRead(fixture.viewer('a'), [first.id], false));
        expect(await unreadOf(fixture, 'a')).toHaveLength(3);
        const markAll = () => fixture.uow.write((tx) => tx.personal.markAllRead(fixture.viewer('a')));
        await markAll();
        await markAll();
        expect(await unreadOf(fixture, 'a')).toEqual([]);
        const later = await send(fixture, { from: 'b', to: ['a'] });
        expect(await unreadOf(fixture, 'a')).toEqual([later.id]);
        expect(await unreadOf(fixture, 'b')).toEqual([]);
      });

      it('marks what is unread of a filter, and says what changed', async () => {
        const fixture = await stage(...place);
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

      it('marks of a filter what a person marked unread, what was moved there, and nothing they have not', async () => {
        const fixture = await stage(...place);
        const old = await send(fixture, { from: 'b', to: 'general' });
        const moved = await send(fixture, { from: 'b', to: 'general' });
        const between = await send(fixture, { from: 'b', to: 'random' });
        const away = await send(fixture, { from: 'b', to: 'random' });
        const notice = await send(fixture, { from: 'b', to: 'random', isReadByDefault: true });
        const quiet = await send(fixture, { from: 'b', to: 'random', isReadByDefault: true });
        await stopFollowing(fixture, 'random', 'a');
        const missed = await send(fixture, { from: 'b', to: 'random' });
        await startFollowing(fixture, 'random', 'a');
        await fixture.uow.write((tx) => tx.personal.muteSender(fixture.viewer('a'), fixture.user('b').id));
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

      it('lists the newest unread ones, ascending, with where they are and whether they name one', async () => {
        const fixture = await stage(...place);
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
        const list = (limit: number) => fixture.uow.read((r) => r.personal.listUnread(fixture.viewer('a'), limit));
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

      it.each<[string, GivenMessage, (tx: Transaction, fixture: Fixture, id: MessageId) => Promise<unknown>]>([
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
      ])('keeps that a message is %s when its star goes, and when it is read', async (_, given, prepare) => {
        const fixture = await stage(...place);
        const message = await send(fixture, given);
        await fixture.uow.write((tx) => prepare(tx, fixture, message.id));
        const before = await flagsOf(fixture, 'a', message);
        expect(before).not.toBeNull();
        await star(fixture, 'a', [message], true);
        expect(await flagsOf(fixture, 'a', message)).toEqual({ ...before, starred: true });
        await star(fixture, 'a', [message], false);
        expect(await flagsOf(fixture, 'a', message)).toEqual(before);
        await mark(fixture, 'a', [message], true);
        expect(await flagsOf(fixture, 'a', message)).toEqual({ ...before, read: true });
      });

      it('keeps a star when a message that is marked unread is read', async () => {
        const fixture = await stage(...place);
        const message = await send(fixture, { from: 'b', to: 'general', isReadByDefault: true });
        await star(fixture, 'a', [message], true);
        await mark(fixture, 'a', [message], false);
        await mark(fixture, 'a', [message], true);
        expect(await flagsOf(fixture, 'a', message)).toEqual({ ...READ, starred: true });
        await mark(fixture, 'a', [message], false);
        await fixture.uow.write((tx) => tx.personal.markAllRead(fixture.viewer('a')));
        expect(await flagsOf(fixture, 'a', message)).toEqual({ ...READ, starred: true });
      });

      it('gathers the newest unread ones by conversation', async () => {
        const fixture = await stage(...place);
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
          fixture.uow.read((r) => r.personal.overviewUnread(fixture.viewer('a'), limit));
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
        expect(await fixture.uow.read((r) => r.personal.overviewUnread(fixture.viewer('b'), 9))).toEqual({
          conversations: [],
          mentionedIds: [],
          wildcardMentionedIds: [],
          oldOnesAreMissing: false,
        });
      });

      it('finds unread ones of a filter', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'b', to: 'general', topic: 'lunch' });
        const m2 = await send(fixture, { from: 'c', to: 'random', topic: 'lunch' });
        const m3 = await send(fixture, { from: 'b', to: 'general', topic: 'dinner' });
        const m4 = await send(fixture, { from: 'b', to: ['a'] });
        const general: MessageCondition = { kind: 'recipient', recipientIds: [m1.recipientId] };
        const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
        const notLunch: MessageCondition = not(lunch);
        const byB: MessageCondition = { kind: 'sender', userId: fixture.user('b').id };
        const first = (filter = own()) =>
          fixture.uow.read((r) => r.personal.findFirstUnread(fixture.viewer('a'), filter));
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
        expect(await first(own(not({ kind: 'recipient', recipientIds: [m1.recipientId, m2.recipientId] })))).toBe(
          m4.id,
        );
        expect(await first(own({ kind: 'anyOf', conditions: [] }))).toBeNull();
        await mark(fixture, 'a', [m1], true);
        expect(await first()).toBe(m2.id);
        expect(await first(own(general))).toBe(m3.id);
        expect(await first(own(general, lunch))).toBeNull();
        expect(
          await fixture.uow.read((r) => r.personal.findFirstUnread(fixture.viewer('c'), shared(general))),
        ).toBeNull();
      });
    });

    describe('flags', () => {
      it('stars and collapses own messages, answering what changed, ascending', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'a', to: 'general' });
        const m2 = await send(fixture, { from: 'a', to: 'random' });
        const m3 = await send(fixture, { from: 'a', to: 'general' });
        expect(await star(fixture, 'b', [m3, m2, m1])).toEqual([m1.id, m3.id]);
        expect(await star(fixture, 'b', [m3, m1])).toEqual([]);
        const collapsed = await fixture.uow.write((tx) =>
          tx.personal.setFlag(fixture.viewer('b'), [m1.id], 'collapsed', true),
        );
        expect(collapsed).toEqual([m1.id]);
        expect(await flagsOf(fixture, 'b', m1)).toEqual({ ...NONE, starred: true, collapsed: true });
        expect(await star(fixture, 'b', [m1, m2], false)).toEqual([m1.id]);
        expect(await flagsOf(fixture, 'b', m1)).toEqual({ ...NONE, collapsed: true });
        expect(await fixture.uow.read((r) => r.personal.listStarred(fixture.viewer('b')))).toEqual([m3.id]);
        expect(await fixture.uow.read((r) => r.personal.listStarred(fixture.viewer('a')))).toEqual([]);
        expect(await unreadOf(fixture, 'b')).toEqual([m1.id, m3.id]);
      });

      it('adopts what was never received as read and historical, and leaves what is own as it is', async () => {
        const fixture = await stage(...place);
        const old = await send(fixture, { from: 'a', to: 'general' });
        await startFollowing(fixture, 'general', 'c');
        const received = await send(fixture, { from: 'a', to: 'general' });
        await fixture.uow.write((tx) =>
          tx.personal.addHistorical(fixture.viewer('c'), [received.id, old.id, old.id, 9999 as MessageId]),
        );
        expect(await flagsOf(fixture, 'c', old)).toEqual(HISTORICAL);
        expect(await flagsOf(fixture, 'c', received)).toEqual(NONE);
        expect(await historyOf(fixture, 'c')).toEqual([old.id, received.id]);
        await star(fixture, 'c', [old]);
        await mark(fixture, 'c', [old], false);
        expect(await flagsOf(fixture, 'c', old)).toEqual({ ...HISTORICAL, starred: true, read: false });
        await fixture.uow.write((tx) => tx.personal.addHistorical(fixture.viewer('c'), [old.id]));
        expect(await flagsOf(fixture, 'c', old)).toEqual({ ...HISTORICAL, starred: true, read: false });
        expect(await unreadOf(fixture, 'c')).toEqual([old.id, received.id]);
      });

      it('shows the flags of own messages in heads', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await star(fixture, 'b', [m1]);
        const expected = { ...NONE, mentioned: true, starred: true };
        await fixture.uow.read(async (r) => {
          const [upTo] = await r.pages.listEntriesUpTo(fixture.viewer('b'), own(), null, 1);
          const [from] = await r.pages.listEntriesFrom(fixture.viewer('b'), own(), 0, 1);
          const [listed] = await r.pages.listEntries(fixture.viewer('b'), [m1.id]);
          expect([upTo, from, listed].map((entry) => entry!.flags)).toEqual([expected, expected, expected]);
        });
      });
    });

    describe('muting a person', () => {
      const mute = (fixture: Fixture, name: string, sender: string) =>
        fixture.uow.write((tx) => tx.personal.muteSender(fixture.viewer(name), fixture.user(sender).id));
      const unmute = (fixture: Fixture, name: string, sender: string) =>
        fixture.uow.write((tx) => tx.personal.unmuteSender(fixture.viewer(name), fixture.user(sender).id));

      it('lets arrive read what they send from now on, and only that', async () => {
        const fixture = await stage(...place);
        const before = await send(fixture, { from: 'b', to: 'general' });
        await mute(fixture, 'a', 'b');
        await mute(fixture, 'a', 'b');
        const muted = await send(fixture, { from: 'b', to: 'general' });
        const direct = await send(fixture, { from: 'b', to: ['a', 'c'] });
        const byOther = await send(fixture, { from: 'c', to: 'general' });
        await unmute(fixture, 'a', 'b');
        await unmute(fixture, 'a', 'b');
        const after = await send(fixture, { from: 'b', to: 'general' });
        expect(await unreadOf(fixture, 'a')).toEqual([before.id, byOther.id, after.id]);
        expect(await flagsOf(fixture, 'a', muted)).toEqual(READ);
        expect(await flagsOf(fixture, 'a', direct)).toEqual(READ);
        expect(await unreadOf(fixture, 'c')).toEqual([direct.id]);
        await mute(fixture, 'a', 'b');
        expect(await unreadOf(fixture, 'a')).toEqual([before.id, byOther.id, after.id]);
      });

      it('reads even what names one, and lets it be marked unread', async () => {
        const fixture = await stage(...place);
        await mute(fixture, 'a', 'b');
        const naming = await send(fixture, { from: 'b', to: 'general', exceptions: { a: { mentioned: true } } });
        const plain = await send(fixture, { from: 'b', to: 'general' });
        expect(await flagsOf(fixture, 'a', naming)).toEqual({ ...READ, mentioned: true });
        expect(await mark(fixture, 'a', [naming, plain], false)).toEqual([naming.id, plain.id]);
        expect(await unreadOf(fixture, 'a')).toEqual([naming.id, plain.id]);
        expect(await mark(fixture, 'a', [plain], true)).toEqual([plain.id]);
        await unmute(fixture, 'a', 'b');
        expect(await unreadOf(fixture, 'a')).toEqual([naming.id]);
      });
    });

    describe('moving', () => {
      it('keeps what a message is to those who follow both channels', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'b', to: 'general', exceptions: { a: { mentioned: true } } });
        await star(fixture, 'a', [m1]);
        await move(fixture, [m1], 'random');
        expect(await flagsOf(fixture, 'a', m1)).toEqual({ ...NONE, starred: true, mentioned: true });
        expect(await unreadOf(fixture, 'a')).toEqual([m1.id]);
        expect(await mark(fixture, 'a', [m1], true)).toEqual([m1.id]);
        await move(fixture, [m1], 'general');
        expect(await flagsOf(fixture, 'a', m1)).toEqual({ ...READ, starred: true, mentioned: true });
      });

      it('takes it from those who do not follow the new channel, and does not give it back', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await star(fixture, 'b', [m1]);
        await move(fixture, [m1], 'random');
        expect(await flagsOf(fixture, 'b', m1)).toBeNull();
        expect(await historyOf(fixture, 'b')).toEqual([]);
        expect(await unreadOf(fixture, 'b')).toEqual([]);
        expect(await fixture.uow.read((r) => r.personal.listStarred(fixture.viewer('b')))).toEqual([]);
        expect(await mark(fixture, 'b', [m1], true)).toEqual([]);
        await move(fixture, [m1], 'general');
        expect(await flagsOf(fixture, 'b', m1)).toBeNull();
        await fixture.uow.write((tx) => tx.personal.addHistorical(fixture.viewer('b'), [m1.id]));
        expect(await flagsOf(fixture, 'b', m1)).toEqual(HISTORICAL);
      });

      it('gives it, read, to those who subscribe to a channel with protected history and did not have it', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, {
          from: 'a',
          to: 'general',
          mentionsChannel: true,
          exceptions: { b: { mentioned: true } },
        });
        await move(fixture, [m1], 'secret');
        expect(await flagsOf(fixture, 'a', m1)).toBeNull();
        expect(await flagsOf(fixture, 'b', m1)).toEqual({ ...NONE, mentioned: true, channelWildcardMentioned: true });
        expect(await flagsOf(fixture, 'c', m1)).toEqual(READ);
        expect(await historyOf(fixture, 'c')).toEqual([m1.id]);
        expect(await mark(fixture, 'c', [m1], false)).toEqual([m1.id]);
        expect(await unreadOf(fixture, 'c')).toEqual([m1.id]);
        expect(await star(fixture, 'c', [m1])).toEqual([m1.id]);
        await move(fixture, [m1], 'secret', 'other topic');
        expect(await flagsOf(fixture, 'c', m1)).toEqual({ ...NONE, starred: true });
      });

      it('gives back as read what was lost unread', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await move(fixture, [m1], 'random');
        await move(fixture, [m1], 'secret');
        expect(await flagsOf(fixture, 'b', m1)).toEqual(READ);
        expect(await unreadOf(fixture, 'b')).toEqual([]);
      });

      it('goes by who follows at the time of the move', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'a', to: 'general' });
        const m2 = await send(fixture, { from: 'a', to: 'general' });
        await startFollowing(fixture, 'random', 'b');
        await move(fixture, [m1], 'random');
        await stopFollowing(fixture, 'random', 'b');
        await move(fixture, [m2], 'random');
        await startFollowing(fixture, 'random', 'b');
        expect(await flagsOf(fixture, 'b', m1)).toEqual(NONE);
        expect(await flagsOf(fixture, 'b', m2)).toBeNull();

        await stopFollowing(fixture, 'secret', 'c');
        await move(fixture, [m1, m2], 'secret');
        await startFollowing(fixture, 'secret', 'c');
        expect(await flagsOf(fixture, 'c', m1)).toBeNull();
        expect(await flagsOf(fixture, 'b', m2)).toEqual(READ);
      });

      it('changes nobody’s messages within a channel', async () => {
        const fixture = await stage(...place);
        const m1 = await send(fixture, { from: 'b', to: 'secret' });
        await startFollowing(fixture, 'secret', 'a');
        await stopFollowing(fixture, 'secret', 'c');
        await move(fixture, [m1], 'secret', 'elsewhere');
        expect(await flagsOf(fixture, 'a', m1)).toBeNull();
        expect(await flagsOf(fixture, 'c', m1)).toEqual(NONE);
      });
    });

    it('knows the newest own message', async () => {
      const fixture = await stage(...place);
      const newest = () => fixture.uow.read((r) => r.personal.newestId(fixture.viewer('b')));
      expect(await newest()).toBeNull();
      const m1 = await send(fixture, { from: 'a', to: 'general' });
      const m2 = await send(fixture, { from: 'a', to: ['b'] });
      await send(fixture, { from: 'a', to: 'random' });
      expect(await newest()).toBe(m2.id);
      await fixture.uow.write((tx) => tx.messages.remove(fixture.realm.id, [m2.id]));
      expect(await newest()).toBe(m1.id);
    });

    it('lists the channels one has left with messages behind, ascending', async () => {
      const fixture = await stage(...place);
      const former = () =>
        fixture.uow.read((r) => r.personal.listUnsubscribedChannelIdsWithMessages(fixture.viewer('a')));
      const stop = async (channel: string) => {
        await stopFollowing(fixture, channel, 'a');
        await fixture.uow.write(async (tx) => {
          const rows = await tx.channels.listSubscriptions(fixture.realm.id, fixture.user('a').id);
          const row = rows.find(({ channelId }) => channelId === fixture.channel(channel).id)!;
          await tx.channels.putSubscriptions([{ ...row, isActive: false }]);
        });
      };
      const m1 = await send(fixture, { from: 'b', to: 'random' });
      await send(fixture, { from: 'b', to: ['a'] });
      expect(await former()).toEqual([]);
      await stop('general');
      expect(await former()).toEqual([]);
      await stop('random');
      expect(await former()).toEqual([fixture.channel('random').id]);
      const old = await send(fixture, { from: 'b', to: 'general' });
      await fixture.uow.write((tx) => tx.personal.addHistorical(fixture.viewer('a'), [old.id]));
      expect(await former()).toEqual([fixture.channel('general').id, fixture.channel('random').id]);
      await fixture.uow.write((tx) => tx.messages.remove(fixture.realm.id, [m1.id]));
      expect(await former()).toEqual([fixture.channel('general').id]);
    });

    it('tells which users have a message as their own, ascending', async () => {
      const fixture = await stage(...place);
      const m1 = await send(fixture, { from: 'a', to: 'general' });
      const [a, b, c] = [fixture.user('a').id, fixture.user('b').id, fixture.user('c').id];
      const holders = async (...ids: UserId[]) =>
        (await fixture.uow.read((r) => r.personal.filterHolders(fixture.realm.id, [m1.id], ids))).get(m1.id);
      expect(await holders(c, b, a, b)).toEqual([a, b]);
      expect(await holders(b)).toEqual([b]);
      expect(await holders()).toEqual([]);
      await fixture.uow.write((tx) => tx.personal.addHistorical(fixture.viewer('c'), [m1.id]));
      expect(await holders(c, b, a)).toEqual([a, b, c]);
    });

    it('tells several people what messages are to them, as it tells each', async () => {
      const fixture = await stage(...place, aUser({ name: 'bot', botOf: 'a' }));
      await fixture.uow.write((tx) => tx.personal.muteSender(fixture.viewer('b'), fixture.user('a').id));
      const messages = [
        await send(fixture, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } }),
        await send(fixture, { from: 'b', to: 'general', exceptions: { a: { topicWildcardMentioned: true } } }),
        await send(fixture, { from: 'b', to: 'general' }),
      ];
      const ids = messages.map(({ id }) => id);
      await move(fixture, [messages[2]!], 'secret');
      await fixture.uow.write(async (tx) => {
        await tx.personal.addHistorical(fixture.viewer('c'), [ids[1]!]);
        await tx.personal.setRead(fixture.viewer('a'), [ids[1]!], true);
        await tx.personal.setFlag(fixture.viewer('b'), [ids[0]!], 'starred', true);
      });
      await fixture.uow.read(async (r) => {
        const userIds = [...fixture.users.values()].map(({ id }) => id);
        const expected = new Map<UserId, unknown>();
        for (const userId of userIds) {
          expected.set(userId, await r.personal.listFlags({ realmId: fixture.realm.id, userId }, ids));
        }
        expect(await r.personal.listFlagsOf(fixture.realm.id, userIds, [...ids].reverse())).toEqual(expected);
        expect(
          new Set([...expected.values()].map((flags) => JSON.stringify([...(flags as Map<never, never>)]))).size,
        ).toBe(4);
      });
    });

    it('tells who had a message that was removed', async () => {
      const fixture = await stage(...place, aUser({ name: 'bot', botOf: 'a' }));
      const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } });
      const m2 = await send(fixture, { from: 'a', to: 'general' });
      const m3 = await send(fixture, { from: 'a', to: 'general' });
      await fixture.uow.write((tx) => tx.personal.addHistorical(fixture.viewer('c'), [m2.id]));
      await move(fixture, [m3], 'secret');
      const [a, b, c, bot] = ['a', 'b', 'c', 'bot'].map((name) => fixture.user(name).id);
      await fixture.uow.write((tx) => tx.messages.remove(fixture.realm.id, [m1.id, m2.id, m3.id]));
      await stopFollowing(fixture, 'general', 'b');
      const holders = await fixture.uow.read((r) =>
        r.personal.filterHolders(
          fixture.realm.id,
          [m1.id, m2.id, m3.id, 9999 as MessageId],
          [...fixture.users.values()].map((u) => u.id),
        ),
      );
      expect([...holders.values()]).toEqual([[a, b, bot], [a, b, c], [b, c], []]);
      expect(await flagsOf(fixture, 'a', m1)).toBeNull();
    });

    it('remembers in seqs when one subscribed to a channel', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aChannel({ name: 'general' }));
      const announce = () =>
        fixture.uow.write((tx) =>
          tx.events.append(fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
        );
      const { recipientId, id: channelId } = fixture.channel('general');
      const a = fixture.user('a').id;
      const opened = await fixture.uow.write(async (tx) => {
        await tx.personal.openSpans(fixture.realm.id, recipientId, [a]);
        await tx.recipients.openDirect(fixture.realm.id, [a]);
        return tx.events.append(fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
      });
      const between = await announce();
      const spans = () => fixture.uow.read((r) => r.personal.listSubscribedSpans(fixture.viewer('a')));
      const holds = (seq: EventSeq, span: Awaited<ReturnType<typeof spans>>[number]) =>
        span.fromSeq <= seq && (span.toSeq === null || seq < span.toSeq);
      expect(await spans()).toEqual([{ channelId, fromSeq: opened, toSeq: null }]);

      const closed = await fixture.uow.write(async (tx) => {
        await tx.personal.closeSpans(fixture.realm.id, recipientId, [a]);
        return tx.events.append(fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
      });
      const [span] = await spans();
      expect([opened - 1, opened, between, closed].map((seq) => holds(seq as EventSeq, span!))).toEqual([
        false,
        true,
        true,
        false,
      ]);
      await announce();
      await startFollowing(fixture, 'general', 'a');
      expect(await spans()).toHaveLength(2);
      expect(await fixture.uow.read((r) => r.personal.listSubscribedSpans(fixture.viewer('b')))).toEqual([]);
    });

    it('finds and changes nothing of another realm', async () => {
      const fixture = await stage(...place);
      const m1 = await send(fixture, { from: 'b', to: 'general' });
      const other = await createFixtureOn(
        fixture.uow,
        fixture.clock,
        aRealm({ stringId: 'other' }),
        aUser({ name: 'x' }),
      );
      const insider = fixture.viewer('a');
      const misplaced = { realmId: other.realm.id, userId: insider.userId };
      const otherRealmUser = other.viewer('x');
      await fixture.uow.write(async (tx) => {
        for (const viewer of [misplaced, otherRealmUser]) {
          expect(await tx.personal.setRead(viewer, [m1.id], true)).toEqual([]);
          expect(await tx.personal.setFlag(viewer, [m1.id], 'starred', true)).toEqual([]);
          await tx.personal.markAllRead(viewer);
          await tx.personal.addHistorical(viewer, [m1.id]);
          expect((await tx.personal.listFlags(viewer, [m1.id])).size).toBe(0);
          expect(await tx.personal.listUnread(viewer, 10)).toEqual([]);
          expect(await tx.personal.newestId(viewer)).toBeNull();
          expect(await tx.personal.listStarred(viewer)).toEqual([]);
          expect(await tx.personal.listSubscribedSpans(viewer)).toEqual([]);
        }
        expect([...(await tx.personal.filterHolders(other.realm.id, [m1.id], [insider.userId])).values()]).toEqual([
          [],
        ]);
        const flags = await tx.personal.listFlagsOf(other.realm.id, [insider.userId], [m1.id]);
        expect(flags).toEqual(new Map([[insider.userId, new Map()]]));
      });
      expect(await flagsOf(fixture, 'a', m1)).toEqual(NONE);
    });
  });
}
