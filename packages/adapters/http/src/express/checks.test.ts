import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Injectable } from '@parley/domain/composition';
import { type Caller, type ChannelId, DomainError, type RealmId, type UserId } from '@parley/domain/kernel';
import { until } from '@parley/testkit';
import express from 'express';
import { type AnonymousClient, type CallerRole, type Route, route } from '../declarations/route.js';
import { ERROR_REPLIES } from '../features.js';
import { RateLimiter } from '../limits/counters.js';
import {
  BooleanParam,
  IntegerListParam,
  IntegerOneOfParam,
  IntegerParam,
  NoParameters,
  TextParam,
  WordParam,
} from '../params/params.js';
import { type Authenticator, BasicAuthenticator, type Credentials, type Identity } from '../security/authenticate.js';
import { type Reply, success, WireText } from '../wire/reply.js';
import type { CompletedRequest, Logger, RequestTracer } from './request-log.js';
import { createExpressAdapter, type ExpressAdapter } from './router.js';
import type { AdapterOptions } from './services.js';

// --- Small chat server ---

const KEY = 'a'.repeat(32);
const realmId = 1 as RealmId;
const PEOPLE: Readonly<
  Record<string, { id: number; key: string; callerRole: CallerRole; identity?: Partial<Identity> }>
> = {
  'hamlet@x': { id: 7, key: KEY, callerRole: { role: 'member', isBot: false, synchronizesDrafts: true } },
  'iago@x': {
    id: 8,
    key: 'b'.repeat(32),
    callerRole: { role: 'administrator', isBot: false, synchronizesDrafts: true },
  },
  'bot@x': { id: 9, key: 'c'.repeat(32), callerRole: { role: 'member', isBot: true, synchronizesDrafts: true } },
  'hook@x': {
    id: 10,
    key: 'd'.repeat(32),
    callerRole: { role: 'member', isBot: true, synchronizesDrafts: true },
    identity: { botKind: 'incomingWebhook' },
  },
  'gone@x': { id: 11, key: 'e'.repeat(32), callerRole: { role: 'member', isBot: false, synchronizesDrafts: true } },
  'fast@x': {
    id: 12,
    key: 'f'.repeat(32),
    callerRole: { role: 'member', isBot: false, synchronizesDrafts: true },
    identity: { rateLimits: '60:1000' },
  },
};

const credentials: Credentials = {
  async verify({ realmAddress, email, apiKey }) {
    const person = PEOPLE[email!.toLowerCase()];
    if (person?.key !== apiKey) throw new DomainError('UNAUTHENTICATED', 'Invalid API key');
    if (person.id === 11) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
    if (realmAddress === 'other.test' || realmAddress === '/other') {
      throw new DomainError('UNAUTHENTICATED', 'Account is not associated with this subdomain');
    }
    return { realmId, userId: person.id as UserId, ...person.identity };
  },
};

class SendMessageDto {
  @WordParam(['stream', 'channel', 'direct']) type!: string;
  @TextParam({ max: 100 }) content!: string;
  @TextParam({ max: 100, aliases: ['subject'], optional: true }) topic?: string;
  @IntegerListParam({ max: 100 }) to: number[] = [];
}

class SendMessage {
  static readonly inject = [] as const;

  async execute(caller: Caller, input: { content: string; topic: string | undefined; to: readonly number[] }) {
    return { id: 42, sender: caller.userId, client: caller.clientName, ...input };
  }
}

class ChannelDto {
  @IntegerParam() stream_id!: number;
  @BooleanParam() is_private = false;
}

class GetChannel {
  static readonly inject = [] as const;

  async execute(_caller: Caller, { id }: { id: number }) {
    if (id === 404)
      throw new DomainError('UNKNOWN_DESTINATION', `Channel with ID '404' does not exist`, {
        channelId: id as ChannelId,
      });
    if (id === 500) throw new TypeError('a secret');
    return { id };
  }
}

class FetchApiKeyDto {
  @TextParam({ max: 100 }) username!: string;
  @TextParam({ max: 100 }) password!: string;
}

class FetchApiKey {
  static readonly inject = [] as const;

  async execute({ realmId }: AnonymousClient, { username, password }: FetchApiKeyDto) {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    if (!username.includes('@')) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    limiter.attempt('authenticate_by_username', username);
    if (password !== 'right') {
      throw new DomainError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
    }
    limiter.forget('authenticate_by_username', username);
    return { apiKey: KEY };
  }
}

class GetServerSettings {
  static readonly inject = [] as const;

  async execute(visitor: AnonymousClient) {
    return { ip: visitor.ip, host: visitor.host, realmId: visitor.realmId };
  }
}

class RoleDto {
  @IntegerOneOfParam([100, 400]) role!: number;
}

let waiting: { response: () => void; wasClosed: Promise<void> } | undefined;

