import { setTimeout as delay } from 'node:timers/promises';
import { EndAccessToken } from '@parley/domain/log-in';
import type { TokenToCreate } from '@parley/server';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { MULTIPART, multipart } from '../testing/multipart.js';
import { serverPerTest } from '../testing/servers.js';
import { TestEventStream } from '../testing/test-event-stream.js';
import type { TestReply } from '../testing/test-reply.js';
import type { RequestOptions, TestUser } from '../testing/test-server.js';

const realm = 'zulip';
const MINUTE = 60;

let orders: number;
let other: number;
const streams: TestEventStream[] = [];
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});
const { server, people } = serverPerTest();
beforeEach(async () => {
  const { hamlet, cordelia, iago } = people;
  orders = await server.createChannel('orders', [hamlet, cordelia], {}, iago);
  other = await server.createChannel('other', [hamlet, cordelia], {}, iago);
});

const everything = { actions: ['read', 'write', 'upload'] } as const;
const create = (token: Partial<TokenToCreate> = {}, user: TestUser = people.hamlet) =>
  server.parley.tokens.create({
    user: { realm, userId: user.id },
    conversations: [{ channel: 'orders', topic: 'Order 7' }],
    ...everything,
    ...token,
  });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const request = (token: string, method: string, path: string, params?: RequestOptions['params'], more: object = {}) =>
  server.request(method, path, { params, headers: { ...bearer(token), ...more } });
const say = (channel: number, topic: string, content: string, from: TestUser = people.cordelia) =>
  server.sendMessage(from, channel, { topic, content });

const expectCode = (reply: TestReply, status: number, code: string): void =>
  expect(reply).toMatchObject({ status, body: { result: 'error', code } });

/** Sends one message to the conversation of the token and one to each kind of other conversation. */
async function scene() {
  const { hamlet, cordelia } = people;
  const inside = await say(orders, 'Order 7', 'inside');
  const elsewhere = [
    await say(orders, 'Order 8', 'another topic'),
    await say(other, 'Order 7', 'another channel'),
    await server.sendMessage(cordelia, [hamlet], { content: 'direct' }),
  ];
  return { inside, elsewhere, ...(await create()) };
}

const narrowTo = (...terms: readonly (readonly [string, unknown])[]) =>
  terms.map(([operator, operand]) => ({ operator, operand }));
const page = { anchor: 'newest', num_before: 100, num_after: 0 };
const idsIn = (reply: TestReply): number[] => (fieldsOf(reply).messages as Wire).map(({ id }: Wire) => id);

/** Operations that a token may perform, with their actions. Extend it only with an operation that is limited below. */
const SCOPED = [
  'DELETE /events read',
  'DELETE /messages/:message_id write',
  'DELETE /messages/:message_id/reactions write',
  'DELETE /tus/*path_id upload',
  'GET /events read',
  'GET /events/stream read',
  'GET /messages read',
  'GET /messages/:message_id read',
  'GET /tus/*path_id upload',
  'GET /user_uploads/*path_id read',
  'GET /user_uploads/:realm_id/*filename read',
  'GET /user_uploads/download/*path_id read',
  'GET /user_uploads/thumbnail/*path_id_and_format read',
  'GET /users/me read',
  'GET /users/me/:stream_id/topics read',
  'PATCH /messages/:message_id write',
  'PATCH /tus/*path_id upload',
  'POST /events/acknowledge read',
  'POST /messages write',
  'POST /messages/:message_id/reactions write',
  'POST /messages/:message_id/typing write',
  'POST /messages/flags read',
  'POST /register read',
  'POST /tus upload',
  'POST /tus/ upload',
  'POST /typing write',
  'POST /user_uploads upload',
  'POST /users/me/presence read',
];

