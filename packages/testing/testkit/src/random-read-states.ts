import { topicKey } from '@parley/domain/channels';
import type { Clock, MessageId, Repositories, Transaction } from '@parley/domain/kernel';
import { type MessageCondition, type MessageFilter, not, receivedMessagesIn } from '@parley/domain/messages';
import fc from 'fast-check';
import { aChannel, aMessage, aUser, createFixtureOn, type Fixture } from './builders.js';
import type { StorageUnderTest } from './contracts/storage-under-test.js';
import { FixedClock } from './fixed-clock.js';

type Units = Pick<StorageUnderTest, 'uow' | 'close'>;
type OpenUnits = (clock: Clock) => Units | Promise<Units>;

const PEOPLE = ['a', 'b', 'c'];
const CHANNELS = ['red', 'green', 'blue'];
const TOPICS = ['Lunch', 'lunch', 'dinner'];

const person = fc.constantFrom(...PEOPLE);
const channel = fc.constantFrom(...CHANNELS);
const topic = fc.constantFrom(...TOPICS);
/** Selects messages by distance from the newest. */
const picks = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.nat(30), { minLength: 1, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.record({ from: fc.nat(100), step: fc.integer({ min: 1, max: 7 }) }) },
);
const marks = fc.record({
  mentioned: fc.boolean(),
  topicWildcardMentioned: fc.boolean(),
  hasAlertWord: fc.boolean(),
  unread: fc.boolean(),
});
const rarely = fc.integer({ max: 4, min: 0 }).map((n) => n === 0);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      from: person,
      to: fc.oneof({ weight: 4, arbitrary: channel }, { weight: 1, arbitrary: fc.array(person, { maxLength: 2 }) }),
      topic,
      count: fc.oneof(
        { weight: 5, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.integer({ min: 2, max: 60 }) },
      ),
      isReadBySender: fc.boolean(),
      readFor: fc.subarray([...PEOPLE]),
      mentionsChannel: rarely,
      isReadByDefault: rarely,
      exceptions: fc.dictionary(person, marks, { maxKeys: 1 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('read' as const), who: person, picks, read: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('readAll' as const), who: person }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('readIn' as const), who: person, channel, topic: fc.option(topic) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('flag' as const),
      who: person,
      picks,
      flag: fc.constantFrom('starred' as const, 'collapsed' as const),
      on: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('follow' as const), who: person, channel, on: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('addHistorical' as const), who: person, picks }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('mute' as const), who: person, whom: person, on: fc.boolean() }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('move' as const),
      picks,
      channel,
      topic: fc.option(topic),
      isHistoryProtected: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), picks }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Executes a step and returns the storage's result. */
async function take(fixture: Fixture, tx: Transaction, each: Step): Promise<unknown> {
  const { realm, viewer } = fixture;
  const picked = (choice: Extract<Step, { kind: 'addHistorical' }>['picks'], pool = fixture.messages): MessageId[] => {
    const ids = pool.map(({ id }) => id);
    const found = Array.isArray(choice)
      ? choice.map((back) => ids.at(-1 - back))
      : ids.filter((_, index) => index >= choice.from && (index - choice.from) % choice.step === 0);
    return [...new Set(found.filter((id) => id !== undefined))];
  };
  switch (each.kind) {
    case 'send': {
      const { kind: _, count, to, ...more } = each;
      for (let i = 0; i < count; i++) {
        const inTurn = { ...more, topic: Array.isArray(to) ? '' : count > 1 ? TOPICS[i % 3]! : more.topic };
        await aMessage({ to, ...inTurn })(fixture, tx);
      }
      return null;
    }
    case 'read':
      return tx.personal.setRead(viewer(each.who), picked(each.picks), each.read);
    case 'readIn': {
      const key = each.topic === null ? null : topicKey(each.topic);
      return tx.personal.markRead(viewer(each.who), receivedMessagesIn(fixture.channel(each.channel).recipientId, key));
    }
    case 'readAll':
      return tx.personal.markAllRead(viewer(each.who));
    case 'flag':
      return tx.personal.setFlag(viewer(each.who), picked(each.picks), each.flag, each.on);
    case 'follow': {
      const { recipientId } = fixture.channel(each.channel);
      const users = [fixture.user(each.who).id];
      return each.on
        ? tx.personal.openSpans(realm.id, [recipientId], users)
        : tx.personal.closeSpans(realm.id, [recipientId], users);
    }
    case 'addHistorical':
      return tx.personal.addHistorical(viewer(each.who), picked(each.picks));
    case 'mute':
      return each.on
        ? tx.personal.muteSender(viewer(each.who), fixture.user(each.whom).id, 5)
        : tx.personal.unmuteSender(viewer(each.who), fixture.user(each.whom).id);
    case 'move': {
      const { id, recipientId } = fixture.channel(each.channel);
      const inChannels = fixture.messages.filter((message) => message.channelId !== null);
      return tx.moves.move(realm.id, picked(each.picks, inChannels), {
        channelId: id,
        recipientId,
        topic: each.topic,
        isHistoryProtected: each.isHistoryProtected,
      });
    }
    case 'remove':
      return tx.messages.remove(realm.id, picked(each.picks));
  }
}