const TABLE: readonly Route[] = [
  route('GET', '/messages', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success({ messages: [] }),
  }),
  route('POST', '/messages', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: SendMessageDto,
    useCase: SendMessage,
    toInput: ({ content, topic, to }) => ({ content, topic, to }),
    present: ({ id, sender, client, content, topic, to }) => ({ id, sender, client, content, topic, to }),
    allowsWebhookBots: true,
  }),
  route('GET', '/users/me', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async ({ caller, request }) => success({ user_id: caller.userId, variant: request.variant.key }),
  }),
  route('GET', '/streams/:stream_id', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: ChannelDto,
    useCase: GetChannel,
    toInput: ({ stream_id }) => ({ id: stream_id }),
    present: async ({ id }) => new WireText(`"stream":{"stream_id":${id}}`),
  }),
  route('PATCH', '/streams/:stream_id', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: ChannelDto,
    useCase: GetChannel,
    toInput: ({ stream_id }) => ({ id: stream_id }),
    present: ({ id }, { dto }) => ({ id, is_private: dto.is_private }),
  }),
  route('DELETE', '/streams/:stream_id', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: ChannelDto,
    useCase: GetChannel,
    toInput: ({ stream_id }) => ({ id: stream_id }),
  }),
  route('POST', '/roles', {
    summary: null,
    auth: 'user',
    scope: 'account',
    roleRequirements: ['human', 'administrator'],
    dto: RoleDto,
    handle: async ({ dto }) => success({ role: dto.role }),
  }),
  route('PUT', '/bot_storage', {
    summary: null,
    auth: 'user',
    scope: 'account',
    roleRequirements: ['bot'],
    dto: NoParameters,
    handle: async () => success(),
  }),
  route('POST', '/user_uploads', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    body: 'files',
    handle: async ({ request }) =>
      success({
        files: request.files.map(({ field, filename, content, isTruncated }) => [
          field,
          filename,
          content.toString(),
          isTruncated,
        ]),
      }),
  }),
  route('GET', '/events', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    longPoll: true,
    handle: ({ request }) =>
      new Promise((resolve) => {
        const wasClosed = new Promise<void>((closed) => request.signal.addEventListener('abort', () => closed()));
        waiting = { response: () => resolve(success({ events: [] })), wasClosed };
      }),
  }),
  route('DELETE', '/events', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success(),
  }),
  route('GET', '/server_settings', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    useCase: GetServerSettings,
    present: ({ ip, host, realmId }) => ({ ip, host, realm_id: realmId }),
  }),
  route('POST', '/fetch_api_key', {
    summary: null,
    auth: 'anyone',
    dto: FetchApiKeyDto,
    useCase: FetchApiKey,
    toInput: (dto) => dto,
    present: ({ apiKey }) => ({ api_key: apiKey }),
    limit: { rule: 'authenticate_by_username', keyOf: ({ username }) => username },
  }),
  route('GET', '/avatar/:email', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    limit: 'api_by_ip',
    atRoot: true,
    handle: async () => ({ status: 200, body: 'png', contentType: 'image/png', cacheControl: 'max-age=60' }),
  }),
];

class TestClock {
  ms = 1_700_000_000_000;
  now = () => Math.floor(this.ms / 1000);
  nowMs = () => this.ms;
}

// --- Helpers ---

interface SentResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: wire JSON, looked at field by field
  body: any;
}

