import {
  aChannel,
  aMessage,
  anotherRealm,
  aUserOfEachRole,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  fakeRealmUrls,
  type MemoryFixture,
} from '@parley/testkit';
import { unsubscribeFromChannels } from '../channels/subscribing.js';
import type { MessageId } from '../kernel/ids.js';
import type { FlagChange } from './flags.js';
import { ChangeMessageFlags, ChangeNarrowFlags, MarkRead, type MarkReadInput } from './flags.use-cases.js';
import type { PageRange } from './message-page.js';
import { PLAIN_TEXTS } from './search.js';

const read = (op: FlagChange['op'] = 'add'): FlagChange => ({ op, flag: 'read' });
const starred = (op: FlagChange['op'] = 'add'): FlagChange => ({ op, flag: 'starred' });

/**
 * Creates messages: 0 and 1 in Denmark, where the member is subscribed; 2 in Rome and 3 in core, where the member is
 * not; 4 and 5 direct to the member.
 */
const town = () =>
  createFixture(
    aUserOfEachRole(),
    aChannel({ name: 'Denmark', subscribers: ['member', 'guest'] }),
    aChannel({ name: 'Rome' }),
    aChannel({ name: 'core', privacy: 'privateSharedHistory', subscribers: ['owner'] }),
    aMessage({ from: 'owner', to: 'Denmark', topic: 'a', exceptions: { member: { mentioned: true } } }),
    aMessage({ from: 'owner', to: 'Denmark', topic: 'b' }),
    aMessage({ from: 'owner', to: 'Rome' }),
    aMessage({ from: 'owner', to: 'core' }),
    aMessage({ from: 'owner', to: ['member', 'guest'] }),
    aMessage({ from: 'member', to: ['member'], isReadBySender: false }),
  );
const ids = (fixture: MemoryFixture, ...numbers: readonly number[]) =>
  numbers.map((number) => fixture.messages[number]!.id);
const marking = (fixture: MemoryFixture) => {
  const useCase = new ChangeMessageFlags(fixture.uow, fixture.clock);
  return (change: FlagChange, messageIds: readonly MessageId[], who = 'member') =>
    useCase.execute(fixture.caller(who), { ...change, ids: messageIds });
};
const lastEvent = (fixture: MemoryFixture) => fixture.storage.announced.at(-1)?.event;
const flagsOf = (fixture: MemoryFixture, number: number, who = 'member') =>
  fixture.uow.read(fixture.realm.id, async (r) => {
    const [id] = ids(fixture, number);
    const flags = (await r.personal.listFlags(fixture.viewer(who), [id!])).get(id!);
    return flags ? Object.entries(flags).flatMap(([flag, on]) => (on ? [flag] : [])) : null;
  });
const INVALID = { code: 'UNKNOWN_MESSAGE', message: 'Invalid message(s)' };

describe('ChangeMessageFlags', () => {
  it("changes messages with a different state and notifies the user's other clients", async () => {
    const fixture = await town();
    const mark = marking(fixture);
    await expectInSync(fixture, () => mark(read(), ids(fixture, 1, 4)));
    expect(await mark(read(), ids(fixture, 4, 0, 1, 0))).toEqual({
      changedIds: ids(fixture, 0),
      ignoredChannelIds: [],
    });
    expect(lastEvent(fixture)).toMatchObject({
      op: 'add',
      flag: 'read',
      messageIds: ids(fixture, 0),
      all: false,
      details: [],
    });
    expect(await eventsWithReceivers(fixture)).toEqual([
      ['message.flag_changed', ['member']],
      ['message.flag_changed', ['member']],
    ]);
  });

  it.each([
    ['read', read()],
    ['not starred', starred('remove')],
    ['not collapsed', { op: 'remove', flag: 'collapsed' } as const],
  ])('makes no change if unknown messages already count as %s', async (_, change) => {
    const fixture = await town();
    const unknown = [9999 as MessageId, ...ids(fixture, 3)];
    expect(await marking(fixture)(change, unknown)).toEqual({ changedIds: [], ignoredChannelIds: [] });
    expect(lastEvent(fixture)).toMatchObject({ messageIds: [] });
    expect(await flagsOf(fixture, 3)).toBeNull();
  });

  it("makes messages that were never received the user's own, as historical", async () => {
    const fixture = await town();
    await expectInSync(fixture, () => marking(fixture)(starred(), ids(fixture, 2)));
    expect(await flagsOf(fixture, 2)).toEqual(['read', 'starred', 'historical']);
  });

  it.each([
    ['stars', starred(), 'member'],
    ['collapses', { op: 'add', flag: 'collapsed' } as const, 'member'],
    ['unreads', read('remove'), 'member'],
    ['stars as an administrator', starred(), 'administrator'],
  ])('%s no message if one of them is inaccessible', async (_, change, who) => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture, aMessage({ from: 'otherRealmUser', to: 'theirs' }));
    const mark = marking(fixture);
    for (const bad of [9999 as MessageId, elsewhere.messages[0]!.id, ...ids(fixture, 3)]) {
      await expectRefused(fixture, () => mark(change, [...ids(fixture, 0), bad], who), INVALID);
    }
  });
});