describe('operations', () => {
  it('refuses every other operation to a token, and each one without its action', async () => {
    const { routes } = server.parley;
    const forUsers = routes.filter(({ auth }) => auth === 'user');
    const actionOf = ({ scope }: (typeof routes)[number]) =>
      typeof scope === 'object' && scope.readers !== 'only' ? scope.action : null;
    const scoped = forUsers.filter((route) => actionOf(route) !== null);
    expect(scoped.map((route) => `${route.method} ${route.path} ${actionOf(route)}`).sort()).toEqual(SCOPED);
    const { token } = await create();
    const { token: reading } = await create({ actions: ['read'] });
    let refused = 0;
    for (const route of forUsers) {
      const action = actionOf(route);
      if (action === 'read') continue;
      const path = route.path.replace(/[:*]\w+/g, '1');
      const url = route.atRoot ? `/${path}` : path;
      const reply = await request(action === null ? token : reading, route.method, url);
      // Some paths are for browser sessions only.
      if (reply.status !== 401 || !route.atRoot) expect([route.path, reply.status]).toEqual([route.path, 403]);
      refused++;
    }
    expect(refused).toBeGreaterThan(200);
  });
});

describe('GET /messages', () => {
  it.each<[string, () => readonly (readonly [string, unknown])[]]>([
    ['no terms', () => []],
    [
      'its conversation',
      () => [
        ['channel', orders],
        ['topic', 'order 7'],
      ],
    ],
    ['a negated search', () => [['search', 'inside']]],
    ['its messages by id', () => [['id', 1]]],
  ])('returns at most the conversation of the token for %s', async (_what, terms) => {
    const { inside, token } = await scene();
    const narrow = narrowTo(...terms()).map((term) => (term.operator === 'id' ? { ...term, operand: inside } : term));
    expect(idsIn(await request(token, 'GET', '/messages', { ...page, narrow }))).toEqual([inside]);
  });

  it.each<[string, () => readonly (readonly [string, unknown])[]]>([
    [
      'another topic',
      () => [
        ['channel', orders],
        ['topic', 'Order 8'],
      ],
    ],
    ['another channel', () => [['channel', other]]],
    ['direct messages', () => [['is', 'dm']]],
    ['people', () => [['dm', [people.cordelia.id]]]],
    ['a sender without messages there', () => [['sender', people.iago.id]]],
    [
      'all public channels',
      () => [
        ['channels', 'public'],
        ['topic', 'Order 8'],
      ],
    ],
  ])('returns nothing of %s', async (_what, terms) => {
    const { token } = await scene();
    const reply = await request(token, 'GET', '/messages', { ...page, narrow: narrowTo(...terms()) });
    if (reply.status === 200) expect(idsIn(reply)).toEqual([]);
    else expectCode(reply, 400, 'BAD_NARROW');
  });

  it('refuses names, and the operator "with", which would replace the conversation', async () => {
    const { token, elsewhere } = await scene();
    for (const term of [
      ['with', elsewhere[0]],
      ['stream', 'other'],
      ['sender', people.cordelia.email],
    ] as const) {
      const narrow = narrowTo(term);
      expectCode(await request(token, 'GET', '/messages', { ...page, narrow }), 403, 'TOKEN_SCOPE');
    }
  });

  it('returns no message of another conversation by id', async () => {
    const { inside, elsewhere, token } = await scene();
    const reply = await request(token, 'GET', '/messages', { message_ids: [...elsewhere, inside] });
    expect(idsIn(reply)).toEqual([inside]);
  });

  it('hides where a message was before', async () => {
    const { elsewhere, token } = await scene();
    const moved = elsewhere[0]!;
    await server.patch(`/messages/${moved}`, people.iago, { topic: 'Order 7', send_notification_to_new_thread: false });
    const reply = await request(token, 'GET', '/messages', page);
    expect(idsIn(reply)).toContain(moved);
    expect(JSON.stringify(reply.body)).not.toContain('Order 8');
    const single = await request(token, 'GET', `/messages/${moved}`);
    expect(single.status).toBe(200);
    expect(JSON.stringify(single.body)).not.toContain('Order 8');
  });

  it('proposes no other search, since the words may be from elsewhere', async () => {
    const { token } = await scene();
    await say(orders, 'Order 8', 'incantation');
    const narrow = narrowTo(['search', 'incantatoin']);
    const reply = await request(token, 'GET', '/messages', { ...page, narrow });
    expect(JSON.stringify(reply.body)).not.toContain('incantation');
  });

  it('requires a token for several conversations to name one', async () => {
    const { inside, elsewhere } = await scene();
    const { cordelia } = people;
    const conversations = [{ channel: 'orders', topic: 'Order 7' }, { channel: other }, { to: cordelia.id }];
    const { token } = await create({ conversations });
    const read = (...terms: readonly (readonly [string, unknown])[]) =>
      request(token, 'GET', '/messages', { ...page, narrow: narrowTo(...terms) });
    expectCode(await read(), 403, 'TOKEN_SCOPE');
    expectCode(await read(['channel', orders]), 403, 'TOKEN_SCOPE');
    expectCode(await read(['channel', orders], ['topic', 'Order 8']), 403, 'TOKEN_SCOPE');
    expect(idsIn(await read(['channel', orders], ['topic', 'Order 7']))).toEqual([inside]);
    expect(idsIn(await read(['channel', other], ['topic', 'Order 7']))).toEqual([elsewhere[1]]);
    expect(idsIn(await read(['dm', [cordelia.id]]))).toEqual([elsewhere[2]]);
  });
});

