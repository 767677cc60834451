import { Chat } from '@parley/chat';
import { ParleyClient } from '@parley/client';
import { until } from '@parley/testkit';
import { serverPerSuite } from '../testing/servers.js';

/** Shop with more orders than clients hold (extensions §18): one private channel per order, read by all staff. */
const realm = 'shop';
const owner = { realm, externalId: 'sam' };
const kim = { realm, externalId: 'kim' };
const customer = (n: number) => ({ realm, externalId: `customer ${n}` });
const emailOf = ({ externalId }: { externalId: string }) => `${externalId.replace(' ', '-')}@shop.example`;

let session: { readonly realm: string; readonly externalId: string };
let orders = 0;
const running: Chat[] = [];

async function placeOrders(count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => orders + n + 1);
  orders += count;
  const { users, as } = server.parley;
  await users.upsertMany(
    numbers.map((n) => ({
      ...{ ...customer(n), name: `Customer ${n}`, email: emailOf(customer(n)), role: 'guest' as const },
    })),
  );
  const results = await as(owner).channels.ensureMany(
    numbers.map((n) => ({
      ...{ name: `Order ${n}`, isPrivate: true, sharesHistory: true },
      ...{ subscribers: [customer(n).externalId], readers: 'role:members' },
    })),
  );
  expect(results.filter(({ error }) => error)).toEqual([]);
  await server.catchUp();
}

async function call(method: string, path: string, params: object = {}) {
  const { status, body } = await server.request(method, path, { realm, params: { ...params } });
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, bytes: text.length, body: JSON.parse(text) };
}

const CAPABILITIES = {
  notification_settings_null: true,
  user_list_incomplete: true,
  archived_channels: true,
  lean_state: true,
};
const register = (isPartial: boolean, caller = kim, isLean = true) => {
  session = caller;
  return call('POST', '/register', {
    client_capabilities: { ...CAPABILITIES, lean_state: isLean, partial_state: isPartial },
    include_subscribers: 'partial',
    slim_presence: true,
  });
};

type Row = { readonly name: string; readonly full_name: string };
const names = (rows: readonly Row[]) => rows.map(({ name }) => name);
const people = (rows: readonly Row[]) => rows.map(({ full_name }) => full_name);

const { server } = serverPerSuite({ authenticate: async () => session, worksInBackground: true });
beforeAll(async () => {
  const { realms, users } = server.parley;
  await realms.ensure({ name: realm, title: 'The Shop', preset: 'customers' });
  await users.upsert({ ...owner, name: 'Sam', email: emailOf(owner), role: 'owner' });
  await users.upsert({ ...kim, name: 'Kim', email: emailOf(kim), role: 'owner' });
  await placeOrders(20);
});
afterEach(() => {
  for (const chat of running.splice(0)) chat.stop();
});

async function start(): Promise<Chat> {
  session = kim;
  const { host, ...address } = { host: `${realm}.localhost`, url: server.url };
  const send: typeof fetch = (url, init) => fetch(url, { ...init, headers: { ...(init?.headers as object), host } });
  // The host's log-in identifies the caller.
  const credentials = null as never;
  const chat = new Chat({ gateway: new ParleyClient({ ...address, credentials, fetch: send, maxRetries: 0 }) });
  running.push(chat);
  void chat.run();
  await until(() => chat.isReady.value);
  return chat;
}

async function idOf(name: string): Promise<number> {
  const { body } = await call('GET', '/register/more', { query: name });
  const { subscriptions, never_subscribed } = body;
  return [...subscriptions, ...never_subscribed].find((row: Row) => row.name === name).stream_id;
}

