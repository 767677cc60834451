import {
  aChannel,
  aMessage,
  anotherRealm,
  aUserOfEachRole,
  expectInSync,
  expectRefused,
  given,
  type MemoryScene,
  plainAddresses,
  told,
} from '@parley/testkit';
import { leaveChannels } from '../../channels/leave-channels.js';
import type { MessageId } from '../../shared/ids.js';
import type { FlagChange } from '../change-flags.js';
import type { PageRange } from '../message-page.js';
import { ChangeMessageFlags } from './change-message-flags.js';
import { ChangeNarrowFlags } from './change-narrow-flags.js';
import { MarkRead, type MarkReadInput } from './mark-read.js';

const read = (op: FlagChange['op'] = 'add'): FlagChange => ({ op, flag: 'read' });
const starred = (op: FlagChange['op'] = 'add'): FlagChange => ({ op, flag: 'starred' });

/** Messages: 0 and 1 in Denmark, which the member follows; 2 in Rome, 3 in core, where he does not; 4 and 5 to him. */
const town = () =>
  given(
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
const ids = (scene: MemoryScene, ...numbers: readonly number[]) => numbers.map((number) => scene.messages[number]!.id);
const marking = (scene: MemoryScene) => {
  const useCase = new ChangeMessageFlags(scene.uow);
  return (change: FlagChange, messageIds: readonly MessageId[], who = 'member') =>
    useCase.execute(scene.caller(who), { ...change, ids: messageIds });
};
const lastEvent = (scene: MemoryScene) => scene.storage.announced.at(-1)?.event;
const flagsOf = (scene: MemoryScene, number: number, who = 'member') =>
  scene.uow.read(async (r) => {
    const [id] = ids(scene, number);
    const flags = (await r.personal.listFlags(scene.viewer(who), [id!])).get(id!);
    return flags ? Object.entries(flags).flatMap(([flag, on]) => (on ? [flag] : [])) : null;
  });
const INVALID = { code: 'INVALID_INPUT', message: 'Invalid message(s)' };

describe('marking messages', () => {
  it('changes those that are otherwise, and tells the other clients of the same person', async () => {
    const scene = await town();
    const mark = marking(scene);
    await expectInSync(scene, () => mark(read(), ids(scene, 1, 4)));
    expect(await mark(read(), ids(scene, 4, 0, 1, 0))).toEqual({ changedIds: ids(scene, 0), ignoredChannelIds: [] });
    expect(lastEvent(scene)).toMatchObject({
      op: 'add',
      flag: 'read',
      messageIds: ids(scene, 0),
      all: false,
      details: [],
    });
    expect(await told(scene)).toEqual([
      ['message.flag_changed', ['member']],
      ['message.flag_changed', ['member']],
    ]);
  });

  it.each([
    ['read', read()],
    ['not starred', starred('remove')],
    ['not collapsed', { op: 'remove', flag: 'collapsed' } as const],
  ])('as what unknown messages are anyway, %s, changes nothing', async (_, change) => {
    const scene = await town();
    const unknown = [9999 as MessageId, ...ids(scene, 3)];
    expect(await marking(scene)(change, unknown)).toEqual({ changedIds: [], ignoredChannelIds: [] });
    expect(lastEvent(scene)).toMatchObject({ messageIds: [] });
    expect(await flagsOf(scene, 3)).toBeNull();
  });

  it('makes one’s own what was never received', async () => {
    const scene = await town();
    await expectInSync(scene, () => marking(scene)(starred(), ids(scene, 2)));
    expect(await flagsOf(scene, 2)).toEqual(['read', 'starred', 'historical']);
  });

  it.each([
    ['stars', starred(), 'member'],
    ['collapses', { op: 'add', flag: 'collapsed' } as const, 'member'],
    ['unreads', read('remove'), 'member'],
    ['stars, as administrator,', starred(), 'administrator'],
  ])('%s nothing when one of them cannot be read', async (_, change, who) => {
    const scene = await town();
    const elsewhere = await anotherRealm(scene, aMessage({ from: 'stranger', to: 'theirs' }));
    const mark = marking(scene);
    for (const bad of [9999 as MessageId, elsewhere.messages[0]!.id, ...ids(scene, 3)]) {
      await expectRefused(scene, () => mark(change, [...ids(scene, 0), bad], who), INVALID);
    }
  });
});

describe('marking as unread', () => {
  it('says where the messages are', async () => {
    const scene = await town();
    const mark = marking(scene);
    const all = ids(scene, 0, 1, 4, 5);
    await mark(read(), all);
    await expectInSync(scene, () => mark(read('remove'), all));
    const inDenmark = { kind: 'channel', channelId: scene.channel('Denmark').id, isUnmuted: true };
    const others = [scene.user('owner').id, scene.user('guest').id];
    expect(lastEvent(scene)).toMatchObject({
      messageIds: all,
      details: [
        [all[0], { ...inDenmark, topic: 'a', isMentioned: true }],
        [all[1], { ...inDenmark, topic: 'b', isMentioned: false }],
        [all[2], { kind: 'direct', userIds: others, isMentioned: false }],
        [all[3], { kind: 'direct', userIds: [], isMentioned: false }],
      ],
    });
  });

  it('says which are in a muted channel', async () => {
    const scene = await town();
    await scene.uow.write(async (tx) => {
      const { realmId, userId } = scene.viewer('member');
      const row = (await tx.channels.findSubscription(realmId, scene.channel('Denmark').id, userId))!;
      await tx.channels.putSubscriptions([{ ...row, isMuted: true }]);
    });
    const mark = marking(scene);
    await mark(read(), ids(scene, 1));
    await mark(read('remove'), ids(scene, 1));
    expect(lastEvent(scene)).toMatchObject({ details: [[ids(scene, 1)[0], { isUnmuted: false }]] });
  });

  it('passes over channels one does not follow, received or not', async () => {
    const scene = await town();
    const mark = marking(scene);
    await scene.uow.write((tx) => leaveChannels(tx, [scene.channel('Denmark')], [scene.user('member').id]));
    expect(await mark(read('remove'), ids(scene, 2, 1))).toEqual({
      changedIds: [],
      ignoredChannelIds: [scene.channel('Denmark').id, scene.channel('Rome').id],
    });
    expect(await flagsOf(scene, 1)).toEqual(['read']);
    expect(await flagsOf(scene, 2)).toBeNull();
  });

  it('does not give away in which hidden channel a message is', async () => {
    const scene = await town();
    await expectRefused(scene, () => marking(scene)(read('remove'), ids(scene, 3)), INVALID);
  });
});

describe('marking a range', () => {
  const range = (kind: 'newest' | 'oldest', before: number, after: number): PageRange => ({
    anchor: { kind },
    before,
    after,
    includeAnchor: true,
  });
  const marking = (scene: MemoryScene) => {
    const useCase = new ChangeNarrowFlags(scene.uow, plainAddresses);
    return (change: FlagChange, pageRange: PageRange, channel?: string) =>
      useCase.execute(scene.caller('member'), {
        ...change,
        range: pageRange,
        narrow: channel === undefined ? [] : [{ operator: 'channel', operand: channel, negated: false }],
      });
  };

  it('says what it looked at, what it changed and whether there is more', async () => {
    const scene = await town();
    const mark = marking(scene);
    const [first, second] = ids(scene, 0, 1);
    await scene.uow.write((tx) => tx.personal.setRead(scene.viewer('member'), [first!], true));
    await expectInSync(scene, async () => {
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
    expect(lastEvent(scene)).toMatchObject({ messageIds: [second] });
  });

  it('may find nothing', async () => {
    const scene = await town();
    await scene.add(aChannel({ name: 'empty' }));
    expect(await marking(scene)(read(), range('newest', 5, 0), 'empty')).toMatchObject({
      processedCount: 0,
      firstProcessedId: null,
      lastProcessedId: null,
      foundOldest: true,
    });
  });

  it('passes over what cannot be unread', async () => {
    const scene = await town();
    expect(await marking(scene)(read('remove'), range('newest', 5, 0), 'Rome')).toMatchObject({
      processedCount: 1,
      updatedCount: 0,
      ignoredChannelIds: [scene.channel('Rome').id],
    });
  });

  it('refuses an impossible range before a bad narrow', async () => {
    const scene = await town();
    const mark = marking(scene);
    const impossible = { ...range('oldest', 1, 1), includeAnchor: false };
    await expectRefused(scene, () => mark(read(), impossible, 'nowhere'), {
      message: 'The anchor can only be excluded at an end of the range',
    });
    await expectRefused(scene, () => mark(read(), range('oldest', 1, 1), 'nowhere'), { code: 'INVALID_NARROW' });
  });
});

describe('marking a place as read', () => {
  const marking = (scene: MemoryScene) => {
    const useCase = new MarkRead(scene.uow);
    return (scope: MarkReadInput['scope'], who = 'member') => useCase.execute(scene.caller(who), { scope });
  };
  const unread = async (scene: MemoryScene) =>
    (await scene.uow.read((r) => r.personal.listUnread(scene.viewer('member'), 99))).map(({ id }) => id);

  it('marks everything, and says so even when nothing was unread', async () => {
    const scene = await town();
    const mark = marking(scene);
    await expectInSync(scene, () => mark({ kind: 'everything' }));
    expect(await unread(scene)).toEqual([]);
    await mark({ kind: 'everything' });
    expect(scene.storage.announced.map(({ event }) => event)).toMatchObject([
      { all: true, messageIds: [] },
      { all: true, messageIds: [] },
    ]);
  });

  it('marks a channel', async () => {
    const scene = await town();
    const mark = marking(scene);
    const channelId = scene.channel('Denmark').id;
    await expectInSync(scene, () => mark({ kind: 'channel', channelId }));
    expect(lastEvent(scene)).toMatchObject({ messageIds: ids(scene, 0, 1), all: false });
    expect(await unread(scene)).toEqual(ids(scene, 4, 5));
    await mark({ kind: 'channel', channelId });
    await mark({ kind: 'topic', channelId, topic: 'a' });
    expect(scene.storage.announced).toHaveLength(1);
  });

  it('marks a topic, whatever the letter case', async () => {
    const scene = await town();
    await marking(scene)({ kind: 'topic', channelId: scene.channel('Denmark').id, topic: ' B' });
    expect(await unread(scene)).toEqual(ids(scene, 0, 4, 5));
  });

  it('refuses channels one cannot read, and topics one has nothing of', async () => {
    const scene = await town();
    const elsewhere = await anotherRealm(scene);
    const mark = marking(scene);
    const unknown = { code: 'INVALID_INPUT', message: 'Invalid channel ID' };
    for (const channelId of [scene.channel('core').id, elsewhere.channel('theirs').id]) {
      await expectRefused(scene, () => mark({ kind: 'channel', channelId }), unknown);
      await expectRefused(scene, () => mark({ kind: 'topic', channelId, topic: 'greetings' }), unknown);
    }
    const { id: channelId } = scene.channel('Rome');
    await expectRefused(scene, () => mark({ kind: 'topic', channelId, topic: 'greetings' }), {
      code: 'INVALID_INPUT',
      message: "No such topic 'greetings'",
    });
    await mark({ kind: 'channel', channelId });
    expect(await told(scene)).toEqual([]);
  });
});