describe('message ids', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['GET', '/messages/ID', {}],
    ['PATCH', '/messages/ID', { content: 'changed' }],
    ['DELETE', '/messages/ID', {}],
    ['POST', '/messages/ID/reactions', { emoji_name: 'tada' }],
    ['DELETE', '/messages/ID/reactions', { emoji_name: 'tada' }],
    ['POST', '/messages/ID/typing', { op: 'start' }],
    ['POST', '/messages/flags', { messages: 'IDS', op: 'add', flag: 'read' }],
  ])('%s %s answers for messages of other conversations as for unknown ones', async (method, path, params) => {
    const { inside, elsewhere, token } = await scene();
    for (const id of [...elsewhere, 999_999]) {
      const withIds = 'messages' in params ? { ...params, messages: [inside, id] } : params;
      const reply = await request(token, method, path.replace('ID', String(id)), withIds);
      expect(reply.body).toMatchObject({ result: 'error', msg: 'Invalid message(s)', code: 'BAD_REQUEST' });
    }
  });

  it('follow a message that moves out of the conversation and back', async () => {
    const { inside, token } = await scene();
    const read = async () => (await request(token, 'GET', `/messages/${inside}`)).status;
    expect(await read()).toBe(200);
    await server.patch(`/messages/${inside}`, people.iago, { topic: 'Order 9' });
    expect(await read()).toBe(400);
    await server.patch(`/messages/${inside}`, people.iago, { topic: 'Order 7' });
    expect(await read()).toBe(200);
  });
});

describe('sending', () => {
  const send = (token: string, params: object) =>
    request(token, 'POST', '/messages', { type: 'channel', content: 'hi', ...params });

  it('is possible only in the conversation, which is named by ids', async () => {
    const { token } = await create();
    expect((await send(token, { to: orders, topic: 'Order 7' })).status).toBe(200);
    expect((await send(token, { to: orders, topic: ' order 7 ' })).status).toBe(200);
    for (const params of [
      { to: orders, topic: 'Order 8' },
      { to: orders },
      { to: other, topic: 'Order 7' },
      { to: 'orders', topic: 'Order 7' },
      { topic: 'Order 7' },
      { type: 'direct', to: [people.cordelia.id] },
      { type: 'direct', to: [people.cordelia.email] },
    ]) {
      expectCode(await send(token, params), 403, 'TOKEN_SCOPE');
    }
  });

  it('reaches exactly the people of a direct conversation', async () => {
    const { cordelia, iago } = people;
    const { token } = await create({ conversations: [{ to: [cordelia.id] }] });
    const to = (...ids: number[]) => send(token, { type: 'direct', to: ids });
    expect((await to(cordelia.id)).status).toBe(200);
    expectCode(await to(cordelia.id, iago.id), 403, 'TOKEN_SCOPE');
    expectCode(await to(iago.id), 403, 'TOKEN_SCOPE');
    expectCode(await to(), 403, 'TOKEN_SCOPE');
  });

  it('does not move messages by editing', async () => {
    const { token } = await create();
    const { id } = fieldsOf(await send(token, { to: orders, topic: 'Order 7' }));
    expect((await request(token, 'PATCH', `/messages/${id}`, { content: 'hello' })).status).toBe(200);
    for (const params of [{ topic: 'Order 8' }, { stream_id: other }, { topic: 'Order 7', content: 'x' }]) {
      expectCode(await request(token, 'PATCH', `/messages/${id}`, params), 403, 'TOKEN_SCOPE');
    }
  });

  it('announces typing only in the conversation', async () => {
    const { token } = await create();
    const type = (params: object) => request(token, 'POST', '/typing', { op: 'start', type: 'stream', ...params });
    expect((await type({ stream_id: orders, topic: 'Order 7' })).status).toBe(200);
    expectCode(await type({ stream_id: orders, topic: 'Order 8' }), 403, 'TOKEN_SCOPE');
    expectCode(await type({ type: 'direct', to: [people.cordelia.id] }), 403, 'TOKEN_SCOPE');
  });
});

