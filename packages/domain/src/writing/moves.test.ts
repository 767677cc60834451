import { aChannel, aMessage, aUser, createFixture, type MemoryFixture, subscribe } from '@parley/testkit';
import type { TopicVisibility } from '../channels/topic-policies.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import {
  allInTopic,
  FIRST_POLICY,
  MAX_MOVED,
  type MessageMove,
  moveMessages,
  moveSomePolicies,
  type PolicyCursor,
  selectMoved,
  visibleInTopic,
} from './moves.js';

describe('selection of moved messages', () => {
  const MESSAGES = ['open', 'secret'].map((to) => aMessage({ from: 'author', to, topic: 'Plans' }));
  /** Messages by index: 0 to 3 in each channel, which the newcomer joined after 1. */
  const world = () =>
    createFixture(
      aUser({ name: 'author' }),
      aUser({ name: 'newcomer' }),
      aChannel({ name: 'open', subscribers: ['author'] }),
      aChannel({ name: 'secret', privacy: 'privateProtectedHistory', subscribers: ['author'] }),
      ...[...MESSAGES, ...MESSAGES],
      async ({ channel, user }, tx) => {
        for (const name of ['open', 'secret']) await subscribe(tx, channel(name), [user('newcomer').id]);
      },
      ...[...MESSAGES, ...MESSAGES],
    );

  it.each([
    ['open', 'one', visibleInTopic, [2]],
    ['open', 'later', visibleInTopic, [2, 3]],
    ['open', 'all', visibleInTopic, [0, 1, 2, 3]],
    ['secret', 'all', visibleInTopic, [2, 3]],
    ['secret', 'all', null, [0, 1, 2, 3]],
  ] as const)(
    'contains in channel %s for a newcomer and propagation %s the right messages',
    async (where, propagation, visible, expected) => {
      const { uow, realm, caller, channel, messages } = await world();
      const there = messages.filter(({ channelId }) => channelId === channel(where).id);
      const selected = await uow.write(realm.id, async (tx) => {
        const actor = await tx.actors.get(caller('newcomer'));
        const filter = visible?.(actor, channel(where), true, 'plans') ?? allInTopic(channel(where), 'plans');
        return selectMoved(tx, actor, there[2]!, filter, propagation);
      });
      expect(selected).toEqual(expected.map((index) => there[index]!.id));
    },
  );

  it('has a maximum', async () => {
    const { uow, realm, caller, channel, messages } = await world();
    const select = (count: number) =>
      uow.write(realm.id, async (tx) => {
        const listEntriesFrom = async (_viewer: unknown, _filter: unknown, from: number, limit: number) =>
          Array.from({ length: Math.min(limit, Math.max(count - from, 0)) }, (_, n) => ({ id: from + n }));
        const long = { pages: { listEntriesFrom } } as unknown as Transaction;
        const actor = await tx.actors.get(caller('newcomer'));
        return selectMoved(long, actor, messages[0]!, allInTopic(channel('open'), 'plans'), 'all');
      });
    expect(await select(MAX_MOVED)).toHaveLength(MAX_MOVED);
    await expect(select(MAX_MOVED + 1)).rejects.toMatchObject({ code: 'TOO_MANY_MESSAGES_TO_MOVE' });
  });
});

