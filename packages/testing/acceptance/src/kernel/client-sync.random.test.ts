import fc from 'fast-check';
import { fieldsOf } from '../testing/expectations.js';
import type { WireClient } from '../testing/wire-client.js';
import { expectInStep, WireWorld, type WorldGroup, type WorldPerson } from '../testing/wire-world.js';

/**
 * Default seed; failures report theirs. `PARLEY_RANDOM_SEED` and `PARLEY_RANDOM_RUNS` repeat a run or extend the
 * search.
 */
const SEED = 2026;
const RUNS = 12;
const MAX_STEPS = 40;

const CHANNELS = ['town', 'garden', 'closet', 'archive', 'museum'] as const;
const NEW_CHANNELS = ['attic', 'cellar'] as const;

/** Point at which a client fetches its events, so that both delayed and immediate events are tested. */
interface Pause {
  readonly client: number;
}

/** Point at which the queues begin to read the log. */
interface Sleep {
  readonly sleeps: true;
}

type Point = Step | Pause | Sleep;

interface Step {
  readonly as: WorldPerson;
  readonly operation: string;
  /** Parameters that depend on the state at execution time. */
  readonly params: (world: WireWorld, messages: readonly number[]) => Readonly<Record<string, unknown>>;
  /** Description for failure reports. */
  readonly told: unknown;
}

/** Callers, weighted towards privileged ones, because rejected steps reveal little. */
const caller = fc.constantFrom<WorldPerson>(
  ...(['desdemona', 'desdemona', 'iago', 'iago', 'iago', 'hamlet', 'hamlet', 'hamlet'] as const),
  ...(['shiva', 'cordelia', 'cordelia', 'polonius', 'lonelyGuest'] as const),
);
const person = fc.constantFrom<WorldPerson>('desdemona', 'iago', 'hamlet', 'cordelia', 'polonius', 'lonelyGuest');
const somebody = fc.uniqueArray(person, { minLength: 1, maxLength: 3 });
/** Empty means the caller. */
const principals = fc.oneof(fc.constant([] as WorldPerson[]), somebody);
const channel = fc.constantFrom(...CHANNELS, ...NEW_CHANNELS);
const group = fc.constantFrom<WorldGroup>('players', 'troupe');
const someChannels = fc.uniqueArray(fc.constantFrom(...CHANNELS), { minLength: 1, maxLength: 2 });
const anyChannels = fc.uniqueArray(channel, { minLength: 1, maxLength: 2 });
const topic = fc.constantFrom('', 'news', 'NEWS', 'plans');
const movedTopic = fc.constantFrom('', 'news', 'plans', '✔ news', '✔ plans');
const content = fc.constantFrom('hello', '@**King Hamlet**', '@**all**', '@**topic**', '@**Polonius** @**Cordelia**');
const flag = fc.constantFrom('read', 'read', 'starred', 'collapsed');
const op = fc.constantFrom('add', 'remove');
const indexes = fc.uniqueArray(fc.nat(15), { minLength: 1, maxLength: 4 });

const step = <P>(
  operation: string,
  parts: fc.Arbitrary<P>,
  params: (parts: P, ...known: Parameters<Step['params']>) => ReturnType<Step['params']>,
): fc.Arbitrary<Step> =>
  fc.tuple(caller, parts).map(([as, told]) => ({
    as,
    operation,
    params: (world, messages) => params(told, world, messages),
    told,
  }));

const idsOf = (names: readonly WorldPerson[], { people }: WireWorld): number[] => names.map((name) => people[name].id);