interface Call {
  as?: string | null;
  headers?: Record<string, string>;
  form?: Record<string, string> | string;
  body?: string | Buffer;
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const basicOf = (email: string) => basic(`${email}:${PEOPLE[email]?.key}`);

let server: Server;
let adapter: ExpressAdapter;
let limiter: RateLimiter;
let clock: TestClock;
let log: { fields: Record<string, unknown>; message: string }[];

async function start(options: Partial<AdapterOptions> = {}, mount?: (adapter: ExpressAdapter) => Server) {
  clock = new TestClock();
  limiter = new RateLimiter({ clock });
  log = [];
  const record = (fields: object, message: string) => log.push({ fields: { ...fields }, message });
  const logger: Logger = { info: record, error: record };
  adapter = createExpressAdapter({
    errorReplies: ERROR_REPLIES,
    routes: TABLE,
    resolve: <C extends Injectable>(useCase: C) => {
      const instances = [new SendMessage(), new GetChannel(), new FetchApiKey(), new GetServerSettings()];
      return instances.find((instance) => instance instanceof useCase) as InstanceType<C>;
    },
    authenticators: [new BasicAuthenticator(credentials)],
    realms: { findRealm: async (host) => (host === 'nowhere.test' ? null : realmId) },
    roleLookup: {
      roleOf: async ({ userId }) => Object.values(PEOPLE).find(({ id }) => id === userId)!.callerRole,
    },
    limiter,
    logger,
    limits: { anonymousBodyBytes: 2000, bodyBytes: 2000, fileBytes: 500 },
    ...options,
  });
  server =
    mount?.(adapter) ??
    createServer((request, response) =>
      adapter.router(request, response, () => response.writeHead(418).end('not ours')),
    );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}

async function restart(options: Partial<AdapterOptions> = {}, mount?: (adapter: ExpressAdapter) => Server) {
  server.closeAllConnections();
  server.close();
  await start(options, mount);
}

function call(
  method: string,
  path: string,
  { as = 'hamlet@x', headers = {}, form, body }: Call = {},
): Promise<SentResponse> {
  const sent: Record<string, string> = { ...headers };
  if (as !== null && sent.authorization === undefined) sent.authorization = basicOf(as);
  let content = body;
  if (form !== undefined) {
    content = typeof form === 'string' ? form : new URLSearchParams(form).toString();
    sent['content-type'] ??= 'application/x-www-form-urlencoded';
  }
  if (content !== undefined && !sent['transfer-encoding'])
    sent['content-length'] ??= String(Buffer.byteLength(content));
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const url = path.startsWith('//') ? path.slice(1) : `/api/v1${path}`;
    const outgoing = httpRequest({ host: '127.0.0.1', port, method, path: url, headers: sent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        let parsed: unknown;
        try {
          parsed = JSON.parse(text);
        } catch {}
        resolve({ status: response.statusCode!, headers: response.headers, text, body: parsed });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(content);
  });
}

beforeEach(() => start());
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

// --- Tests ---

describe('routing', () => {
  it('returns 404 as JSON for unknown paths', async () => {
    for (const path of ['/nothing', '/users/me/', '/streams/abc', '//api/v1', '//api/v1/']) {
      const { status, headers, body } = await call('GET', path, { as: null });
      expect({ status, body }).toEqual({
        status: 404,
        body: { result: 'error', msg: 'Not found', code: 'BAD_REQUEST' },
      });
      expect(headers['content-type']).toBe('application/json');
    }
  });

  it('leaves paths outside its prefix to the next handler', async () => {
    expect((await call('GET', '//api/v10/messages')).status).toBe(418);
    expect((await call('GET', '//')).status).toBe(418);
  });

  it('rejects wrong methods before authentication', async () => {
    const { status, headers, body } = await call('DELETE', '/messages', { as: null });
    expect(status).toBe(405);
    expect(headers.allow).toBe('GET, POST, HEAD');
    expect(headers['content-type']).toBe('application/json');
    expect(body).toEqual({ result: 'error', msg: 'Method Not Allowed', allowed_methods: ['GET', 'POST', 'HEAD'] });
    expect((await call('GET', '/fetch_api_key', { as: null })).body.allowed_methods).toEqual(['POST']);
    expect((await call('PATCH', '/events', { as: null })).headers.allow).toBe('OPTIONS, GET, DELETE');
  });

  it('allows OPTIONS without authentication', async () => {
    const { status, headers, text } = await call('OPTIONS', '/streams/5', { as: null });
    expect([status, headers.allow, text]).toEqual([204, 'DELETE, GET, HEAD, PATCH', '']);
    expect(headers['cache-control']).toContain('no-store');
    expect((await call('OPTIONS', '/messages', { as: null })).headers.allow).toBe('GET, HEAD, POST');
    const events = await call('OPTIONS', '/events', { as: null });
    expect(events.headers.allow).toBe('OPTIONS, GET, DELETE');
    expect(events.headers['access-control-allow-methods']).toBe('OPTIONS, GET, DELETE');
  });

  it('handles HEAD like GET without a body', async () => {
    const get = await call('GET', '/users/me');
    const head = await call('HEAD', '/users/me');
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
    expect((await call('HEAD', '/users/me', { as: null })).status).toBe(401);
  });

  it('allows a form field to change the method', async () => {
    const { body } = await call('POST', '/streams/5', { form: { method: 'PATCH', is_private: 'true' } });
    expect(body).toEqual({
      result: 'success',
      msg: '',
      id: 5,
      is_private: true,
      ignored_parameters_unsupported: ['method'],
    });
    expect((await call('POST', '/streams/5', { form: { method: 'PUT' } })).status).toBe(405);
    expect((await call('POST', '/messages', { form: { method: 'DELETE' } })).status).toBe(405);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await call('POST', '/streams/5', { form: { method: 'PATCH' }, headers: chunked })).status).toBe(405);
  });

  it('serves root routes with their own content type and caching', async () => {
    const { status, headers, text } = await call('GET', '//avatar/a%40b', { as: null });
    expect([status, text, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'png',
      'image/png',
      'max-age=60',
    ]);
    expect((await call('GET', '//avatar', { as: null })).status).toBe(418);
  });
});