describe('moved messages', () => {
  const MOVED_AT = 7_000;

  it.each<[to: string, Partial<MessageMove>, edit: object, movedAt: number | null, gainedBy: readonly string[]]>([
    [
      'open',
      { topic: { name: 'later', links: [] } },
      { topic: { from: 'plans', to: 'later' }, channel: null },
      MOVED_AT,
      ['reader'],
    ],
    [
      'open',
      { topic: { name: '✔ plans', links: [] }, isToggle: true },
      { topic: { from: 'plans', to: '✔ plans' }, channel: null },
      null,
      ['reader'],
    ],
    ['shared', { changesChannel: true }, { topic: null, channel: { from: 'open', to: 'shared' } }, MOVED_AT, []],
    [
      'protected',
      { changesChannel: true },
      { topic: null, channel: { from: 'open', to: 'protected' } },
      MOVED_AT,
      ['reader', 'newcomer'],
    ],
  ])(
    'keep in channel %s after the change %j the record %j and belong to the right users',
    async (to, change, edit, movedAt, holders) => {
      const { uow, realm, user, caller, channel, messages } = await createFixture(
        aUser({ name: 'reader' }),
        aUser({ name: 'newcomer' }),
        aChannel({ name: 'open', subscribers: ['reader'] }),
        aChannel({ name: 'shared', privacy: 'privateSharedHistory', subscribers: ['newcomer'] }),
        aChannel({ name: 'protected', privacy: 'privateProtectedHistory', subscribers: ['reader', 'newcomer'] }),
        aMessage({ from: 'reader', to: 'open', topic: 'plans' }),
      );
      const ids = messages.map(({ id }) => id);
      await uow.write(realm.id, async (tx) =>
        moveMessages(tx, {
          ...{ actor: await tx.actors.get(caller('reader')), ids, channel: channel(to), topic: null },
          ...{ changesChannel: false, isToggle: false, movedAt: MOVED_AT, edited: null, ...change },
        }),
      );
      const people = ['reader', 'newcomer'];
      const [moved, edits, held] = await uow.read(realm.id, (r) =>
        Promise.all([
          r.messages.find(realm.id, ids[0]!),
          r.edits.list(realm.id, ids[0]!),
          r.personal.filterHolders(
            realm.id,
            ids,
            people.map((name) => user(name).id),
          ),
        ]),
      );
      expect(moved).toMatchObject({ channelId: channel(to).id, lastMovedAt: movedAt });
      const nameOf = (id: number) => ['open', 'shared', 'protected'].find((name) => channel(name).id === id);
      const record = edits.map(({ userId, editedAt, previousContent, ...where }) => ({
        ...where,
        channel: where.channel && { from: nameOf(where.channel.from), to: nameOf(where.channel.to) },
      }));
      expect(record).toEqual([edit]);
      const holding = new Set([...held].flatMap(([, userIds]) => [...userIds]));
      expect(people.filter((name) => holding.has(user(name).id))).toEqual(holders);
    },
  );
});

