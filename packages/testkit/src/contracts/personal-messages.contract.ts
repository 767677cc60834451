import {
  type EventSeq,
  HISTORICAL,
  type Message,
  type MessageCondition,
  type MessageFilter,
  type MessageId,
  type PersonalFlags,
  type Transaction,
  type UserId,
} from '@parley/domain';
import { aChannel, aMessage, aRealm, aUser, type GivenMessage, givenOn, type Scene } from '../builders.js';
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

async function send(scene: Scene, message: GivenMessage): Promise<Message> {
  await scene.add(aMessage(message));
  return scene.messages.at(-1)!;
}

const flagsOf = async (scene: Scene, name: string, { id }: Message): Promise<PersonalFlags | null> =>
  scene.uow.read(async (r) => (await r.personal.listFlags(scene.viewer(name), [id])).get(id) ?? null);

const unreadOf = (scene: Scene, name: string, filter = own()): Promise<MessageId[]> =>
  scene.uow.read(async ({ personal }) => {
    const viewer = scene.viewer(name);
    if (filter.conditions.length === 0) {
      const { conversations } = await personal.overviewUnread(viewer, 100);
      expect(ascending(conversations.flatMap(({ ids }) => ids))).toEqual(idsOf(await personal.listUnread(viewer, 100)));
    }
    return idsOf(await personal.listUnread(viewer, 100, filter));
  });

const historyOf = (scene: Scene, name: string): Promise<MessageId[]> =>
  scene.uow.read(async (r) => idsOf(await r.messages.listHeadsUpTo(scene.viewer(name), own(), null, 100)));

const startFollowing = (scene: Scene, channel: string, ...names: readonly string[]): Promise<void> =>
  scene.uow.write((tx) =>
    tx.personal.openSpans(
      scene.realm.id,
      scene.channel(channel).recipientId,
      names.map((name) => scene.user(name).id),
    ),
  );

const stopFollowing = (scene: Scene, channel: string, ...names: readonly string[]): Promise<void> =>
  scene.uow.write((tx) =>
    tx.personal.closeSpans(
      scene.realm.id,
      scene.channel(channel).recipientId,
      names.map((name) => scene.user(name).id),
    ),
  );

const move = (scene: Scene, messages: readonly Message[], to: string, topic: string | null = null): Promise<void> =>
  scene.uow.write((tx) => {
    const { id, recipientId, privacy } = scene.channel(to);
    return tx.messages.move(scene.realm.id, idsOf(messages), {
      channelId: id,
      recipientId,
      topic,
      isHistoryProtected: privacy === 'privateProtectedHistory',
    });
  });

const mark = (scene: Scene, name: string, messages: readonly Message[], read: boolean): Promise<readonly MessageId[]> =>
  scene.uow.write((tx) => tx.personal.setRead(scene.viewer(name), idsOf(messages), read));

/** Marks everything of a filter as read. */
const markIn = (scene: Scene, name: string, filter: MessageFilter): Promise<readonly MessageId[]> =>
  scene.uow.write((tx) => tx.personal.markRead(scene.viewer(name), filter));

const conditionIn = (scene: Scene, channel: string): MessageCondition => ({
  kind: 'recipient',
  recipientId: scene.channel(channel).recipientId,
  negated: false,
});

const star = (scene: Scene, name: string, messages: readonly Message[], on = true): Promise<readonly MessageId[]> =>
  scene.uow.write((tx) => tx.personal.setFlag(scene.viewer(name), idsOf(messages), 'starred', on));

