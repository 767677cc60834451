import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, notListed, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const SUBSCRIPTIONS = '/users/me/subscriptions';

let lunch: number;
let secret: number;
let archived: number;
const { server, people } = serverPerSuite();
beforeAll(async () => {
  const { hamlet, polonius, iago } = people;
  const create = (name: string, subscribers: readonly TestUser[], params = {}) =>
    server.createChannel(name, subscribers, params, iago);
  lunch = await create('lunch', [hamlet, polonius]);
  secret = await create('secret', [iago], { invite_only: true });
  archived = await create('archived', [hamlet]);
  fieldsOf(await server.delete(`/streams/${archived}`, iago));
});

const own = async (as: TestUser, name = 'lunch'): Promise<Wire> => {
  const { subscriptions } = fieldsOf(await server.get(SUBSCRIPTIONS, as)) as Wire;
  return subscriptions.find((one: Wire) => one.name === name);
};
const hears = async (as: TestUser, types: readonly string[], act: () => Promise<unknown>, more = {}) => {
  const queue = await openQueue(server, as, { event_types: types, ...more });
  await act();
  return eventsAfter(server, queue);
};

describe('POST /users/me/subscriptions/properties', () => {
  const set = (changes: readonly object[], as: TestUser = people.hamlet) =>
    server.post(`${SUBSCRIPTIONS}/properties`, as, { subscription_data: changes });
  const setOne = (property: string, value: unknown, as?: TestUser, stream_id = lunch) =>
    set([{ stream_id, property, value }], as);
  const refused = async (changes: readonly object[], msg: string, as?: TestUser) => {
    const { commits } = server.storage;
    expectRefusal(await set(changes, as), msg);
    expect(server.storage.commits).toBe(commits);
  };

  it.each`
    property                      | value        | shown
    ${'color'}                    | ${'#ABC'}    | ${{ color: '#aabbcc' }}
    ${'color'}                    | ${'#12ab9f'} | ${{ color: '#12ab9f' }}
    ${'pin_to_top'}               | ${true}      | ${{ pin_to_top: true }}
    ${'desktop_notifications'}    | ${false}     | ${{ desktop_notifications: false }}
    ${'audible_notifications'}    | ${true}      | ${{ audible_notifications: true }}
    ${'push_notifications'}       | ${true}      | ${{ push_notifications: true }}
    ${'email_notifications'}      | ${false}     | ${{ email_notifications: false }}
    ${'wildcard_mentions_notify'} | ${false}     | ${{ wildcard_mentions_notify: false }}
  `('shows $shown after setting $property to $value', async ({ property, value, shown }) => {
    const events = await hears(people.polonius, ['subscription'], () => setOne(property, value, people.polonius));
    expect(events).toEqual([
      { type: 'subscription', op: 'update', stream_id: lunch, property, value: Object.values(shown)[0] },
    ]);
    expect(await own(people.polonius)).toMatchObject(shown);
  });

  it.each`
    property          | value    | isMuted
    ${'is_muted'}     | ${true}  | ${true}
    ${'is_muted'}     | ${true}  | ${true}
    ${'in_home_view'} | ${true}  | ${false}
    ${'in_home_view'} | ${false} | ${true}
    ${'is_muted'}     | ${false} | ${false}
  `('publishes muting in both forms for $property set to $value', async ({ property, value, isMuted }) => {
    const update = { type: 'subscription', op: 'update', stream_id: lunch };
    expect(await hears(people.hamlet, ['subscription'], () => setOne(property, value))).toEqual([
      { ...update, property: 'in_home_view', value: !isMuted },
      { ...update, property: 'is_muted', value: isMuted },
    ]);
    expect(await own(people.hamlet)).toMatchObject({ is_muted: isMuted, in_home_view: !isMuted });
  });

  it('applies several changes in order and ignores unknown ones', async () => {
    const changes = [
      { stream_id: lunch, property: 'pin_to_top', value: true, more: 1 },
      { stream_id: lunch, property: 'pin_to_top', value: false },
    ];
    const events = await hears(people.hamlet, ['subscription'], async () => fieldsOf(await set(changes)));
    expect(events.map(({ value }: Wire) => value)).toEqual([true, false]);
    expect(fieldsOf(await set([]))).toEqual({});
  });

  it('notifies the caller only', async () => {
    const heard = await hears(people.iago, ['subscription', 'stream'], () => setOne('pin_to_top', true));
    expect(heard).toEqual([]);
  });

  it.each`
    change                                                      | msg
    ${{ property: 'color', value: 'bad' }}                      | ${'Invalid subscription_data[1]: Value error, color is not a valid hex color code'}
    ${{ property: 'color', value: '#12' }}                      | ${'Invalid subscription_data[1]: Value error, color is not a valid hex color code'}
    ${{ property: 'color', value: true }}                       | ${'Invalid subscription_data[1]: Value error, color is not a string'}
    ${{ property: 'push_notifications', value: null }}          | ${'push_notifications is not a boolean'}
    ${{ property: 'pin_to_top', value: 'true' }}                | ${'pin_to_top is not a boolean'}
    ${{ property: 'in_home_view', value: 11 }}                  | ${'in_home_view is not a boolean'}
    ${{ property: 'pin_to_top', value: [true] }}                | ${'subscription_data[1]["value"] is not a boolean'}
    ${{ property: 'loudness', value: true, stream_id: 99_999 }} | ${'Unknown subscription property: loudness'}
    ${{ property: 'pin_to_top', value: 1, stream_id: 99_999 }}  | ${'Invalid channel ID'}
    ${{ property: 'pin_to_top' }}                               | ${'value key is missing from subscription_data[1]'}
  `('rejects $change without changing anything: $msg', async ({ change, msg }) => {
    const fine = { stream_id: lunch, property: 'email_notifications', value: true };
    await refused([fine, { stream_id: lunch, ...change }], msg);
    expect((await own(people.hamlet)).email_notifications).toBeNull();
  });

  it('requires a subscription to an active channel', async () => {
    const change = (stream_id: number) => [{ stream_id, property: 'pin_to_top', value: 'x' }];
    await refused(change(lunch), `Not subscribed to channel ID ${lunch}`, people.cordelia);
    await refused(change(secret), 'Invalid channel ID', people.cordelia);
    await refused(change(archived), 'Invalid channel ID');
    const missing = await server.post(`${SUBSCRIPTIONS}/properties`, people.hamlet);
    expectRefusal(missing, "Missing 'subscription_data' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'subscription_data',
    });
    const path = `${SUBSCRIPTIONS}/properties`;
    expectRefusal(await server.post(path, people.hamlet, { subscription_data: {} }), 'subscription_data is not a list');
  });

  describe('PATCH /users/me/subscriptions/{stream_id}', () => {
    const patch = (property: string, value: string, as = people.polonius) =>
      server.patch(`${SUBSCRIPTIONS}/${lunch}`, as, { property, value });

    it('accepts one property as a boolean or bare text', async () => {
      for (const [property, value] of [
        ['color', '#c0ffee'],
        ['is_muted', 'true'],
      ] as const) {
        expect(fieldsOf(await patch(property, value))).toEqual({});
      }
      expect(await own(people.polonius)).toMatchObject({ color: '#c0ffee', is_muted: true });
    });

    it('rejects the same values as the other form', async () => {
      expectRefusal(await patch('pin_to_top', '"true"'), 'pin_to_top is not a boolean');
      expectRefusal(await patch('color', '"#c0ffee"'), 'color is not a valid hex color code');
      expectRefusal(await patch('volume', '11'), 'Unknown subscription property: volume');
      expectRefusal(await patch('pin_to_top', 'true', people.cordelia), `Not subscribed to channel ID ${lunch}`);
    });
  });
});

