import type { PersonRef, TokenToCreate } from '@parley/server';
import { contextOf, createAgentToken, ownerOf, startAgent, textsIn } from '../testing/agent.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestReply } from '../testing/test-reply.js';
import type { RequestOptions, TestUser } from '../testing/test-server.js';

const { server, people } = organizationPerTest();
let bot: TestUser;
let room: number;
let general: number;
let board: number;
beforeEach(async () => {
  const { desdemona, hamlet, cordelia, iago } = people;
  bot = await server.addBot(desdemona, 'helper');
  room = await server.createChannel('room', [hamlet, cordelia, bot], PRIVATE, hamlet);
  general = await server.createChannel('general', [iago, bot], {}, iago);
  board = await server.createChannel('board', [hamlet, iago, bot], PRIVATE, iago);
});

const create = (more: Partial<TokenToCreate> = {}, user = bot) => createAgentToken(server, user, more);

async function agent(more: Partial<TokenToCreate> = {}) {
  const { say, ...others } = await startAgent(server, bot, more);
  return { ...others, say: (content: string, context?: string) => say(room, content, context) };
}

const PRIVATE = { invite_only: true, history_public_to_subscribers: true };
const PAGE = { anchor: 'newest', num_before: 100, num_after: 0 };
const expectCode = (reply: TestReply, status: number, code: string): void =>
  expect(reply).toMatchObject({ status, body: { code } });
const subscribe = (name: string, user: TestUser, as: TestUser) =>
  server.post('/users/me/subscriptions', as, { subscriptions: [{ name }], principals: [user.id] });

describe('creation', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a person', () => create({}, people.hamlet)],
    ['several conversations', () => create({ conversations: [{ channel: 'room' }, { channel: 'general' }] })],
    ['a conversation without others', () => create({ conversations: [{ to: [] as readonly PersonRef[] }] })],
    ['uploads', () => create({ actions: ['read', 'upload'] })],
    [
      'a webhook',
      async () =>
        create(
          { conversations: [{ channel: room }] },
          await server.addBot(people.desdemona, 'hook', 'incomingWebhook'),
        ),
    ],
  ])('refuses a token with readers "all" for %s', async (_what, refused) => {
    await expect(refused()).rejects.toMatchObject({ code: 'INVALID_ACCESS_TOKEN' });
  });

  it('lists the readers of a token', async () => {
    const { id, token } = await create();
    expect(token).toMatch(/^parley_/);
    const listed = await server.parley.tokens.list(ownerOf(server, bot));
    expect(listed).toMatchObject([{ id, readers: 'all' }]);
  });
});

