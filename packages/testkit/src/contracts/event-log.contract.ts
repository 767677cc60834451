import { type Announcement, type DomainEvent, type EventSeq, isReadable, type MessageId } from '@parley/domain';
import { aRealm, givenOn, type Scene } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const told = (name: string, quotes?: MessageId): Announcement => ({
  event: {
    type: 'message.flag_changed',
    op: 'add',
    flag: 'read',
    messageIds: [],
    all: name === 'all',
    details: [],
  } satisfies DomainEvent,
  audience: { kind: 'anyOf', of: [{ kind: 'realm' }, { kind: 'queue', id: name }] },
  quotes,
});

const append = (scene: Scene, announcement: Announcement): Promise<EventSeq> =>
  scene.uow.write((tx) => tx.events.append(scene.realm.id, announcement));

/** What was logged before the test began is no part of it. */
const listed = (scene: Scene, after: number, limit = 100, maxBytes?: number) =>
  scene.uow.read((r) => r.events.listAfter(scene.realm.id, after as EventSeq, limit, maxBytes));

const logged = async (scene: Scene, after: number, limit?: number) =>
  (await listed(scene, after, limit)).filter(isReadable);

export function eventLogContract(open: OpenStorage): void {
  describe('event log', () => {
    const stage = stagesOn(open);

    it('keeps an event with its audience and its time', async () => {
      const scene = await stage();
      const start = await scene.uow.read((r) => r.events.headSeq(scene.realm.id));
      scene.clock.advance(60);
      const seq = await append(scene, told('a'));
      expect(await logged(scene, start)).toEqual([
        {
          realmId: scene.realm.id,
          seq,
          event: told('a').event,
          audience: told('a').audience,
          at: scene.clock.now(),
          quotes: null,
        },
      ]);
    });

    it('tells which message an event quotes', async () => {
      const scene = await stage();
      const seq = await append(scene, told('a', 11 as MessageId));
      expect((await logged(scene, seq - 1))[0]!.quotes).toBe(11);
    });

    it('numbers each realm by itself, in commit order and without gaps', async () => {
      const scene = await stage();
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      const start = await scene.uow.read((r) => r.events.headSeq(scene.realm.id));
      const otherStart = await scene.uow.read((r) => r.events.headSeq(other.realm.id));
      const failing = scene.uow.write(async (tx) => {
        await tx.events.append(scene.realm.id, told('lost'));
        throw new Error('no');
      });
      const seqs = await Promise.allSettled([
        append(scene, told('a')),
        failing,
        append(other, told('b')),
        append(scene, told('c')),
      ]);
      expect(seqs.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).toEqual([
        start + 1,
        'failed',
        otherStart + 1,
        start + 2,
      ]);
      expect(await scene.uow.read((r) => r.events.headSeq(scene.realm.id))).toBe(start + 2);
      expect((await logged(scene, start)).map(({ seq }) => seq)).toEqual([start + 1, start + 2]);
      expect((await logged(other, otherStart)).map(({ audience }) => audience)).toEqual([told('b').audience]);
    });

    it('has an event from the creation of the realm on', async () => {
      const scene = await stage();
      expect(await scene.uow.read((r) => r.events.headSeq(scene.realm.id))).toBeGreaterThan(0);
    });

    it('tells the newest event of every realm, ascending', async () => {
      const scene = await stage();
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'another' }));
      const seq = await append(scene, told('a'));
      const otherSeq = await scene.uow.read((r) => r.events.headSeq(other.realm.id));
      expect(await scene.uow.read((r) => r.events.listHeads())).toEqual([
        { realmId: scene.realm.id, seq, prunedUpTo: 0 },
        { realmId: other.realm.id, seq: otherSeq, prunedUpTo: 0 },
      ]);
      await scene.uow.write((tx) => tx.events.prune(scene.realm.id, seq, scene.clock.now() + 1, 1000));
      expect((await scene.uow.read((r) => r.events.listHeads()))[0]).toEqual({
        realmId: scene.realm.id,
        seq,
        prunedUpTo: seq,
      });
    });

    it('lists a few at a time', async () => {
      const scene = await stage();
      const start = await append(scene, told('0'));
      for (const name of ['1', '2', '3']) await append(scene, told(name));
      expect((await logged(scene, start, 2)).map(({ seq }) => seq)).toEqual([start + 1, start + 2]);
      expect((await logged(scene, start + 2, 2)).map(({ seq }) => seq)).toEqual([start + 3]);
      expect(await logged(scene, start + 3)).toEqual([]);
    });

    it('lists no more after so many bytes, but one event at least', async () => {
      const scene = await stage();
      const start = await append(scene, told('0'));
      for (const name of ['1', '2', '3', '4']) await append(scene, told(name));
      const count = async (maxBytes: number) => (await listed(scene, start, 100, maxBytes)).length;
      expect([await count(1), await count(250), await count(10_000)]).toEqual([1, 2, 4]);
    });

    it.each([
      ['whose payload is no JSON', { payload: '{"type":' }, true],
      ['whose payload is no event', { payload: 'null' }, true],
      ['of a type nobody knows', { payload: '{"type":"made.up"}' }, true],
      ['of a type that every object has', { payload: '{"type":"constructor"}' }, true],
      ['in a format of a later version', { format: 2 }, true],
      ['in a format of an earlier version', { payload: '{"type":"message.sent"}', format: 1 }, true],
      ['whose audience is no JSON', { audience: '' }, false],
      ['whose audience is none', { audience: '{"kind":"users","ids":["1"]}' }, false],
    ])('says of an event %s that it cannot be read, and lists the others', async (_, parts, hasAudience) => {
      const scene = await stage();
      const start = await append(scene, told('0'));
      for (const name of ['1', '2', '3']) await append(scene, told(name));
      await scene.storage.damage.event(scene.realm.id, (start + 2) as EventSeq, parts);
      const events = await listed(scene, start);
      expect(events.map(isReadable)).toEqual([true, false, true]);
      expect(events[1]).toEqual({
        realmId: scene.realm.id,
        seq: start + 2,
        at: scene.clock.now(),
        audience: hasAudience ? told('2').audience : null,
        reason: expect.any(String),
      });
    });

    it('blanks what quotes a message, and keeps its place', async () => {
      const scene = await stage();
      const start = await append(scene, told('0'));
      await append(scene, told('1', 11 as MessageId));
      await append(scene, told('2', 12 as MessageId));
      await append(scene, told('3'));
      await append(scene, told('4', 11 as MessageId));
      await scene.storage.damage.event(scene.realm.id, (start + 4) as EventSeq, { format: 7 });
      await scene.uow.write((tx) => tx.events.blank(scene.realm.id, [11 as MessageId, 13 as MessageId]));
      const events = await logged(scene, start);
      expect(events.map(({ seq }) => seq - start)).toEqual([1, 2, 3, 4]);
      expect(events.map(({ event }) => event.type)).toEqual([
        'blank',
        'message.flag_changed',
        'message.flag_changed',
        'blank',
      ]);
      expect(events[0]!.event).toEqual({ type: 'blank' });
    });

    it('prunes what is old enough, up to a seq', async () => {
      const scene = await stage();
      const { uow, realm, clock } = scene;
      const prune = (upTo: number, before: number) =>
        uow.write((tx) => tx.events.prune(realm.id, upTo as EventSeq, before, 1000));
      const prunedUpTo = () => uow.read((r) => r.events.prunedUpTo(realm.id));
      expect(await prunedUpTo()).toBe(0);
      const first = await append(scene, told('1'));
      clock.advance(100);
      const middle = clock.now();
      await append(scene, told('2'));
      const last = await append(scene, told('3'));

      await prune(first, clock.now() - 1000);
      expect(await prunedUpTo()).toBe(0);
      await prune(last, middle);
      expect(await prunedUpTo()).toBe(first);
      expect((await logged(scene, 0)).map(({ seq }) => seq)).toEqual([first + 1, first + 2]);
      await prune(first + 1, middle + 1);
      expect(await prunedUpTo()).toBe(first + 1);
      expect((await logged(scene, 0)).map(({ seq }) => seq)).toEqual([last]);
    });

    it('prunes a few at a time, and tells how many', async () => {
      const scene = await stage();
      const { uow, realm, clock } = scene;
      let head = await append(scene, told('1'));
      for (const name of ['2', '3', '4']) head = await append(scene, told(name));
      clock.advance(10);
      await append(scene, told('young'));
      await uow.write((tx) => tx.events.prune(realm.id, (head - 4) as EventSeq, clock.now(), 1000));
      const prune = (limit: number) =>
        uow.write((tx) => tx.events.prune(realm.id, (head + 1) as EventSeq, clock.now(), limit));
      expect([await prune(3), await prune(3), await prune(3)]).toEqual([3, 1, 0]);
      expect((await logged(scene, 0)).map(({ seq }) => seq)).toEqual([head + 1]);
    });

    it('goes on counting after everything was pruned', async () => {
      const scene = await stage();
      const { uow, realm, clock } = scene;
      const head = await append(scene, told('1'));
      await uow.write((tx) => tx.events.prune(realm.id, head, clock.now() + 1, 1000));
      expect(await logged(scene, 0)).toEqual([]);
      expect(await uow.read((r) => r.events.headSeq(realm.id))).toBe(head);
      expect(await uow.read((r) => r.events.prunedUpTo(realm.id))).toBe(head);
      expect(await append(scene, told('2'))).toBe(head + 1);
    });

    it('leaves the log of another realm alone', async () => {
      const scene = await stage();
      const seq = await append(scene, told('1', 11 as MessageId));
      const other = await givenOn(scene.uow, scene.clock, aRealm({ stringId: 'other' }));
      await scene.uow.write(async (tx) => {
        await tx.events.blank(other.realm.id, [11 as MessageId]);
        await tx.events.prune(other.realm.id, seq, scene.clock.now() + 1, 1000);
      });
      expect((await logged(scene, seq - 1))[0]!.event.type).toBe('message.flag_changed');
      expect(await scene.uow.read((r) => r.events.prunedUpTo(scene.realm.id))).toBe(0);
    });
  });
}