/** Returns the results of all possible queries. */
async function answers(fixture: Fixture, r: Repositories): Promise<Readonly<Record<string, unknown>>> {
  const all = fixture.messages.map(({ id }) => id);
  const userIds = PEOPLE.map((name) => fixture.user(name).id);
  const result: Record<string, unknown> = {};
  const live = (await r.messages.list(fixture.realm.id, all)).map(({ id }) => id);
  result.live = live;
  result.holders = await r.personal.filterHolders(fixture.realm.id, live.slice(-20), userIds);
  result.flags = await r.personal.listFlagsOf(fixture.realm.id, userIds, live);
  for (const each of CHANNELS) {
    result[`topics of ${each}`] = await r.topics.listTopics(fixture.realm.id, fixture.channel(each).recipientId);
  }
  const inChannel = (name: string): MessageCondition => ({
    kind: 'recipient',
    recipientIds: [fixture.channel(name).recipientId],
  });
  const lunch: MessageCondition = { kind: 'topic', topicKey: 'lunch' };
  const by = (name: string): MessageCondition => ({ kind: 'sender', userId: fixture.user(name).id });
  const filters: Record<string, readonly MessageCondition[]> = {
    everything: [],
    red: [inChannel('red')],
    'lunch in green': [inChannel('green'), lunch],
    lunch: [lunch],
    'by a': [by('a')],
    'by b in blue': [inChannel('blue'), by('b')],
    'not red, not by a': [not(inChannel('red')), not(by('a'))],
  };
  const middle = all[Math.floor(all.length / 2)] ?? 0;
  for (const name of PEOPLE) {
    const viewer = fixture.viewer(name);
    const say = (what: string, value: unknown) => {
      result[`${name}: ${what}`] = value;
    };
    say('flags', await r.personal.listFlags(viewer, all));
    say('heads', await r.pages.listEntries(viewer, all));
    say('unread', await r.personal.listUnread(viewer, 1000));
    say('newest unread', await r.personal.listUnread(viewer, 4));
    say('unread by conversation', await r.personal.overviewUnread(viewer, 1000));
    for (const limit of [2, 5, 12]) {
      say(`newest ${limit} unread by conversation`, await r.personal.overviewUnread(viewer, limit));
    }
    say('starred', await r.personal.listStarred(viewer));
    say('newest', await r.personal.newestId(viewer));
    say('former', await r.personal.listUnsubscribedChannelIdsWithMessages(viewer));
    say('recent', await r.recipients.listRecentDirect(fixture.realm.id, viewer.userId, 10));
    for (const each of CHANNELS) {
      say(`topics of ${each}`, await r.topics.listOwnTopics(viewer, fixture.channel(each).recipientId));
    }
    for (const [title, conditions] of Object.entries(filters)) {
      const filter: MessageFilter = { conditions, scope: 'own' };
      const ids = (entries: readonly { readonly id: MessageId }[]) => entries.map(({ id }) => id);
      say(`${title}, unread`, await r.personal.listUnread(viewer, 1000, filter));
      say(`${title}, first unread`, await r.personal.findFirstUnread(viewer, filter));
      say(`${title}, all`, ids(await r.pages.listEntriesUpTo(viewer, filter, null, 1000)));
      say(`${title}, older`, ids(await r.pages.listEntriesUpTo(viewer, filter, middle, 3)));
      say(`${title}, newer`, ids(await r.pages.listEntriesFrom(viewer, filter, middle, 3)));
      if (conditions.some(({ kind }) => kind === 'recipient')) {
        const shared = { ...filter, scope: 'shared' as const };
        say(`${title}, shared`, await r.pages.listEntriesFrom(viewer, shared, 0, 20));
      }
    }
  }
  return result;
}

/**
 * Runs identical random histories of messages and read states in units of work on two storages, and compares the
 * results of all steps and queries. The first storage is the model with one row per message and reader:
 * `MemoryStorage`.
 */
export async function agreeOnReadStates(
  openModel: OpenUnits,
  openOther: OpenUnits,
  { runs, maxSteps }: { readonly runs: number; readonly maxSteps: number },
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: maxSteps, size: 'max' }), async (steps) => {
      const clock = new FixedClock();
      const [model, other] = [await openModel(clock), await openOther(clock)];
      try {
        const pieces = [
          ...PEOPLE.map((name) => aUser({ name })),
          ...CHANNELS.map((name) => aChannel({ name, subscribers: name === 'blue' ? ['a'] : ['a', 'b'] })),
        ];
        const plain = await createFixtureOn(model.uow, clock, ...pieces);
        const compact = await createFixtureOn(other.uow, clock, ...pieces);
        for (const each of steps) {
          const expected = await plain.uow.write(plain.realm.id, (tx) => take(plain, tx, each));
          const actual = await compact.uow.write(compact.realm.id, (tx) => take(compact, tx, each));
          requireEqual(actual, expected, each.kind);
        }
        const expected = await plain.uow.read(plain.realm.id, (r) => answers(plain, r));
        const actual = await compact.uow.read(compact.realm.id, (r) => answers(compact, r));
        for (const question of Object.keys(expected)) requireEqual(actual[question], expected[question], question);
      } finally {
        await model.close();
        await other.close();
      }
    }),
    { numRuns: runs },
  );
}

function requireEqual(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [actual, expected].map((value) => fc.stringify(value));
  if (one !== other) throw new Error(`${what}: ${one} instead of ${other}`);
}
