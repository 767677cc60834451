import { aUser, createFixture, intercepting, type MemoryFixture } from '@parley/testkit';
import { LocalBus } from '../kernel/bus.js';
import type { EphemeralAnnouncement } from '../kernel/event.js';
import type { UserId } from '../kernel/ids.js';
import { PresenceBoard } from './presence-board.js';
import type { User } from './user.js';

const toAll = { limitsToAccessors: false };
const everything = { after: null, since: null };

async function fixtureWith(count: number) {
  const names = Array.from({ length: count }, (_, n) => `user${n}`);
  const fixture = await createFixture(...names.map((name) => aUser({ name })));
  const told: EphemeralAnnouncement[] = [];
  const buses = new LocalBus();
  const events = { publishEphemeral: (_: unknown, it: EphemeralAnnouncement) => void told.push(it) };
  const open = () => new PresenceBoard(fixture.uow, fixture.clock, events, toAll, buses.connect());
  return { fixture, told, open, users: names.map((name) => fixture.user(name)) };
}
const shown = async (board: PresenceBoard, { realm }: MemoryFixture, after: number | null = null) =>
  (await board.list(realm.id, { ...everything, after })).entries.map(({ userId }) => userId);
const idsOf = (...users: readonly (User | undefined)[]): UserId[] => users.map((user) => user!.id);
const stored = ({ uow, realm }: MemoryFixture) => uow.read(realm.id, (r) => r.presence.list(realm.id));

describe('PresenceBoard', () => {
  it('lists each user once in update order, after a given update', async () => {
    const { fixture, open, users } = await fixtureWith(3);
    const board = open();
    const [a, b, c] = users;
    for (const user of [a!, b!, c!]) await board.report(user, 'active');
    expect(await shown(board, fixture)).toEqual(idsOf(a, b, c));
    await board.save();
    const { updateId } = (await board.find(fixture.realm.id, b!.id))!;
    expect(await shown(board, fixture, updateId)).toEqual(idsOf(c));
    fixture.clock.advance(60);
    await board.report(a!, 'active');
    expect(await shown(board, fixture, updateId)).toEqual(idsOf(c, a));
    await board.save();
    expect(await shown(board, fixture)).toEqual(idsOf(b, c, a));
    expect(await shown(board, fixture, updateId)).toEqual(idsOf(c, a));
  });

  it('discards replaced updates and keeps current ones', async () => {
    const { fixture, open, users } = await fixtureWith(3);
    const board = open();
    for (let n = 0; n < 700; n++) {
      fixture.clock.advance(60);
      await board.report(users[n % 3]!, 'active');
      await board.save();
    }
    expect(await shown(board, fixture)).toEqual(idsOf(users[1], users[2], users[0]));
    const last = (await board.list(fixture.realm.id, everything)).entries.at(-1)!;
    expect(last.updateId).toBe(700);
    expect(await shown(board, fixture, 698)).toEqual(idsOf(users[2], users[0]));
  });

  it('saves all changes in one commit and writes nothing without changes', async () => {
    const { fixture, open, users } = await fixtureWith(100);
    const board = open();
    for (const user of users) await board.report(user, 'active');
    const { commits } = fixture.storage;
    await board.save();
    await board.save();
    expect(fixture.storage.commits).toBe(commits + 1);
    expect(await stored(fixture)).toHaveLength(100);
    await board.report(users[0]!, 'active');
    await board.save();
    expect(fixture.storage.commits).toBe(commits + 1);
  });

  it('retries a failed save with the next one', async () => {
    const { fixture, users } = await fixtureWith(1);
    let fails = false;
    const uow = intercepting(fixture.uow, {
      write: (work, run) => (fails ? Promise.reject(new Error('full')) : run(work)),
    });
    const board = new PresenceBoard(
      uow,
      fixture.clock,
      { publishEphemeral: () => {} },
      toAll,
      new LocalBus().connect(),
    );
    await board.report(users[0]!, 'active');
    fails = true;
    await expect(board.save()).rejects.toThrow('full');
    fails = false;
    await board.save();
    expect(await stored(fixture)).toHaveLength(1);
  });

  it('restarts after a crash from saved data, with unused update ids', async () => {
    const { fixture, open, users } = await fixtureWith(2);
    const [a, b] = users;
    const before = open();
    await before.report(a!, 'active');
    await before.save();
    await before.report(b!, 'active');
    const after = open();
    expect(await shown(after, fixture)).toEqual(idsOf(a));
    await after.report(b!, 'active');
    await after.save();
    expect((await stored(fixture)).map(({ userId, updateId }) => [userId, updateId])).toEqual([
      [a!.id, 1],
      [b!.id, 2],
    ]);
  });

  it('publishes that a user came online unless there are too many receivers', async () => {
    const { open, users, told } = await fixtureWith(100);
    await open().report(users[0]!, 'active');
    expect(told).toMatchObject([{ event: { type: 'presence.came_online', user: { id: users[0]!.id } } }]);
    const { open: openLarge, users: many, told: nothing } = await fixtureWith(101);
    await openLarge().report(many[0]!, 'active');
    expect(nothing).toEqual([]);
  });

  it('serves concurrent callers with one load and one block of ids', async () => {
    const { fixture, open, users } = await fixtureWith(20);
    const board = open();
    const { commits } = fixture.storage;
    await Promise.all(users.map((user) => board.report(user, 'active')));
    await board.save();
    expect(fixture.storage.commits).toBe(commits + 1);
    const ids = (await board.list(fixture.realm.id, everything)).entries.map(({ updateId }) => updateId);
    expect(ids).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  });

  it('keeps a report that arrives while an earlier one is being stored', async () => {
    const { fixture, users } = await fixtureWith(1);
    let onWrite = async () => {};
    const uow = intercepting(fixture.uow, {
      write: async (work, run) => {
        const result = await run(work);
        await onWrite();
        return result;
      },
    });
    const board = new PresenceBoard(
      uow,
      fixture.clock,
      { publishEphemeral: () => {} },
      toAll,
      new LocalBus().connect(),
    );
    await board.report(users[0]!, 'active');
    onWrite = async () => {
      onWrite = async () => {};
      fixture.clock.advance(60);
      await board.report(users[0]!, 'active');
    };
    await board.save();
    await board.save();
    const now = fixture.clock.now();
    expect(await stored(fixture)).toMatchObject([{ lastActive: now, lastConnected: now, updateId: 2 }]);
    expect(await board.list(fixture.realm.id, everything)).toMatchObject({
      entries: [{ lastActive: now, updateId: 2 }],
    });
  });
});