describe('PATCH /users/me/subscriptions', () => {
  const patch = (params: object, as: TestUser = people.cordelia) => server.patch(SUBSCRIPTIONS, as, { ...params });

  it('subscribes and unsubscribes in one request and returns both results', async () => {
    const { cordelia } = people;
    const key = String(cordelia.id);
    const added = { already_subscribed: {}, new_subscription_messages_sent: true };
    expect(fieldsOf(await patch({ add: [{ name: 'garden', color: '#abc' }, { name: 'LUNCH' }] }))).toEqual({
      ...added,
      subscribed: { [key]: ['garden', 'lunch'] },
      removed: [],
      not_removed: [],
    });
    expect(await own(cordelia, 'garden')).toMatchObject({ color: '#aabbcc', creator_id: cordelia.id });
    expect(fieldsOf(await patch({ add: [{ name: 'garden' }], delete: ['lunch', 'garden', 'archived'] }))).toEqual({
      ...added,
      subscribed: {},
      already_subscribed: { [key]: ['garden'] },
      removed: ['lunch', 'garden'],
      not_removed: ['archived'],
    });
  });

  it('rejects the request as a whole', async () => {
    const { commits } = server.storage;
    const refused = async (params: object, msg: string, more = {}, as?: TestUser) =>
      expectRefusal(await patch(params, as), msg, more);
    const nothing = 'Nothing to do. Specify at least one of "add" or "delete".';
    await refused({}, nothing);
    await refused({ add: [], delete: [] }, nothing);
    await refused({ delete: ['lunch'] }, 'Not allowed for guest users', {}, people.polonius);
    await refused({ add: [{ name: 'new' }], delete: ['nowhere'] }, 'Channel(s) (nowhere) do not exist');
    await refused({ add: [{ name: 'secret' }] }, 'Unable to access channel (secret).');
    await refused(
      { add: [{ name: 'new', color: 'red' }] },
      'Invalid add[0]: Value error, add.color is not a valid hex color code',
    );
    await refused({ add: 7 }, 'add is not a list');
    expect(server.storage.commits).toBe(commits);
    const { streams } = fieldsOf(await server.get('/streams', people.cordelia)) as Wire;
    expect(streams.map(({ name }: Wire) => name)).not.toContain('new');
  });
});

