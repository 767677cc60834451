import { createFixture, flagChange, type MemoryFixture } from '@parley/testkit';
import { wholeRealm } from './event.js';
import { EventCache } from './event-cache.js';
import type { LoggedEvent } from './event-log.js';
import type { EventSeq, MessageId, RealmId } from './ids.js';

const seq = (number: number) => number as EventSeq;
const BEGINNING = seq(0);
const END = seq(Number.MAX_SAFE_INTEGER);

/** Creates a log with `count` events beyond those of the realm creation, and counts reads. */
async function aLog(count: number) {
  const fixture = await createFixture();
  const { id: realmId } = fixture.realm;
  const first = (await fixture.uow.read(realmId, ({ events }) => events.lastSeq(realmId))) + 1;
  await append(fixture, count);
  const looks = { count: 0 };
  const { read } = fixture.uow;
  fixture.uow.read = (realmId, work) => {
    looks.count++;
    return read(realmId, work);
  };
  return { fixture, realmId, first, last: seq(first + count - 1), looks };
}

const append = (fixture: MemoryFixture, count: number, quotes: MessageId | null = null) =>
  fixture.uow.write(fixture.realm.id, async ({ events }) => {
    for (let n = 0; n < count; n++) {
      await events.append(fixture.realm.id, {
        event: flagChange,
        audience: wholeRealm,
        ...(quotes !== null && { quotes }),
      });
    }
  });

async function readAll(cache: EventCache, realmId: RealmId, after: EventSeq, upTo: EventSeq): Promise<number[]> {
  const seqs: number[] = [];
  while (after < upTo) {
    const page = await cache.listAfter(realmId, after, upTo);
    if (!page) throw new Error(`The log has nothing after ${after}`);
    after = page.at(-1)!.seq;
    seqs.push(...page.map((logged) => logged.seq));
  }
  return seqs;
}