describe('files', () => {
  const upload = async (headers: Record<string, string>, as: TestUser | null = null): Promise<string> => {
    const body = multipart([{ name: 'a.txt', content: 'secret' }]);
    const reply = await server.request('POST', '/user_uploads', { as, body, headers: { ...headers, ...MULTIPART } });
    return fieldsOf(reply).url as string;
  };

  it('are readable in the conversation, and not in others', async () => {
    const { token } = await create();
    const read = async (url: string) => (await request(token, 'GET', `/${url}`)).status;
    const [inside, elsewhere] = [await upload({}, people.cordelia), await upload({}, people.cordelia)];
    await say(orders, 'Order 7', `[file](${inside})`);
    await say(orders, 'Order 8', `[file](${elsewhere})`);
    expect(await read(inside)).toBe(200);
    expect(await read(elsewhere)).toBe(403);
    const temporary = await request(token, 'GET', elsewhere);
    expect(temporary.status).toBe(403);
  });

  it('cannot be brought in from other conversations by a link', async () => {
    const { token } = await create();
    const own = await upload({}, people.hamlet);
    await say(orders, 'Order 8', `[file](${own})`, people.hamlet);
    const sent = await request(token, 'POST', '/messages', {
      ...{ type: 'channel', to: orders, topic: 'Order 7' },
      content: `[file](${own})`,
    });
    await request(token, 'PATCH', `/messages/${fieldsOf(sent).id}`, { content: `[again](${own})` });
    expect((await request(token, 'GET', `/${own}`)).status).toBe(403);
  });

  it('are uploaded and sent with a token', async () => {
    const { token } = await create();
    const url = await upload(bearer(token));
    const content = `[file](${url})`;
    await request(token, 'POST', '/messages', { type: 'channel', to: orders, topic: 'Order 7', content });
    expect((await server.get(`/${url}`, people.cordelia)).status).toBe(200);
    expect((await request(token, 'GET', `/${url}`)).status).toBe(200);
  });
});

describe('register', () => {
  it('contains nothing of other conversations', async () => {
    const { hamlet, cordelia } = people;
    await server.createChannel('hidden place', [hamlet], {}, people.iago);
    const { token, inside } = await scene();
    await server.post('/user_groups/create', people.iago, {
      ...{ name: 'secret group', description: '', members: [cordelia.id] },
    });
    await server.post('/drafts', hamlet, {
      drafts: [{ type: 'stream', to: [other], topic: 'a', content: 'secret draft' }],
    });
    const state = fieldsOf(await request(token, 'POST', '/register', { include_subscribers: true })) as Wire;
    expect(state.subscriptions.map(({ name }: Wire) => name)).toEqual(['orders']);
    expect(state.unread_msgs).toMatchObject({
      count: 1,
      streams: [{ stream_id: orders, topic: 'Order 7', unread_message_ids: [inside] }],
      ...{ pms: [], huddles: [], mentions: [] },
    });
    expect(state.realm_users.map(({ user_id }: Wire) => user_id)).toEqual([hamlet.id]);
    expect(state).toMatchObject({ recent_private_conversations: [], drafts: [], starred_messages: [] });
    const text = JSON.stringify(state);
    expect(state.max_file_upload_size_mib).toBeGreaterThan(0);
    expect(state.realm_user_groups.some(({ members }: Wire) => members.length > 0)).toBe(true);
    for (const secret of ['hidden place', 'secret group', 'secret draft', 'Order 8', cordelia.email]) {
      expect(text).not.toContain(secret);
    }
  });

  it('switches off what a client cannot do without the actions write and upload', async () => {
    const { token } = await create({ actions: ['read'] });
    const state = fieldsOf(await request(token, 'POST', '/register', {})) as Wire;
    expect(state).toMatchObject({ realm_allow_message_editing: false, max_file_upload_size_mib: 0 });
    expect(state.realm_user_groups.every(({ members }: Wire) => members.length === 0)).toBe(true);
  });
});