describe('POST /user_topics', () => {
  const set = (topic: string, visibility_policy: number, as: TestUser = people.hamlet, stream_id = lunch) =>
    server.post('/user_topics', as, { stream_id, topic, visibility_policy });
  const topicsOf = async (as: TestUser): Promise<Wire[]> =>
    (fieldsOf(await server.post('/register', as, { fetch_event_types: ['user_topic'] })) as Wire).user_topics;

  it('changes the policy of a topic, ignoring case, and publishes the change', async () => {
    const { cordelia } = people;
    const events = await hears(cordelia, ['user_topic', 'muted_topics'], async () => {
      for (const [topic, policy] of [
        ['Plans', 3],
        ['PLANS', 3],
        ['plans ', 1],
        ['general chat', 2],
        ['', 2],
        ['plans', 0],
        ['plans', 0],
        ['nowhere', 0],
      ] as const) {
        fieldsOf(await set(topic, policy, cordelia));
      }
    });
    const told = (topic_name: string, visibility_policy: number) => ({
      type: 'user_topic',
      stream_id: lunch,
      topic_name,
      visibility_policy,
      last_updated: server.clock.now(),
    });
    expect(events).toEqual([told('Plans', 3), told('Plans', 1), told('', 2), told('Plans', 0)]);
    const { type: _, ...empty } = told('general chat', 2);
    expect(await topicsOf(cordelia)).toEqual([empty]);
  });

  it('sends older clients the whole list of muted topics', async () => {
    const { iago } = people;
    const heard = await hears(iago, ['muted_topics'], async () => {
      fieldsOf(await set('b', 1, iago));
      fieldsOf(await set('a', 1, iago));
      fieldsOf(await set('b', 0, iago));
    });
    const now = server.clock.now();
    expect(heard).toEqual([
      { type: 'muted_topics', muted_topics: [['lunch', 'b', now]] },
      {
        type: 'muted_topics',
        muted_topics: [
          ['lunch', 'a', now],
          ['lunch', 'b', now],
        ],
      },
      { type: 'muted_topics', muted_topics: [['lunch', 'a', now]] },
    ]);
  });

  it('requires access to the channel except for removing a policy', async () => {
    for (const id of [secret, archived, 99_999]) {
      expectRefusal(await set('x', 1, people.shiva, id), 'Invalid channel ID');
    }
    for (const id of [secret, archived]) fieldsOf(await set('x', 0, people.shiva, id));
    expectRefusal(await set('x', 0, people.shiva, 99_999), 'Invalid channel ID');
  });

  it('rejects unreadable parameters', async () => {
    expectRefusal(await set('x', 9), notListed('visibility_policy'));
    expectRefusal(await set('x'.repeat(61), 1), 'topic is too long (limit: 60 characters)');
    expectRefusal(await server.post('/user_topics', people.hamlet, { stream_id: lunch }), "Missing 'topic' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'topic',
    });
  });

  it('limits the number of topic policies per user', async () => {
    const { shiva } = people;
    await server.storage.uow.write(server.realmId, async (tx) => {
      for (let n = 0; n < 10_000; n++) {
        await tx.topicPolicies.put({
          realmId: server.realmId,
          userId: shiva.id,
          channelId: lunch as never,
          topic: `topic ${n}`,
          visibility: 'unmuted',
          changedAt: 1,
        });
      }
    });
    expectRefusal(await set('one more', 1, shiva), 'Too many topics with a policy (limit: 10000).');
    fieldsOf(await set('topic 7', 3, shiva));
    fieldsOf(await set('topic 8', 0, shiva));
    fieldsOf(await set('one more', 1, shiva));
  });
});

