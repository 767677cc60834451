import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Repositories } from '@parley/domain';
import { aChannel, aMessage, aUser, FixedClock, givenOn, type Scene } from '@parley/testkit';
import { openSqliteStorage, type SqliteStorage } from './index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-statements-'));
const storages: SqliteStorage[] = [];
let statements: string[] = [];

afterAll(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

/** A realm with `size` of everything. */
async function worldOf(size: number): Promise<Scene> {
  const clock = new FixedClock();
  const path = join(directory, `${size}.db`);
  const storage = openSqliteStorage({ path, clock, trace: (sql) => statements.push(sql) });
  storages.push(storage);
  const names = Array.from({ length: size }, (_, i) => `user ${i}`);
  return givenOn(
    storage.uow,
    clock,
    ...names.map((name) => aUser({ name })),
    ...names.map((creator, i) => aChannel({ name: `channel ${i}`, creator, subscribers: names })),
    ...names.flatMap((from, i) => [
      aMessage({ from, to: `channel ${i}`, topic: `topic ${i}` }),
      aMessage({ from, to: [names[0]!] }),
    ]),
  );
}

let small: Scene;
let large: Scene;
beforeAll(async () => {
  small = await worldOf(3);
  large = await worldOf(30);
});

/** How many statements the second of two same reads takes: the first one fills what is kept in memory. */
async function countOf(scene: Scene, read: (r: Repositories, scene: Scene) => Promise<unknown>): Promise<number> {
  await scene.uow.read((r) => read(r, scene));
  statements = [];
  await scene.uow.read((r) => read(r, scene));
  return statements.length;
}

const ids = <Id>(things: ReadonlyMap<string, { readonly id: Id }>): Id[] => [...things.values()].map(({ id }) => id);
const first = (scene: Scene) => scene.user('user 0').id;
const viewer = (scene: Scene) => scene.viewer('user 0');

it.each<[string, (r: Repositories, scene: Scene) => Promise<unknown>]>([
  ['users.list', (r, s) => r.users.list(s.realm.id, ids(s.users))],
  ['users.listHeads', (r, s) => r.users.listHeads(s.realm.id)],
  [
    'users.listByEmail',
    (r, s) =>
      r.users.listByEmail(
        s.realm.id,
        [...s.users.values()].map(({ email }) => email),
      ),
  ],
  ['users.listAcquaintances', (r, s) => r.users.listAcquaintances(s.realm.id, first(s))],
  ['actors.list', (r, s) => r.actors.list(s.realm.id, ids(s.users))],
  ['groups.listViews', (r, s) => r.groups.listViews(s.realm.id)],
  ['groups.listEdges', (r, s) => r.groups.listEdges(s.realm.id)],
  ['channels.listAll', (r, s) => r.channels.listAll(s.realm.id)],
  ['channels.listViews', (r, s) => r.channels.listViews(s.realm.id, ids(s.channels))],
  ['channels.listSubscribers', (r, s) => r.channels.listSubscribers(s.realm.id, ids(s.channels))],
  ['channels.listSubscriptions', (r, s) => r.channels.listSubscriptions(s.realm.id, first(s))],
  ['channels.listSubscriptionsOf', (r, s) => r.channels.listSubscriptionsOf(s.realm.id, ids(s.users), ids(s.channels))],
  ['channels.listColors', (r, s) => r.channels.listColors(s.realm.id, ids(s.users))],
  [
    'messages.listViews',
    (r, s) =>
      r.messages.listViews(
        s.realm.id,
        s.messages.map(({ id }) => id),
      ),
  ],
  [
    'messages.listHeads',
    (r, s) =>
      r.messages.listHeads(
        viewer(s),
        s.messages.map(({ id }) => id),
      ),
  ],
  [
    'messages.listNewestInTopics',
    (r, s) =>
      r.messages.listNewestInTopics(
        s.realm.id,
        s.channel('channel 1').recipientId,
        s.messages.map(({ topic }) => topic),
      ),
  ],
  [
    'messages.listNewestOwnInTopics',
    (r, s) =>
      r.messages.listNewestOwnInTopics(
        viewer(s),
        s.channel('channel 1').recipientId,
        s.messages.map(({ topic }) => topic),
      ),
  ],
  [
    'recipients.list',
    (r, s) =>
      r.recipients.list(
        s.realm.id,
        s.messages.map(({ recipientId }) => recipientId),
      ),
  ],
  ['recipients.listRecentDirect', (r, s) => r.recipients.listRecentDirect(s.realm.id, first(s), 1000)],
  [
    'personal.listFlags',
    (r, s) =>
      r.personal.listFlags(
        viewer(s),
        s.messages.map(({ id }) => id),
      ),
  ],
  ['personal.listStarred', (r, s) => r.personal.listStarred(viewer(s))],
  ['events.listAfter', (r, s) => r.events.listAfter(s.realm.id, 0 as never, 10_000)],
  ['queues.listOf', (r, s) => r.queues.listOf(s.realm.id, first(s))],
  ['queues.lowestFloor', (r, s) => r.queues.lowestFloor(s.realm.id)],
  ['users.listBotIds', (r, s) => r.users.listBotIds(s.realm.id)],
  [
    'users.areAcquainted',
    (r, s) =>
      r.users.areAcquainted(
        s.realm.id,
        ids(s.users).map((userId) => ({ guestId: first(s), userId, at: null })),
      ),
  ],
])('%s takes as many statements for thirty as for three', async (_, read) => {
  const count = await countOf(small, read);
  // More than BEGIN and COMMIT: the counting itself works.
  expect(count).toBeGreaterThan(2);
  expect(await countOf(large, read)).toBe(count);
});

it('loads actors that are not in memory in as many statements for thirty as for three', async () => {
  const counts: number[] = [];
  for (const scene of [small, large]) {
    await scene.uow.write(async (tx) => {
      const { members } = await tx.groups.systemGroupIds(scene.realm.id);
      await tx.groups.removeMembers(scene.realm.id, members, [first(scene)]);
    });
    statements = [];
    await scene.uow.read((r) => r.actors.list(scene.realm.id, ids(scene.users)));
    counts.push(statements.length);
  }
  expect(counts[0]).toBeGreaterThan(3);
  expect(counts[1]).toBe(counts[0]);
});
