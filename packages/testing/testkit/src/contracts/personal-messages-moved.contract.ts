import type { ChannelId, EventSeq, MessageId, UserId } from '@parley/domain/kernel';
import { HISTORICAL } from '@parley/domain/messages';
import { aChannel, anotherRealm, aUser } from '../builders.js';
import { appendEvent } from '../events-with-receivers.js';
import {
  flagsOf,
  historyOf,
  mark,
  move,
  NONE,
  READ,
  scene,
  send,
  star,
  subscribe,
  unreadOf,
  unsubscribe,
} from './personal-messages.fixture.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

/** Effects of moving messages; part of personal-messages.contract.ts. */
export function movedMessagesContract(open: OpenStorage): void {
  const stage = stagesOn(open);

  describe('personal message that moves', () => {
    it('keeps its flags for subscribers of both channels', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'b', to: 'general', exceptions: { a: { mentioned: true } } });
      await star(fixture, 'a', [m1]);
      await move(fixture, [m1], 'random');
      expect(await flagsOf(fixture, 'a', m1)).toEqual({ ...NONE, starred: true, mentioned: true });
      expect(await unreadOf(fixture, 'a')).toEqual([m1.id]);
      expect(await mark(fixture, 'a', [m1], true)).toEqual([m1.id]);
      await move(fixture, [m1], 'general');
      expect(await flagsOf(fixture, 'a', m1)).toEqual({ ...READ, starred: true, mentioned: true });
    });

    it('disappears permanently for users not subscribed to the new channel', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
      await star(fixture, 'b', [m1]);
      await move(fixture, [m1], 'random');
      expect(await flagsOf(fixture, 'b', m1)).toBeNull();
      expect(await historyOf(fixture, 'b')).toEqual([]);
      expect(await unreadOf(fixture, 'b')).toEqual([]);
      expect(await fixture.uow.read(fixture.realm.id, (r) => r.personal.listStarred(fixture.viewer('b')))).toEqual([]);
      expect(await mark(fixture, 'b', [m1], true)).toEqual([]);
      await move(fixture, [m1], 'general');
      expect(await flagsOf(fixture, 'b', m1)).toBeNull();
      await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('b'), [m1.id]));
      expect(await flagsOf(fixture, 'b', m1)).toEqual(HISTORICAL);
    });

    it('is kept by users who left the new channel afterwards', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'b', to: 'general' });
      await move(fixture, [m1], 'random');
      await unsubscribe(fixture, 'random', 'a');
      const { realm, uow, user, channel } = fixture;
      const { recipientId } = channel('random');
      const found = await uow.read(realm.id, (r) => r.personal.listOutsideHolders(realm.id, recipientId, [m1.id], 10));
      expect(found).toEqual([user('a').id]);
    });

    it('becomes readable as read for new subscribers of a channel with protected history', async () => {
      const fixture = await stage(...scene);
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

    it('returns as read after it was lost unread', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { b: { mentioned: true } } });
      await move(fixture, [m1], 'random');
      await move(fixture, [m1], 'secret');
      expect(await flagsOf(fixture, 'b', m1)).toEqual(READ);
      expect(await unreadOf(fixture, 'b')).toEqual([]);
    });

    it('depends on the subscriptions at the time of the move', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'a', to: 'general' });
      const m2 = await send(fixture, { from: 'a', to: 'general' });
      await subscribe(fixture, 'random', 'b');
      await move(fixture, [m1], 'random');
      await unsubscribe(fixture, 'random', 'b');
      await move(fixture, [m2], 'random');
      await subscribe(fixture, 'random', 'b');
      expect(await flagsOf(fixture, 'b', m1)).toEqual(NONE);
      expect(await flagsOf(fixture, 'b', m2)).toBeNull();

      await unsubscribe(fixture, 'secret', 'c');
      await move(fixture, [m1, m2], 'secret');
      await subscribe(fixture, 'secret', 'c');
      expect(await flagsOf(fixture, 'c', m1)).toBeNull();
      expect(await flagsOf(fixture, 'b', m2)).toEqual(READ);
    });

    it('keeps per-user state when it moves within a channel', async () => {
      const fixture = await stage(...scene);
      const m1 = await send(fixture, { from: 'b', to: 'secret' });
      await subscribe(fixture, 'secret', 'a');
      await unsubscribe(fixture, 'secret', 'c');
      await move(fixture, [m1], 'secret', 'elsewhere');
      expect(await flagsOf(fixture, 'a', m1)).toBeNull();
      expect(await flagsOf(fixture, 'c', m1)).toEqual(NONE);
    });
  });

  it('returns the newest own message', async () => {
    const fixture = await stage(...scene);
    const newest = () => fixture.uow.read(fixture.realm.id, (r) => r.personal.newestId(fixture.viewer('b')));
    expect(await newest()).toBeNull();
    const m1 = await send(fixture, { from: 'a', to: 'general' });
    const m2 = await send(fixture, { from: 'a', to: ['b'] });
    await send(fixture, { from: 'a', to: 'random' });
    expect(await newest()).toBe(m2.id);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [m2.id]));
    expect(await newest()).toBe(m1.id);
  });

  it('lists left channels with remaining messages, ascending', async () => {
    const fixture = await stage(...scene);
    const former = () =>
      fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnsubscribedChannelIdsWithMessages(fixture.viewer('a')));
    const stop = async (channel: string) => {
      await unsubscribe(fixture, channel, 'a');
      await fixture.uow.write(fixture.realm.id, async (tx) => {
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
    await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('a'), [old.id]));
    expect(await former()).toEqual([fixture.channel('general').id, fixture.channel('random').id]);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [m1.id]));
    expect(await former()).toEqual([fixture.channel('general').id]);
  });

  it('lists the users who own a message, ascending', async () => {
    const fixture = await stage(...scene);
    const m1 = await send(fixture, { from: 'a', to: 'general' });
    const [a, b, c] = [fixture.user('a').id, fixture.user('b').id, fixture.user('c').id];
    const holders = async (...ids: UserId[]) =>
      (await fixture.uow.read(fixture.realm.id, (r) => r.personal.filterHolders(fixture.realm.id, [m1.id], ids))).get(
        m1.id,
      );
    expect(await holders(c, b, a, b)).toEqual([a, b]);
    expect(await holders(b)).toEqual([b]);
    expect(await holders()).toEqual([]);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('c'), [m1.id]));
    expect(await holders(c, b, a)).toEqual([a, b, c]);
  });

  it('returns the same flags for several users as for each alone', async () => {
    const fixture = await stage(...scene, aUser({ name: 'bot', botOf: 'a' }));
    await fixture.uow.write(fixture.realm.id, (tx) =>
      tx.personal.muteSender(fixture.viewer('b'), fixture.user('a').id, 5),
    );
    const messages = [
      await send(fixture, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } }),
      await send(fixture, { from: 'b', to: 'general', exceptions: { a: { topicWildcardMentioned: true } } }),
      await send(fixture, { from: 'b', to: 'general' }),
    ];
    const ids = messages.map(({ id }) => id);
    await move(fixture, [messages[2]!], 'secret');
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      await tx.personal.addHistorical(fixture.viewer('c'), [ids[1]!]);
      await tx.personal.setRead(fixture.viewer('a'), [ids[1]!], true);
      await tx.personal.setFlag(fixture.viewer('b'), [ids[0]!], 'starred', true);
    });
    await fixture.uow.read(fixture.realm.id, async (r) => {
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

  it('lists the former holders of a removed message', async () => {
    const fixture = await stage(...scene, aUser({ name: 'bot', botOf: 'a' }));
    const m1 = await send(fixture, { from: 'a', to: 'general', exceptions: { bot: { mentioned: true } } });
    const m2 = await send(fixture, { from: 'a', to: 'general' });
    const m3 = await send(fixture, { from: 'a', to: 'general' });
    await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.addHistorical(fixture.viewer('c'), [m2.id]));
    await move(fixture, [m3], 'secret');
    const [a, b, c, bot] = ['a', 'b', 'c', 'bot'].map((name) => fixture.user(name).id);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [m1.id, m2.id, m3.id]));
    await unsubscribe(fixture, 'general', 'b');
    const holders = await fixture.uow.read(fixture.realm.id, (r) =>
      r.personal.filterHolders(
        fixture.realm.id,
        [m1.id, m2.id, m3.id, 9999 as MessageId],
        [...fixture.users.values()].map((u) => u.id),
      ),
    );
    expect([...holders.values()]).toEqual([[a, b, bot], [a, b, c], [b, c], []]);
    expect(await flagsOf(fixture, 'a', m1)).toBeNull();
  });

  it('stores the sequence numbers of subscriptions to a channel', async () => {
    const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aChannel({ name: 'general' }));
    const announce = () =>
      fixture.uow.write(fixture.realm.id, (tx) =>
        appendEvent(tx, fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
      );
    const { recipientId, id: channelId } = fixture.channel('general');
    const a = fixture.user('a').id;
    const opened = await fixture.uow.write(fixture.realm.id, async (tx) => {
      await tx.personal.openSpans(fixture.realm.id, [recipientId], [a]);
      await tx.recipients.openDirect(fixture.realm.id, [a]);
      return appendEvent(tx, fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
    });
    const between = await announce();
    const spans = () => fixture.uow.read(fixture.realm.id, (r) => r.personal.listSubscribedSpans(fixture.viewer('a')));
    const holds = (seq: EventSeq, span: Awaited<ReturnType<typeof spans>>[number]) =>
      span.fromSeq <= seq && (span.toSeq === null || seq < span.toSeq);
    expect(await spans()).toEqual([{ channelId, fromSeq: opened, toSeq: null }]);
    const spansIn = (...ids: ChannelId[]) =>
      fixture.uow.read(fixture.realm.id, (r) => r.personal.listSubscribedSpans(fixture.viewer('a'), ids));
    expect(await spansIn(channelId, 99_999 as ChannelId)).toEqual(await spans());
    expect(await spansIn(99_999 as ChannelId)).toEqual([]);

    const closed = await fixture.uow.write(fixture.realm.id, async (tx) => {
      await tx.personal.closeSpans(fixture.realm.id, [recipientId], [a]);
      return appendEvent(tx, fixture.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
    });
    const [span] = await spans();
    expect([opened - 1, opened, between, closed].map((seq) => holds(seq as EventSeq, span!))).toEqual([
      false,
      true,
      true,
      false,
    ]);
    await announce();
    await subscribe(fixture, 'general', 'a');
    expect(await spans()).toHaveLength(2);
    expect(
      await fixture.uow.read(fixture.realm.id, (r) => r.personal.listSubscribedSpans(fixture.viewer('b'))),
    ).toEqual([]);
  });

  it('drops ended subscriptions without messages when their events are pruned', async () => {
    const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aChannel({ name: 'general' }));
    const { uow, realm, clock } = fixture;
    const announce = () =>
      uow.write(realm.id, (tx) =>
        appendEvent(tx, realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
      );
    const { recipientId } = fixture.channel('general');
    const a = fixture.user('a').id;
    const leave = () => uow.write(realm.id, (tx) => tx.personal.closeSpans(realm.id, [recipientId], [a]));
    const spans = async () =>
      (await uow.read(realm.id, (r) => r.personal.listSubscribedSpans(fixture.viewer('a')))).length;

    await subscribe(fixture, 'general', 'a');
    const received = await send(fixture, { from: 'b', to: 'general' });
    await leave();
    await announce();
    await subscribe(fixture, 'general', 'a');
    await announce();
    await leave();
    const last = await announce();
    expect(await spans()).toBe(2);
    const prune = (upTo: EventSeq) =>
      uow.write(realm.id, (tx) => tx.events.prune(realm.id, upTo, clock.now() + 1, 1000));
    await prune((last - 1) as EventSeq);
    expect(await spans()).toBeGreaterThanOrEqual(1);
    await prune(last);
    expect(await spans()).toBeLessThanOrEqual(1);
    const flags = await uow.read(realm.id, (r) => r.personal.listFlags(fixture.viewer('a'), [received.id]));
    expect([...flags.keys()]).toEqual([received.id]);

    await subscribe(fixture, 'general', 'a');
    const another = await send(fixture, { from: 'b', to: 'general' });
    const unread = await uow.read(realm.id, (r) => r.personal.listUnread(fixture.viewer('a'), 10));
    expect(unread.map(({ id }) => id).sort()).toEqual([received.id, another.id].sort());
  });

  it('isolates realms', async () => {
    const fixture = await stage(...scene);
    const m1 = await send(fixture, { from: 'b', to: 'general' });
    const other = await anotherRealm(fixture, aUser({ name: 'x' }));
    const insider = fixture.viewer('a');
    const misplaced = { realmId: other.realm.id, userId: insider.userId };
    const otherRealmUser = other.viewer('x');
    await fixture.uow.write(other.realm.id, async (tx) => {
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
      expect([...(await tx.personal.filterHolders(other.realm.id, [m1.id], [insider.userId])).values()]).toEqual([[]]);
      const flags = await tx.personal.listFlagsOf(other.realm.id, [insider.userId], [m1.id]);
      expect(flags).toEqual(new Map([[insider.userId, new Map()]]));
    });
    expect(await flagsOf(fixture, 'a', m1)).toEqual(NONE);
  });
}