describe('ChangeMessageFlags for marking as unread', () => {
  it('publishes the locations of the messages', async () => {
    const fixture = await town();
    const mark = marking(fixture);
    const all = ids(fixture, 0, 1, 4, 5);
    await mark(read(), all);
    await expectInSync(fixture, () => mark(read('remove'), all));
    const inDenmark = { kind: 'channel', channelId: fixture.channel('Denmark').id, isUnmuted: true };
    const others = [fixture.user('owner').id, fixture.user('guest').id];
    expect(lastEvent(fixture)).toMatchObject({
      messageIds: all,
      details: [
        [all[0], { ...inDenmark, topic: 'a', isMentioned: true }],
        [all[1], { ...inDenmark, topic: 'b', isMentioned: false }],
        [all[2], { kind: 'direct', userIds: others, isMentioned: false }],
        [all[3], { kind: 'direct', userIds: [], isMentioned: false }],
      ],
    });
  });

  it('publishes the muted state of the channel', async () => {
    const fixture = await town();
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      const { realmId, userId } = fixture.viewer('member');
      const row = (await tx.channels.findSubscription(realmId, fixture.channel('Denmark').id, userId))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    });
    const mark = marking(fixture);
    await mark(read(), ids(fixture, 1));
    await mark(read('remove'), ids(fixture, 1));
    expect(lastEvent(fixture)).toMatchObject({ details: [[ids(fixture, 1)[0], { isUnmuted: false }]] });
  });

  it('skips messages of unsubscribed channels, even received ones', async () => {
    const fixture = await town();
    const mark = marking(fixture);
    await fixture.uow.write(fixture.realm.id, (tx) =>
      unsubscribeFromChannels(tx, [fixture.channel('Denmark')], [fixture.user('member').id]),
    );
    expect(await mark(read('remove'), ids(fixture, 2, 1))).toEqual({
      changedIds: [],
      ignoredChannelIds: [fixture.channel('Denmark').id, fixture.channel('Rome').id],
    });
    expect(await flagsOf(fixture, 1)).toEqual(['read']);
    expect(await flagsOf(fixture, 2)).toBeNull();
  });

  it('does not reveal the hidden channel of a message', async () => {
    const fixture = await town();
    await expectRefused(fixture, () => marking(fixture)(read('remove'), ids(fixture, 3)), INVALID);
  });
});