describe('presence', () => {
  it('is reported without that of others', async () => {
    const { token } = await create();
    const report = { status: 'active', new_user_input: true, last_update_id: -1 };
    await server.post('/users/me/presence', people.cordelia, report);
    const reply = await request(token, 'POST', '/users/me/presence', { ...report, ping_only: false });
    expect(reply.body).toEqual({ result: 'success', msg: '' });
  });
});

describe('topics', () => {
  it('are listed for a token for the whole channel only', async () => {
    const { token } = await scene();
    const list = (of: string, channel: number) => request(of, 'GET', `/users/me/${channel}/topics`);
    expectCode(await list(token, orders), 403, 'TOKEN_SCOPE');
    const { token: whole } = await create({ conversations: [{ channel: orders }] });
    expect(fieldsOf(await list(whole, orders)).topics).toMatchObject([{ name: 'Order 8' }, { name: 'Order 7' }, {}]);
    expectCode(await list(whole, other), 403, 'TOKEN_SCOPE');
  });
});

describe('events', () => {
  const registerWith = async (token: string): Promise<string> =>
    fieldsOf(await request(token, 'POST', '/register', {})).queue_id as string;
  const poll = (token: string, queue_id: string, last_event_id = -1) =>
    request(token, 'GET', '/events', { queue_id, last_event_id, dont_block: true });

  it('are those of the conversation', async () => {
    const { token, inside, elsewhere } = await scene();
    const { hamlet, cordelia, iago } = people;
    const queue = await registerWith(token);
    const sent = await say(orders, 'Order 7', 'new');
    await say(orders, 'Order 8', 'secret');
    await server.sendMessage(cordelia, [hamlet], { content: 'secret' });
    for (const id of [inside, ...elsewhere]) {
      await server.post(`/messages/${id}/reactions`, hamlet, { emoji_name: 'tada' });
      await server.patch(`/messages/${id}`, cordelia, { content: `${id} edited` });
    }
    await server.post('/messages/flags', hamlet, { messages: [inside, ...elsewhere], op: 'add', flag: 'read' });
    await server.createChannel('secret channel', [hamlet], {}, iago);
    const before = fieldsOf(await poll(token, queue)).events as Wire[];
    await server.patch(`/messages/${inside}`, iago, { topic: 'Order 9' });
    await server.patch(`/messages/${elsewhere[0]}`, iago, { topic: 'Order 7', send_notification_to_new_thread: false });
    const events = [...before, ...(fieldsOf(await poll(token, queue, before.at(-1).id)).events as Wire[])];
    expect(
      events.map(({ type, ...event }: Wire) => [
        type,
        event.message?.id ?? event.message_id ?? event.messages ?? event.message_ids,
      ]),
    ).toEqual([
      ['message', sent],
      ['reaction', inside],
      ['update_message', inside],
      ['update_message_flags', [inside]],
      ['delete_message', inside],
    ]);
    expect(JSON.stringify(events)).not.toMatch(/secret|Order [89]/);
  });

  it.each<[string, (hidden: number, target: number) => object]>([
    ['another topic', () => ({ topic: 'Order 9' })],
    ['another channel with protected history', (_, target) => ({ stream_id: target })],
  ])('show a move from protected history to %s as a deletion of own messages', async (_, where) => {
    const { hamlet, cordelia, iago } = people;
    const isProtected = { invite_only: true, history_public_to_subscribers: false };
    const hidden = await server.createChannel('hidden', [cordelia, iago], isProtected, iago);
    const target = await server.createChannel('target', [hamlet, cordelia, iago], isProtected, iago);
    const foreign = await say(hidden, 'Order 7', 'before the subscription');
    await server.post('/users/me/subscriptions', iago, {
      subscriptions: [{ name: 'hidden' }],
      principals: [hamlet.id],
    });
    const own = await say(hidden, 'Order 7', 'after it');
    const { token } = await create({ conversations: [{ channel: hidden, topic: 'Order 7' }] });
    const [early, late] = [await registerWith(token), await registerWith(token)];
    const params = { ...where(hidden, target), propagate_mode: 'change_all', send_notification_to_new_thread: false };
    expect((await server.patch(`/messages/${own}`, iago, params)).status).toBe(200);
    const seen = async (queue: string) =>
      (fieldsOf(await poll(token, queue)).events as Wire[]).map(({ type, message_id }) => [type, message_id]);
    const expected = 'topic' in params ? [['delete_message', own]] : expect.arrayContaining([['delete_message', own]]);
    expect(await seen(early)).toEqual(expected);
    expect((await server.delete(`/messages/${own}`, iago)).status).toBe(200);
    expect(await seen(late)).toEqual(expected);
    expect(foreign).toBeLessThan(own);
  });

  it('give a full client of the same user the whole event', async () => {
    const { token, inside, elsewhere } = await scene();
    const { hamlet } = people;
    const full = fieldsOf(await server.post('/register', hamlet, {})).queue_id as string;
    const queue = await registerWith(token);
    const messages = [inside, elsewhere[0]];
    await server.post('/messages/flags', hamlet, { messages, op: 'add', flag: 'read' });
    await poll(token, queue);
    const reply = await server.get('/events', hamlet, { queue_id: full, last_event_id: -1, dont_block: true });
    expect(fieldsOf(reply).events).toMatchObject([{ type: 'update_message_flags', messages }]);
  });

  it('belong to queues of tokens for the same conversations', async () => {
    const { token } = await create();
    const { token: same } = await create();
    const { token: whole } = await create({ conversations: [{ channel: orders }] });
    const { hamlet } = people;
    const full = fieldsOf(await server.post('/register', hamlet, {})).queue_id as string;
    const queue = await registerWith(token);
    expect((await poll(same, queue)).status).toBe(200);
    for (const [of, id] of [
      [whole, queue],
      [token, full],
    ] as const) {
      expectCode(await poll(of, id), 400, 'BAD_EVENT_QUEUE_ID');
      const params = { queue_id: id, last_event_id: -1 };
      expectCode(await request(of, 'POST', '/events/acknowledge', params), 400, 'BAD_EVENT_QUEUE_ID');
      expectCode(await request(of, 'GET', '/events/stream', params), 400, 'BAD_EVENT_QUEUE_ID');
      expectCode(await request(of, 'DELETE', '/events', { queue_id: id }), 400, 'BAD_EVENT_QUEUE_ID');
    }
    expectCode(await server.get('/events', hamlet, { queue_id: queue, last_event_id: -1 }), 400, 'BAD_EVENT_QUEUE_ID');
    expectCode(await request(token, 'GET', '/events', { dont_block: true }), 403, 'TOKEN_SCOPE');
  });

  it('end within two seconds of a revocation, for polls and streams', async () => {
    const { token, id } = await create();
    const [polled, streamed] = [await registerWith(token), await registerWith(token)];
    const waiting = request(token, 'GET', '/events', { queue_id: polled, last_event_id: -1 });
    const stream = await TestEventStream.open(
      server,
      { queue_id: streamed, last_event_id: -1 },
      { as: null, headers: bearer(token) },
    );
    streams.push(stream);
    await delay(100);
    const begun = Date.now();
    await server.parley.tokens.revoke({ realm, userId: people.hamlet.id }, id);
    expect((await waiting).status).toBe(200);
    while (!stream.isOver && Date.now() - begun < 2000) await delay(10);
    expect(stream.isOver).toBe(true);
    expect(Date.now() - begun).toBeLessThan(2000);
    expectCode(await poll(token, polled), 401, 'UNAUTHORIZED');
  });

  it('end when the token expires, for polls and streams', async () => {
    const { token } = await create({ expiresIn: MINUTE });
    const [polled, streamed] = [await registerWith(token), await registerWith(token)];
    server.clock.advance(MINUTE - 1);
    const begun = Date.now();
    const params = { queue_id: polled, last_event_id: -1 };
    const waiting = request(token, 'GET', '/events', params).then(() => Date.now() - begun);
    const stream = await TestEventStream.open(
      server,
      { queue_id: streamed, last_event_id: -1 },
      { as: null, headers: bearer(token) },
    );
    streams.push(stream);
    while (!stream.isOver && Date.now() - begun < 3000) await delay(10);
    expect(stream.isOver).toBe(true);
    expect(await waiting).toBeLessThan(3000);
    server.clock.advance(1);
    expectCode(await poll(token, polled), 401, 'UNAUTHORIZED');
  });
});

