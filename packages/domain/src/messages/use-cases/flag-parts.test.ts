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
} from '@parley/testkit';
import type { MessageId } from '../../kernel/ids.js';
import { JobRunner } from '../../kernel/jobs.js';
import type { FlagChange } from '../flags.js';
import { ChangeFlagParts, ChangeMessageFlags, ChangeNarrowFlags, MAX_FLAGS_AT_ONCE } from '../flags.use-cases.js';
import { PLAIN_TEXTS } from '../search.js';

const COUNT = MAX_FLAGS_AT_ONCE + 50;
const STAR: FlagChange = { op: 'add', flag: 'starred' };

async function large() {
  const fixture = await createFixture(
    aUser({ name: 'reader' }),
    aUser({ name: 'writer' }),
    aChannel({ name: 'Denmark', subscribers: ['reader', 'writer'] }),
    ...Array.from({ length: COUNT }, () => aMessage({ from: 'writer', to: 'Denmark' })),
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
    ...{ fixture, counter, ids: fixture.messages.map(({ id }) => id) },
    change: (ids: readonly MessageId[], change: FlagChange) =>
      new ChangeMessageFlags(uow, clock).execute(fixture.caller('reader'), { ids, ...change }),
    changeNarrow: (after: number, change: FlagChange) =>
      new ChangeNarrowFlags(uow, fakeRealmUrls, PLAIN_TEXTS, clock).execute(fixture.caller('reader'), {
        ...change,
        narrow: [],
        range: { anchor: { kind: 'oldest' }, before: 0, after, includeAnchor: true },
      }),
    starred: () => fixture.uow.read(fixture.realm.id, ({ personal }) => personal.listStarred(fixture.viewer('reader'))),
    /** Runs the jobs that a crash left. */
    recover: async () => {
      clock.advance(60);
      const problems: unknown[] = [];
      const report = (...problem: unknown[]) => void problems.push(problem);
      await new JobRunner(new ChangeFlagParts(fixture.uow, clock), { uow: fixture.uow, clock, report }).run();
      expect(problems).toEqual([]);
    },
  };
}

describe('requests for the flags of many messages (contract decision 10)', () => {
  it('splits large changes into bounded units with the outcome of one unit', async () => {
    const { fixture, counter, ids, change, starred } = await large();
    await expectInSync(fixture, async () => {
      expect(await change(ids.toReversed(), STAR)).toEqual({ changedIds: ids, ignoredChannelIds: [] });
    });
    expect([counter.count, await starred()]).toEqual([3, ids]);
    await expectInSync(fixture, () => change(ids, { op: 'add', flag: 'read' }));
    await expectInSync(fixture, () => change(ids, { op: 'remove', flag: 'read' }));
  });

  it('stay one unit at the limit of a unit', async () => {
    const { counter, ids, change } = await large();
    await change(ids.slice(0, MAX_FLAGS_AT_ONCE), STAR);
    expect(counter.count).toBe(1);
  });

  it('split large changes of a narrow too and notify other clients even without messages', async () => {
    const { fixture, counter, ids, changeNarrow, starred } = await large();
    const output = await changeNarrow(2000, STAR);
    expect(output).toMatchObject({ processedCount: COUNT, updatedCount: COUNT, foundNewest: true });
    expect([counter.count, await starred()]).toEqual([3, ids]);
    const before = (await eventsWithReceivers(fixture)).length;
    expect(await changeNarrow(2000, STAR)).toMatchObject({ processedCount: COUNT, updatedCount: 0 });
    expect((await eventsWithReceivers(fixture)).length).toBe(before + 2);
  });

  it('change nothing if one message is unknown', async () => {
    const { fixture, ids, change } = await large();
    await expectRefused(fixture, () => change([...ids, 1_000_000 as MessageId], STAR), { code: 'UNKNOWN_MESSAGE' });
  });

  it('are completed by a job after a crash, without messages deleted meanwhile', async () => {
    const { fixture, counter, ids, change, starred, recover } = await large();
    counter.failsAfter = 2;
    await expect(change(ids, STAR)).rejects.toThrow('Stopped');
    expect((await starred()).length).toBe(MAX_FLAGS_AT_ONCE);
    const last = fixture.messages.at(-1)!;
    await fixture.uow.write(fixture.realm.id, (tx) => tx.messages.remove(fixture.realm.id, [last.id]));
    await recover();
    expect(await starred()).toEqual(ids.slice(0, -1));
  });
});