const from = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('EventCache', () => {
  it('reads the whole log in order and each page once for all readers', async () => {
    const { fixture, realmId, first, last, looks } = await aLog(300);
    const cache = new EventCache(fixture.uow);
    for (let reader = 0; reader < 10; reader++) {
      expect(await readAll(cache, realmId, seq(first - 1), last)).toEqual(from(first, last));
    }
    expect(looks.count).toBeLessThanOrEqual(4);
  });

  it('returns no events beyond the requested end', async () => {
    const { fixture, realmId, first } = await aLog(20);
    const cache = new EventCache(fixture.uow);
    const upTo = seq(first + 7);
    for (let time = 0; time < 2; time++) {
      expect(await readAll(cache, realmId, seq(first - 1), upTo)).toEqual(from(first, upTo));
    }
  });

  it('returns the same object to all readers even if it is read twice', async () => {
    const { fixture, realmId, first, last } = await aLog(4);
    const cache = new EventCache(fixture.uow);
    const [late] = (await cache.listAfter(realmId, seq(last - 1), last))!;
    const all = (await cache.listAfter(realmId, seq(first - 1), last))!;
    expect(all.find((logged) => logged.seq === last)).toBe(late);
    expect(cache.find(realmId, last)).toBe(late);
  });

  it('keeps newly committed events and reads earlier ones from the log', async () => {
    const { fixture, realmId, first, last, looks } = await aLog(6);
    const cache = new EventCache(fixture.uow);
    const [newest] = await fixture.uow.read(realmId, ({ events }) => events.listAfter(realmId, seq(last - 1), 1));
    looks.count = 0;
    cache.add(newest as LoggedEvent);
    expect(await cache.listAfter(realmId, seq(last - 1), last)).toEqual([newest]);
    expect([looks.count, cache.find(realmId, seq(last - 1))]).toEqual([0, undefined]);
    expect(await readAll(cache, realmId, seq(first - 1), last)).toEqual(from(first, last));
  });

  it('respects its byte limit and rereads evicted events', async () => {
    const { fixture, realmId, first, last, looks } = await aLog(1000);
    const roomy = new EventCache(fixture.uow);
    await readAll(roomy, realmId, BEGINNING, last);
    const cache = new EventCache(fixture.uow, roomy.size / 3);
    looks.count = 0;
    for (let time = 0; time < 2; time++) {
      expect(await readAll(cache, realmId, seq(first - 1), last)).toEqual(from(first, last));
      expect(cache.size).toBeLessThanOrEqual(roomy.size / 3);
    }
    expect(looks.count).toBeGreaterThan(8);
    expect(cache.find(realmId, seq(first))).toBeUndefined();
    expect(cache.find(realmId, last)).toBeDefined();
  });

  it('evicts the least recently used page', async () => {
    const { fixture, realmId, first, last } = await aLog(1000);
    const roomy = new EventCache(fixture.uow);
    await readAll(roomy, realmId, BEGINNING, last);
    const cache = new EventCache(fixture.uow, roomy.size / 2);
    const kept = seq(first + 130);
    await cache.listAfter(realmId, seq(kept - 1), kept);
    for (let after = seq(first - 1); after < last; after = seq(after + 50)) {
      await cache.listAfter(realmId, after, last);
      expect(cache.find(realmId, kept)).toBeDefined();
    }
  });

  it('returns null if the log no longer has the next event', async () => {
    const { fixture, realmId, first, last } = await aLog(10);
    const cache = new EventCache(fixture.uow);
    expect(await cache.listAfter(realmId, last, END)).toBeNull();
    await fixture.uow.write(realmId, ({ events }) =>
      events.prune(realmId, seq(first + 4), fixture.clock.now() + 1, 1000),
    );
    expect(await cache.listAfter(realmId, seq(first - 1), last)).toBeNull();
    expect(await readAll(cache, realmId, seq(first + 4), last)).toEqual(from(first + 5, last));
  });

  it('separates realms', async () => {
    const { fixture, realmId, last } = await aLog(1);
    const cache = new EventCache(fixture.uow);
    await readAll(cache, realmId, BEGINNING, last);
    const other = (realmId + 1) as RealmId;
    expect(cache.find(other, last)).toBeUndefined();
    expect(await cache.listAfter(other, BEGINNING, last)).toBeNull();
    cache.forget(other);
    cache.blank(other, [1 as MessageId]);
    expect(cache.find(realmId, last)).toBeDefined();
  });

  describe('EventCache after messages were deleted', () => {
    const typeAt = (cache: EventCache, realmId: RealmId, at: EventSeq) => {
      const logged = cache.find(realmId, at);
      return logged && 'event' in logged ? logged.event.type : logged;
    };

    it('returns events as stored in the log', async () => {
      const { fixture, realmId, last } = await aLog(1);
      await append(fixture, 1, 7 as MessageId);
      await append(fixture, 1, 8 as MessageId);
      const cache = new EventCache(fixture.uow);
      await readAll(cache, realmId, BEGINNING, seq(last + 2));
      cache.blank(realmId, [8 as MessageId]);
      const types = [last, last + 1, last + 2].map((at) => typeAt(cache, realmId, seq(at)));
      expect(types).toEqual(['message.flag_changed', 'message.flag_changed', 'blank']);
    });

    it('drops pages read while the deletion was in progress', async () => {
      const { fixture, realmId, last } = await aLog(1);
      await append(fixture, 1, 8 as MessageId);
      const cache = new EventCache(fixture.uow);
      const { read } = fixture.uow;
      let tell = () => {};
      const isTold = new Promise<void>((resolve) => {
        tell = resolve;
      });
      fixture.uow.read = async (realmId, work) => {
        const found = await read(realmId, work);
        await isTold;
        return found;
      };
      const reading = cache.listAfter(realmId, last, seq(last + 1));
      await fixture.uow.write(realmId, ({ events }) => events.blank(realmId, [8 as MessageId]));
      cache.blank(realmId, [8 as MessageId]);
      tell();
      expect(await reading).toMatchObject([{ event: { type: 'blank' } }]);
      expect(typeAt(cache, realmId, seq(last + 1))).toBe('blank');
    });
  });

  it('rereads everything after it was cleared', async () => {
    const { fixture, realmId, last, looks } = await aLog(5);
    const cache = new EventCache(fixture.uow);
    const all = await readAll(cache, realmId, BEGINNING, last);
    cache.forget(realmId);
    expect(cache.size).toBe(0);
    const before = looks.count;
    expect(await readAll(cache, realmId, BEGINNING, last)).toEqual(all);
    expect(looks.count).toBeGreaterThan(before);
  });
});
