import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PALETTE } from '@parley/domain/channels';
import type { ChannelId, Repositories, Transaction, UserId } from '@parley/domain/kernel';
import { MAX_EDITS, type SentFlags } from '@parley/domain/messages';
import { aChannel, aGroup, aMessage, aUser, createFixtureOn, FixedClock, type Fixture } from '@parley/testkit';
import { openSqliteStorage, type SqliteStorage } from '../index.js';

const directory = mkdtempSync(join(tmpdir(), 'parley-statements-'));
const storages: SqliteStorage[] = [];
let statements: string[] = [];

afterAll(async () => {
  for (const storage of storages) await storage.close();
  rmSync(directory, { recursive: true });
});

/** Creates a realm with `size` items of every kind. */
async function worldOf(size: number): Promise<Fixture> {
  const clock = new FixedClock();
  const path = join(directory, `${size}.db`);
  const storage = openSqliteStorage({ path, clock, trace: (sql) => statements.push(sql) });
  storages.push(storage);
  const names = Array.from({ length: size }, (_, i) => `user ${i}`);
  return createFixtureOn(
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

let small: Fixture;
let large: Fixture;
beforeAll(async () => {
  small = await worldOf(3);
  large = await worldOf(30);
});

type Read = (r: Repositories, fixture: Fixture) => Promise<unknown>;

/** Returns the number of statements of a read. */
async function statementsOf(fixture: Fixture, read: Read): Promise<number> {
  statements = [];
  await fixture.uow.read(fixture.realm.id, (r) => read(r, fixture));
  return statements.length;
}

/** Returns the statements of the second of two equal reads, since the first fills the caches. */
async function countOf(fixture: Fixture, read: Read): Promise<number> {
  await statementsOf(fixture, read);
  return statementsOf(fixture, read);
}

const ids = <Id>(things: ReadonlyMap<string, { readonly id: Id }>): Id[] => [...things.values()].map(({ id }) => id);
const first = (fixture: Fixture) => fixture.user('user 0').id;
const viewer = (fixture: Fixture) => fixture.viewer('user 0');

it.each<[string, (r: Repositories, fixture: Fixture) => Promise<unknown>]>([
  ['users.list', (r, s) => r.users.list(s.realm.id, ids(s.users))],
  ['users.listHeads', (r, s) => r.users.listEntries(s.realm.id)],
  [
    'users.listByEmail',
    (r, s) =>
      r.users.listByEmail(
        s.realm.id,
        [...s.users.values()].map(({ email }) => email),
      ),
  ],
  ['users.listConversationPartners', (r, s) => r.users.listConversationPartners(s.realm.id, first(s))],
  ['actors.list', (r, s) => r.actors.list(s.realm.id, ids(s.users))],
  ['groups.listViews', (r, s) => r.groups.listViews(s.realm.id)],
  ['groups.listEdges', (r, s) => r.groups.listEdges(s.realm.id)],
  ['channels.listAll', (r, s) => r.channels.listAll(s.realm.id)],
  ['channels.listViews', (r, s) => r.channels.listViews(s.realm.id, ids(s.channels))],
  ['channels.listSubscribers', (r, s) => r.channels.listSubscribers(s.realm.id, ids(s.channels))],
  ['channels.listSubscriptions', (r, s) => r.channels.listSubscriptions(s.realm.id, first(s))],
  ['channels.listSubscriptionsOf', (r, s) => r.channels.listSubscriptionsOf(s.realm.id, ids(s.users), ids(s.channels))],
  ['channels.listColors', (r, s) => r.channels.listColors(s.realm.id, ids(s.users), PALETTE)],
  [
    'pages.listViews',
    (r, s) =>
      r.pages.listViews(
        s.realm.id,
        s.messages.map(({ id }) => id),
      ),
  ],
  [
    'pages.listHeads',
    (r, s) =>
      r.pages.listEntries(
        viewer(s),
        s.messages.map(({ id }) => id),
      ),
  ],
  [
    'topics.listNewestInTopics',
    (r, s) =>
      r.topics.listNewestInTopics(
        s.realm.id,
        s.channel('channel 1').recipientId,
        s.messages.map(({ topic }) => topic),
      ),
  ],
  [
    'topics.listNewestOwnInTopics',
    (r, s) =>
      r.topics.listNewestOwnInTopics(
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
  ['users.listActiveIds', (r, s) => r.users.listActiveIds(s.realm.id, ids(s.users))],
  ['users.listBotIds', (r, s) => r.users.listBotIds(s.realm.id)],
  ['users.listGuestIds', (r, s) => r.users.listGuestIds(s.realm.id)],
  [
    'users.areConversationPartners',
    (r, s) =>
      r.users.areConversationPartners(
        s.realm.id,
        ids(s.users).map((userId) => ({ guestId: first(s), userId, at: null })),
      ),
  ],
])('loads %s with the same number of statements for thirty as for three', async (_, read) => {
  const count = await countOf(small, read);
  // More statements than BEGIN and COMMIT, which shows that counting works.
  expect(count).toBeGreaterThan(2);
  expect(await countOf(large, read)).toBe(count);
});

it('loads uncached actors with the same number of statements for thirty as for three', async () => {
  const counts: number[] = [];
  for (const fixture of [small, large]) {
    await fixture.uow.write(fixture.realm.id, async (tx) => {
      const { members } = await tx.groups.systemGroupIds(fixture.realm.id);
      await tx.groups.removeMembers(fixture.realm.id, members, ids(fixture.users));
    });
    statements = [];
    await fixture.uow.read(fixture.realm.id, (r) => r.actors.list(fixture.realm.id, ids(fixture.users)));
    counts.push(statements.length);
  }
  expect(counts[0]).toBeGreaterThan(3);
  expect(counts[1]).toBe(counts[0]);
});

it.each<[string, (tx: Transaction, fixture: Fixture) => Promise<unknown>]>([
  ['a new user', (tx, fixture) => aUser({ name: 'newcomer' })(fixture, tx)],
  [
    'another member of a group',
    async (tx, { realm, user }) => {
      const { moderators } = await tx.groups.systemGroupIds(realm.id);
      await tx.groups.addMembers(realm.id, moderators, [user('user 2').id]);
    },
  ],
  ['a group of another user', (tx, fixture) => aGroup({ name: 'others', members: ['user 1'] })(fixture, tx)],
])('reads no cached actor again after %s', async (_, change) => {
  const read = (r: Repositories) => r.actors.get(small.caller('user 0'));
  const countAfter = async (work: (tx: Transaction) => Promise<unknown>) => {
    await small.uow.read(small.realm.id, read);
    await small.uow.write(small.realm.id, work);
    return statementsOf(small, read);
  };
  const without = await countAfter((tx) =>
    tx.events.append(small.realm.id, { event: { type: 'blank' }, audience: { kind: 'nobody' } }),
  );
  expect(await countAfter((tx) => change(tx, small))).toBe(without);
});

it('adds the search terms of 200 messages with one statement before a commit', async () => {
  const say = aMessage({ from: 'user 0', to: 'channel 0', content: 'together' });
  const send = (count: number) =>
    Promise.all(Array.from({ length: count }, () => large.uow.write(large.realm.id, (tx) => say(large, tx))));
  const withTerms = () => statements.flatMap((sql) => /^COMMIT|INTO message_search/.exec(sql.trim())?.[0] ?? []);
  await send(200);
  statements = [];
  await send(400);
  const texts = withTerms().join(', ');
  // A second without a search adds terms as well.
  const added = texts.match(/INTO message_search, COMMIT/g)!.length;
  expect(added).toBeGreaterThan(1);
  expect(added).toBeLessThan(10);
  expect(texts.match(/INTO message_search/g)).toHaveLength(added);
});

it('makes room for edits without reading earlier texts', async () => {
  const { id } = small.messages[0]!;
  const edit = { userId: first(small), editedAt: 1, topic: null, channelId: null };
  statements = [];
  await small.uow.write(small.realm.id, async (tx) => {
    for (let n = 0; n < MAX_EDITS + 2; n++) await tx.edits.add(small.realm.id, edit, [id], id);
  });
  const ofEdits = new Set(
    statements.filter((sql) => sql.includes('message_edit')).map((sql) => sql.trim().slice(0, 12)),
  );
  expect([...ofEdits]).toEqual(['INSERT INTO ', 'SELECT count', 'DELETE FROM ']);
  // Terms of messages of earlier tests are added in the background.
  const own = statements.filter((sql) => !sql.includes('search_backlog'));
  expect(own.filter((sql) => / OVER |\blength\(/.test(sql))).toEqual([]);
  expect(await small.uow.read(small.realm.id, (r) => r.edits.list(small.realm.id, id))).toHaveLength(MAX_EDITS);
});

it('changes the content without touching flags if it mentioned nobody', async () => {
  const { id } = small.messages[0]!;
  const text = { ...small.messages[0]!, content: 'new', renderedContent: '<p>new</p>', editedAt: 1 };
  const edit = (exceptions: ReadonlyMap<UserId, SentFlags>) => {
    statements = [];
    return small.uow.write(small.realm.id, (tx) => tx.messages.edit(small.realm.id, id, { ...text, exceptions }));
  };
  const ofFlags = () =>
    statements.flatMap((sql) => /(SELECT|UPDATE|INSERT)(?= .*message_flag)/s.exec(sql.trim())?.[0] ?? []);
  await edit(new Map());
  expect(ofFlags()).toEqual(['SELECT']);
  await edit(new Map([[first(small), { mentioned: true }]]));
  expect(ofFlags()).toEqual(['SELECT', 'INSERT']);
  await edit(new Map());
  expect(ofFlags()).toEqual(['SELECT', 'UPDATE']);
});

it('stores shared invitation contents once and all invitations with one statement', async () => {
  const given = {
    realmId: small.realm.id,
    kind: 'email',
    inviterId: first(small),
    role: 'member',
    channelIds: Array.from({ length: 10_000 }, (_, n) => (n + 1) as ChannelId),
    groupIds: [],
    includesDefaultChannels: false,
    welcomeText: null,
    invitedAt: 0,
    expiresAt: null,
    status: 'open',
    notifiesInviter: false,
  } as const;
  statements = [];
  const emails = Array.from({ length: 1000 }, (_, n) => `${n}@example.com`);
  expect(await small.uow.write(given.realmId, (tx) => tx.invitations.add(given, emails))).toHaveLength(1000);
  expect(statements.filter((sql) => sql.includes('INTO invitation'))).toHaveLength(2);
  statements = [];
  await small.uow.read(small.realm.id, (r) => r.invitations.listOpen(small.realm.id, 1, null));
  expect(statements.filter((sql) => sql.includes('channel_ids'))).toEqual([]);
});