describe('PATCH /users/me/subscriptions/muted_topics', () => {
  const patch = (params: object, as: TestUser = people.desdemona) =>
    server.patch(`${SUBSCRIPTIONS}/muted_topics`, as, { topic: 'plans', ...params });

  it('mutes a topic by channel id or name and clears any policy', async () => {
    const { desdemona } = people;
    const steps = [
      { stream_id: lunch, op: 'add' },
      { stream: ' LUNCH', op: 'add', topic: 'PLANS' },
      { stream: 'lunch', op: 'remove' },
      { stream_id: lunch, op: 'remove' },
    ];
    const events = await hears(desdemona, ['user_topic'], async () => {
      for (const step of steps) fieldsOf(await patch(step));
      fieldsOf(
        await server.post('/user_topics', desdemona, { stream_id: lunch, topic: 'plans', visibility_policy: 3 }),
      );
      fieldsOf(await patch({ stream_id: lunch, op: 'remove' }));
    });
    expect(events.map(({ visibility_policy }: Wire) => visibility_policy)).toEqual([1, 0, 3, 0]);
  });

  it.each`
    params                                  | msg
    ${{ op: 'toggle' }}                     | ${'Invalid op'}
    ${{ op: 'add' }}                        | ${"Missing 'stream_id' argument"}
    ${{ op: 'add', stream_id: 99_999 }}     | ${'Invalid channel ID'}
    ${{ op: 'add', stream: 'nowhere' }}     | ${"Invalid channel name 'nowhere'"}
    ${{ op: 'add', stream: 'archived' }}    | ${"Invalid channel name 'archived'"}
    ${{ op: 'remove', stream_id: 99_999 }}  | ${'Topic is not muted'}
    ${{ op: 'remove', stream: 'nowhere' }}  | ${'Topic is not muted'}
    ${{ op: 'add', topic: 'x'.repeat(61) }} | ${'topic is too long (limit: 60 characters)'}
  `('rejects $params: $msg', async ({ params, msg }) => {
    expectRefusal(await patch(params), msg);
  });

  it('rejects two channel identifiers and inaccessible channels', async () => {
    expectRefusal(
      await patch({ op: 'add', stream_id: lunch, stream: 'lunch' }),
      'Unsupported parameter combination: stream_id, stream',
      { parameters: 'stream_id, stream' },
    );
    expectRefusal(await patch({ op: 'add', stream: 'secret' }, people.cordelia), "Invalid channel name 'secret'");
    expectRefusal(await patch({ op: 'remove', stream: 'secret' }, people.cordelia), 'Topic is not muted');
    fieldsOf(await patch({ op: 'remove', stream: 'secret' }, people.iago));
    fieldsOf(await patch({ op: 'remove', stream_id: archived }));
  });
});