describe('PresenceBoard on two servers', () => {
  it('numbers all updates in one sequence and misses no user', async () => {
    const { fixture, open, users } = await fixtureWith(4);
    const [one, other] = [open(), open()];
    const [a, b, c, d] = users;
    await one.report(a!, 'active');
    await one.save();
    await other.report(b!, 'active');
    await other.save();
    await one.report(c!, 'active');
    await one.save();
    fixture.clock.advance(1);
    for (const board of [one, other]) expect(await shown(board, fixture)).toEqual(idsOf(a, b, c));
    expect(await shown(one, fixture, 1)).toEqual(idsOf(b, c));
    await Promise.all([one.report(d!, 'active'), other.report(d!, 'idle')]);
    await Promise.all([one.save(), other.save()]);
    fixture.clock.advance(1);
    for (const board of [one, other]) expect(await shown(board, fixture, 3)).toEqual(idsOf(d));
  });

  it('shows reports of the other server within a second even if its message is lost', async () => {
    const { fixture, users } = await fixtureWith(2);
    const alone = () =>
      new PresenceBoard(fixture.uow, fixture.clock, { publishEphemeral: () => {} }, toAll, new LocalBus().connect());
    const [one, other] = [alone(), alone()];
    expect(await shown(one, fixture)).toEqual([]);
    await other.report(users[0]!, 'active');
    await other.save();
    expect(await shown(one, fixture)).toEqual([]);
    fixture.clock.advance(1);
    expect(await shown(one, fixture)).toEqual(idsOf(users[0]));
  });
});