describe('authentication', () => {
  it.each([
    ['nothing', undefined, 401, 'Not logged in: API authentication or user session required'],
    ['another scheme', 'Bearer x', 400, 'This endpoint requires HTTP basic authentication.'],
    ['no credentials', 'Basic', 401, 'Invalid authorization header for basic auth'],
    ['no base64', 'Basic ###', 401, 'Invalid authorization header for basic auth'],
    [
      'no UTF-8',
      `Basic ${Buffer.from([0xff, 0x3a]).toString('base64')}`,
      401,
      'Invalid authorization header for basic auth',
    ],
    ['no colon', basic('hamlet@x'), 401, 'Invalid authorization header for basic auth'],
    ['two colons', basic('a:b:c'), 401, 'Invalid authorization header for basic auth'],
    ['a short key', basic(`hamlet@x:${'a'.repeat(31)}`), 401, 'Malformed API key'],
    ['an odd key', basic(`hamlet@x:${'-'.repeat(32)}`), 401, 'Malformed API key'],
    ["another's key", basic(`iago@x:${KEY}`), 401, 'Invalid API key'],
    ['a deactivated account', basicOf('gone@x'), 401, 'Account is deactivated'],
  ])('rejects %s', async (_what, authorization, status, msg) => {
    const headers: Record<string, string> = authorization ? { authorization } : {};
    const response = await call('GET', '/users/me', { as: null, headers });
    expect(response.status).toBe(status);
    expect(response.body).toEqual({ result: 'error', msg, code: status === 400 ? 'BAD_REQUEST' : 'UNAUTHORIZED' });
    expect(response.headers['www-authenticate']).toBe(status === 401 ? 'Basic realm="zulip"' : undefined);
    expect(response.headers['cache-control']).toBeUndefined();
    expect(response.headers['x-ratelimit-limit']).toBeUndefined();
  });

  it.each([
    ['upper case', basic(`HAMLET@X:${KEY}`)],
    ['spaces', basic(` hamlet@x : ${KEY} `)],
    ['scheme', basic(`hamlet@x:${KEY}`).replace('Basic', 'bAsIc')],
  ])('tolerates differences in %s', async (_what, authorization) => {
    expect((await call('GET', '/users/me', { headers: { authorization } })).body.user_id).toBe(7);
  });

  it('accepts users only at the host of their organization', async () => {
    const { status, body } = await call('GET', '/users/me', { headers: { host: 'Other.Test:8080' } });
    expect([status, body.msg]).toEqual([401, 'Account is not associated with this subdomain']);
  });

  it('allows webhook bots only to send messages', async () => {
    const form = { type: 'direct', content: 'x' };
    expect((await call('POST', '/messages', { as: 'hook@x', form })).status).toBe(200);
    const { status, body, headers } = await call('GET', '/messages', { as: 'hook@x' });
    expect([status, body.msg]).toEqual([401, 'This API is not available to incoming webhook bots.']);
    expect(headers['www-authenticate']).toBe('Basic realm="zulip"');
  });

  it("tries the host application's authentication first", async () => {
    const host: Authenticator = {
      authenticate: async ({ raw }) =>
        raw.headers.cookie === 'session=iago' ? { realmId, userId: 8 as UserId } : null,
    };
    await restart({ authenticators: [host, new BasicAuthenticator(credentials)] });
    const form = { type: 'direct', content: 'x' };
    const { body } = await call('POST', '/messages', { as: null, headers: { cookie: 'session=iago' }, form });
    expect(body).toMatchObject({ sender: 8 });
    expect((await call('GET', '/users/me')).body.user_id).toBe(7);
  });

  it('checks roles before parameters', async () => {
    expect((await call('POST', '/roles')).body).toEqual({
      result: 'error',
      msg: 'Must be an organization administrator',
      code: 'UNAUTHORIZED_PRINCIPAL',
    });
    expect((await call('POST', '/roles', { as: 'bot@x' })).body).toMatchObject({
      msg: 'This endpoint does not accept bot requests.',
      code: 'BAD_REQUEST',
    });
    expect((await call('POST', '/roles', { as: 'iago@x' })).body).toMatchObject({ var_name: 'role' });
    expect((await call('PUT', '/bot_storage')).body).toMatchObject({
      msg: 'Must be a bot user',
      code: 'PERMISSION_DENIED',
    });
    expect((await call('PUT', '/bot_storage', { as: 'bot@x' })).status).toBe(200);
  });
});