const steps = fc.oneof(
  step('POST /messages', fc.record({ channel, topic, content }), ({ channel: to, ...message }) => ({
    type: 'channel',
    to,
    ...message,
  })),
  step('POST /messages', fc.record({ to: somebody, content }), ({ to, content }, world) => ({
    type: 'direct',
    to: idsOf(to, world),
    content,
  })),
  ...[anyChannels, someChannels, someChannels].map((names) =>
    step('POST /users/me/subscriptions', fc.tuple(names, principals), ([names, people], world) => ({
      subscriptions: names.map((name) => ({ name })),
      principals: idsOf(people, world),
    })),
  ),
  ...[anyChannels, someChannels, someChannels].map((names) =>
    step('DELETE /users/me/subscriptions', fc.tuple(names, principals), ([subscriptions, people], world) => ({
      subscriptions,
      principals: idsOf(people, world),
    })),
  ),
  step('POST /users', fc.constantFrom('yorick', 'osric', 'reynaldo'), (name) => ({
    email: `${name}@zulip.com`,
    password: `alas, poor ${name} 1601`,
    full_name: name,
  })),
  step(
    'POST /channels/create',
    fc.record({
      name: fc.constantFrom(...NEW_CHANNELS),
      subscribers: somebody,
      invite_only: fc.boolean(),
      is_default_stream: fc.boolean(),
      history_public_to_subscribers: fc.boolean(),
    }),
    ({ subscribers, ...fields }, world) => ({ ...fields, subscribers: idsOf(subscribers, world) }),
  ),
  step('POST /messages/flags', fc.record({ op, flag, indexes }), ({ indexes, ...change }, _, messages) => ({
    ...change,
    messages: indexes.flatMap((index) => messages.at(-1 - index) ?? []),
  })),
  step('POST /messages/flags/narrow', fc.record({ op, flag }), (change) => ({
    ...change,
    anchor: 'newest',
    num_before: 20,
    num_after: 0,
    narrow: [],
  })),
  step('POST /mark_all_as_read', fc.constant(null), () => ({})),
  step('PATCH /messages/:message_id', fc.tuple(fc.nat(15), content), ([index, text], _, messages) => ({
    message_id: messages.at(-1 - index),
    content: text,
  })),
  ...[1, 2].map(() =>
    step(
      'PATCH /messages/:message_id',
      fc.record({
        index: fc.nat(15),
        topic: fc.option(movedTopic),
        to: fc.option(fc.constantFrom(...CHANNELS)),
        propagate_mode: fc.constantFrom('change_one', 'change_later', 'change_all'),
        send_notification_to_old_thread: fc.boolean(),
        send_notification_to_new_thread: fc.boolean(),
      }),
      ({ index, topic, to, ...rest }, { channels }, messages) => ({
        message_id: messages.at(-1 - index),
        ...rest,
        ...(topic !== null && { topic }),
        ...(to !== null && { stream_id: channels[to] }),
      }),
    ),
  ),
  step(
    'PATCH /streams/:stream_id',
    fc.tuple(
      fc.constantFrom(...CHANNELS),
      fc.record(
        {
          description: fc.constantFrom('', '*new*', 'old'),
          is_default_stream: fc.boolean(),
          topics_policy: fc.constantFrom('inherit', 'allow_empty_topic', 'disable_empty_topic'),
          senders: somebody,
        },
        { requiredKeys: [] },
      ),
    ),
    ([name, { senders, ...change }], world) => ({
      stream_id: world.channels[name],
      ...change,
      ...(senders && {
        can_send_message_group: { new: { direct_members: idsOf(senders, world), direct_subgroups: [] } },
      }),
    }),
  ),
  step(
    'POST /users/me/subscriptions/properties',
    fc.record({
      name: fc.constantFrom(...CHANNELS),
      property: fc.constantFrom('is_muted', 'in_home_view', 'pin_to_top', 'push_notifications'),
      value: fc.boolean(),
    }),
    ({ name, ...change }, { channels }) => ({ subscription_data: [{ stream_id: channels[name], ...change }] }),
  ),
  step(
    'POST /user_topics',
    fc.record({ name: fc.constantFrom(...CHANNELS), topic, visibility_policy: fc.nat(3) }),
    ({ name, ...choice }, { channels }) => ({ stream_id: channels[name], ...choice }),
  ),
  step(
    'PATCH /streams/:stream_id',
    fc.record({
      name: fc.constantFrom(...CHANNELS),
      is_private: fc.boolean(),
      history_public_to_subscribers: fc.boolean(),
    }),
    ({ name, ...privacy }, { channels }) => ({ stream_id: channels[name], ...privacy }),
  ),
  step(
    'PATCH /streams/:stream_id',
    fc.record({
      name: fc.constantFrom('closet', 'archive'),
      setting: fc.constantFrom('can_subscribe_group', 'can_add_subscribers_group', 'can_administer_channel_group'),
      members: fc.option(somebody),
      groups: fc.uniqueArray(group, { maxLength: 1 }),
    }),
    ({ name, setting, members, groups }, world) => ({
      stream_id: world.channels[name],
      [setting]: {
        new: {
          direct_members: idsOf(members ?? [], world),
          direct_subgroups: groups.map((each) => world.groups[each]),
        },
      },
    }),
  ),
  step('DELETE /streams/:stream_id', fc.constantFrom(...CHANNELS), (name, { channels }) => ({
    stream_id: channels[name],
  })),
  step('PATCH /streams/:stream_id', fc.constantFrom(...CHANNELS), (name, { channels }) => ({
    stream_id: channels[name],
    is_archived: false,
  })),
  ...[1, 2].map(() =>
    step(
      'PATCH /users/:user_id',
      fc.record({ person, role: fc.constantFrom(200, 300, 400, 400, 600) }),
      ({ person, role }, world) => ({
        user_id: world.people[person].id,
        role,
      }),
    ),
  ),
  ...[1, 2].map(() =>
    step(
      'POST /user_groups/:user_group_id/members',
      fc.record({ group, op: fc.constantFrom('add', 'delete'), somebody }),
      ({ group, op, somebody }, world) => ({
        user_group_id: world.groups[group],
        [op]: idsOf(somebody, world),
      }),
    ),
  ),
  step('POST /user_groups/:user_group_id/subgroups', fc.constantFrom('add', 'delete'), (op, { groups }) => ({
    user_group_id: groups.troupe,
    [op]: [groups.players],
  })),
  step('POST /users/me/muted_users/:muted_user_id', person, (name, { people }) => ({ muted_user_id: people[name].id })),
  step('PATCH /realm', fc.boolean(), (isOpen, { groups }) => ({
    can_access_all_users_group: { new: isOpen ? groups.everyone : groups.members },
  })),
  step('DELETE /messages/:message_id', fc.nat(15), (index, _, messages) => ({ message_id: messages.at(-1 - index) })),
  step(
    'POST /streams/:stream_id/delete_topic',
    fc.tuple(fc.constantFrom(...CHANNELS), movedTopic),
    ([name, topic_name], { channels }) => ({ stream_id: channels[name], topic_name }),
  ),
);

