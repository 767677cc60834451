import {
  aChannel,
  aMessage,
  aUser,
  createFixture,
  eventsWithReceivers,
  expectInSync,
  expectRefused,
  fakeRealmUrls,
  intercepting,
  type MemoryFixture,
  sending,
} from '@parley/testkit';
import type { MessageId } from '../kernel/ids.js';
import { JobRunner } from '../kernel/jobs.js';
import type { FlagChange } from './flags.js';
import {
  ChangeFlagParts,
  ChangeMessageFlags,
  ChangeNarrowFlags,
  MAX_CONVERSATIONS_AT_ONCE,
  MAX_FLAGS_AT_ONCE,
  MAX_READ_AT_ONCE,
  MarkAllReadParts,
  MarkRead,
} from './flags.use-cases.js';
import { MAX_MUTED_AT_ONCE, MuteUser, MuteUserParts } from './muted-users.js';
import { PLAIN_TEXTS } from './search.js';

const COUNT = MAX_FLAGS_AT_ONCE + 50;
const STAR: FlagChange = { op: 'add', flag: 'starred' };

const deactivate = (fixture: MemoryFixture, name: string) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user(name), isActive: false }));

async function large(count = COUNT) {
  const fixture = await createFixture(
    aUser({ name: 'reader' }),
    aUser({ name: 'writer' }),
    aChannel({ name: 'Denmark', subscribers: ['reader', 'writer'] }),
    ...Array.from({ length: count }, () => aMessage({ from: 'writer', to: 'Denmark' })),
  );
  const counter = { count: 0, failsAfter: Number.POSITIVE_INFINITY };
  const uow = intercepting(fixture.uow, {
    write: async (work, run) => {
      if (counter.count >= counter.failsAfter) throw new Error('Stopped');
      counter.count++;
      return run(work);
    },
  });
  const { clock } = fixture;
  return {
    ...{ fixture, counter, uow, ids: fixture.messages.map(({ id }) => id) },
    change: (ids: readonly MessageId[], change: FlagChange) =>
      new ChangeMessageFlags(uow, clock).execute(fixture.caller('reader'), { ids, ...change }),
    changeNarrow: (after: number, change: FlagChange) =>
      new ChangeNarrowFlags(uow, fakeRealmUrls, PLAIN_TEXTS, clock).execute(fixture.caller('reader'), {
        ...change,
        narrow: [],
        range: { anchor: { kind: 'oldest' }, before: 0, after, includeAnchor: true },
      }),
    starred: () => fixture.uow.read(fixture.realm.id, ({ personal }) => personal.listStarred(fixture.viewer('reader'))),
    /** Runs the jobs left by a crash. */
    recover: async () => {
      clock.advance(60);
      const problems: unknown[] = [];
      const report = (...problem: unknown[]) => void problems.push(problem);
      await new JobRunner(new ChangeFlagParts(fixture.uow, clock), { uow: fixture.uow, clock, report }).run();
      expect(problems).toEqual([]);
    },
  };
}

describe('request for the flags of many messages (contract decision 10)', () => {
  it('splits a large change into bounded units with the outcome of a single unit', async () => {
    const { fixture, counter, ids, change, starred } = await large();
    await expectInSync(fixture, async () => {
      expect(await change(ids.toReversed(), STAR)).toEqual({ changedIds: ids, ignoredChannelIds: [] });
    });
    expect([counter.count, await starred()]).toEqual([3, ids]);
    await expectInSync(fixture, () => change(ids, { op: 'add', flag: 'read' }));
    await expectInSync(fixture, () => change(ids, { op: 'remove', flag: 'read' }));
  });

  it('runs as one unit at the limit of a unit', async () => {
    const { counter, ids, change } = await large();
    await change(ids.slice(0, MAX_FLAGS_AT_ONCE), STAR);
    expect(counter.count).toBe(1);
  });

  it('splits a large change of a narrow and notifies other clients even without messages', async () => {
    const { fixture, counter, ids, changeNarrow, starred } = await large();
    const output = await changeNarrow(2000, STAR);
    expect(output).toMatchObject({ processedCount: COUNT, updatedCount: COUNT, foundNewest: true });
    expect([counter.count, await starred()]).toEqual([3, ids]);
    const before = (await eventsWithReceivers(fixture)).length;
    expect(await changeNarrow(2000, STAR)).toMatchObject({ processedCount: COUNT, updatedCount: 0 });
    expect((await eventsWithReceivers(fixture)).length).toBe(before + 2);
  });

  it('changes nothing if one message is unknown', async () => {
    const { fixture, ids, change } = await large();
    await expectRefused(fixture, () => change([...ids, 1_000_000 as MessageId], STAR), { code: 'UNKNOWN_MESSAGE' });
  });

  it('is completed by a job after a crash, except for messages deleted in between', async () => {
    const { fixture, counter, ids, change, starred, recover } = await large();
    counter.failsAfter = 2;
    await expect(change(ids, STAR)).rejects.toThrow('Stopped');
    expect((await starred()).length).toBe(MAX_FLAGS_AT_ONCE);
    const last = fixture.messages.at(-1)!;
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [last.id]));
    await recover();
    expect(await starred()).toEqual(ids.slice(0, -1));
  });

  it('is completed by a job after a crash if its author is deactivated in between', async () => {
    const { fixture, counter, ids, change, starred, recover } = await large();
    counter.failsAfter = 2;
    await expect(change(ids, STAR)).rejects.toThrow('Stopped');
    await deactivate(fixture, 'reader');
    await recover();
    expect(await starred()).toEqual(ids);
  });
});