describe('request parameter parsing', () => {
  const good = { type: 'channel', content: 'c' };

  it.each([
    ['form', { form: { ...good, to: '[5]' } }],
    ['JSON', { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ ...good, to: [5] }) }],
    [
      'multipart',
      {
        headers: { 'content-type': 'multipart/form-data; boundary=B' },
        body: ['type', 'channel', 'content', 'c', 'to', '[5]']
          .map((text, i) => (i % 2 ? `${text}\r\n` : `--B\r\nContent-Disposition: form-data; name="${text}"\r\n\r\n`))
          .join('')
          .concat('--B--\r\n'),
      },
    ],
  ])('reads parameters from %s', async (_kind, request) => {
    expect((await call('POST', '/messages', request)).body).toMatchObject({ id: 42, content: 'c', to: [5] });
  });

  it('merges query and body parameters and prefers the last body value', async () => {
    const query = '/messages?type=direct&content=query&topic=from%20query';
    expect(
      (await call('POST', query, { form: 'content=first&content=se%C3%A9cond+%26+last%21&to=[1]' })).body,
    ).toMatchObject({
      content: 'seécond & last!',
      topic: 'from query',
      to: [1],
    });
  });

  it('accepts parameters in body and query of DELETE', async () => {
    const bad = { status: 400, body: expect.objectContaining({ msg: 'is_private is not a boolean' }) };
    expect(await call('DELETE', '/streams/5', { form: { is_private: '1' } })).toMatchObject(bad);
    expect(await call('DELETE', '/streams/5?is_private=1')).toMatchObject(bad);
    expect((await call('DELETE', '/streams/5')).text).toBe('{"result":"success","msg":""}\n');
  });

  it('validates parameters one at a time in declaration order', async () => {
    expect((await call('POST', '/messages', { form: { to: 'x', content: 'c' } })).body).toEqual({
      result: 'error',
      msg: "Missing 'type' argument",
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'type',
    });
    expect((await call('POST', '/messages', { form: { ...good, to: '[1,"x"]' } })).body.msg).toBe(
      'to[1] is not an integer',
    );
    expect((await call('POST', '/messages', { form: { ...good, topic: 'a', subject: 'b' } })).body).toMatchObject({
      code: 'REQUEST_CONFUSING_VAR',
      var_name1: 'topic',
      var_name2: 'subject',
    });
  });

  it.each(['[]', 'null', '5', '{', '"x"'])('rejects the JSON body %s', async (body) => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await call('POST', '/messages', { headers, body })).body).toEqual({
      result: 'error',
      msg: 'Malformed JSON',
      code: 'INVALID_JSON',
    });
  });

  it('reads parameters only after authentication', async () => {
    const headers = { 'content-type': 'application/json' };
    expect((await call('POST', '/messages', { as: null, headers, body: '[' })).status).toBe(401);
    expect((await call('POST', '/roles', { headers, body: '[' })).body.code).toBe('UNAUTHORIZED_PRINCIPAL');
  });

  it('lists unused parameters as ignored on success', async () => {
    const { body } = await call('GET', '/streams/5?zeta=1&alpha=2&client=x&stream_id=6&dont_block=true');
    expect(body).toEqual({
      result: 'success',
      msg: '',
      stream: { stream_id: 5 },
      ignored_parameters_unsupported: ['alpha', 'dont_block', 'stream_id', 'zeta'],
    });
    expect((await call('DELETE', '/streams/5?zeta=1')).body.ignored_parameters_unsupported).toEqual(['zeta']);
    expect((await call('GET', '/streams/404?zeta=1')).body).not.toHaveProperty('ignored_parameters_unsupported');
  });

  it('tolerates invalid percent escapes and bytes', async () => {
    const { body } = await call('POST', '/messages', { form: 'type=direct&content=100%25+or+100%+%ff&=x&&topic' });
    expect(body).toMatchObject({ content: '100% or 100% �', topic: '', ignored_parameters_unsupported: [''] });
  });

  it('rejects oversized request bodies', async () => {
    const form = { type: 'direct', content: 'x'.repeat(3000) };
    const { status, body } = await call('POST', '/messages', { form });
    expect([status, body.result, body.code]).toEqual([413, 'error', 'BAD_REQUEST']);
    const chunked = { 'transfer-encoding': 'chunked' };
    expect((await call('POST', '/messages', { form, headers: chunked })).status).toBe(413);
    expect((await call('POST', '/messages', { form: { type: 'direct', content: '' }, headers: chunked })).status).toBe(
      200,
    );
  });

  it.each([
    ['no byte', '', {}],
    ['no byte in chunks', '', { 'transfer-encoding': 'chunked' }],
    ['only its end', '--B--\r\n', {}],
  ])('accepts a multipart form of %s', async (_what, body, more) => {
    const headers = { 'content-type': 'multipart/form-data; boundary=B', ...more };
    const { status, body: response } = await call('POST', '/user_uploads', { headers, body });
    expect([status, response.files]).toEqual([200, []]);
  });

  it('ignores multipart parts without a name', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=B' };
    const parts = ['form-data', 'form-data; name=""', 'form-data; filename="a"'].map(
      (disposition) => `--B\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n`,
    );
    const body = `${parts.join('')}--B--\r\n`;
    expect((await call('POST', '/user_uploads', { headers, body })).body.files).toEqual([]);
    expect((await call('POST', '/messages', { headers, body })).body.var_name).toBe('type');
  });

  it('rejects an unknown charset', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=B' };
    const body =
      '--B\r\nContent-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=bogus\r\n\r\nx\r\n--B--\r\n';
    const { status, body: response } = await call('POST', '/messages', { headers, body });
    expect([status, response.msg]).toEqual([400, 'Malformed payload']);
  });

  it('rejects deeply nested JSON', async () => {
    const deep = `${'['.repeat(510)}${']'.repeat(510)}`;
    const headers = { 'content-type': 'application/json' };
    expect((await call('POST', '/messages', { headers, body: `{"content":${deep}}` })).body.code).toBe('INVALID_JSON');
  });

  it('accepts files as parameters', async () => {
    const part = (name: string, text: string) =>
      `--B\r\nContent-Disposition: form-data; name="${name}"; filename="C:\\dir\\${name}.txt"\r\nContent-Type: text/plain\r\n\r\n${text}\r\n`;
    const headers = { 'content-type': 'multipart/form-data; boundary=B' };
    const body = `${part('ä', 'hello')}${part('long', 'x'.repeat(600))}--B--\r\n`;
    expect((await call('POST', '/user_uploads', { headers, body })).body.files).toEqual([
      ['ä', 'ä.txt', 'hello', false],
      ['long', 'long.txt', 'x'.repeat(500), true],
    ]);
    expect((await call('POST', '/messages', { headers, body })).body.var_name).toBe('type');
    expect((await call('POST', '/user_uploads', { headers, body: '--B\r\nnothing' })).body.msg).toBe(
      'Malformed payload',
    );
    const noBoundary = { 'content-type': 'multipart/form-data' };
    expect((await call('POST', '/user_uploads', { headers: noBoundary, body })).status).toBe(400);
    expect((await call('POST', '/user_uploads', { headers, body: part('a', 'x'.repeat(4000)) })).status).toBe(413);
  });
});

describe('error handling', () => {
  it('maps errors by a single table', async () => {
    expect((await call('GET', '/streams/404')).body).toEqual({
      result: 'error',
      msg: "Channel with ID '404' does not exist",
      code: 'STREAM_DOES_NOT_EXIST',
      stream_id: 404,
    });
  });

  it('hides unexpected errors from clients and logs them', async () => {
    const { status, text } = await call('GET', '/streams/500?token=hush');
    expect([status, text]).toEqual([500, '{"result":"error","msg":"Internal server error"}\n']);
    expect(log[0]).toMatchObject({ message: 'unexpected error', fields: { route: '/streams/:stream_id' } });
    expect((log[0]!.fields.err as Error).stack).toContain('a secret');
  });
});