const histories = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: steps },
    { weight: 1, arbitrary: fc.record({ client: fc.nat(6) }) },
    { weight: 1, arbitrary: fc.record({ sleeps: fc.constant(true as const) }) },
  ),
  { minLength: 1, maxLength: MAX_STEPS, size: 'max' },
);

/** Executes the steps. Rejected steps must not change anything. */
async function play(world: WireWorld, clients: readonly WireClient[], story: readonly Point[]): Promise<void> {
  const messages = [...world.messages];
  for (const step of story) {
    if ('sleeps' in step) {
      world.sleepQueues();
      continue;
    }
    if ('client' in step) {
      await clients[step.client % clients.length]!.catchUp();
      continue;
    }
    const { as, operation, params } = step;
    const [method, path] = operation.split(' ') as [string, string];
    const fields = params(world, messages);
    // Sends ids both in the path and as parameters.
    const target = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(fields[name])));
    const reply = await world.server.request(method, target, { as: world.people[as], params: fields });
    if (reply.status >= 500) throw new Error(`${operation} was answered with ${reply.status}`);
    if (operation === 'POST /messages' && reply.status === 200) messages.push(fieldsOf(reply).id!);
  }
}

const tell = (story: readonly Point[]): string =>
  story
    .map((step) =>
      'sleeps' in step
        ? '  queues sleep'
        : 'client' in step
          ? `  client ${step.client} catches up`
          : `  ${step.as}: ${step.operation} ${JSON.stringify(step.told)}`,
    )
    .join('\n');

it.each([
  ['one server', 1],
  ['two servers on one database', 2],
])('clients stay in sync with %s through random histories', async (_, servers) => {
  const property = fc.asyncProperty(histories, fc.integer(), async (story, dealingSeed) => {
    const world = await WireWorld.open({ servers, dealingSeed });
    try {
      const clients = await world.observe();
      for (const client of clients.values()) client.registersAgain = true;
      await play(world, [...clients.values()], story);
      await world.catchUp();
      // Former subscribers receive no events for messages moved out of the channel, unless they have flagged them.
      await expectInStep(clients, (field) => field !== 'max_message_id');
    } catch (error) {
      throw new Error(`${(error as Error).message}\nafter this history:\n${tell(story)}`);
    } finally {
      await world.close();
    }
  });
  const runs = Number(process.env.PARLEY_RANDOM_RUNS ?? RUNS);
  const seed = Number(process.env.PARLEY_RANDOM_SEED ?? SEED);
  const result = await fc.check(property, { numRuns: runs, seed, endOnFailure: false });
  if (result.failed) {
    throw new Error(`${(result.errorInstance as Error).message}\n(seed ${result.seed}, ${result.numShrinks} shrinks)`);
  }
});