describe('operations', () => {
  it('refuses all operations that are not limited to the shared view', async () => {
    const { request } = await agent();
    const { routes } = server.parley;
    const allowed = routes.filter(({ scope }) => typeof scope === 'object' && scope.readers !== undefined);
    expect(allowed.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /messages',
      'GET /messages/:message_id',
      'GET /messages/matches_narrow',
      'GET /streams',
      'GET /users/me/:stream_id/topics',
      'PATCH /messages/:message_id',
      'POST /messages',
    ]);
    const users = routes.filter((route) => route.auth === 'user' && !allowed.includes(route));
    expect(users.some(({ atRoot }) => atRoot)).toBe(true);
    for (const { method, path, atRoot } of users) {
      const reply = await request(method, `${atRoot ? '/' : ''}${path.replace(/[:*]\w+/g, '1')}`);
      // Pages of the browser know no tokens.
      const refused = reply.status === 401 ? [401, 'UNAUTHORIZED'] : [403, 'TOKEN_SCOPE'];
      expect([path, reply.status, reply.body?.code]).toEqual([path, ...refused]);
    }
  });

  it('ignores the token in operations for everybody', async () => {
    const { token } = await create();
    const everybody = server.parley.routes.filter(({ auth }) => auth !== 'user');
    const ask = (path: string, method: string, headers: RequestOptions['headers']) =>
      server.request(method, path.replace(/[:*]\w+/g, '1'), headers && { headers });
    for (const { method, path, atRoot } of everybody) {
      const full = `${atRoot ? '/' : ''}${path}`;
      const bearer = await ask(full, method, { Authorization: `Bearer ${token}` });
      const anonymous = await ask(full, method, undefined);
      expect([full, bearer.status, bearer.body?.code]).toEqual([full, anonymous.status, anonymous.body?.code]);
    }
  });

  it('ends the API key of the bot as long as a token is valid', async () => {
    const ask = () => server.get('/users/me', bot);
    fieldsOf(await ask());
    const short = await create({ expiresIn: 60 });
    const { id } = await create();
    expectCode(await ask(), 401, 'UNAUTHORIZED');
    server.clock.advance(60);
    expectCode(await ask(), 401, 'UNAUTHORIZED');
    expect(short.id).not.toBe(id);
    await server.parley.tokens.revoke(ownerOf(server, bot), id);
    fieldsOf(await ask());
  });

  it('accepts only listed operators', async () => {
    await server.sendMessage(people.hamlet, room, { content: 'in the room' });
    const { request } = await agent();
    const read = (operator: string, operand: unknown) =>
      request('GET', '/messages', { ...PAGE, narrow: [{ operator, operand }] });
    for (const [operator, operand] of [
      ...[
        ['dm', [people.hamlet.id]],
        ['dm-including', [people.hamlet.id]],
        ['group-pm-with', [people.hamlet.id]],
      ],
      ...[
        ['is', 'unread'],
        ['is', 'dm'],
        ['is', 'mentioned'],
        ['in', 'home'],
        ['with', 1],
        ['data', 'a=1'],
      ],
    ] as const) {
      expect([operator, (await read(operator, operand)).status]).toEqual([operator, 400]);
    }
    expect(textsIn(await read('channel', room))).toEqual(['in the room']);
    fieldsOf(await read('is', 'resolved'));
  });
});