describe('rate limits', () => {
  it('counts calls and sends rate limit headers', async () => {
    const first = await call('GET', '/users/me');
    expect(first.headers).toMatchObject({
      'x-ratelimit-limit': '200',
      'x-ratelimit-remaining': '199',
      'x-ratelimit-reset': '1700000060',
    });
    for (let count = 1; count < 200; count++) limiter.hit('api_by_user', 7);
    clock.ms += 31_250;
    const { status, headers, body } = await call('GET', '/streams/x', {}).then(() => call('GET', '/streams/404'));
    expect(status).toBe(429);
    expect(headers).toMatchObject({ 'retry-after': '28.75', 'x-ratelimit-remaining': '0', 'x-ratelimit-limit': '200' });
    expect(body).toEqual({
      result: 'error',
      msg: 'API usage exceeded rate limit; see https://zulip.com/api/http-headers#rate-limiting-response-headers',
      code: 'RATE_LIMIT_HIT',
      'retry-after': 28.75,
    });
    expect((await call('DELETE', '/messages')).headers['x-ratelimit-limit']).toBeUndefined();
    clock.ms += 28_750;
    expect((await call('GET', '/streams/404')).headers['x-ratelimit-remaining']).toBe('199');
  });

  it("applies the user's own quotas", async () => {
    expect((await call('GET', '/users/me', { as: 'fast@x' })).headers['x-ratelimit-limit']).toBe('1000');
  });

  it('counts anonymous calls and failed authentications by address', async () => {
    const remaining = async () =>
      (await call('GET', '/server_settings', { as: null })).headers['x-ratelimit-remaining'];
    expect(await remaining()).toBe('99');
    const wrong = { authorization: basic(`hamlet@x:${'x'.repeat(32)}`) };
    for (const headers of [{}, wrong, { authorization: 'Basic ###' }]) {
      const refused = await call('GET', '/users/me', { as: null, headers });
      expect([refused.status, refused.headers['x-ratelimit-limit']]).toEqual([401, undefined]);
    }
    expect(await remaining()).toBe('95');
    for (let count = 0; count < 95; count++) limiter.hit('api_by_ip', '127.0.0.1');
    const { status, headers, body } = await call('GET', '/users/me', { as: null, headers: wrong });
    expect([status, headers['retry-after'], body.code]).toEqual([429, '60', 'RATE_LIMIT_HIT']);
    expect(headers['x-ratelimit-limit']).toBe('100');
    expect((await call('GET', '/server_settings', { as: null })).status).toBe(429);
    // Authenticated callers are not affected by others at the same address.
    expect((await call('GET', '/users/me')).status).toBe(200);
  });

  it('also counts password attempts by address', async () => {
    for (let count = 0; count < 100; count++) limiter.hit('api_by_ip', '127.0.0.1');
    const form = { username: 'hamlet@x', password: 'right' };
    const { status, headers } = await call('POST', '/fetch_api_key', { as: null, form });
    expect([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']]).toEqual([429, '100', '0']);
  });

  it('exempts routes without a rate limit', async () => {
    const picture = route('GET', '/picture', {
      summary: null,
      auth: 'anyone',
      dto: NoParameters,
      limit: 'none',
      handle: async () => success(),
    });
    await restart({ routes: [picture] });
    expect((await call('GET', '/picture', { as: null })).headers).not.toHaveProperty('x-ratelimit-limit');
  });

  it('warns once if all clients seem to share one address', async () => {
    for (let count = 0; count < 2; count++) {
      await call('GET', '/server_settings', { as: null, headers: { 'x-forwarded-for': '1.2.3.4' } });
    }
    expect(log.filter(({ message }) => message.includes('untrusted proxy'))).toHaveLength(1);
  });

  it('counts password attempts, resets them on success and shows the remainder', async () => {
    const attempt = (password: string) =>
      call('POST', '/fetch_api_key', { as: null, form: { username: 'hamlet@x', password } });
    for (let count = 0; count < 5; count++) {
      const { status, headers } = await attempt('wrong');
      expect([status, headers['x-ratelimit-remaining']]).toEqual([401, String(4 - count)]);
      expect(headers['www-authenticate']).toBeUndefined();
    }
    const refused = await attempt('right');
    expect([refused.status, refused.body['retry-after'], refused.headers['retry-after']]).toEqual([429, 1800, '1800']);
    clock.ms += 1_800_000;
    expect((await attempt('wrong')).headers['x-ratelimit-remaining']).toBe('4');
    expect((await attempt('right')).body.api_key).toBe(KEY);
    expect((await attempt('wrong')).headers['x-ratelimit-remaining']).toBe('4');
  });

  it('sends no rate limit headers when limits are disabled', async () => {
    await restart({ limiter: new RateLimiter({ clock, isOn: false }) });
    expect((await call('GET', '/users/me')).headers).not.toHaveProperty('x-ratelimit-limit');
  });
});

describe('response handling', () => {
  it("adds the API's headers to each response", async () => {
    const { headers, text } = await call('GET', '/users/me');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'max-age=0, no-cache, no-store, must-revalidate, private',
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'Authorization',
      'access-control-allow-methods': 'GET, POST, DELETE, PUT, PATCH, HEAD',
      vary: 'Accept-Language',
      'x-content-type-options': 'nosniff',
    });
    expect(Date.parse(headers.expires!)).toBeGreaterThan(0);
    expect(text).toBe('{"result":"success","msg":"","user_id":7,"variant":"standard"}\n');
    expect((await call('GET', '/nothing')).headers['access-control-allow-origin']).toBe('*');
    expect((await call('GET', '/server_settings', { as: null })).headers['cache-control']).toBeUndefined();
  });

  it('repeats or generates the request id', async () => {
    expect((await call('GET', '/users/me', { headers: { 'x-request-id': 'abc-1' } })).headers['x-request-id']).toBe(
      'abc-1',
    );
    const made = await call('GET', '/users/me', { headers: { 'x-request-id': 'a b"' } });
    expect(made.headers['x-request-id']).toMatch(/^[a-z0-9]{6}-[a-z0-9]+$/);
  });

  it('adapts responses to the client variant', async () => {
    const as = (agent: string) => call('GET', '/users/me', { headers: { 'user-agent': agent } });
    expect((await as('ZulipTerminal/0.7.0 ZulipPython/0.9.0')).body.variant).toBe('zulip-terminal');
    const form = { type: 'direct', content: 'x' };
    expect((await call('POST', '/messages', { form })).body.client).toBe('Unspecified');
    expect((await call('POST', '/messages', { form, headers: { 'user-agent': 'Mozilla/5.0 (X)' } })).body.client).toBe(
      'Mozilla',
    );
    expect((await call('POST', '/messages?client=test', { form })).body).toMatchObject({ client: 'test' });
  });

  it('closes the connection and logs an error if a response cannot be written', async () => {
    const broken = route('GET', '/broken', {
      summary: null,
      auth: 'anyone',
      dto: NoParameters,
      handle: async () => ({ status: 200, body: '', headers: ['X-Bad', 'a\nb'] }),
    });
    await restart({ routes: [broken] });
    await expect(call('GET', '/broken', { as: null })).rejects.toThrow();
    expect(log[0]!.message).toBe('cannot write the response');
    expect(adapter.inFlight).toBe(0);
  });

  it('logs responses without private data', async () => {
    const headers = { 'user-agent': 'x'.repeat(500) };
    await call('POST', '/messages?type=direct', { form: { content: 'a secret' }, headers });
    await call('GET', '/nothing?a=secret');
    expect(log.map(({ fields }) => fields)).toEqual([
      {
        requestId: expect.any(String),
        method: 'POST',
        route: '/messages',
        status: 200,
        durationMs: expect.any(Number),
        realmId: 1,
        userId: 7,
        host: '127.0.0.1',
        ip: '127.0.0.1',
        userAgent: 'x'.repeat(200),
      },
      {
        requestId: expect.any(String),
        method: 'GET',
        route: undefined,
        status: 404,
        durationMs: expect.any(Number),
        realmId: undefined,
        userId: undefined,
        host: '127.0.0.1',
        ip: '127.0.0.1',
        userAgent: undefined,
      },
    ]);
    expect(JSON.stringify(log)).not.toContain('secret');
  });

  it('audits failed log-ins', async () => {
    await call('POST', '/messages', { headers: { authorization: basicOf('hamlet@x').slice(0, -4) } });
    await call('POST', '/messages', { as: null });
    await call('GET', '/server_settings', { as: null });
    expect(log.map(({ fields, message }) => [message, fields.audit, fields.status])).toEqual([
      ['failed log-in', 'failed log-in', 401],
      ['request', undefined, 401],
      ['request', undefined, 200],
    ]);
  });

  it('reports requests to observers and tracers for every outcome', async () => {
    const seen: unknown[] = [];
    const observer = {
      answered: (answered: CompletedRequest) => void seen.push([answered.route?.path, answered.status]),
    };
    const tracer: RequestTracer = {
      start: ({ method }) =>
        method === 'HEAD'
          ? null
          : {
              run: (work) => {
                seen.push('begins');
                return work();
              },
              end: ({ status }) => void seen.push(`ends with ${status}`),
            },
    };
    await restart({ observers: [observer], tracer });
    await call('GET', '/server_settings', { as: null });
    await call('GET', '/nothing', { as: null });
    await call('POST', '/messages', { as: null });
    expect(seen).toEqual([
      'begins',
      'ends with 200',
      ['/server_settings', 200],
      'begins',
      'ends with 404',
      [undefined, 404],
      'begins',
      'ends with 401',
      ['/messages', 401],
    ]);
  });

  it('logs a request with an unsupported method under the pattern of its path', async () => {
    await call('GET', '/users/ann@private.example/presence');
    await call('DELETE', '/messages');
    expect(log.map(({ fields: { route, status } }) => ({ route, status }))).toEqual([
      { route: undefined, status: 404 },
      { route: '/messages', status: 405 },
    ]);
  });
});

