import type { MessageId, UserId } from '@parley/domain/kernel';
import { HISTORICAL } from '@parley/domain/messages';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import {
  flagsOf,
  historyOf,
  mark,
  NONE,
  READ,
  scene,
  send,
  star,
  subscribe,
  unreadOf,
  unsubscribe,
} from './personal-messages.fixture.js';
import { ascending, type OpenStorage, own, stagesOn } from './storage-under-test.js';

export function personalMessagesContract(open: OpenStorage): void {
  describe('personal message repository', () => {
    const stage = stagesOn(open);

    describe('delivery', () => {
      it('lists muted users in the order of muting', async () => {
        const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aUser({ name: 'c' }));
        const [a, b, c] = [fixture.user('a').id, fixture.user('b').id, fixture.user('c').id];
        const { realm: other } = await anotherRealm(fixture);
        const list = (who: string) =>
          fixture.uow.read(fixture.realm.id, ({ personal }) => personal.listMutedSenders(fixture.viewer(who)));
        await fixture.uow.write(fixture.realm.id, async ({ personal }) => {
          await personal.muteSender(fixture.viewer('a'), c, 100);
          await personal.muteSender(fixture.viewer('a'), b, 200);
          await personal.muteSender(fixture.viewer('b'), a, 50);
          await personal.muteSender(fixture.viewer('a'), c, 300);
        });
        expect(await list('a')).toEqual([
          { userId: c, mutedAt: 100 },
          { userId: b, mutedAt: 200 },
        ]);
        expect(await list('b')).toEqual([{ userId: a, mutedAt: 50 }]);
        await fixture.uow.read(other.id, async ({ personal }) => {
          expect(await personal.listMutedSenders({ realmId: other.id, userId: a })).toEqual([]);
        });
        await fixture.uow.write(fixture.realm.id, async ({ personal }) => {
          await personal.unmuteSender(fixture.viewer('a'), c);
          await personal.muteSender(fixture.viewer('a'), c, 400);
        });
        expect(await list('a')).toEqual([
          { userId: b, mutedAt: 200 },
          { userId: c, mutedAt: 400 },
        ]);
      });

      it('returns pairs of muting and muted users', async () => {
        const fixture = await stage(...scene);
        const { uow, viewer, user } = fixture;
        const [a, b, c] = ['a', 'b', 'c'].map((name) => user(name).id) as [UserId, UserId, UserId];
        await uow.write(fixture.realm.id, async ({ personal }) => {
          await personal.muteSender(viewer('a'), b, 5);
          await personal.muteSender(viewer('c'), a, 5);
        });
        const muting = (name: string, ids = [a, b, c]) =>
          uow.read(fixture.realm.id, async ({ personal }) => ascending(await personal.filterMuting(viewer(name), ids)));
        expect(await muting('a')).toEqual([b, c]);
        expect(await muting('b')).toEqual([a]);
        expect(await muting('a', [b])).toEqual([b]);
        expect(await muting('a', [])).toEqual([]);
        const { realm: other } = await anotherRealm(fixture);
        const muters = (sender: UserId, realmId = fixture.realm.id) =>
          uow.read(realmId, ({ messages }) => messages.listMuters(realmId, sender));
        expect([await muters(a), await muters(b), await muters(c)]).toEqual([[c], [a], []]);
        expect(await muters(b, other.id)).toEqual([]);
        await uow.write(fixture.realm.id, ({ personal }) => personal.unmuteSender(viewer('a'), b));
        expect(await muting('a')).toEqual([c]);
        expect(await muters(b)).toEqual([]);
      });

      it('delivers a message to subscribers, unread except for the sender', async () => {
        const fixture = await stage(...scene);
        const message = await send(fixture, { from: 'a', to: 'general' });
        expect(await flagsOf(fixture, 'a', message)).toEqual(READ);
        expect(await flagsOf(fixture, 'b', message)).toEqual(NONE);
        expect(await flagsOf(fixture, 'c', message)).toBeNull();
        const unread = await send(fixture, { from: 'a', to: 'general', isReadBySender: false });
        expect(await flagsOf(fixture, 'a', unread)).toEqual(NONE);
      });

      it('does not deliver messages to a sender without subscription', async () => {
        const fixture = await stage(...scene);
        const message = await send(fixture, { from: 'c', to: 'general' });
        expect(await flagsOf(fixture, 'c', message)).toBeNull();
        expect(await historyOf(fixture, 'c')).toEqual([]);
      });

      it('sets mention flags for mentioned users, and on channel wildcards for everyone', async () => {
        const fixture = await stage(...scene);
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

      it('delivers to a mentioned bot without subscription', async () => {
        const fixture = await stage(...scene, aUser({ name: 'bot', botOf: 'a' }));
        const message = await send(fixture, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } });
        const later = await send(fixture, { from: 'a', to: 'general' });
        expect(await flagsOf(fixture, 'bot', message)).toEqual({ ...NONE, mentioned: true });
        expect(await flagsOf(fixture, 'bot', later)).toBeNull();
        expect(await unreadOf(fixture, 'bot')).toEqual([message.id]);
        expect(await historyOf(fixture, 'bot')).toEqual([message.id]);
        expect(await mark(fixture, 'bot', [message], true)).toEqual([message.id]);
        expect(await unreadOf(fixture, 'bot')).toEqual([]);
      });

      it('delivers a notice as read except for mentioned users', async () => {
        const fixture = await stage(...scene);
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

      it('starts after subscribing, ends after unsubscribing and may resume', async () => {
        const fixture = await stage(...scene);
        const before = await send(fixture, { from: 'a', to: 'general' });
        await subscribe(fixture, 'general', 'c', 'c');
        await subscribe(fixture, 'general', 'c');
        const during = await send(fixture, { from: 'a', to: 'general' });
        await unsubscribe(fixture, 'general', 'c');
        await unsubscribe(fixture, 'general', 'c');
        const between = await send(fixture, { from: 'a', to: 'general' });
        await subscribe(fixture, 'general', 'c');
        const again = await send(fixture, { from: 'a', to: 'general' });
        expect(await historyOf(fixture, 'c')).toEqual([during.id, again.id]);
        expect(await unreadOf(fixture, 'c')).toEqual([during.id, again.id]);
        expect(await flagsOf(fixture, 'c', before)).toBeNull();
        expect(await flagsOf(fixture, 'c', between)).toBeNull();
      });
    });

    describe('flags', () => {
      it('stars and collapses own messages and returns the changes, ascending', async () => {
        const fixture = await stage(...scene);
        const m1 = await send(fixture, { from: 'a', to: 'general' });
        const m2 = await send(fixture, { from: 'a', to: 'random' });
        const m3 = await send(fixture, { from: 'a', to: 'general' });
        expect(await star(fixture, 'b', [m3, m2, m1])).toEqual([m1.id, m3.id]);
        expect(await star(fixture, 'b', [m3, m1])).toEqual([]);
        const collapsed = await fixture.uow.write(fixture.realm.id, (tx) =>
          tx.personal.setFlag(fixture.viewer('b'), [m1.id], 'collapsed', true),
        );
        expect(collapsed).toEqual([m1.id]);
        expect(await flagsOf(fixture, 'b', m1)).toEqual({ ...NONE, starred: true, collapsed: true });
        expect(await star(fixture, 'b', [m1, m2], false)).toEqual([m1.id]);
        expect(await flagsOf(fixture, 'b', m1)).toEqual({ ...NONE, collapsed: true });
        expect(await fixture.uow.read(fixture.realm.id, (r) => r.personal.listStarred(fixture.viewer('b')))).toEqual([
          m3.id,
        ]);
        expect(await fixture.uow.read(fixture.realm.id, (r) => r.personal.listStarred(fixture.viewer('a')))).toEqual(
          [],
        );
        expect(await unreadOf(fixture, 'b')).toEqual([m1.id, m3.id]);
      });

      it('adds messages never received as read and historical, and leaves own messages unchanged', async () => {
        const fixture = await stage(...scene);
        const old = await send(fixture, { from: 'a', to: 'general' });
        await subscribe(fixture, 'general', 'c');
        const received = await send(fixture, { from: 'a', to: 'general' });
        await fixture.uow.write(fixture.realm.id, (tx) =>
          tx.personal.addHistorical(fixture.viewer('c'), [received.id, old.id, old.id, 9999 as MessageId]),
        );
        expect(await flagsOf(fixture, 'c', old)).toEqual(HISTORICAL);
        expect(await flagsOf(fixture, 'c', received)).toEqual(NONE);
        expect(await historyOf(fixture, 'c')).toEqual([old.id, received.id]);
        await star(fixture, 'c', [old]);
        await mark(fixture, 'c', [old], false);
        expect(await flagsOf(fixture, 'c', old)).toEqual({ ...HISTORICAL, starred: true, read: false });
        await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('c'), [old.id]));
        expect(await flagsOf(fixture, 'c', old)).toEqual({ ...HISTORICAL, starred: true, read: false });
        expect(await unreadOf(fixture, 'c')).toEqual([old.id, received.id]);
      });

      it('returns users without subscription who flagged a message or are mentioned in it', async () => {
        const fixture = await stage(...scene);
        const { uow, realm, viewer, user, channel } = fixture;
        const [one, two] = [
          await send(fixture, { from: 'a', to: 'general' }),
          await send(fixture, { from: 'a', to: 'general' }),
        ];
        await uow.write(two.realmId, ({ personal }) => personal.addHistorical(viewer('c'), [two.id]));
        await star(fixture, 'b', [one]);
        await star(fixture, 'a', [one]);
        const { recipientId } = channel('general');
        const outside = (ids: readonly MessageId[], limit = 10) =>
          uow.read(realm.id, (r) => r.personal.listOutsideHolders(realm.id, recipientId, ids, limit));
        expect(await outside([one.id])).toEqual([]);
        expect(await outside([one.id, two.id])).toEqual([user('c').id]);
        await unsubscribe(fixture, 'general', 'b');
        expect(await outside([one.id, two.id])).toEqual([user('b').id, user('c').id]);
        expect(await outside([one.id, two.id], 1)).toEqual([user('b').id]);
      });

      it('returns users who unsubscribed after they had received a message', async () => {
        const fixture = await stage(...scene);
        const { uow, realm, user, channel } = fixture;
        const before = await send(fixture, { from: 'a', to: 'general' });
        await unsubscribe(fixture, 'general', 'b');
        const after = await send(fixture, { from: 'a', to: 'general' });
        const { recipientId } = channel('general');
        const outside = (id: MessageId) =>
          uow.read(realm.id, (r) => r.personal.listOutsideHolders(realm.id, recipientId, [id], 10));
        expect(await outside(before.id)).toEqual([user('b').id]);
        expect(await outside(after.id)).toEqual([]);
        await subscribe(fixture, 'general', 'b');
        expect(await outside(before.id)).toEqual([]);
      });

      it('omits former subscribers who joined and left between two messages', async () => {
        const fixture = await stage(...scene);
        const { uow, realm, channel } = fixture;
        const before = await send(fixture, { from: 'a', to: 'general' });
        await subscribe(fixture, 'general', 'c');
        await send(fixture, { from: 'a', to: 'general' });
        await unsubscribe(fixture, 'general', 'c');
        const after = await send(fixture, { from: 'a', to: 'general' });
        const ids = [before.id, after.id];
        const { recipientId } = channel('general');
        const found = await uow.read(realm.id, (r) => r.personal.listOutsideHolders(realm.id, recipientId, ids, 10));
        expect(found).toEqual([]);
      });

      it('includes the flags of own messages in heads', async () => {
        const fixture = await stage(...scene);
        const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
        await star(fixture, 'b', [m1]);
        const expected = { ...NONE, mentioned: true, starred: true };
        await fixture.uow.read(fixture.realm.id, async (r) => {
          const [upTo] = await r.pages.listEntriesUpTo(fixture.viewer('b'), own(), null, 1);
          const [from] = await r.pages.listEntriesFrom(fixture.viewer('b'), own(), 0, 1);
          const [listed] = await r.pages.listEntries(fixture.viewer('b'), [m1.id]);
          expect([upTo, from, listed].map((entry) => entry!.flags)).toEqual([expected, expected, expected]);
        });
      });
    });

    describe('muted sender', () => {
      const mute = (fixture: Fixture, name: string, sender: string) =>
        fixture.uow.write(fixture.realm.id, (tx) =>
          tx.personal.muteSender(fixture.viewer(name), fixture.user(sender).id, 5),
        );
      const unmute = (fixture: Fixture, name: string, sender: string) =>
        fixture.uow.write(fixture.realm.id, (tx) =>
          tx.personal.unmuteSender(fixture.viewer(name), fixture.user(sender).id),
        );

      it('has only later messages marked as read', async () => {
        const fixture = await stage(...scene);
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

      it('has even mentions marked as read, which users can mark unread', async () => {
        const fixture = await stage(...scene);
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
  });
}
