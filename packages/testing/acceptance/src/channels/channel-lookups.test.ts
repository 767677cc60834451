import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

type Person = keyof TestServer['people'];

const UNKNOWN = 'Invalid channel ID';

/** One channel of each kind. Hamlet subscribes to all of them, a guest to the public and the archived channel. */
const CHANNELS = {
  public: {},
  web: { is_web_public: true },
  private: { invite_only: true },
  archived: {},
} as const;
type Kind = keyof typeof CHANNELS;

let ids: Record<Kind | 'nowhere', number>;
const { server, people } = serverPerSuite();
beforeAll(async () => {
  const { desdemona, hamlet, polonius } = people;
  fieldsOf(await server.patch('/realm', desdemona, { enable_spectator_access: true }));
  ids = { nowhere: 99_999 } as typeof ids;
  for (const [name, params] of Object.entries(CHANNELS)) {
    const isGuestIn = name === 'public' || name === 'archived';
    ids[name as Kind] = await server.createChannel(name, isGuestIn ? [hamlet, polonius] : [hamlet], params);
  }
  fieldsOf(await server.delete(`/streams/${ids.archived}`, desdemona));
});

/** Expected visibility by user and kind. */
const SEEN: readonly (readonly [Person, Kind | 'nowhere', boolean])[] = [
  ['hamlet', 'private', true],
  ['hamlet', 'archived', true],
  ['hamlet', 'nowhere', false],
  ['cordelia', 'public', true],
  ['cordelia', 'private', false],
  ['shiva', 'private', false],
  ['iago', 'private', true],
  ['desdemona', 'private', true],
  ['polonius', 'public', true],
  ['polonius', 'web', true],
  ['polonius', 'archived', true],
  ['polonius', 'private', false],
];

describe.each`
  path          | field
  ${''}         | ${'stream'}
  ${'/members'} | ${'subscribers'}
`('GET /streams/{stream_id}$path', ({ path, field }) => {
  it.each(SEEN)('lets %s look up a %s channel: %s', async (who, kind, isSeen) => {
    const reply = await server.get(`/streams/${ids[kind]}${path}`, people[who]);
    if (isSeen) expect(Object.keys(fieldsOf(reply))).toEqual([field]);
    else expectRefusal(reply, UNKNOWN);
  });

  it('reports a channel of another organization as unknown and rejects ids that are not numbers', async () => {
    const realmId = await server.addRealm(`other-${field}`);
    const outsider = await server.addUser({ email: 'o@other.example', fullName: 'Outsider', role: 'owner', realmId });
    const options = { as: outsider, realm: `other-${field}` };
    expectRefusal(await server.request('GET', `/streams/${ids.public}${path}`, options), UNKNOWN);
    expect((await server.get(`/streams/abc${path}`, people.hamlet)).status).toBe(404);
    expect((await server.get(`/streams/${ids.web}${path}`, null)).status).toBe(401);
  });
});

describe('GET /streams/{stream_id}', () => {
  it('returns the same fields as the channel list', async () => {
    const { streams } = fieldsOf(await server.get('/streams', people.hamlet)) as Wire;
    const { stream } = fieldsOf(await server.get(`/streams/${ids.private}`, people.hamlet)) as Wire;
    expect(stream).toEqual(streams.find(({ stream_id }: Wire) => stream_id === ids.private));
    expect(stream).not.toHaveProperty('is_default');
    const archived = fieldsOf(await server.get(`/streams/${ids.archived}`, people.hamlet)) as Wire;
    expect(archived.stream).toMatchObject({ name: 'archived', is_archived: true, subscriber_count: 2 });
  });
});

describe('GET /streams/{stream_id}/members', () => {
  it('returns active subscribers', async () => {
    const { hamlet, polonius } = people;
    const of = async (kind: Kind) =>
      (fieldsOf(await server.get(`/streams/${ids[kind]}/members`, hamlet)) as Wire).subscribers;
    expect(await of('public')).toEqual([hamlet.id, polonius.id]);
    expect(await of('private')).toEqual([hamlet.id]);
  });

  it('omits deactivated subscribers', async () => {
    const { cordelia } = people;
    const gone = await server.addUser({ email: 'gone@zulip.com', fullName: 'Gone' });
    const id = await server.createChannel('left', [cordelia, gone]);
    const subscribers = async () =>
      (fieldsOf(await server.get(`/streams/${id}/members`, cordelia)) as Wire).subscribers;
    expect(await subscribers()).toEqual([cordelia.id, gone.id]);
    await deactivate(gone);
    expect(await subscribers()).toEqual([cordelia.id]);
  });
});

const deactivate = ({ user }: TestUser) =>
  server.storage.uow.write(server.realmId, async (tx) => {
    const now = await tx.users.find(server.realmId, user.id);
    await tx.users.update({ ...now!, isActive: false });
  });