describe('requests through proxies', () => {
  const forwarded = {
    host: 'inner:9991',
    'x-forwarded-for': '1.1.1.1, 2.2.2.2',
    'x-forwarded-host': 'chat.example.org:443',
  };

  it('ignores forwarded headers by default', async () => {
    const { body } = await call('GET', '/server_settings', { as: null, headers: forwarded });
    expect(body).toMatchObject({ ip: '127.0.0.1', host: 'inner', realm_id: 1 });
  });

  it.each([
    ['evil.example.net', 'inner'],
    ['evil.example.net, chat.example.org', 'chat.example.org'],
    ['shop.chat.example.org', 'shop.chat.example.org'],
    ['localhost', 'inner'],
  ])('takes %s, as forwarded by a trusted proxy, for %s', async (named, host) => {
    await restart({ trustedProxies: 1, publicUrl: 'https://chat.example.org' });
    const headers = { ...forwarded, 'x-forwarded-host': named };
    expect((await call('GET', '/server_settings', { as: null, headers })).body).toMatchObject({ host });
  });

  it('uses forwarded headers of trusted proxies', async () => {
    await restart({ trustedProxies: 1, publicUrl: 'https://chat.example.org' });
    const { body } = await call('GET', '/server_settings', { as: null, headers: forwarded });
    expect(body).toMatchObject({ ip: '2.2.2.2', host: 'chat.example.org' });
  });

  it('accepts requests for a host without an organization', async () => {
    const unknown = { as: null, headers: { host: 'nowhere.test' } };
    expect((await call('GET', '/server_settings', unknown)).body.realm_id).toBeNull();
    const form = { username: 'hamlet@x', password: 'right' };
    const { status, body } = await call('POST', '/fetch_api_key', { ...unknown, form });
    expect([status, body.code]).toEqual([404, 'NONEXISTENT_SUBDOMAIN']);
  });
});

