import type { ParleyEvent } from '@parley/server';
import { until } from '@parley/testkit';
import { serverPerSuite } from '../testing/servers.js';

/** Organization with the preset `customers`: one private channel per order, customers as guests. */
const realm = 'shop';
const staff = { realm, externalId: 'sam' };
const ann = { realm, externalId: 'customer-ann' };
const bob = { realm, externalId: 'customer-bob' };

let session: typeof ann;
/** Ids that Ann could guess. */
let bobId: number;
let order: { readonly channelId: number; readonly messageId: number };

const { server } = serverPerSuite({ authenticate: async () => session, worksInBackground: true });
beforeAll(async () => {
  const { realms, users, as } = server.parley;
  await realms.ensure({ name: realm, title: 'The Shop', preset: 'customers' });
  await users.upsert({ ...staff, name: 'Sam', email: 'sam@example.org', role: 'owner' });
  await users.upsert({ ...ann, name: 'Ann', email: 'ann@example.org', role: 'guest' });
  bobId = (await users.upsert({ ...bob, name: 'Bob', email: 'bob@example.org', role: 'guest' })).id;
  const { channels, messages } = as(staff);
  await channels.create({ name: 'Order 7', isPrivate: true, subscribers: [ann.externalId] });
  const { id } = await channels.create({ name: 'Order 8', isPrivate: true, subscribers: [bob.externalId] });
  await messages.send({ channel: 'Order 7', content: 'Thank you, Ann' });
  const sent = await as(bob).messages.send({ channel: 'Order 8', content: 'my secret address' });
  order = { channelId: id, messageId: sent.id };
});