describe('GET /users/{user_id}/subscriptions/{stream_id}', () => {
  const ask = (whom: number, channel: number, as: TestUser = people.hamlet) =>
    server.get(`/users/${whom}/subscriptions/${channel}`, as);

  it('returns the subscription status of a user', async () => {
    const { hamlet, polonius, cordelia, iago } = people;
    const is = async (...asked: Parameters<typeof ask>) => fieldsOf(await ask(...asked));
    expect(await is(hamlet.id, ids.private)).toEqual({ is_subscribed: true });
    expect(await is(polonius.id, ids.private, iago)).toEqual({ is_subscribed: false });
    expect(await is(polonius.id, ids.public, cordelia)).toEqual({ is_subscribed: true });
  });

  it('validates the user before the channel', async () => {
    const { hamlet, cordelia } = people;
    const gone = await server.addUser({ email: 'gone2@zulip.com', fullName: 'Gone' });
    await deactivate(gone);
    expectRefusal(await ask(99_999, ids.nowhere), 'No such user');
    expectRefusal(await ask(gone.id, ids.nowhere), 'User is deactivated');
    for (const id of [ids.nowhere, ids.archived]) expectRefusal(await ask(cordelia.id, id), UNKNOWN);
    expectRefusal(await ask(hamlet.id, ids.private, cordelia), UNKNOWN);
  });
});

describe('GET /users/{user_id}/channels', () => {
  const ask = (whom: number, as: TestUser) => server.get(`/users/${whom}/channels`, as);

  it.each`
    as            | kinds
    ${'hamlet'}   | ${['public', 'web', 'private', 'archived']}
    ${'iago'}     | ${['public', 'web', 'private', 'archived']}
    ${'cordelia'} | ${['public', 'web', 'archived']}
    ${'polonius'} | ${['public', 'web', 'archived']}
  `('shows $as these subscriptions of hamlet: $kinds', async ({ as, kinds }) => {
    const expected = (kinds as Kind[]).map((kind) => ids[kind]);
    expect(fieldsOf(await ask(people.hamlet.id, people[as as Person]))).toEqual({ subscribed_channel_ids: expected });
  });

  it('rejects unknown users', async () => {
    expectRefusal(await ask(99_999, people.hamlet), 'No such user');
  });

  it('rejects users whom a guest with limited access cannot see', async () => {
    const limited = await TestServer.start();
    try {
      const { cordelia, hamlet, polonius } = limited.people;
      const id = await limited.createChannel('shared', [hamlet, polonius]);
      await limited.limitGuests();
      expectRefusal(await limited.get(`/users/${cordelia.id}/channels`, polonius), 'Insufficient permission');
      const reply = await limited.get(`/users/${hamlet.id}/channels`, polonius);
      expect(fieldsOf(reply)).toEqual({ subscribed_channel_ids: [id] });
    } finally {
      await limited.close();
    }
  });
});

describe('GET /streams/{stream_id}/email_address', () => {
  const ask = (channel: number, as: TestUser = people.hamlet, params = {}) =>
    server.get(`/streams/${channel}/email_address`, as, params);
  const addressOf = async (...asked: Parameters<typeof ask>): Promise<string> =>
    (fieldsOf(await ask(...asked)) as Wire).email;

  it('returns a stable email that differs per channel, user and sender', async () => {
    const { hamlet, cordelia } = people;
    const first = await addressOf(ids.public);
    expect(first).toMatch(/^mail\+public\.[0-9a-f]{32}\.show-sender@example\.com$/);
    expect(await addressOf(ids.public)).toBe(first);
    const { cross_realm_bots } = fieldsOf(await server.post('/register', hamlet)) as Wire;
    const gateway = cross_realm_bots.find(({ full_name }: Wire) => full_name === 'Email Gateway').user_id;
    expect(await addressOf(ids.public, hamlet, { sender_id: gateway })).toBe(first);
    const others = [
      await addressOf(ids.private),
      await addressOf(ids.public, cordelia),
      await addressOf(ids.public, hamlet, { sender_id: hamlet.id }),
    ];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  it('requires permission to post in the channel', async () => {
    const { cordelia, desdemona, hamlet } = people;
    for (const [id, who] of [
      [ids.nowhere, hamlet],
      [ids.archived, hamlet],
      [ids.private, cordelia],
      [ids.private, desdemona],
    ] as const) {
      expectRefusal(await ask(id, who), UNKNOWN);
    }
    const { administrators } = await server.systemGroups();
    const params = { name: 'news', subscribers: [], can_send_message_group: administrators };
    const { id } = fieldsOf(await server.post('/channels/create', desdemona, params)) as Wire;
    expectRefusal(await ask(id, hamlet), 'You do not have permission to post in this channel.');
  });

  it('rejects senders that the caller may not use', async () => {
    const { hamlet, cordelia } = people;
    const { user_id: bot } = fieldsOf(
      await server.post('/bots', hamlet, { full_name: 'Helper', short_name: 'helper' }),
    ) as Wire;
    expect(await addressOf(ids.public, hamlet, { sender_id: bot })).toContain('@example.com');
    expectRefusal(await ask(ids.public, cordelia, { sender_id: bot }), 'Insufficient permission');
    for (const none of [cordelia.id, 99_999]) {
      expectRefusal(await ask(ids.public, hamlet, { sender_id: none }), 'No such bot');
    }
  });

  it('returns an empty email without a gateway', async () => {
    const without = await TestServer.start({ mailGatewayPattern: null });
    try {
      const params = { name: 'x', subscribers: [] };
      const { id } = fieldsOf(await without.post('/channels/create', without.people.hamlet, params)) as Wire;
      const reply = await without.get(`/streams/${id}/email_address`, without.people.hamlet);
      expect(fieldsOf(reply)).toEqual({ email: '' });
    } finally {
      await without.close();
    }
  });
});
