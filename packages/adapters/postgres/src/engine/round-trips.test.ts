import {
  ChangeSubscriptionParts,
  ChannelCreator,
  CreateChannel,
  DEFAULT_CHANNEL_OPTIONS,
} from '@parley/domain/channels';
import type { MessageId } from '@parley/domain/kernel';
import { ChangeMessageFlags, GetMessages, MarkAllReadParts, PLAIN_TEXTS } from '@parley/domain/messages';
import { CreateDrafts, MarkdownTextRenderer, SystemMessages } from '@parley/domain/writing';
import {
  aChannel,
  aMessage,
  aUser,
  createFixtureOn,
  FakeChannelQuota,
  FakeRenderer,
  FixedClock,
  type Fixture,
  fakeRealmUrls,
  sending,
} from '@parley/testkit';
import { openPostgresStorage, type PostgresStorage } from '../database.js';
import { type CuttingProxy, startCuttingProxy } from '../testing/cutting-proxy.js';
import { createDatabase, type TestDatabase } from '../testing/databases.js';

let database: TestDatabase;
let storage: PostgresStorage;
let fixture: Fixture;
/** Delays each response by a millisecond, like a server on another machine. */
let proxy: CuttingProxy;
let roundTrips = 0;
/** True after an exclusive unit, for which other units of its organization had to wait. */
let wasAlone = false;

beforeAll(async () => {
  database = await createDatabase();
  const clock = new FixedClock();
  proxy = await startCuttingProxy(database.url, 1);
  storage = await openPostgresStorage({
    url: proxy.url,
    clock,
    trace(sql, isFirst) {
      if (isFirst) roundTrips++;
      wasAlone ||= sql.includes('pg_advisory_xact_lock($2),');
    },
  });
  fixture = await createFixtureOn(
    storage.uow,
    clock,
    aUser({ name: 'a' }),
    aUser({ name: 'b' }),
    aChannel({ name: 'general', subscribers: ['a', 'b'] }),
    aMessage({ from: 'b', to: 'general', topic: 'plans' }),
  );
});
afterAll(async () => {
  await storage.close();
  await proxy.close();
  await database.drop();
});

const idOf = async (sent: Promise<{ readonly id: MessageId }>): Promise<MessageId> => (await sent).id;
const send = () => sending(fixture)('a', { kind: 'channelId', id: fixture.channel('general').id });
const page = (): Promise<unknown> =>
  new GetMessages(fixture.uow, fakeRealmUrls, PLAIN_TEXTS).execute(
    fixture.caller('a'),
    {
      narrow: [{ operator: 'channel', operand: 'general', negated: false }],
      select: { anchor: { kind: 'newest' }, before: 50, after: 0, includeAnchor: true },
    },
    async (list) => list,
  );

/** Name, maximum number, and the operation after its preparation. */
const operations: readonly (readonly [string, number, () => Promise<() => Promise<unknown>>])[] = [
  ['sends a message to a channel', 6, async () => send],
  [
    'sends a direct message',
    6,
    async () => () => sending(fixture)('a', { kind: 'userIds', ids: [fixture.user('b').id] }),
  ],
  [
    'marks a message read',
    8,
    async () => {
      const id = await idOf(send());
      const change = new ChangeMessageFlags(fixture.uow, fixture.clock);
      return () => change.execute(fixture.caller('b'), { ids: [id], op: 'add', flag: 'read' });
    },
  ],
  ['returns a page of a channel', 3, async () => page],
  [
    'saves a hundred drafts',
    8,
    async () => {
      const create = new CreateDrafts(fixture.uow, fixture.clock);
      const draft = { kind: 'channel', to: [fixture.channel('general').id], topic: 'plans', content: 'Later' } as const;
      const drafts = Array.from({ length: 100 }, () => ({ ...draft, editedAt: null }));
      return () => create.execute(fixture.caller('a'), drafts);
    },
  ],
];

// Every round trip costs time under the organization's lock and CPU on both sides.
it.each(operations)('%s in at most %i round trips without blocking other writes', async (_, most, prepare) => {
  // The first runs fill the caches.
  for (let i = 0; i < 3; i++) await (await prepare())();
  const run = await prepare();
  roundTrips = 0;
  wasAlone = false;
  const before = proxy.roundTrips;
  await run();
  expect(roundTrips).toBeLessThanOrEqual(most);
  expect(proxy.roundTrips - before).toBeLessThanOrEqual(most);
  expect(wasAlone).toBe(false);
});

it('marks all messages read in at most 9 round trips', async () => {
  const mark = new MarkAllReadParts(fixture.uow, fixture.clock);
  await mark.markAll(fixture.caller('b'));
  await send();
  roundTrips = 0;
  await mark.markAll(fixture.caller('b'));
  expect(roundTrips).toBeLessThanOrEqual(9);
});

it('creates a channel in at most 36 round trips', async () => {
  const renderer = new FakeRenderer();
  const { uow, clock } = fixture;
  const texts = new MarkdownTextRenderer(uow, renderer, fakeRealmUrls);
  const messages = new SystemMessages(renderer, fakeRealmUrls, clock);
  const creator = new ChannelCreator(texts, messages, new FakeChannelQuota(), { webPublicEnabled: true });
  const create = new CreateChannel(creator, new ChangeSubscriptionParts(uow, creator, clock), fakeRealmUrls);
  const subscriberIds = ['a', 'b'].map((name) => fixture.user(name).id);
  for (const name of ['Norway', 'Denmark']) {
    const input = { ...DEFAULT_CHANNEL_OPTIONS, name, description: '', subscriberIds, announce: false };
    roundTrips = 0;
    await create.execute(fixture.caller('a'), input);
  }
  expect(roundTrips).toBeLessThanOrEqual(36);
});