/** Called by the customer in `session`; returns the response body as text. */
async function call(method: string, path: string, params: object = {}) {
  const { status, body } = await server.request(method, path, { realm, params: { ...params } });
  return { status, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

describe("customer of the preset 'customers'", () => {
  beforeEach(() => {
    session = ann;
  });

  const inOrder8 = () => [{ operator: 'channel', operand: 'Order 8' }];
  it.each<[string, string, () => object]>([
    ['GET', '/users', () => ({})],
    ['GET', '/users/BOB', () => ({})],
    ['GET', '/users/bob@example.org', () => ({})],
    ['GET', '/users/external%3Acustomer-bob', () => ({})],
    ['GET', '/users/BOB/presence', () => ({})],
    ['GET', '/users/BOB/status', () => ({})],
    ['GET', '/realm/presence', () => ({})],
    ['POST', '/register', () => ({ client_capabilities: { external_ids: true }, include_subscribers: 'true' })],
    ['GET', '/streams', () => ({ include_all: 'true' })],
    ['GET', '/streams/ORDER', () => ({})],
    ['GET', '/streams/ORDER/members', () => ({})],
    ['GET', '/streams/ORDER/email_address', () => ({})],
    ['GET', '/get_stream_id', () => ({ stream: 'Order 8' })],
    ['GET', '/users/me/ORDER/topics', () => ({})],
    ['GET', '/users/me/subscriptions', () => ({ include_subscribers: 'true' })],
    ['POST', '/users/me/subscriptions', () => ({ subscriptions: [{ name: 'Order 8' }] })],
    ['GET', '/messages', () => ({ anchor: 'newest', num_before: 100, num_after: 0 })],
    ['GET', '/messages', () => ({ anchor: 'newest', num_before: 100, num_after: 0, narrow: inOrder8() })],
    [
      'GET',
      '/messages',
      () => ({ anchor: 'newest', num_before: 9, num_after: 0, narrow: [{ operator: 'search', operand: 'secret' }] }),
    ],
    [
      'GET',
      '/messages',
      () => ({ anchor: 'newest', num_before: 9, num_after: 0, narrow: [{ operator: 'sender', operand: bobId }] }),
    ],
    ['GET', '/messages/MESSAGE', () => ({})],
    ['GET', '/messages/MESSAGE/history', () => ({})],
    ['GET', '/messages/MESSAGE/read_receipts', () => ({})],
    ['PATCH', '/messages/MESSAGE', () => ({ content: 'changed' })],
    ['DELETE', '/messages/MESSAGE', () => ({})],
    ['POST', '/messages/MESSAGE/reactions', () => ({ emoji_name: 'heart' })],
    ['POST', '/messages/flags', () => ({ messages: [order.messageId], op: 'add', flag: 'starred' })],
    ['POST', '/messages', () => ({ type: 'channel', to: 'Order 8', topic: 'x', content: 'hello' })],
    ['POST', '/messages', () => ({ type: 'channel', to: order.channelId, topic: 'x', content: 'hello' })],
    ['POST', '/messages', () => ({ type: 'direct', to: [bobId], content: 'hello' })],
    ['POST', '/messages/render', () => ({ content: '@**Bob** #**Order 8**' })],
    ['POST', '/typing', () => ({ op: 'start', type: 'direct', to: [bobId] })],
    ['GET', '/user_groups', () => ({})],
  ])('learns nothing about another customer from %s %s', async (method, path, params) => {
    const replaced = path
      .replace('BOB', String(bobId))
      .replace('ORDER', String(order.channelId))
      .replace('MESSAGE', String(order.messageId));
    const { status, body } = await call(method, replaced, params());
    expect(status).toBeLessThan(500);
    const echoed = path === '/messages/render' ? body.replace(/@\*\*Bob|#\*\*Order 8/g, '') : body;
    expect(echoed).not.toMatch(/customer-bob|bob@example|my secret|"Bob"|Order 8"(?!\])/);
    const message = await server.parley.as(staff).messages.get(order.messageId);
    expect(message).toMatchObject({ content: 'my secret address' });
    expect(await server.parley.as(staff).messages.list({ channel: 'Order 8' }).toArray()).toHaveLength(1);
  });

  it('sees its own order and the staff in it', async () => {
    const { body } = await call('GET', '/messages', { anchor: 'newest', num_before: 10, num_after: 0 });
    expect(JSON.parse(body).messages).toMatchObject([{ content: '<p>Thank you, Ann</p>', sender_full_name: 'Sam' }]);
    expect(body).not.toContain('sam@example.org');
    expect(JSON.parse((await call('POST', '/register')).body).user_settings.enter_sends).toBe(true);
  });

  it('gets responses from staff who may delete, move and resolve messages', async () => {
    const sent = await server.parley.as(ann).messages.send({ channel: 'Order 7', topic: 'a', content: 'oops' });
    await server.parley.as(staff).messages.edit(sent.id, { topic: 'b' });
    await expect(server.parley.as(ann).messages.edit(sent.id, { topic: 'c' })).rejects.toMatchObject({ status: 403 });
    await server.parley.as(staff).messages.delete(sent.id);
  });

  it('has staff of whom only administrators create bots', async () => {
    session = { realm, externalId: 'kim' };
    await server.parley.users.upsert({ ...session, name: 'Kim', role: 'member' });
    for (const bot_type of [1, 2]) {
      const { status, body } = await call('POST', '/bots', { full_name: 'Shop', short_name: 'shop', bot_type });
      expect([status, body]).toEqual([400, expect.stringContaining('Insufficient permission')]);
    }
  });

  it('registers with the same bytes and without events, however many other customers there are', async () => {
    const register = async () => {
      const { body } = await call('POST', '/register', {
        client_capabilities: { notification_settings_null: true, user_list_incomplete: true, lean_state: true },
      });
      return { state: JSON.parse(body), bytes: body.length };
    };
    const before = await register();
    const others = Array.from({ length: 50 }, (_, n) => ({ externalId: `other ${n}`, name: `Other ${n}` }));
    await server.parley.users.upsertMany(others.map((other) => ({ realm, ...other, role: 'guest' as const })));
    const { channels } = server.parley.as(staff);
    await channels.ensureMany(
      others.map(({ externalId }) => ({ name: `Order of ${externalId}`, isPrivate: true, subscribers: [externalId] })),
    );
    await server.catchUp();
    const after = await register();
    expect(after.bytes).toBeLessThanOrEqual(before.bytes + 20);
    expect(after.bytes).toBeLessThan(20_000);
    const everyone = after.state.realm_user_groups.find(({ name }: { name: string }) => name === 'role:everyone');
    expect(everyone.members).toEqual([]);
    for (const name of ['realm_incoming_webhook_bots', 'stop_words', 'server_supported_permission_settings'])
      expect(after.state).not.toHaveProperty(name);
    const { queue_id } = before.state;
    const { body } = await call('GET', '/events', { queue_id, last_event_id: -1, dont_block: true });
    expect(JSON.parse(body).events).toEqual([]);
  });

  it('makes notifications due to staff in the channel', async () => {
    const due: ParleyEvent<'notification.due'>[] = [];
    const off = server.parley.on('notification.due', (event) => due.push(event));
    const sent = await server.parley.as(ann).messages.send({ channel: 'Order 7', content: 'Where is it?' });
    await until(() => due.some(({ message }) => message.id === sent.id));
    const { people } = due.find(({ message }) => message.id === sent.id)!;
    expect(people.map(({ user }) => user.externalId)).toEqual(['sam']);
    off();
  });
});