describe('partial state', () => {
  it('is the whole state in an organization with few channels', async () => {
    const { body } = await register(true);
    const { body: whole } = await register(false);
    for (const list of ['subscriptions', 'unsubscribed', 'never_subscribed', 'realm_users', 'user_topics'])
      expect(body[list]).toEqual(whole[list]);
    expect(body).not.toHaveProperty('partial_state');
  });

  it('has at most 20 KB for a customer', async () => {
    const { bytes } = await register(true, customer(1));
    const whole = await register(false, customer(1), false);
    expect(bytes).toBeLessThan(20_000);
    expect(whole.bytes).toBeGreaterThan(1.4 * bytes);
  });

  it('omits from `streams` the channels of other lists', async () => {
    const { body } = await register(true);
    expect(body.streams).toEqual([]);
    const { body: whole } = await register(false);
    expect(whole.streams).toHaveLength(whole.subscriptions.length + whole.never_subscribed.length);
  });

  it('omits fields of the organization pages for guests only', async () => {
    const fields = ['realm_authentication_methods', 'realm_default_external_accounts', 'custom_profile_field_types'];
    const { body: ofGuest } = await register(true, customer(1));
    const { body: wholeOfGuest } = await register(false, customer(1), false);
    const { body: leanOfGuest } = await register(false, customer(1));
    const { body: ofOwner } = await register(true);
    for (const field of fields) {
      expect(ofGuest).not.toHaveProperty(field);
      expect(leanOfGuest).not.toHaveProperty(field);
      expect(wholeOfGuest).toHaveProperty(field);
      expect(ofOwner).toHaveProperty(field);
    }
    const definitions = 'server_supported_permission_settings';
    expect(ofGuest).toHaveProperty(definitions);
    expect(leanOfGuest).not.toHaveProperty(definitions);
    expect(ofOwner).toHaveProperty(definitions);
    expect(ofGuest.realm_user_settings_defaults).toEqual({ twenty_four_hour_time: false });
    expect(ofOwner.realm_user_settings_defaults).toEqual(wholeOfGuest.realm_user_settings_defaults);
  });

  it('lets a chat fill in the usual values of permissions and groups', async () => {
    const { body } = await register(true);
    const { body: whole } = await register(false);
    const chat = await start();
    const field = 'server_supported_permission_settings';
    expect(JSON.stringify(body[field]).length).toBeLessThan(JSON.stringify(whole[field]).length / 2);
    expect(chat.state.fields.peek(field)).toEqual(whole[field]);
    expect(body.realm_user_groups[0]).not.toHaveProperty('can_manage_group');
    expect([...chat.state.groups.all().values()]).toEqual(whole.realm_user_groups);
  });

  describe('with many orders', () => {
    beforeAll(() => placeOrders(500), 60_000);

    it('has the same number of bytes with more orders', async () => {
      const before = await register(true);
      const whole = await register(false);
      await placeOrders(500);
      const after = await register(true);
      expect(before.body.partial_state).toBe(true);
      expect(whole.body).not.toHaveProperty('partial_state');
      expect(after.bytes / before.bytes).toBeLessThan(1.03);
      expect(after.bytes).toBeLessThan(500_000);
      expect(whole.bytes).toBeGreaterThan(2 * after.bytes);
    }, 60_000);

    it('has the pinned, unread and newest channels, and everybody except guests', async () => {
      session = kim;
      await server.parley.as(owner).channels.subscribe('Order 100', { users: kim.externalId });
      await server.parley.as(owner).channels.subscribe('Order 200', { users: kim.externalId });
      await server.parley.as(owner).messages.send({ channel: 'Order 200', content: 'Can you help?' });
      const found = await call('GET', '/register/more', { query: 'order 100' });
      const pinned = found.body.subscriptions.find(({ name }: Row) => name === 'Order 100');
      await call('POST', '/users/me/subscriptions/properties', {
        subscription_data: [{ stream_id: pinned.stream_id, property: 'pin_to_top', value: true }],
      });
      const { body } = await register(true);
      expect(names(body.subscriptions)).toEqual(expect.arrayContaining(['Order 100', 'Order 200']));
      expect(names(body.never_subscribed)).toContain(`Order ${orders}`);
      expect(names(body.never_subscribed)).not.toContain('Order 300');
      expect(body.never_subscribed.length).toBeLessThanOrEqual(150);
      expect(people(body.realm_users)).toEqual(['Sam', 'Kim']);
      expect(body.unread_msgs.streams.map(({ topic }: { topic: string }) => topic)).toHaveLength(1);
    });

    it('is whole for guests, who see few channels', async () => {
      const { body } = await register(true, customer(300));
      expect(body).not.toHaveProperty('partial_state');
      expect(names(body.subscriptions)).toEqual(['Order 300']);
    });

    it('continues with channels and users by id and by text', async () => {
      session = kim;
      const byText = await call('GET', '/register/more', { query: 'ORDER 30' });
      const found = names(byText.body.never_subscribed);
      expect(found).toEqual(expect.arrayContaining(['Order 30', 'Order 300', 'Order 309']));
      const person = await call('GET', '/register/more', { query: 'customer 300' });
      expect(people(person.body.realm_users)).toEqual(['Customer 300']);
      const [{ stream_id }] = byText.body.never_subscribed;
      const [{ user_id }] = person.body.realm_users;
      const byId = await call('GET', '/register/more', {
        stream_ids: [stream_id, 999_999],
        user_ids: [user_id, 999_999],
      });
      expect(byId.body.never_subscribed).toHaveLength(1);
      expect(people(byId.body.realm_users)).toEqual(['Customer 300']);
    });

    it('has the presence of everybody except guests, and that of other users with them', async () => {
      for (const caller of [customer(300), kim]) {
        session = caller;
        await call('POST', '/users/me/presence', { status: 'active', last_update_id: -1 });
      }
      await server.catchUp();
      const [{ body: part }, { body: whole }] = [await register(true), await register(false)];
      const { body: more } = await call('GET', '/register/more', { query: 'customer 300' });
      const [{ user_id }] = more.realm_users;
      expect(Object.keys(whole.presences)).toContain(String(user_id));
      expect(Object.keys(part.presences)).not.toContain(String(user_id));
      expect(part.presences).not.toEqual({});
      expect(Object.keys(more.presences)).toEqual([String(user_id)]);
      // A report with this id returns later changes only.
      expect(part.presence_last_update_id).toBe(whole.presence_last_update_id);
    });

    it('shows guests only what they see otherwise', async () => {
      session = kim;
      const { body: order } = await call('GET', '/register/more', { query: 'Order 301' });
      const { body: person } = await call('GET', '/register/more', { query: 'Customer 301' });
      session = customer(300);
      const ids = { stream_ids: [order.never_subscribed[0].stream_id], user_ids: [person.realm_users[0].user_id] };
      for (const params of [ids, { query: '301' }]) {
        const { body } = await call('GET', '/register/more', params);
        expect(body).toMatchObject({ streams: [], subscriptions: [], never_subscribed: [], realm_users: [] });
      }
      expect(names((await call('GET', '/register/more', { query: 'Order 300' })).body.subscriptions)).toEqual([
        'Order 300',
      ]);
    });

    it.each([
      ['more than 100 channels', { stream_ids: Array.from({ length: 101 }, (_, n) => n) }, /stream_ids/],
      ['ids that are not numbers', { user_ids: ['a'] }, /user_ids/],
      ['a text of more than 100 characters', { query: 'a'.repeat(101) }, /query/],
    ])('rejects a request with %s', async (_, params, message) => {
      session = kim;
      const { status, body } = await call('GET', '/register/more', params);
      expect(status).toBe(400);
      expect(body.msg).toMatch(message);
    });

    it('lets a chat fetch channels and people that something reads', async () => {
      const chat = await start();
      const id = await idOf('Order 302');
      expect(chat.state.channels.peek(id)).toBeUndefined();
      const row = chat.sidebar.channel(id);
      const stop = row.subscribe(() => {});
      await until(() => row.value?.name === 'Order 302');
      stop();
    });

    it('lets a chat fetch them although an address or a search contains numbers that are not ids', async () => {
      const chat = await start();
      const rows = [Number.NaN, 1.5, 1e20, await idOf('Order 305')].map((id) => chat.sidebar.channel(id));
      const stops = rows.map((row) => row.subscribe(() => {}));
      await until(() => rows.at(-1)!.value?.name === 'Order 305');
      for (const stop of stops) stop();
    });

    it('lets a chat show a message of a channel that it lacks, with its unread count and sender', async () => {
      await server.parley.as(owner).channels.subscribe('Order 303', { users: kim.externalId });
      await server.catchUp();
      const chat = await start();
      const id = await idOf('Order 303');
      chat.state.channels.delete(id);
      const stop = chat.sidebar.total.subscribe(() => {});
      const sent = await server.parley.as(customer(303)).messages.send({ channel: 'Order 303', content: 'Hello' });
      await until(() => chat.sidebar.channel(id).value?.unread.count === 1);
      const sender = chat.people.person(chat.state.messages.peek(sent.id)!.sender_id);
      const stopToo = sender.subscribe(() => {});
      await until(() => sender.value.name === 'Customer 303');
      stop();
      stopToo();
    });

    it('lets a chat find channels and people by text', async () => {
      const chat = await start();
      chat.find('er 304');
      await until(() => [...chat.state.channels.all().values()].some(({ channel }) => channel.name === 'Order 304'));
      expect([...chat.state.people.all().values()].some(({ user }) => user.full_name === 'Customer 304')).toBe(true);
    });
  });
});