describe('topic policies of a topic that moves to a private channel', () => {
  const TOPIC = 'plans';
  const world = async (...policies: readonly [who: string, where: string, TopicVisibility][]) => {
    const fixture = await createFixture(
      aUser({ name: 'insider' }),
      aUser({ name: 'outsider' }),
      aChannel({ name: 'open', subscribers: ['insider', 'outsider'] }),
      aChannel({ name: 'secret', privacy: 'privateSharedHistory', subscribers: ['insider'] }),
      aMessage({ from: 'insider', to: 'open', topic: TOPIC }),
    );
    const { realm, user, channel } = fixture;
    await fixture.uow.write(realm.id, async (tx) => {
      for (const [who, where, visibility] of policies) {
        const place = { realmId: realm.id, userId: user(who).id, channelId: channel(where).id, topic: TOPIC };
        await tx.topicPolicies.put({ ...place, visibility, changedAt: 0 });
      }
    });
    fixture.storage.announced.length = 0;
    return fixture;
  };
  const move = (
    fixture: MemoryFixture,
    hadMessages: boolean,
    from: PolicyCursor = FIRST_POLICY,
    target = { channel: fixture.channel('secret'), topic: TOPIC },
  ) => {
    const source = { channel: fixture.channel('open'), topic: TOPIC };
    return fixture.uow.write(fixture.realm.id, (tx) =>
      moveSomePolicies(tx, source, { ...target, hadMessages }, fixture.clock.now(), from),
    );
  };
  const policiesIn = ({ uow, realm, channel, user }: MemoryFixture, where: string) =>
    uow.read(realm.id, async ({ topicPolicies }) => {
      const list = await topicPolicies.listOfTopic(realm.id, channel(where).id, TOPIC, 0, 10);
      const nameOf = (id: number) => ['insider', 'outsider'].find((name) => user(name).id === id);
      return list.map(({ userId, visibility }) => [nameOf(userId), visibility]);
    });

  it.each([[false], [true]])('follow only users who can read it, whether it had messages: %s', async (hadMessages) => {
    const fixture = await world(['insider', 'open', 'followed'], ['outsider', 'open', 'followed']);
    expect(await move(fixture, hadMessages)).toBeNull();
    expect(await policiesIn(fixture, 'open')).toEqual([]);
    expect(await policiesIn(fixture, 'secret')).toEqual([['insider', 'followed']]);
    const outsider = fixture.user('outsider').id;
    const received = fixture.storage.announced.filter(
      ({ audience }) => audience.kind === 'users' && audience.ids.includes(outsider),
    );
    expect(received).toHaveLength(1);
    expect(JSON.stringify(received)).not.toContain(`"channelId":${fixture.channel('secret').id}`);
  });

  it('leave a former subscriber the policy for the target', async () => {
    const fixture = await world(['outsider', 'open', 'followed'], ['outsider', 'secret', 'muted']);
    await move(fixture, true);
    expect(await policiesIn(fixture, 'open')).toEqual([]);
    expect(await policiesIn(fixture, 'secret')).toEqual([['outsider', 'muted']]);
  });

  it.each<[TopicVisibility, TopicVisibility | null, hadMessages: boolean, expected: TopicVisibility | null]>([
    ['muted', null, false, 'muted'],
    ['muted', null, true, null],
    ['muted', 'followed', false, 'muted'],
    ['muted', 'followed', true, 'followed'],
    ['followed', 'muted', true, 'followed'],
    ['inherit', 'muted', true, null],
    ['inherit', 'muted', false, 'muted'],
    ['inherit', 'followed', true, 'followed'],
  ])('merge %s and %s, in a target with messages: %s, to %s', async (source, target, hadMessages, expected) => {
    const fixture = await world(
      ['insider', 'open', source],
      ...(target ? [['insider', 'secret', target] satisfies [string, string, TopicVisibility]] : []),
    );
    expect(await move(fixture, hadMessages)).toBeNull();
    expect(await policiesIn(fixture, 'open')).toEqual([]);
    expect(await policiesIn(fixture, 'secret')).toEqual(expected === null ? [] : [['insider', expected]]);
  });

  it('publish only changes', async () => {
    const fixture = await world(['insider', 'secret', 'muted']);
    await move(fixture, true);
    expect(fixture.storage.announced.map(({ event }) => event)).toMatchObject([
      { type: 'topic.policy_changed', channelId: fixture.channel('secret').id, visibility: 'inherit' },
    ]);
  });

  it('stay with a topic that only changes its letter case', async () => {
    const fixture = await world(['insider', 'open', 'followed']);
    await move(fixture, false, FIRST_POLICY, { channel: fixture.channel('open'), topic: TOPIC.toUpperCase() });
    expect(await policiesIn(fixture, 'open')).toEqual([['insider', 'followed']]);
  });

  it('stay where users chose them after the policies of the source moved', async () => {
    const fixture = await world(['insider', 'open', 'followed'], ['insider', 'secret', 'muted']);
    await move(fixture, true, { place: 'target', after: 0 });
    expect(await policiesIn(fixture, 'open')).toEqual([['insider', 'followed']]);
    expect(await policiesIn(fixture, 'secret')).toEqual([['insider', 'muted']]);
  });

  it('lose those of deactivated users', async () => {
    const fixture = await world(['insider', 'open', 'followed']);
    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update({ ...fixture.user('insider'), isActive: false }));
    await move(fixture, false);
    expect(await policiesIn(fixture, 'open')).toEqual([]);
    expect(await policiesIn(fixture, 'secret')).toEqual([]);
  });
});