describe('validity', () => {
  const me = async (token: string, headers: object = {}) =>
    (await request(token, 'GET', '/users/me', undefined, headers)).status;

  it('ends at the time of the token, which is then removed', async () => {
    const { token } = await create({ expiresIn: MINUTE });
    server.clock.advance(MINUTE - 1);
    expect(await me(token)).toBe(200);
    server.clock.advance(1);
    expect(await me(token)).toBe(401);
    await runJobs(server, server.parley.useCase(EndAccessToken));
    const { id: userId } = people.hamlet;
    expect(await server.storage.uow.read(server.realmId, (r) => r.accessTokens.list(server.realmId, userId))).toEqual(
      [],
    );
  });

  it('requires the exact secret, the organization and the active user', async () => {
    const { token } = await create();
    expect(await me(token.slice(0, -1))).toBe(401);
    expect(await me(`${token}x`)).toBe(401);
    expect(await me(token.replace(/_\d+_/, '_999_'))).toBe(401);
    expect(await me('parley_')).toBe(401);
    await server.parley.realms.ensure({ name: 'elsewhere', title: 'Elsewhere' });
    expect((await server.request('GET', '/users/me', { realm: 'elsewhere', headers: bearer(token) })).status).toBe(401);
    await server.parley.users.deactivate({ realm, userId: people.hamlet.id });
    expect(await me(token)).toBe(401);
  });

  it('is limited to the pages of its origin', async () => {
    const { token } = await create({ origin: server.url });
    expect(await me(token, { Origin: server.url })).toBe(200);
    expect(await me(token, { 'Sec-Fetch-Site': 'same-origin' })).toBe(200);
    expect(await me(token)).toBe(401);
    expect(await me(token, { Origin: 'https://evil.example' })).toBe(401);
    expect(await me(token, { Origin: 'null' })).toBe(401);
    expect(await me(token, { 'Sec-Fetch-Site': 'cross-site' })).toBe(401);
  });

  it('is not accepted in a cookie, in an address or as a key', async () => {
    const { token } = await create();
    const { email } = people.hamlet;
    const basic = `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`;
    const withHeaders = (headers: Record<string, string>, path = '/users/me', params = {}) =>
      server.request('GET', path, { headers, params });
    for (const path of ['/users/me', '//json/users/me']) {
      expect((await withHeaders({ Cookie: `sessionid=${token}` }, path)).status).toBe(401);
      expect((await withHeaders({}, path, { token, api_key: token })).status).toBe(401);
      expect((await withHeaders({ Authorization: basic }, path)).status).toBe(401);
    }
    expectCode(await withHeaders({}, '//user_uploads/1/a/b.txt', { api_key: token }), 401, 'INVALID_API_KEY');
  });

  it('is not a log-in for pages or browser sessions', async () => {
    const { token } = await create();
    expect((await request(token, 'GET', '//json/users/me')).status).toBe(401);
  });

  it('gives no right that the user has lost', async () => {
    const { inside, token } = await scene();
    const { hamlet, iago } = people;
    await server.patch(`/streams/${orders}`, iago, { is_private: true, history_public_to_subscribers: true });
    expect(idsIn(await request(token, 'GET', '/messages', page))).toEqual([inside]);
    await server.delete('/users/me/subscriptions', iago, { subscriptions: ['orders'], principals: [hamlet.id] });
    expect(idsIn(await request(token, 'GET', '/messages', page))).toEqual([]);
    expect((await request(token, 'GET', `/messages/${inside}`)).status).toBe(400);
    const params = { type: 'channel', to: orders, topic: 'Order 7', content: 'hi' };
    expect((await request(token, 'POST', '/messages', params)).status).toBe(400);
  });
});

