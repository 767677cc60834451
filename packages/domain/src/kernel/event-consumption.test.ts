import { anotherRealm, appendEvent, createFixture, DrivenTime, type Fixture } from '@parley/testkit';
import { type ConsumeEvents, type ConsumerOptions, EventConsumption } from './event-consumption.js';
import { isReadable, type StoredEvent } from './event-log.js';
import type { EventSeq, RealmId, UnixSeconds } from './ids.js';

type Heard = readonly [RealmId, readonly number[]];

async function consuming() {
  const fixture = await createFixture();
  const { uow } = fixture;
  const time = new DrivenTime();
  const heard: Heard[] = [];
  const reports: string[] = [];
  const happens = (count = 1, realmId = fixture.realm.id): Promise<EventSeq> =>
    uow.write(realmId, async (tx) => {
      let seq = 0 as EventSeq;
      for (let number = 0; number < count; number++) {
        const event = { type: 'realm.deactivated' } as const;
        seq = await appendEvent(tx, realmId, { event, audience: { kind: 'realm' } });
      }
      return seq;
    });
  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const consume: ConsumeEvents = async (realmId, events) => {
    heard.push([realmId, events.map(({ seq }) => seq)]);
    return null;
  };
  const start = async (options: Partial<ConsumerOptions> = {}, storage = uow) => {
    const consumption = await EventConsumption.start(
      { name: 'indexer', begins: 'now', maxEvents: 100, isWanted: () => true, consume, ...options },
      { uow: storage, timers: time, report: (problem) => void reports.push(problem) },
    );
    await settle();
    return consumption;
  };
  const stored = () => uow.readAcross((r) => r.consumers.findPositions('indexer'));
  const realmId = fixture.realm.id;
  const lastSeq = () => uow.read(realmId, (r) => r.events.lastSeq(realmId));
  return { fixture: fixture as Fixture, realmId, uow, time, heard, reports, happens, settle, start, stored, lastSeq };
}

it('EventConsumption delivers events in order from its first start and stores its position', async () => {
  const { start, happens, settle, heard, stored, lastSeq, realmId } = await consuming();
  const before = await lastSeq();
  const consumption = await start();
  await happens(3);
  consumption.wake();
  await settle();
  expect(heard).toEqual([[realmId, [before + 1, before + 2, before + 3]]]);
  expect(await stored()).toEqual(new Map([[realmId, before + 3]]));
});

it('EventConsumption resumes at its stored position and includes new realms', async () => {
  const { fixture, start, happens, heard, realmId, lastSeq } = await consuming();
  await (await start()).stop();
  const seq = await happens();
  const { realm: other } = await anotherRealm(fixture);
  await happens(1, other.id);
  await start();
  expect(heard[0]).toEqual([realmId, [seq]]);
  const ofOther = heard.filter(([id]) => id === other.id).flatMap(([, seqs]) => seqs);
  expect(ofOther[0]).toBe(1);
  expect(ofOther).toEqual([...ofOther].sort((a, b) => a - b));
  expect(await lastSeq()).toBe(seq);
});