describe('many reads by one user', () => {
  it('limits concurrent reads per user, except long polls and pictures', async () => {
    const pending: (() => void)[] = [];
    const slow = {
      summary: null,
      dto: NoParameters,
      handle: () => new Promise<Reply>((resolve) => pending.push(() => resolve(success()))),
    } as const;
    const forUsers = { ...slow, auth: 'user', scope: 'account' } as const;
    await restart({
      routes: [
        route('GET', '/drafts', forUsers),
        route('POST', '/register', { ...forUsers, isExpensive: true }),
        route('POST', '/messages', forUsers),
        route('GET', '/user_uploads/*path', { ...forUsers, limit: 'none' }),
        route('GET', '/user_avatars/*path', { ...slow, auth: 'anyone', limit: 'none' }),
        route('GET', '/tus', { ...forUsers, body: 'stream' }),
        route('GET', '/events', { ...forUsers, longPoll: true }),
      ],
    });
    /** Returns the number of started requests, after allowing time for excess ones to start. */
    const begunOf = async (method: string, path: string, expected: number): Promise<number> => {
      const asked = Array.from({ length: 6 }, () => call(method, path));
      await until(() => adapter.inFlight === 6 && pending.length >= expected);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const begun = pending.length;
      while (adapter.inFlight > 0) {
        for (const response of pending.splice(0)) response();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(6).fill(200));
      return begun;
    };
    expect(await begunOf('GET', '/drafts', 4)).toBe(4);
    expect(await begunOf('POST', '/register', 4)).toBe(4);
    expect(await begunOf('POST', '/messages', 6)).toBe(6);
    expect(await begunOf('GET', '/user_uploads/2/a.txt', 4)).toBe(4);
    expect(await begunOf('GET', '/user_avatars/2/a.png', 6)).toBe(6);
    expect(await begunOf('GET', '/tus', 6)).toBe(6);
    expect(await begunOf('GET', '/events', 6)).toBe(6);
  });
});

describe('long polls', () => {
  beforeEach(() => {
    waiting = undefined;
  });

  it('limits long polls separately', async () => {
    const poll = call('GET', '/events');
    await until(() => waiting !== undefined);
    waiting!.response();
    expect((await poll).headers['x-ratelimit-remaining']).toBe('199');
    expect((await call('GET', '/users/me')).headers['x-ratelimit-remaining']).toBe('199');
    expect((await call('DELETE', '/events')).status).toBe(200);
  });

  it('ends a long poll when the client disconnects', async () => {
    call('GET', '/events').catch(() => {});
    await until(() => waiting !== undefined);
    server.closeAllConnections();
    await waiting!.wasClosed;
    expect(adapter.inFlight).toBe(1);
    waiting!.response();
    await until(() => adapter.inFlight === 0);
    expect(log.at(-1)!.fields.status).toBe(499);
  });

  it('delays shutdown until long polls end', async () => {
    const poll = call('GET', '/events');
    await until(() => waiting !== undefined);
    let isDrained = false;
    const drained = adapter.drain(10_000).then(() => {
      isDrained = true;
    });
    expect((await call('GET', '/users/me')).headers.connection).toBe('close');
    expect(isDrained).toBe(false);
    waiting!.response();
    expect((await poll).headers.connection).toBe('close');
    await drained;
  });

  it('delays shutdown only for a limited time if a request never ends', async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    socket.write(
      'POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{',
    );
    await until(() => adapter.inFlight === 1);
    await adapter.drain(50);
    await closed;
  });
});

describe('router inside an Express application', () => {
  const anApp = (parsers: express.RequestHandler[]) => (adapter: ExpressAdapter) => {
    const app = express();
    for (const parser of parsers) app.use(parser);
    app.use('/chat', adapter.router);
    app.use((_request, response) => {
      response.status(418).end();
    });
    return createServer(app);
  };
  const form = { type: 'direct', content: 'a b', to: '[5]' };
  const expected = { content: 'a b', to: [5] };

  it.each([
    ['no parser', []],
    ['a form parser', [express.urlencoded({ extended: true }), express.json()]],
    ['a simple form parser', [express.urlencoded({ extended: false })]],
    ['a raw parser', [express.raw({ type: '*/*' })]],
    ['a text parser', [express.text({ type: '*/*' })]],
  ])('works behind %s', async (_what, parsers) => {
    await restart({}, anApp(parsers));
    expect((await call('POST', '//chat/api/v1/messages', { form })).body).toMatchObject(expected);
    expect(
      (await call('POST', '//chat/api/v1/messages', { form: `content=x&${new URLSearchParams(form)}` })).body,
    ).toMatchObject(expected);
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ ...form, to: [5] });
    expect((await call('POST', '//chat/api/v1/messages', { headers, body })).body).toMatchObject(expected);
    expect((await call('GET', '//chat/api/v1/streams/5?zeta=1')).body.ignored_parameters_unsupported).toEqual(['zeta']);
    expect((await call('GET', '//chat/api/v1/nothing')).status).toBe(404);
    expect((await call('GET', '//chat/other')).status).toBe(418);
    expect((await call('GET', '//api/v1/messages')).status).toBe(418);
  });

  it('refuses deeply nested JSON behind a JSON parser', async () => {
    await restart({}, anApp([express.json()]));
    const headers = { 'content-type': 'application/json' };
    const body = `{"content":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const reply = await call('POST', '//chat/api/v1/messages', { headers, body });
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
  });
});