describe('request that marks everything as read (contract decision 10)', () => {
  const NAMES = Array.from({ length: MAX_CONVERSATIONS_AT_ONCE + 50 }, (_, n) => `channel ${n}`);

  async function unreadEverywhere() {
    const fixture = await createFixture(
      aUser({ name: 'reader' }),
      aUser({ name: 'writer' }),
      ...NAMES.map((name) => aChannel({ name, subscribers: ['reader', 'writer'] })),
      ...NAMES.map((name) => aMessage({ from: 'writer', to: name })),
    );
    const units = { count: 0, before: async (_count: number) => {} };
    const uow = intercepting(fixture.uow, {
      write: async (work, run) => {
        await units.before(units.count);
        units.count++;
        return run(work);
      },
    });
    return {
      ...{ fixture, units },
      markAll: () =>
        new MarkRead(uow, fixture.clock).execute(fixture.caller('reader'), { scope: { kind: 'everything' } }),
      unread: () =>
        fixture.uow.read(fixture.realm.id, ({ personal }) => personal.listUnread(fixture.viewer('reader'), 10_000)),
      flagEvents: () => fixture.storage.announced.filter(({ event }) => event.type === 'message.flag_changed').length,
    };
  }

  it('marks conversations in several units and is published once, by the last unit', async () => {
    const { fixture, units, markAll, unread, flagEvents } = await unreadEverywhere();
    units.before = async () => expect(flagEvents()).toBe(0);
    await expectInSync(fixture, markAll);
    expect([units.count, flagEvents(), await unread()]).toEqual([2, 1, []]);
  });

  it('includes messages that arrive in conversations of earlier parts', async () => {
    const { fixture, units, markAll, unread } = await unreadEverywhere();
    units.before = async (count) => {
      if (count === 1) await sending(fixture)('writer', { kind: 'channelName', name: NAMES[0]! });
    };
    await markAll();
    expect(await unread()).toEqual([]);
  });

  it.each([
    ['is completed by a job after a crash', async () => {}],
    [
      'is completed by a job after a crash if its author is deactivated in between',
      (fixture: MemoryFixture) => deactivate(fixture, 'reader'),
    ],
  ])('%s', async (_, change) => {
    const { fixture, units, markAll, unread, flagEvents } = await unreadEverywhere();
    units.before = async (count) => {
      if (count === 1) throw new Error('Stopped');
    };
    await expect(markAll()).rejects.toThrow('Stopped');
    expect(await unread()).toHaveLength(50);
    await change(fixture);
    const { uow, clock } = fixture;
    clock.advance(60);
    const problems: unknown[] = [];
    const report = (...problem: unknown[]) => void problems.push(problem);
    await new JobRunner(new MarkAllReadParts(uow, clock), { uow, clock, report }).run();
    expect([problems, await unread(), flagEvents()]).toEqual([[], [], 1]);
  });
});

describe('marking many messages of a channel as read (contract decision 10)', () => {
  it('marks them in several units, by a job after a crash', async () => {
    const { fixture, counter, uow } = await large(MAX_READ_AT_ONCE + 50);
    const { clock } = fixture;
    const scope = { kind: 'channel', channelId: fixture.channel('Denmark').id } as const;
    const countUnread = async () =>
      (
        await fixture.uow.read(fixture.realm.id, ({ personal }) =>
          personal.listUnread(fixture.viewer('reader'), 2 * MAX_READ_AT_ONCE),
        )
      ).length;
    counter.failsAfter = 1;
    await expect(new MarkRead(uow, clock).execute(fixture.caller('reader'), { scope })).rejects.toThrow('Stopped');
    expect(await countUnread()).toBe(50);
    clock.advance(60);
    const problems: unknown[] = [];
    const report = (...problem: unknown[]) => void problems.push(problem);
    await new JobRunner(new MarkAllReadParts(fixture.uow, clock), { uow: fixture.uow, clock, report }).run();
    expect([problems, await countUnread()]).toEqual([[], 0]);
  });
});

describe('muting the sender of many messages (contract decision 10)', () => {
  async function muting() {
    const { fixture, counter, uow } = await large();
    return {
      ...{ fixture, counter },
      mute: () =>
        new MuteUser(uow, fixture.clock).execute(fixture.caller('reader'), { userId: fixture.user('writer').id }),
      countUnread: async () =>
        (
          await fixture.uow.read(fixture.realm.id, ({ personal }) =>
            personal.listUnread(fixture.viewer('reader'), 10_000),
          )
        ).length,
    };
  }

  it('marks the messages as read in several units', async () => {
    const { fixture, counter, mute, countUnread } = await muting();
    await expectInSync(fixture, mute);
    expect([counter.count, await countUnread()]).toEqual([2, 0]);
    const lengths = fixture.storage.announced.flatMap(({ event }) =>
      event.type === 'message.flag_changed' ? [event.messageIds.length] : [],
    );
    expect(lengths).toEqual([MAX_MUTED_AT_ONCE, COUNT - MAX_MUTED_AT_ONCE]);
  });

  it('is completed by a job after a crash', async () => {
    const { fixture, counter, mute, countUnread } = await muting();
    counter.failsAfter = 1;
    await expect(mute()).rejects.toThrow('Stopped');
    expect(await countUnread()).toBe(COUNT - MAX_MUTED_AT_ONCE);
    const { uow, clock } = fixture;
    clock.advance(60);
    const problems: unknown[] = [];
    const report = (...problem: unknown[]) => void problems.push(problem);
    await new JobRunner(new MuteUserParts(uow, clock), { uow, clock, report }).run();
    expect([problems, await countUnread()]).toEqual([[], 0]);
  });
});