it('EventConsumption starts at the oldest event if requested', async () => {
  const { start, happens, heard } = await consuming();
  const last = await happens(250);
  await start({ begins: 'atOldestEvent' });
  expect(heard.flatMap(([, seqs]) => seqs)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  expect(Math.max(...heard.map(([, seqs]) => seqs.length))).toBe(100);
});

it('EventConsumption retries a failed event with growing delays before any later event', async () => {
  const { start, happens, heard, settle, time, reports, realmId } = await consuming();
  let fails = true;
  const consumption = await start({
    consume: async (id, events) => {
      heard.push([id, events.map(({ seq }) => seq)]);
      if (fails) throw new Error('the index is down');
      return null;
    },
  });
  const first = await happens();
  consumption.wake();
  await settle();
  const second = await happens();
  consumption.wake();
  await settle();
  expect(heard).toEqual([[realmId, [first]]]);
  expect(reports).toEqual(['consuming events failed; they come again']);
  await time.advance(0.25);
  await settle();
  expect(heard.slice(1)).toEqual([[realmId, [first, second]]]);
  await time.advance(0.25);
  await settle();
  expect(heard).toHaveLength(2);
  fails = false;
  await time.advance(0.25);
  await settle();
  expect(heard.slice(2)).toEqual([[realmId, [first, second]]]);
  expect(time.pending).toBe(0);
});

it('EventConsumption stores its changes and its position atomically', async () => {
  const { start, happens, settle, stored, realmId, time } = await consuming();
  let fails = true;
  const consumption = await start({
    consume: async () => async (tx) => {
      await tx.consumers.add('written by the consumer', new Map());
      if (fails) throw new Error('refused');
    },
  });
  const before = (await stored())!.get(realmId);
  const seq = await happens();
  consumption.wake();
  await settle();
  expect((await stored())!.get(realmId)).toBe(before);
  fails = false;
  await time.advance(1);
  await settle();
  expect((await stored())!.get(realmId)).toBe(seq);
});

it('EventConsumption skips unwanted events and stores its position on stop or after many skipped events', async () => {
  const { start, happens, settle, stored, heard, realmId } = await consuming();
  const consumption = await start({ isWanted: () => false });
  const before = (await stored())!.get(realmId)!;
  const seq = await happens(5);
  consumption.wake();
  await settle();
  expect((await stored())!.get(realmId)).toBe(before);
  await consumption.stop();
  expect((await stored())!.get(realmId)).toBe(seq);
  expect(heard).toEqual([]);
});

it('EventConsumption stores its position within a minute of a skipped event, so that the log can be pruned', async () => {
  const { start, happens, settle, stored, time, realmId } = await consuming();
  const consumption = await start({ savesLazily: true });
  const before = (await stored())!.get(realmId)!;
  const seq = await happens(5);
  consumption.wake();
  await settle();
  await time.advance(59);
  expect((await stored())!.get(realmId)).toBe(before);
  await time.advance(1);
  expect((await stored())!.get(realmId)).toBe(seq);
  expect(time.pending).toBe(0);
});

it('EventConsumption stops without reporting a failure at a position that another process has advanced', async () => {
  const { start, happens, settle, stored, realmId, time, heard, reports } = await consuming();
  const slow = await start({ consume: async () => null, isWanted: () => false });
  const other = await start();
  await happens();
  slow.wake();
  await settle();
  other.wake();
  await settle();
  const second = await happens();
  other.wake();
  await settle();
  await slow.stop();
  expect((await stored())!.get(realmId)).toBe(second);
  await time.advance(60);
  await settle();
  expect(heard.flatMap(([, seqs]) => seqs)).toEqual([second - 1, second]);
  expect(reports).toEqual([]);
});

it('EventConsumption leaves events to a faster server until that server has been idle for fifteen seconds', async () => {
  const { start, happens, settle, time, lastSeq, heard } = await consuming();
  const slower: number[] = [];
  const slow = await start({
    consume: async (_, events) => {
      slower.push(...events.map(({ seq }) => seq));
      return null;
    },
  });
  const fast = await start();
  const before = await lastSeq();
  const happenAndWake = async () => {
    await happens();
    fast.wake();
    await settle();
    slow.wake();
    await settle();
  };
  // Both servers know the position, and the faster one advances it.
  for (let count = 0; count < 3; count++) await happenAndWake();
  expect(heard.flatMap(([, seqs]) => seqs)).toEqual([before + 1, before + 2, before + 3]);
  expect(slower).toEqual([before + 1]);
  await time.advance(15);
  await settle();
  await happenAndWake();
  await time.advance(15);
  await settle();
  await fast.stop();
  const last = await happens();
  slow.wake();
  await time.advance(14);
  await settle();
  expect(slower).toEqual([before + 1]);
  await time.advance(1);
  await settle();
  expect(slower).toEqual([before + 1, last]);
});

it('EventConsumption reports no lost events if another server has consumed them and the log was pruned', async () => {
  const { start, happens, settle, reports, uow, realmId, heard } = await consuming();
  const idle = await start();
  await happens();
  idle.wake();
  await settle();
  const busy = await start();
  const last = await happens(3);
  busy.wake();
  await settle();
  await uow.write(realmId, ({ events }) => events.prune(realmId, (last - 1) as EventSeq, 1e12 as UnixSeconds, 100));
  idle.wake();
  await settle();
  expect(reports).toEqual([]);
  expect(heard.flatMap(([, seqs]) => seqs)).toEqual([last - 3, last - 2, last - 1, last]);
});

it('EventConsumption skips events with deleted content', async () => {
  const { start, happens, settle, heard, uow, realmId } = await consuming();
  const consumption = await start();
  await uow.write(realmId, (tx) =>
    tx.events.append(realmId, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
  );
  const seq = await happens();
  consumption.wake();
  await settle();
  expect(heard).toEqual([[realmId, [seq]]]);
});

it.each(['', 'with space', 'x'.repeat(101), 'a\u0000'])('EventConsumption rejects the name %j', async (name) => {
  const { start, uow } = await consuming();
  await expect(start({ name })).rejects.toMatchObject({ code: 'INVALID_CONSUMER_NAME' });
  expect(await uow.readAcross((r) => r.consumers.list())).toEqual([]);
});

describe('EventConsumption with offered events', () => {
  async function offering() {
    const world = await consuming();
    const { uow, realmId, lastSeq, settle } = world;
    let reads = 0;
    const read = (...args: Parameters<typeof uow.read>) => {
      reads++;
      return uow.read(...args);
    };
    const counting: typeof uow = Object.create(uow, { read: { value: read } });
    const consumption = await world.start({ maxEvents: 3 }, counting);
    const before = await lastSeq();
    const offer = async (from: number, to: number) => {
      const page = await uow.read(realmId, (r) => r.events.listAfter(realmId, (from - 1) as EventSeq, to - from + 1));
      for (const logged of page) if (isReadable(logged)) consumption.offer(logged);
    };
    const deliver = async () => {
      reads = 0;
      consumption.wake([realmId]);
      await settle();
      return { reads, seqs: world.heard.splice(0).map(([, seqs]) => seqs.map((seq) => seq - before)) };
    };
    return { ...world, before, offer, deliver };
  }

  it('delivers offered events in batches without reading the log', async () => {
    const { happens, before, offer, deliver } = await offering();
    await happens(4);
    await offer(before + 1, before + 4);
    expect(await deliver()).toEqual({ reads: 0, seqs: [[1, 2, 3], [4]] });
  });

  it('reads events from the log after a gap in the offered ones', async () => {
    const { happens, before, offer, deliver } = await offering();
    await happens(3);
    await offer(before + 1, before + 1);
    await offer(before + 3, before + 3);
    expect((await deliver()).seqs).toEqual([[1, 2, 3]]);
    await offer(before + 3, before + 3);
    expect(await deliver()).toEqual({ reads: 0, seqs: [] });
  });

  it('reads events from the log if too many are offered', async () => {
    const { happens, before, offer, deliver } = await offering();
    await happens(300);
    await offer(before + 1, before + 300);
    const { seqs } = await deliver();
    expect(seqs.flat()).toEqual(Array.from({ length: 300 }, (_, index) => index + 1));
  });

  it('rereads offered events from the log if content was deleted before delivery', async () => {
    const { happens, before, offer, deliver, uow, realmId } = await offering();
    await happens();
    await uow.write(realmId, (tx) =>
      tx.events.append(realmId, { event: { type: 'blanked', messageIds: [] }, audience: { kind: 'nobody' } }),
    );
    await offer(before + 1, before + 2);
    const { reads, seqs } = await deliver();
    expect(seqs).toEqual([[1]]);
    expect(reads).toBeGreaterThan(0);
  });
});

it('EventConsumption delivers at most one batch at a time', async () => {
  const { start, happens, settle } = await consuming();
  let running = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const consumption = await start({
    consume: async (_realmId: RealmId, _events: readonly StoredEvent[]) => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => release.push(resolve));
      running--;
      return null;
    },
  });
  for (let round = 0; round < 3; round++) {
    await happens();
    consumption.wake();
    await settle();
  }
  while (release.length > 0) {
    release.pop()!();
    await settle();
  }
  expect(most).toBe(1);
});