describe('ChangeNarrowFlags', () => {
  const range = (kind: 'newest' | 'oldest', before: number, after: number): PageRange => ({
    anchor: { kind },
    before,
    after,
    includeAnchor: true,
  });
  const marking = (fixture: MemoryFixture) => {
    const useCase = new ChangeNarrowFlags(fixture.uow, fakeRealmUrls, PLAIN_TEXTS, fixture.clock);
    return (change: FlagChange, pageRange: PageRange, channel?: string) =>
      useCase.execute(fixture.caller('member'), {
        ...change,
        range: pageRange,
        narrow: channel === undefined ? [] : [{ operator: 'channel', operand: channel, negated: false }],
      });
  };

  it('returns processed ids, counts and reached ends', async () => {
    const fixture = await town();
    const mark = marking(fixture);
    const [first, second] = ids(fixture, 0, 1);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.personal.setRead(fixture.viewer('member'), [first!], true));
    await expectInSync(fixture, async () => {
      expect(await mark(read(), range('oldest', 0, 2))).toEqual({
        processedCount: 2,
        updatedCount: 1,
        firstProcessedId: first,
        lastProcessedId: second,
        foundOldest: true,
        foundNewest: false,
        ignoredChannelIds: [],
      });
    });
    expect(lastEvent(fixture)).toMatchObject({ messageIds: [second] });
  });

  it('reports zero messages for an empty narrow', async () => {
    const fixture = await town();
    await fixture.add(aChannel({ name: 'empty' }));
    expect(await marking(fixture)(read(), range('newest', 5, 0), 'empty')).toMatchObject({
      processedCount: 0,
      firstProcessedId: null,
      lastProcessedId: null,
      foundOldest: true,
    });
  });

  it('skips messages that cannot be unread', async () => {
    const fixture = await town();
    expect(await marking(fixture)(read('remove'), range('newest', 5, 0), 'Rome')).toMatchObject({
      processedCount: 1,
      updatedCount: 0,
      ignoredChannelIds: [fixture.channel('Rome').id],
    });
  });

  it('rejects an invalid range before an invalid narrow', async () => {
    const fixture = await town();
    const mark = marking(fixture);
    const impossible = { ...range('oldest', 1, 1), includeAnchor: false };
    await expectRefused(fixture, () => mark(read(), impossible, 'nowhere'), {
      message: 'The anchor can only be excluded at an end of the range',
    });
    await expectRefused(fixture, () => mark(read(), range('oldest', 1, 1), 'nowhere'), { code: 'INVALID_NARROW' });
  });
});

describe('MarkRead', () => {
  const marking = (fixture: MemoryFixture) => {
    const useCase = new MarkRead(fixture.uow, fixture.clock);
    return (scope: MarkReadInput['scope'], who = 'member') => useCase.execute(fixture.caller(who), { scope });
  };
  const unread = async (fixture: MemoryFixture) =>
    (await fixture.uow.read(fixture.realm.id, (r) => r.personal.listUnread(fixture.viewer('member'), 99))).map(
      ({ id }) => id,
    );

  it('marks all messages and publishes the event even if none was unread', async () => {
    const fixture = await town();
    const mark = marking(fixture);
    await expectInSync(fixture, () => mark({ kind: 'everything' }));
    expect(await unread(fixture)).toEqual([]);
    await mark({ kind: 'everything' });
    expect(fixture.storage.announced.map(({ event }) => event)).toMatchObject([
      { all: true, messageIds: [] },
      { all: true, messageIds: [] },
    ]);
  });

  it('marks the messages of a channel', async () => {
    const fixture = await town();
    const mark = marking(fixture);
    const channelId = fixture.channel('Denmark').id;
    await expectInSync(fixture, () => mark({ kind: 'channel', channelId }));
    expect(lastEvent(fixture)).toMatchObject({ messageIds: ids(fixture, 0, 1), all: false });
    expect(await unread(fixture)).toEqual(ids(fixture, 4, 5));
    await mark({ kind: 'channel', channelId });
    await mark({ kind: 'topic', channelId, topic: 'a' });
    expect(fixture.storage.announced).toHaveLength(1);
  });

  it('marks the messages of a topic case-insensitively', async () => {
    const fixture = await town();
    await marking(fixture)({ kind: 'topic', channelId: fixture.channel('Denmark').id, topic: ' B' });
    expect(await unread(fixture)).toEqual(ids(fixture, 0, 4, 5));
  });

  it('rejects unreadable channels and topics without own messages', async () => {
    const fixture = await town();
    const elsewhere = await anotherRealm(fixture);
    const mark = marking(fixture);
    const unknown = { code: 'UNKNOWN_CHANNEL', message: 'Invalid channel ID' };
    for (const channelId of [fixture.channel('core').id, elsewhere.channel('theirs').id]) {
      await expectRefused(fixture, () => mark({ kind: 'channel', channelId }), unknown);
      await expectRefused(fixture, () => mark({ kind: 'topic', channelId, topic: 'greetings' }), unknown);
    }
    const { id: channelId } = fixture.channel('Rome');
    await expectRefused(fixture, () => mark({ kind: 'topic', channelId, topic: 'greetings' }), {
      code: 'UNKNOWN_TOPIC',
      message: "No such topic 'greetings'",
    });
    await mark({ kind: 'channel', channelId });
    expect(await eventsWithReceivers(fixture)).toEqual([]);
  });
});
