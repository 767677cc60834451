import { given, type MemoryScene } from '@parley/testkit';
import type { MessageId, RealmId } from '../shared/ids.js';
import type { UnitOfWork } from '../shared/unit-of-work.js';
import { nobody } from './audience.js';
import { isReadable, type StoredEvent, type UnreadableEvent } from './event-log.js';
import { LogFollower } from './log-follower.js';
import { PublishingUnitOfWork } from './publishing-unit-of-work.js';

const append = (scene: MemoryScene, uow = scene.uow, realmId: RealmId = scene.realm.id) =>
  uow.write((tx) => tx.events.append(realmId, { event: { type: 'blank' }, audience: nobody }));

async function following(scene: MemoryScene) {
  const uow = new PublishingUnitOfWork(scene.uow, scene.clock, fail);
  const problems: unknown[] = [];
  const follower = new LogFollower(uow, (error) => problems.push(error));
  await follower.start();
  uow.subscribe(follower);
  const told: number[] = [];
  follower.subscribe({ onEvents: (events) => told.push(...events.map(({ seq }) => seq)) });
  return { uow, follower, told, problems };
}

describe('following the log', () => {
  it('tells of each event once and in order, whoever wrote it', async () => {
    const scene = await given();
    const { uow, follower, told } = await following(scene);
    const first = await append(scene, uow);
    const others = [await append(scene), await append(scene)];
    expect(told).toEqual([first]);
    // What comes after a gap brings what lies in it, and is not told before.
    const last = await append(scene, uow);
    await follower.fill(scene.realm.id);
    expect(told).toEqual([first, ...others, last]);
    expect(follower.headOf(scene.realm.id)).toBe(last);
  });

  it('catches up with other processes', async () => {
    const scene = await given();
    const { follower, told } = await following(scene);
    const seqs = [await append(scene), await append(scene)];
    await Promise.all([follower.catchUp(), follower.catchUp()]);
    await follower.catchUp();
    expect(told).toEqual(seqs);
  });

  it('outlives a look at the log that fails, and sees by the next what that one missed', async () => {
    const scene = await given();
    let isBroken = false;
    const shaky: UnitOfWork = {
      read: (work) => (isBroken ? Promise.reject(new Error('disk')) : scene.uow.read(work)),
      write: scene.uow.write,
    };
    const follower = new LogFollower(shaky, fail);
    await follower.start();
    const told: number[] = [];
    follower.subscribe({ onEvents: (events) => told.push(...events.map(({ seq }) => seq)) });
    const seqs = [await append(scene), await append(scene)];
    const stored = await scene.uow.read(({ events }) =>
      events.listAfter(scene.realm.id, follower.headOf(scene.realm.id), 9),
    );
    isBroken = true;
    follower.onEvents(stored.filter(isReadable).slice(1));
    // Nobody waits for what an event sets going: a rejection would end the process, as it would this test.
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).toEqual([]);
    await expect(follower.catchUp()).rejects.toThrow('disk');
    isBroken = false;
    await follower.catchUp();
    expect(told).toEqual(seqs);
  });

  it('tells nothing of what was before the start, and nothing twice', async () => {
    const scene = await given();
    await append(scene);
    const { follower, told } = await following(scene);
    await follower.catchUp();
    const [stored] = await scene.uow.read(({ events }) => events.listAfter(scene.realm.id, 0 as never, 1));
    follower.onEvents([stored as StoredEvent]);
    expect(told).toEqual([]);
  });
});

describe('listeners of the log', () => {
  it('hear everything although one of them fails', async () => {
    const scene = await given();
    const { uow, follower, problems } = await following(scene);
    const heard: number[] = [];
    follower.subscribe({
      onEvents: () => {
        throw new Error('odd');
      },
    });
    follower.subscribe({ onEvents: (events) => heard.push(...events.map(({ seq }) => seq)) });
    const seqs = [await append(scene, uow), await append(scene)];
    await follower.catchUp();
    expect(heard).toEqual(seqs);
    expect(problems).toEqual([new Error('odd'), new Error('odd')]);
  });

  it('are told in its turn of an event that cannot be read, and that another process wrote', async () => {
    const scene = await given();
    const { follower } = await following(scene);
    const story: string[] = [];
    follower.subscribe({
      onEvents: (events) => story.push(...events.map(({ seq }) => `read ${seq}`)),
      onUnreadable: ({ seq, reason }: UnreadableEvent) => story.push(`unreadable ${seq}: ${reason}`),
      onWrittenElsewhere: (realmId) => story.push(`elsewhere in ${realmId}`),
    });
    const [first, odd, last] = [await append(scene), await append(scene), await append(scene)];
    await scene.storage.damage.event(scene.realm.id, odd, { format: 99 });
    await follower.catchUp();
    expect(story).toEqual([
      `elsewhere in ${scene.realm.id}`,
      `read ${first}`,
      `unreadable ${odd}: format 99 of blank is unknown`,
      `read ${last}`,
    ]);
    expect(follower.headOf(scene.realm.id)).toBe(last);
  });

  it('are told which messages are no longer quoted, once that is committed, before what the unit announced', async () => {
    const scene = await given();
    const { uow, follower } = await following(scene);
    const story: unknown[] = [];
    follower.subscribe({
      onEvents: (events) => story.push(...events.map(({ seq }) => seq)),
      onBlanked: (realmId, ids) => story.push([realmId, ids]),
    });
    const seq = await uow.write(async (tx) => {
      const own = await tx.events.append(scene.realm.id, { event: { type: 'blank' }, audience: nobody });
      await tx.events.blank(scene.realm.id, [7 as MessageId]);
      expect(story).toEqual([]);
      return own;
    });
    expect(story).toEqual([[scene.realm.id, [7]], seq]);
    await expect(
      uow.write(async (tx) => {
        await tx.events.blank(scene.realm.id, [8 as MessageId]);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(story).toHaveLength(2);
  });
});

describe('publishing', () => {
  it('hands over what a unit announced once it is committed, and nothing of one that failed', async () => {
    const scene = await given();
    const uow = new PublishingUnitOfWork(scene.uow, scene.clock, fail);
    const heard: StoredEvent[] = [];
    uow.subscribe({ onEvents: (events) => heard.push(...events) });
    const announcement = { event: { type: 'realm.deactivated' }, audience: nobody } as const;
    const seq = await uow.write(async (tx) => {
      const own = await tx.events.append(scene.realm.id, announcement);
      expect(heard).toEqual([]);
      return own;
    });
    await expect(
      uow.write(async (tx) => {
        await tx.events.append(scene.realm.id, announcement);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(heard).toEqual([{ ...announcement, realmId: scene.realm.id, seq, at: scene.clock.now(), quotes: null }]);
    expect(await uow.read(({ events }) => events.headSeq(scene.realm.id))).toBe(seq);
  });

  it('hands over only what the last try of a unit announced', async () => {
    const scene = await given();
    const twice = {
      read: scene.uow.read,
      write: (async (work) => {
        await scene.uow.write(async (tx) => Promise.reject(await work(tx))).catch(() => undefined);
        return scene.uow.write(work);
      }) as MemoryScene['uow']['write'],
    };
    const uow = new PublishingUnitOfWork(twice, scene.clock, fail);
    const heard: number[] = [];
    uow.subscribe({ onEvents: (events) => heard.push(...events.map(({ seq }) => seq)) });
    const seq = await append(scene, uow);
    expect(heard).toEqual([seq]);
  });
});

function fail(error: unknown): never {
  throw error;
}