describe('reading', () => {
  const scene = async () => {
    const { hamlet, iago, cordelia } = people;
    await server.sendMessage(hamlet, room, { content: 'in the room' });
    await server.sendMessage(iago, general, { content: 'for everybody' });
    const secret = await server.sendMessage(iago, board, { content: 'on the board' });
    await server.sendMessage(cordelia, [bot], { content: 'direct' });
    return { secret };
  };

  it('returns what all readers of a private channel can read, deactivated ones included', async () => {
    const { secret } = await scene();
    const { read, request } = await agent();
    expect(textsIn(await read())).toEqual(['in the room', 'for everybody']);
    expectCode(await request('GET', `/messages/${secret}`), 400, 'BAD_REQUEST');
    await server.delete(`/users/${people.cordelia.id}`, people.desdemona);
    expect(textsIn(await read())).toEqual(['in the room', 'for everybody']);
    await server.post(`/users/${people.cordelia.id}/reactivate`, people.desdemona);
    await subscribe('board', people.cordelia, people.iago);
    expect(textsIn(await read())).toEqual(['in the room', 'for everybody', 'on the board']);
    fieldsOf(await request('GET', `/messages/${secret}`));
  });

  it('returns only channels of a guest who reads the destination', async () => {
    await scene();
    await subscribe('room', people.polonius, people.hamlet);
    const { read } = await agent();
    expect(textsIn(await read())).toEqual(['in the room']);
  });

  it('names no sender whom a guest among the readers cannot see', async () => {
    const { polonius, hamlet, iago } = people;
    await server.limitGuests();
    const stranger = await server.addUser({ email: 'stranger@zulip.com', fullName: 'Stranger' });
    await subscribe('room', polonius, hamlet);
    await subscribe('general', polonius, iago);
    const id = await server.sendMessage(stranger, general, { content: 'from far away' });
    const { read, request } = await agent();
    const page = await read();
    expect(textsIn(page)).toEqual(['from far away']);
    for (const reply of [page, await request('GET', `/messages/${id}`)]) {
      expect(JSON.stringify(reply.body)).not.toMatch(/stranger/i);
    }
  });

  it('reads a direct conversation, and what its other participants can read', async () => {
    await scene();
    const { read, request } = await agent({ conversations: [{ to: people.cordelia.id }] });
    expect(textsIn(await read())).toEqual(['in the room', 'for everybody', 'direct']);
    const narrow = [{ operator: 'dm', operand: [people.cordelia.id] }];
    expect(textsIn(await request('GET', '/messages', { ...PAGE, narrow }))).toEqual(['direct']);
  });

  it('counts people who can subscribe as readers', async () => {
    await scene();
    const { read } = await agent({ conversations: [{ channel: 'board' }] });
    expect(textsIn(await read())).toEqual(['for everybody', 'on the board']);
    await subscribe('room', people.iago, people.hamlet);
    expect(textsIn(await read())).toEqual(['in the room', 'for everybody', 'on the board']);
    const { members } = await server.systemGroups();
    await server.changeChannel('board', {
      permissions: { ...(await channel('board')).permissions, canSubscribe: members },
    });
    expect(textsIn(await read())).toEqual(['for everybody', 'on the board']);
  });

  const channel = async (name: string) =>
    (await server.storage.uow.read(server.realmId, (r) => r.channels.findByName(server.realmId, name)))!;

  it('reads nothing without rights of the bot, and nothing of a protected history', async () => {
    await scene();
    const { read } = await agent();
    await server.changeChannel('room', { privacy: 'privateProtectedHistory' });
    expect(textsIn(await read())).toEqual([]);
  });

  it('lists channels without counts', async () => {
    const { request } = await agent();
    const { streams } = fieldsOf(await request('GET', '/streams'));
    expect(streams).toMatchObject([
      { name: 'general', subscriber_count: 0, stream_weekly_traffic: null },
      { name: 'room', subscriber_count: 0 },
    ]);
  });
});