export function personalMessagesContract(open: OpenStorage): void {
  describe('personal messages', () => {
    const stage = stagesOn(open);

    describe('receiving', () => {
      it('makes a message own to those who follow the channel, unread but for the sender', async () => {
        const scene = await stage(...place);
        const message = await send(scene, { from: 'a', to: 'general' });
        expect(await flagsOf(scene, 'a', message)).toEqual(READ);
        expect(await flagsOf(scene, 'b', message)).toEqual(NONE);
        expect(await flagsOf(scene, 'c', message)).toBeNull();
        const unread = await send(scene, { from: 'a', to: 'general', isReadBySender: false });
        expect(await flagsOf(scene, 'a', unread)).toEqual(NONE);
      });

      it('gives a sender who does not follow the channel nothing', async () => {
        const scene = await stage(...place);
        const message = await send(scene, { from: 'c', to: 'general' });
        expect(await flagsOf(scene, 'c', message)).toBeNull();
        expect(await historyOf(scene, 'c')).toEqual([]);
      });

      it('marks who is named, and everybody when the channel is', async () => {
        const scene = await stage(...place);
        const message = await send(scene, {
          from: 'a',
          to: 'general',
          mentionsChannel: true,
          exceptions: {
            b: { mentioned: true, hasAlertWord: true, topicWildcardMentioned: true },
            a: { mentioned: true },
          },
        });
        expect(await flagsOf(scene, 'a', message)).toEqual({
          ...READ,
          channelWildcardMentioned: true,
          mentioned: true,
        });
        expect(await flagsOf(scene, 'b', message)).toEqual({
          ...NONE,
          channelWildcardMentioned: true,
          mentioned: true,
          hasAlertWord: true,
          topicWildcardMentioned: true,
        });
      });

      it('reaches a named bot that does not follow the channel', async () => {
        const scene = await stage(...place, aUser({ name: 'bot', botOf: 'a' }));
        const message = await send(scene, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } });
        const later = await send(scene, { from: 'a', to: 'general' });
        expect(await flagsOf(scene, 'bot', message)).toEqual({ ...NONE, mentioned: true });
        expect(await flagsOf(scene, 'bot', later)).toBeNull();
        expect(await unreadOf(scene, 'bot')).toEqual([message.id]);
        expect(await historyOf(scene, 'bot')).toEqual([message.id]);
        expect(await mark(scene, 'bot', [message], true)).toEqual([message.id]);
        expect(await unreadOf(scene, 'bot')).toEqual([]);
      });

      it('delivers a notice as read, but for those it names', async () => {
        const scene = await stage(...place);
        const notice = await send(scene, {
          from: 'a',
          to: 'general',
          isReadBySender: false,
          isReadByDefault: true,
          exceptions: { b: { unread: true } },
        });
        expect(await flagsOf(scene, 'a', notice)).toEqual(READ);
        expect(await flagsOf(scene, 'b', notice)).toEqual(NONE);
        expect(await unreadOf(scene, 'a')).toEqual([]);
        expect(await unreadOf(scene, 'b')).toEqual([notice.id]);
        await mark(scene, 'b', [notice], true);
        await mark(scene, 'a', [notice], false);
        expect(await unreadOf(scene, 'a')).toEqual([notice.id]);
        expect(await unreadOf(scene, 'b')).toEqual([]);
      });

      it('starts with the next message, ends with the last one before, and may start again', async () => {
        const scene = await stage(...place);
        const before = await send(scene, { from: 'a', to: 'general' });
        await startFollowing(scene, 'general', 'c', 'c');
        await startFollowing(scene, 'general', 'c');
        const during = await send(scene, { from: 'a', to: 'general' });
        await stopFollowing(scene, 'general', 'c');
        await stopFollowing(scene, 'general', 'c');
        const between = await send(scene, { from: 'a', to: 'general' });
        await startFollowing(scene, 'general', 'c');
        const again = await send(scene, { from: 'a', to: 'general' });
        expect(await historyOf(scene, 'c')).toEqual([during.id, again.id]);
        expect(await unreadOf(scene, 'c')).toEqual([during.id, again.id]);
        expect(await flagsOf(scene, 'c', before)).toBeNull();
        expect(await flagsOf(scene, 'c', between)).toBeNull();
      });
    });

    describe('reading', () => {
      it('answers what changed, ascending, and leaves strangers’ messages alone', async () => {
        const scene = await stage(...place);
        const [m1, m2, m3] = [
          await send(scene, { from: 'a', to: 'general' }),
          await send(scene, { from: 'a', to: 'random' }),
          await send(scene, { from: 'a', to: 'general' }),
        ];
        expect(await mark(scene, 'b', [m3, m2, m1, m3], true)).toEqual([m1.id, m3.id]);
        expect(await mark(scene, 'b', [m1, m3], true)).toEqual([]);
        expect(await flagsOf(scene, 'b', m1)).toEqual(READ);
        expect(await flagsOf(scene, 'b', m2)).toBeNull();
        expect(await mark(scene, 'b', [m3, m2], false)).toEqual([m3.id]);
        expect(await unreadOf(scene, 'b')).toEqual([m3.id]);
        expect(await unreadOf(scene, 'a')).toEqual([]);
        expect(await mark(scene, 'b', [], true)).toEqual([]);
      });

      it('keeps apart what is read of interleaved topics', async () => {
        const scene = await stage(...place);
        const sent: Message[] = [];
        for (let i = 0; i < 30; i++) sent.push(await send(scene, { from: 'a', to: 'general', topic: `t${i % 3}` }));
        const ofTopic = (n: number) => sent.filter((_, i) => i % 3 === n);
        expect(await mark(scene, 'b', ofTopic(1), true)).toEqual(idsOf(ofTopic(1)));
        expect(await unreadOf(scene, 'b')).toEqual(idsOf(sent.filter((_, i) => i % 3 !== 1)));
        await mark(scene, 'b', ofTopic(2), true);
        expect(await unreadOf(scene, 'b')).toEqual(idsOf(ofTopic(0)));
        await mark(scene, 'b', ofTopic(2).slice(3, 5), false);
        expect(await unreadOf(scene, 'b')).toEqual(ascending(idsOf([...ofTopic(0), ...ofTopic(2).slice(3, 5)])));
        await mark(scene, 'b', sent, true);
        expect(await unreadOf(scene, 'b')).toEqual([]);
      });

      it('marks everything there is', async () => {
        const scene = await stage(...place);
        const first = await send(scene, { from: 'b', to: 'general' });
        await send(scene, { from: 'b', to: 'random' });
        await send(scene, { from: 'b', to: ['a'] });
        await stopFollowing(scene, 'general', 'a');
        await scene.uow.write((tx) => tx.personal.setRead(scene.viewer('a'), [first.id], false));
        expect(await unreadOf(scene, 'a')).toHaveLength(3);
        const markAll = () => scene.uow.write((tx) => tx.personal.markAllRead(scene.viewer('a')));
        await markAll();
        await markAll();
        expect(await unreadOf(scene, 'a')).toEqual([]);
        const later = await send(scene, { from: 'b', to: ['a'] });
        expect(await unreadOf(scene, 'a')).toEqual([later.id]);
        expect(await unreadOf(scene, 'b')).toEqual([]);
      });

      it('marks what is unread of a filter, and says what changed', async () => {
        const scene = await stage(...place);
        const sent: Message[] = [];
        for (let i = 0; i < 12; i++) {
          sent.push(await send(scene, { from: 'b', to: 'general', topic: ['Lunch', 'dinner', 'lunch'][i % 3]! }));
        }
        const elsewhere = await send(scene, { from: 'b', to: 'random', topic: 'lunch' });
        const general = conditionIn(scene, 'general');
        const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch', negated: false };
        const byC: MessageCondition = { kind: 'sender', userId: scene.user('c').id, negated: false };
        const dinners = sent.filter((_, i) => i % 3 === 1);
        await mark(scene, 'a', sent.slice(2, 4), true);
        const expected = idsOf(sent.filter((message, i) => !dinners.includes(message) && (i < 2 || i > 3)));
        expect(await markIn(scene, 'a', own(general, lunch))).toEqual(expected);
        expect(await unreadOf(scene, 'a')).toEqual([...idsOf(dinners), elsewhere.id]);
        expect(await markIn(scene, 'a', own(general, lunch))).toEqual([]);
        expect(await markIn(scene, 'a', own(general, { kind: 'nothing', negated: false }))).toEqual([]);
        expect(await markIn(scene, 'a', own(general, byC))).toEqual([]);
        expect(await markIn(scene, 'c', own(general))).toEqual([]);
        expect(await markIn(scene, 'a', own(general))).toEqual(idsOf(dinners));
        const later = await send(scene, { from: 'b', to: 'general', topic: 'lunch' });
        expect(await unreadOf(scene, 'a')).toEqual([elsewhere.id, later.id]);
        expect(await markIn(scene, 'a', own(lunch))).toEqual([elsewhere.id, later.id]);
        expect(await unreadOf(scene, 'a')).toEqual([]);
      });

      it('marks of a filter what a person marked unread, what was moved there, and nothing he has not', async () => {
        const scene = await stage(...place);
        const old = await send(scene, { from: 'b', to: 'general' });
        const moved = await send(scene, { from: 'b', to: 'general' });
        const between = await send(scene, { from: 'b', to: 'random' });
        const away = await send(scene, { from: 'b', to: 'random' });
        const notice = await send(scene, { from: 'b', to: 'random', isReadByDefault: true });
        const quiet = await send(scene, { from: 'b', to: 'random', isReadByDefault: true });
        await stopFollowing(scene, 'random', 'a');
        const missed = await send(scene, { from: 'b', to: 'random' });
        await startFollowing(scene, 'random', 'a');
        await scene.uow.write((tx) => tx.personal.muteSender(scene.viewer('a'), scene.user('b').id));
        const muted = await send(scene, { from: 'b', to: 'random' });
        const again = await send(scene, { from: 'b', to: 'random' });
        const heard = await send(scene, { from: 'c', to: 'random' });
        await mark(scene, 'a', [notice, again], false);
        await move(scene, [away], 'general');
        await move(scene, [moved], 'random');
        const random = own(conditionIn(scene, 'random'));
        const expected = idsOf([moved, between, notice, again, heard]);
        expect(await unreadOf(scene, 'a', random)).toEqual(expected);
        expect(await markIn(scene, 'a', random)).toEqual(expected);
        expect(await unreadOf(scene, 'a')).toEqual([old.id, away.id]);
        expect(await flagsOf(scene, 'a', missed)).toBeNull();
        for (const message of [quiet, muted, again]) expect(await flagsOf(scene, 'a', message)).toEqual(READ);
        expect(await unreadOf(scene, 'b')).toEqual([]);
        expect(await markIn(scene, 'a', own(conditionIn(scene, 'general')))).toEqual([old.id, away.id]);
      });

      it('lists the newest unread ones, ascending, with where they are and whether they name one', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, {
          from: 'b',
          to: 'general',
          topic: 'Lunch',
          exceptions: { a: { mentioned: true } },
        });
        const m2 = await send(scene, { from: 'b', to: ['a'], mentionsChannel: true });
        const m3 = await send(scene, { from: 'b', to: 'random', topic: '' });
        const m4 = await send(scene, {
          from: 'b',
          to: 'general',
          exceptions: { a: { topicWildcardMentioned: true, hasAlertWord: true } },
        });
        await move(scene, [m1], 'random', 'Dinner');
        const entry = ({ id, senderId, recipientId, channelId, topic }: Message) => ({
          id,
          senderId,
          recipientId,
          channelId,
          topic,
          isMentioned: false,
          isWildcardMentioned: false,
        });
        const random = scene.channel('random');
        const list = (limit: number) => scene.uow.read((r) => r.personal.listUnread(scene.viewer('a'), limit));
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

      it.each<[string, GivenMessage, (tx: Transaction, scene: Scene, id: MessageId) => Promise<unknown>]>([
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
          (tx, scene, id) => tx.personal.setFlag(scene.viewer('a'), [id], 'collapsed', true),
        ],
        [
          'unread again',
          { from: 'b', to: 'general', isReadByDefault: true },
          (tx, scene, id) => tx.personal.setRead(scene.viewer('a'), [id], false),
        ],
        [
          'taken from history',
          { from: 'b', to: 'secret' },
          (tx, scene, id) => tx.personal.adopt(scene.viewer('a'), [id]),
        ],
      ])('keeps that a message is %s when its star goes, and when it is read', async (_, given, prepare) => {
        const scene = await stage(...place);
        const message = await send(scene, given);
        await scene.uow.write((tx) => prepare(tx, scene, message.id));
        const before = await flagsOf(scene, 'a', message);
        expect(before).not.toBeNull();
        await star(scene, 'a', [message], true);
        expect(await flagsOf(scene, 'a', message)).toEqual({ ...before, starred: true });
        await star(scene, 'a', [message], false);
        expect(await flagsOf(scene, 'a', message)).toEqual(before);
        await mark(scene, 'a', [message], true);
        expect(await flagsOf(scene, 'a', message)).toEqual({ ...before, read: true });
      });

      it('keeps a star when a message that is marked unread is read', async () => {
        const scene = await stage(...place);
        const message = await send(scene, { from: 'b', to: 'general', isReadByDefault: true });
        await star(scene, 'a', [message], true);
        await mark(scene, 'a', [message], false);
        await mark(scene, 'a', [message], true);
        expect(await flagsOf(scene, 'a', message)).toEqual({ ...READ, starred: true });
        await mark(scene, 'a', [message], false);
        await scene.uow.write((tx) => tx.personal.markAllRead(scene.viewer('a')));
        expect(await flagsOf(scene, 'a', message)).toEqual({ ...READ, starred: true });
      });

      it('gathers the newest unread ones by conversation', async () => {
        const scene = await stage(...place);
        const toGeneral = { from: 'b', to: 'general' };
        const m1 = await send(scene, { ...toGeneral, topic: 'Lunch', exceptions: { a: { mentioned: true } } });
        const m2 = await send(scene, { from: 'b', to: ['a'], mentionsChannel: true });
        const m3 = await send(scene, {
          ...toGeneral,
          topic: 'lunch',
          exceptions: { a: { topicWildcardMentioned: true } },
        });
        const m4 = await send(scene, { ...toGeneral, topic: '' });
        const m5 = await send(scene, { from: 'b', to: 'random', topic: 'lunch', mentionsChannel: true });
        await move(scene, [m4], 'random', 'LUNCH');
        const [general, random] = [scene.channel('general'), scene.channel('random')];
        const overview = (limit: number) => scene.uow.read((r) => r.personal.overviewUnread(scene.viewer('a'), limit));
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
        expect(await scene.uow.read((r) => r.personal.overviewUnread(scene.viewer('b'), 9))).toEqual({
          conversations: [],
          mentionedIds: [],
          wildcardMentionedIds: [],
          oldOnesAreMissing: false,
        });
      });

      it('finds unread ones of a filter', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'b', to: 'general', topic: 'lunch' });
        const m2 = await send(scene, { from: 'c', to: 'random', topic: 'lunch' });
        const m3 = await send(scene, { from: 'b', to: 'general', topic: 'dinner' });
        const m4 = await send(scene, { from: 'b', to: ['a'] });
        const general: MessageCondition = { kind: 'recipient', recipientId: m1.recipientId, negated: false };
        const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch', negated: false };
        const notLunch: MessageCondition = { ...lunch, negated: true };
        const byB: MessageCondition = { kind: 'sender', userId: scene.user('b').id, negated: false };
        const first = (filter = own()) => scene.uow.read((r) => r.personal.findFirstUnread(scene.viewer('a'), filter));
        expect(await unreadOf(scene, 'a', own(general))).toEqual([m1.id, m3.id]);
        expect(await unreadOf(scene, 'a', own(notLunch, byB))).toEqual([m3.id, m4.id]);
        expect(await unreadOf(scene, 'a', { ...own(), withoutRecipients: [m1.recipientId] })).toEqual([m2.id, m4.id]);
        expect(await first()).toBe(m1.id);
        expect(await first(own(lunch))).toBe(m1.id);
        expect(await first(own(notLunch))).toBe(m3.id);
        expect(await first(shared(general))).toBe(m1.id);
        expect(await first({ ...own(), withoutRecipients: [m1.recipientId, m2.recipientId] })).toBe(m4.id);
        expect(await first(own({ kind: 'nothing', negated: false }))).toBeNull();
        await mark(scene, 'a', [m1], true);
        expect(await first()).toBe(m2.id);
        expect(await first(own(general))).toBe(m3.id);
        expect(await first(own(general, lunch))).toBeNull();
        expect(await scene.uow.read((r) => r.personal.findFirstUnread(scene.viewer('c'), shared(general)))).toBeNull();
      });
    });

    describe('flags', () => {
      it('stars and collapses own messages, answering what changed, ascending', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'a', to: 'general' });
        const m2 = await send(scene, { from: 'a', to: 'random' });
        const m3 = await send(scene, { from: 'a', to: 'general' });
        expect(await star(scene, 'b', [m3, m2, m1])).toEqual([m1.id, m3.id]);
        expect(await star(scene, 'b', [m3, m1])).toEqual([]);
        const collapsed = await scene.uow.write((tx) =>
          tx.personal.setFlag(scene.viewer('b'), [m1.id], 'collapsed', true),
        );
        expect(collapsed).toEqual([m1.id]);
        expect(await flagsOf(scene, 'b', m1)).toEqual({ ...NONE, starred: true, collapsed: true });
        expect(await star(scene, 'b', [m1, m2], false)).toEqual([m1.id]);
        expect(await flagsOf(scene, 'b', m1)).toEqual({ ...NONE, collapsed: true });
        expect(await scene.uow.read((r) => r.personal.listStarred(scene.viewer('b')))).toEqual([m3.id]);
        expect(await scene.uow.read((r) => r.personal.listStarred(scene.viewer('a')))).toEqual([]);
        expect(await unreadOf(scene, 'b')).toEqual([m1.id, m3.id]);
      });

      it('adopts what was never received as read and historical, and leaves what is own as it is', async () => {
        const scene = await stage(...place);
        const old = await send(scene, { from: 'a', to: 'general' });
        await startFollowing(scene, 'general', 'c');
        const received = await send(scene, { from: 'a', to: 'general' });
        await scene.uow.write((tx) =>
          tx.personal.adopt(scene.viewer('c'), [received.id, old.id, old.id, 9999 as MessageId]),
        );
        expect(await flagsOf(scene, 'c', old)).toEqual(HISTORICAL);
        expect(await flagsOf(scene, 'c', received)).toEqual(NONE);
        expect(await historyOf(scene, 'c')).toEqual([old.id, received.id]);
        await star(scene, 'c', [old]);
        await mark(scene, 'c', [old], false);
        expect(await flagsOf(scene, 'c', old)).toEqual({ ...HISTORICAL, starred: true, read: false });
        await scene.uow.write((tx) => tx.personal.adopt(scene.viewer('c'), [old.id]));
        expect(await flagsOf(scene, 'c', old)).toEqual({ ...HISTORICAL, starred: true, read: false });
        expect(await unreadOf(scene, 'c')).toEqual([old.id, received.id]);
      });

      it('shows the flags of own messages in heads', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await star(scene, 'b', [m1]);
        const expected = { ...NONE, mentioned: true, starred: true };
        await scene.uow.read(async (r) => {
          const [upTo] = await r.messages.listHeadsUpTo(scene.viewer('b'), own(), null, 1);
          const [from] = await r.messages.listHeadsFrom(scene.viewer('b'), own(), 0, 1);
          const [listed] = await r.messages.listHeads(scene.viewer('b'), [m1.id]);
          expect([upTo, from, listed].map((head) => head!.flags)).toEqual([expected, expected, expected]);
        });
      });
    });

    describe('muting a person', () => {
      const mute = (scene: Scene, name: string, sender: string) =>
        scene.uow.write((tx) => tx.personal.muteSender(scene.viewer(name), scene.user(sender).id));
      const unmute = (scene: Scene, name: string, sender: string) =>
        scene.uow.write((tx) => tx.personal.unmuteSender(scene.viewer(name), scene.user(sender).id));

      it('lets arrive read what he sends from now on, and only that', async () => {
        const scene = await stage(...place);
        const before = await send(scene, { from: 'b', to: 'general' });
        await mute(scene, 'a', 'b');
        await mute(scene, 'a', 'b');
        const muted = await send(scene, { from: 'b', to: 'general' });
        const direct = await send(scene, { from: 'b', to: ['a', 'c'] });
        const byOther = await send(scene, { from: 'c', to: 'general' });
        await unmute(scene, 'a', 'b');
        await unmute(scene, 'a', 'b');
        const after = await send(scene, { from: 'b', to: 'general' });
        expect(await unreadOf(scene, 'a')).toEqual([before.id, byOther.id, after.id]);
        expect(await flagsOf(scene, 'a', muted)).toEqual(READ);
        expect(await flagsOf(scene, 'a', direct)).toEqual(READ);
        expect(await unreadOf(scene, 'c')).toEqual([direct.id]);
        await mute(scene, 'a', 'b');
        expect(await unreadOf(scene, 'a')).toEqual([before.id, byOther.id, after.id]);
      });

      it('reads even what names one, and lets it be marked unread', async () => {
        const scene = await stage(...place);
        await mute(scene, 'a', 'b');
        const naming = await send(scene, { from: 'b', to: 'general', exceptions: { a: { mentioned: true } } });
        const plain = await send(scene, { from: 'b', to: 'general' });
        expect(await flagsOf(scene, 'a', naming)).toEqual({ ...READ, mentioned: true });
        expect(await mark(scene, 'a', [naming, plain], false)).toEqual([naming.id, plain.id]);
        expect(await unreadOf(scene, 'a')).toEqual([naming.id, plain.id]);
        expect(await mark(scene, 'a', [plain], true)).toEqual([plain.id]);
        await unmute(scene, 'a', 'b');
        expect(await unreadOf(scene, 'a')).toEqual([naming.id]);
      });
    });

    describe('moving', () => {
      it('keeps what a message is to those who follow both channels', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'b', to: 'general', exceptions: { a: { mentioned: true } } });
        await star(scene, 'a', [m1]);
        await move(scene, [m1], 'random');
        expect(await flagsOf(scene, 'a', m1)).toEqual({ ...NONE, starred: true, mentioned: true });
        expect(await unreadOf(scene, 'a')).toEqual([m1.id]);
        expect(await mark(scene, 'a', [m1], true)).toEqual([m1.id]);
        await move(scene, [m1], 'general');
        expect(await flagsOf(scene, 'a', m1)).toEqual({ ...READ, starred: true, mentioned: true });
      });

      it('takes it from those who do not follow the new channel, and does not give it back', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await star(scene, 'b', [m1]);
        await move(scene, [m1], 'random');
        expect(await flagsOf(scene, 'b', m1)).toBeNull();
        expect(await historyOf(scene, 'b')).toEqual([]);
        expect(await unreadOf(scene, 'b')).toEqual([]);
        expect(await scene.uow.read((r) => r.personal.listStarred(scene.viewer('b')))).toEqual([]);
        expect(await mark(scene, 'b', [m1], true)).toEqual([]);
        await move(scene, [m1], 'general');
        expect(await flagsOf(scene, 'b', m1)).toBeNull();
        await scene.uow.write((tx) => tx.personal.adopt(scene.viewer('b'), [m1.id]));
        expect(await flagsOf(scene, 'b', m1)).toEqual(HISTORICAL);
      });

      it('gives it, read, to those who follow a channel with protected history and did not have it', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, {
          from: 'a',
          to: 'general',
          mentionsChannel: true,
          exceptions: { b: { mentioned: true } },
        });
        await move(scene, [m1], 'secret');
        expect(await flagsOf(scene, 'a', m1)).toBeNull();
        expect(await flagsOf(scene, 'b', m1)).toEqual({ ...NONE, mentioned: true, channelWildcardMentioned: true });
        expect(await flagsOf(scene, 'c', m1)).toEqual(READ);
        expect(await historyOf(scene, 'c')).toEqual([m1.id]);
        expect(await mark(scene, 'c', [m1], false)).toEqual([m1.id]);
        expect(await unreadOf(scene, 'c')).toEqual([m1.id]);
        expect(await star(scene, 'c', [m1])).toEqual([m1.id]);
        await move(scene, [m1], 'secret', 'other topic');
        expect(await flagsOf(scene, 'c', m1)).toEqual({ ...NONE, starred: true });
      });

      it('gives back as read what was lost unread', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await move(scene, [m1], 'random');
        await move(scene, [m1], 'secret');
        expect(await flagsOf(scene, 'b', m1)).toEqual(READ);
        expect(await unreadOf(scene, 'b')).toEqual([]);
      });

      it('goes by who follows at the time of the move', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'a', to: 'general' });
        const m2 = await send(scene, { from: 'a', to: 'general' });
        await startFollowing(scene, 'random', 'b');
        await move(scene, [m1], 'random');
        await stopFollowing(scene, 'random', 'b');
        await move(scene, [m2], 'random');
        await startFollowing(scene, 'random', 'b');
        expect(await flagsOf(scene, 'b', m1)).toEqual(NONE);
        expect(await flagsOf(scene, 'b', m2)).toBeNull();

        await stopFollowing(scene, 'secret', 'c');
        await move(scene, [m1, m2], 'secret');
        await startFollowing(scene, 'secret', 'c');
        expect(await flagsOf(scene, 'c', m1)).toBeNull();
        expect(await flagsOf(scene, 'b', m2)).toEqual(READ);
      });

      it('changes nobody’s messages within a channel', async () => {
        const scene = await stage(...place);
        const m1 = await send(scene, { from: 'b', to: 'secret' });
        await startFollowing(scene, 'secret', 'a');
        await stopFollowing(scene, 'secret', 'c');
        await move(scene, [m1], 'secret', 'elsewhere');
        expect(await flagsOf(scene, 'a', m1)).toBeNull();
        expect(await flagsOf(scene, 'c', m1)).toEqual(NONE);
      });
    });

    it('knows the newest own message', async () => {
      const scene = await stage(...place);
      const newest = () => scene.uow.read((r) => r.personal.newestId(scene.viewer('b')));
      expect(await newest()).toBeNull();
      const m1 = await send(scene, { from: 'a', to: 'general' });
      const m2 = await send(scene, { from: 'a', to: ['b'] });
      await send(scene, { from: 'a', to: 'random' });
      expect(await newest()).toBe(m2.id);
      await scene.uow.write((tx) => tx.messages.remove(scene.realm.id, [m2.id]));
      expect(await newest()).toBe(m1.id);
    });

    it('lists the channels one has left with messages behind, ascending', async () => {
      const scene = await stage(...place);
      const former = () => scene.uow.read((r) => r.personal.listFormerChannelIds(scene.viewer('a')));
      const stop = async (channel: string) => {
        await stopFollowing(scene, channel, 'a');
        await scene.uow.write(async (tx) => {
          const rows = await tx.channels.listSubscriptions(scene.realm.id, scene.user('a').id);
          const row = rows.find(({ channelId }) => channelId === scene.channel(channel).id)!;
          await tx.channels.putSubscriptions([{ ...row, isActive: false }]);
        });
      };
      const m1 = await send(scene, { from: 'b', to: 'random' });
      await send(scene, { from: 'b', to: ['a'] });
      expect(await former()).toEqual([]);
      await stop('general');
      expect(await former()).toEqual([]);
      await stop('random');
      expect(await former()).toEqual([scene.channel('random').id]);
      const old = await send(scene, { from: 'b', to: 'general' });
      await scene.uow.write((tx) => tx.personal.adopt(scene.viewer('a'), [old.id]));
      expect(await former()).toEqual([scene.channel('general').id, scene.channel('random').id]);
      await scene.uow.write((tx) => tx.messages.remove(scene.realm.id, [m1.id]));
      expect(await former()).toEqual([scene.channel('general').id]);
    });

    it('tells which users have a message as their own, ascending', async () => {
      const scene = await stage(...place);
      const m1 = await send(scene, { from: 'a', to: 'general' });
      const [a, b, c] = [scene.user('a').id, scene.user('b').id, scene.user('c').id];
      const holders = async (...ids: UserId[]) =>
        (await scene.uow.read((r) => r.personal.filterHolders(scene.realm.id, [m1.id], ids))).get(m1.id);
      expect(await holders(c, b, a, b)).toEqual([a, b]);
      expect(await holders(b)).toEqual([b]);
      expect(await holders()).toEqual([]);
      await scene.uow.write((tx) => tx.personal.adopt(scene.viewer('c'), [m1.id]));
      expect(await holders(c, b, a)).toEqual([a, b, c]);
    });

    it('tells several people what messages are to them, as it tells each', async () => {
      const scene = await stage(...place, aUser({ name: 'bot', botOf: 'a' }));
      await scene.uow.write((tx) => tx.personal.muteSender(scene.viewer('b'), scene.user('a').id));
      const messages = [
        await send(scene, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } }),
        await send(scene, { from: 'b', to: 'general', exceptions: { a: { topicWildcardMentioned: true } } }),
        await send(scene, { from: 'b', to: 'general' }),
      ];
      const ids = messages.map(({ id }) => id);
      await move(scene, [messages[2]!], 'secret');
      await scene.uow.write(async (tx) => {
        await tx.personal.adopt(scene.viewer('c'), [ids[1]!]);
        await tx.personal.setRead(scene.viewer('a'), [ids[1]!], true);
        await tx.personal.setFlag(scene.viewer('b'), [ids[0]!], 'starred', true);
      });
      await scene.uow.read(async (r) => {
        const userIds = [...scene.users.values()].map(({ id }) => id);
        const expected = new Map<UserId, unknown>();
        for (const userId of userIds) {
          expected.set(userId, await r.personal.listFlags({ realmId: scene.realm.id, userId }, ids));
        }
        expect(await r.personal.listFlagsOf(scene.realm.id, userIds, [...ids].reverse())).toEqual(expected);
        expect(
          new Set([...expected.values()].map((flags) => JSON.stringify([...(flags as Map<never, never>)]))).size,
        ).toBe(4);
      });
    });

    it('tells who had a message that was removed', async () => {
      const scene = await stage(...place, aUser({ name: 'bot', botOf: 'a' }));
      const m1 = await send(scene, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } });
      const m2 = await send(scene, { from: 'a', to: 'general' });
      const m3 = await send(scene, { from: 'a', to: 'general' });
      await scene.uow.write((tx) => tx.personal.adopt(scene.viewer('c'), [m2.id]));
      await move(scene, [m3], 'secret');
      const [a, b, c, bot] = ['a', 'b', 'c', 'bot'].map((name) => scene.user(name).id);
      await scene.uow.write((tx) => tx.messages.remove(scene.realm.id, [m1.id, m2.id, m3.id]));
      await stopFollowing(scene, 'general', 'b');
      const holders = await scene.uow.read((r) =>
        r.personal.filterHolders(
          scene.realm.id,
          [m1.id, m2.id, m3.id, 9999 as MessageId],
          [...scene.users.values()].map((u) => u.id),
        ),
      );
      expect([...holders.values()]).toEqual([[a, b, bot], [a, b, c], [b, c], []]);
      expect(await flagsOf(scene, 'a', m1)).toBeNull();
    });

    it('remembers in seqs when one followed a channel', async () => {
      const scene = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aChannel({ name: 'general' }));
      const announce = () =>
        scene.uow.write((tx) =>
          tx.events.append(scene.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
        );
      const { recipientId, id: channelId } = scene.channel('general');
      const a = scene.user('a').id;
      const opened = await scene.uow.write(async (tx) => {
        await tx.personal.openSpans(scene.realm.id, recipientId, [a]);
        await tx.recipients.openDirect(scene.realm.id, [a]);
        return tx.events.append(scene.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
      });
      const between = await announce();
      const spans = () => scene.uow.read((r) => r.personal.listSubscribedSpans(scene.viewer('a')));
      const holds = (seq: EventSeq, span: Awaited<ReturnType<typeof spans>>[number]) =>
        span.fromSeq <= seq && (span.toSeq === null || seq < span.toSeq);
      expect(await spans()).toEqual([{ channelId, fromSeq: opened, toSeq: null }]);

      const closed = await scene.uow.write(async (tx) => {
        await tx.personal.closeSpans(scene.realm.id, recipientId, [a]);
        return tx.events.append(scene.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
      });
      const [span] = await spans();
      expect([opened - 1, opened, between, closed].map((seq) => holds(seq as EventSeq, span!))).toEqual([
        false,
        true,
        true,
        false,
      ]);
      await announce();
      await startFollowing(scene, 'general', 'a');
      expect(await spans()).toHaveLength(2);
      expect(await scene.uow.read((r) => r.personal.listSubscribedSpans(scene.viewer('b')))).toEqual([]);
    });

    it('finds and changes nothing of another realm', async () => {
      const scene = await stage(...place);
      const m1 = await send(scene, { from: 'b', to: 'general' });
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }), aUser({ name: 'x' }));
      const insider = scene.viewer('a');
      const misplaced = { realmId: other.realm.id, userId: insider.userId };
      const stranger = other.viewer('x');
      await scene.uow.write(async (tx) => {
        for (const viewer of [misplaced, stranger]) {
          expect(await tx.personal.setRead(viewer, [m1.id], true)).toEqual([]);
          expect(await tx.personal.setFlag(viewer, [m1.id], 'starred', true)).toEqual([]);
          await tx.personal.markAllRead(viewer);
          await tx.personal.adopt(viewer, [m1.id]);
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
      expect(await flagsOf(scene, 'a', m1)).toEqual(NONE);
    });
  });
}