describe('parley.tokens', () => {
  const user = () => ({ realm, userId: people.hamlet.id });

  it('lists tokens with their last use, recorded at most once a minute, and without their secrets', async () => {
    const { token, ...created } = await create();
    expect(await server.parley.tokens.list(user())).toEqual([created]);
    const start = server.clock.now();
    for (let count = 0; count < 7; count++) {
      await request(token, 'GET', '/users/me');
      server.clock.advance(10);
    }
    const [listed] = await server.parley.tokens.list(user());
    expect(listed!.lastUsedAt!.getTime() / 1000).toBe(start + 60);
    const secret = token.slice(-20);
    expect(JSON.stringify(listed)).not.toContain(secret);
  });

  it('revokes only tokens of the user', async () => {
    const { id } = await create();
    const revoke = (userId: number) => server.parley.tokens.revoke({ realm, userId }, id);
    await expect(revoke(people.cordelia.id)).rejects.toMatchObject({ code: 'UNKNOWN_ACCESS_TOKEN' });
    await revoke(people.hamlet.id);
    await expect(revoke(people.hamlet.id)).rejects.toMatchObject({ code: 'UNKNOWN_ACCESS_TOKEN' });
    expect(await server.parley.tokens.list(user())).toEqual([]);
    const { entries } = fieldsOf(await server.get('/audit', people.desdemona));
    expect((entries as Wire).map(({ action, program }: Wire) => [action, program])).toEqual([
      ['tokens.revoke', 'application'],
      ['tokens.create', 'application'],
    ]);
  });

  it('leaves its user offline for notifications of other conversations', async () => {
    const { token } = await create();
    await request(token, 'POST', '/register', {});
    const { servedQueues } = server.parley.ports;
    expect(await servedQueues.receivesMessages(server.realmId, people.hamlet.id)).toBe(false);
    await server.post('/register', people.hamlet, {});
    expect(await servedQueues.receivesMessages(server.realmId, people.hamlet.id)).toBe(true);
  });

  it.each<[object, string]>([
    [{ conversations: [] }, 'INVALID_ACCESS_TOKEN'],
    [{ conversations: [{ channel: 'nowhere' }] }, 'UNKNOWN_CHANNEL'],
    [{ conversations: [{ channel: 999 }] }, 'UNKNOWN_CHANNEL'],
    [{ conversations: [{ to: [999] }] }, 'UNKNOWN_USER'],
    [{ conversations: [{}] }, 'INVALID_ARGUMENT'],
    [{ conversations: [{ channel: 'orders', to: [1] }] }, 'INVALID_ARGUMENT'],
    [{ actions: ['write'] }, 'INVALID_ACCESS_TOKEN'],
    [{ actions: ['administer'] }, 'INVALID_ARGUMENT'],
    [{ origin: 'shop.example.com' }, 'INVALID_ACCESS_TOKEN'],
    [{ origin: 'https://shop.example.com/path' }, 'INVALID_ACCESS_TOKEN'],
    [{ expiresIn: 9 }, 'INVALID_ACCESS_TOKEN'],
    [{ expiresIn: 7_776_001 }, 'INVALID_ACCESS_TOKEN'],
    [{ user: { realm, userId: 999 } }, 'USER_DEACTIVATED'],
    [{ user: { realm, externalId: 'nobody' } }, 'UNKNOWN_USER'],
  ])('rejects %j with %s', (token, code) => expect(create(token)).rejects.toMatchObject({ code }));

  it('holds at most 100 tokens per user', async () => {
    for (let count = 0; count < 100; count++) await create();
    await expect(create()).rejects.toMatchObject({ code: 'TOO_MANY_ACCESS_TOKENS' });
  });
});