describe('writing', () => {
  it('refuses messages once a new reader cannot read what was read', async () => {
    await server.sendMessage(people.iago, general, { content: 'for everybody' });
    const { read, say, request } = await agent();
    const context = contextOf(await read());
    const { id } = fieldsOf(await say('first', context));
    await subscribe('room', people.polonius, people.hamlet);
    expectCode(await say('second', context), 409, 'AUDIENCE_GREW');
    expectCode(await request('PATCH', `/messages/${id}`, { content: 'changed' }, context), 409, 'AUDIENCE_GREW');
    const unnamed = { type: 'stream', to: room, topic: 'answers', content: 'third' };
    expectCode(await request('POST', '/messages', unnamed), 400, 'READ_CONTEXT_REQUIRED');
    expectCode(await request('PATCH', `/messages/${id}`, { content: 'third' }), 400, 'READ_CONTEXT_REQUIRED');
    const next = contextOf(await read('new'));
    expect(next).not.toBe(context);
    fieldsOf(await say('fourth', next));
    expectCode(await say('fifth', context), 409, 'AUDIENCE_GREW');
  });

  it('refuses messages about a channel that a new reader cannot see', async () => {
    const { say, request } = await agent();
    const context = contextOf(await request('GET', `/users/me/${general}/topics`));
    fieldsOf(await say('first', context));
    await subscribe('room', people.polonius, people.hamlet);
    expectCode(await say('second', context), 409, 'AUDIENCE_GREW');
  });

  it('refuses messages about deleted messages', async () => {
    const { iago } = people;
    const id = await server.sendMessage(iago, general, { content: 'gone soon' });
    const { read, say } = await agent();
    const context = contextOf(await read());
    fieldsOf(await server.delete(`/messages/${id}`, iago));
    expectCode(await say('about it', context), 409, 'AUDIENCE_GREW');
  });

  it('ends contexts after an hour, and binds them to their token', async () => {
    const { read, say } = await agent({ expiresIn: 7200 });
    const context = contextOf(await read());
    expect(contextOf(await read())).toBe(context);
    const other = await agent();
    expectCode(await other.say('foreign', context), 404, 'UNKNOWN_READ_CONTEXT');
    expectCode(await other.read('00000000-0000-4000-8000-000000000000'), 404, 'UNKNOWN_READ_CONTEXT');
    server.clock.advance(3600);
    expectCode(await say('late', context), 404, 'UNKNOWN_READ_CONTEXT');
    expect(contextOf(await read())).not.toBe(context);
  });

  it('refuses messages about more than 1,000 messages', async () => {
    const { read, say } = await agent();
    const context = contextOf(await read());
    await server.storage.uow.write(server.realmId, async (tx) => {
      const row = (await tx.readContexts.list(server.realmId, bot.id))[0]!;
      const messageIds = Array.from({ length: 1001 }, (_, index) => (index + 1) as never);
      await tx.readContexts.update({ ...row, messageIds });
    });
    expectCode(await say('too much', context), 409, 'READ_CONTEXT_FULL');
  });

  it('keeps the newest contexts, also of those that begin at the same time', async () => {
    const { read, say } = await agent();
    const first = contextOf(await read());
    await Promise.all(Array.from({ length: 30 }, () => read('new')));
    const kept = await server.storage.uow.read(server.realmId, (tx) => tx.readContexts.list(server.realmId, bot.id));
    expect(kept).toHaveLength(8);
    expectCode(await say('forgotten', first), 404, 'UNKNOWN_READ_CONTEXT');
    expectCode(await read(first), 404, 'UNKNOWN_READ_CONTEXT');
    fieldsOf(await say('remembered', contextOf(await read())));
  });

  it('writes to its conversation only, and names only what all readers can see', async () => {
    const { say, request, read } = await agent();
    const elsewhere = { type: 'stream', to: general, topic: 'x', content: 'x' };
    expectCode(await request('POST', '/messages', elsewhere, 'new'), 403, 'TOKEN_SCOPE');
    const context = contextOf(await request('GET', '/streams'));
    fieldsOf(await say('#**board** #**general**', context));
    const text = textsIn(await read()).join(' ');
    expect(text).toContain('#<strong>board</strong>');
    expect(text).toContain('#general');
  });

  it('names no groups', async () => {
    await server.changeRealm({ settings: { enableSpectatorAccess: true } });
    const square = await server.createChannel('square', [people.iago, bot], { is_web_public: true }, people.desdemona);
    const crew = { name: 'crew', description: '', members: [people.iago.id] };
    fieldsOf(await server.post('/user_groups/create', people.iago, crew));
    const { request } = await agent({ conversations: [{ channel: square }] });
    const message = { type: 'stream', to: square, topic: 'x', content: '@_*crew*' };
    const sent = fieldsOf(await request('POST', '/messages', message, 'new'));
    const { content } = fieldsOf(await request('GET', `/messages/${sent.id}`)).message as Wire;
    expect(content).toContain('crew');
    expect(content).not.toContain('user-group-mention');
  });

  it('names only what guests see in a channel with protected history', async () => {
    const { polonius, hamlet } = people;
    await server.limitGuests();
    await server.addUser({ email: 'stranger@zulip.com', fullName: 'Stranger' });
    const closed = { invite_only: true, history_public_to_subscribers: false };
    const cellar = await server.createChannel('cellar', [hamlet, polonius, bot], closed, hamlet);
    const { request } = await agent({ conversations: [{ channel: cellar }] });
    const message = { type: 'stream', to: cellar, topic: 'x', content: '@_**Stranger** @_**Polonius**' };
    const { id } = fieldsOf(await request('POST', '/messages', message, 'new'));
    const { content } = fieldsOf(await server.get(`/messages/${id}`, hamlet)).message as Wire;
    expect(content).toContain('Stranger');
    expect(content).not.toContain('user-mention');
  });
});
