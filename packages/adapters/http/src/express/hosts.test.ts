import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RealmId, UserId } from '@parley/domain/kernel';
import compression from 'compression';
import cookieParser from 'cookie-parser';
import cors from 'cors';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import passport from 'passport';
import { type Route, route } from '../declarations/route.js';
import { ERROR_REPLIES } from '../features.js';
import { RateLimiter } from '../limits/counters.js';
import { NoParameters, TextParam } from '../params/params.js';
import type { Identity } from '../security/authenticate.js';
import { success, WireText } from '../wire/reply.js';
import { createExpressAdapter } from './router.js';
import type { AdapterOptions } from './services.js';

// Applications that mount the router among published middlewares.

class NoteDto {
  @TextParam({ max: 1000 }) type!: string;
  @TextParam({ max: 1000 }) content = '';
}

const TABLE: readonly Route[] = [
  route('POST', '/notes', {
    summary: null,
    auth: 'anyone',
    dto: NoteDto,
    handle: async ({ dto, caller }) => success({ type: dto.type, content: dto.content, ip: caller.ip }),
  }),
  route('POST', '/payloads', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    body: 'raw',
    handle: async ({ request }) => success({ content: request.content!.toString() }),
  }),
  route('GET', '/users/me', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async ({ caller }) => success({ user_id: caller.userId }),
  }),
  route('GET', '/fails', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    handle: async () => {
      throw new Error('a fault');
    },
  }),
  route('GET', '/long', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    handle: async () => success(new WireText(['"text":"', 'x'.repeat(600_000), '"'])),
  }),
];

const clock = { now: () => 1_700_000_000, nowMs: () => 1_700_000_000_000 };
let warnings: string[];
let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

function anAdapter(options: Partial<AdapterOptions> = {}) {
  warnings = [];
  return createExpressAdapter({
    errorReplies: ERROR_REPLIES,
    routes: TABLE,
    resolve: () => undefined as never,
    authenticators: [{ authenticate: async ({ raw }) => (raw as { user?: Identity }).user ?? null }],
    realms: { findRealm: async () => 1 as RealmId },
    roleLookup: { roleOf: async () => ({ role: 'member', isBot: false, synchronizesDrafts: true }) },
    limiter: new RateLimiter({ clock }),
    logger: { info: () => {}, warn: (_, message) => warnings.push(message), error: () => {} },
    ...options,
  });
}

async function listen(app: RequestListener): Promise<string> {
  server = createServer(app);
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const FORM = new URLSearchParams({ type: 'direct', content: 'a+b %' });
const JSON_BODY = { headers: { 'content-type': 'application/json' }, body: '{"type":"direct","content":"a+b %"}' };
const post = (url: string, more: RequestInit) => fetch(url, { method: 'POST', ...more });

describe.each([
  ['Express 5', express],
  ['Express 4', jest.requireActual<typeof express>('express4')],
])('router in %s', (_, framework) => {
  it('works among common middlewares and keeps their headers', async () => {
    const lines: string[] = [];
    const app = framework()
      .use(helmet(), cors(), morgan('tiny', { stream: { write: (line) => lines.push(line) } }), compression())
      .use(cookieParser(), session({ secret: 'x', resave: false, saveUninitialized: true }))
      .use(rateLimit({ limit: 100, validate: false }))
      .use('/chat', anAdapter().router);
    const root = await listen(app);
    const response = await post(`${root}/chat/api/v1/notes`, { body: FORM });
    expect(await response.json()).toMatchObject({ result: 'success', content: 'a+b %' });
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('set-cookie')).toContain('connect.sid=');
    expect(response.headers.get('ratelimit-limit') ?? response.headers.get('x-ratelimit-limit')).not.toBeNull();
    expect(await (await fetch(`${root}/chat/api/v1/long`)).json()).toMatchObject({ text: 'x'.repeat(600_000) });
    expect(lines[0]).toMatch(/^POST \/chat\/api\/v1\/notes 200 /);
  });

  it('authenticates the user whom passport found', async () => {
    class HeaderStrategy extends passport.Strategy {
      override name = 'header';
      override authenticate(request: express.Request) {
        const user = request.header('x-user');
        if (user === undefined) this.pass();
        else this.success({ realmId: 1 as RealmId, userId: Number(user) as UserId });
      }
    }
    const authenticator = new passport.Passport().use(new HeaderStrategy());
    const app = framework().use(authenticator.authenticate('header', { session: false }));
    const root = await listen(app.use('/chat', anAdapter().router));
    const me = await fetch(`${root}/chat/api/v1/users/me`, { headers: { 'x-user': '7' } });
    expect(await me.json()).toMatchObject({ user_id: 7 });
    expect((await fetch(`${root}/chat/api/v1/users/me`)).status).toBe(401);
  });

  it('serves two mount paths', async () => {
    const { router } = anAdapter();
    const root = await listen(framework().use('/chat', router).use('/intern/chat', router));
    for (const mount of ['/chat', '/intern/chat']) {
      expect((await post(`${root}${mount}/api/v1/notes`, { body: FORM })).status).toBe(200);
    }
  });

  it('passes foreign paths on, and no error of its own to error handlers', async () => {
    const errors: unknown[] = [];
    const app = framework().use('/chat', anAdapter().router);
    app.get('/chat/shop', (request, response) => void response.json({ url: request.url }));
    app.use(((error, _request, response, _next) => {
      errors.push(error);
      response.status(418).end();
    }) as express.ErrorRequestHandler);
    app.use('/chat/breaks', () => {
      throw new Error('host');
    });
    const root = await listen(app);
    expect(await (await fetch(`${root}/chat/shop?a=%41`)).json()).toEqual({ url: '/chat/shop?a=%41' });
    expect((await fetch(`${root}/chat/api/v1/fails`)).status).toBe(500);
    expect((await fetch(`${root}/chat/api/v1/nothing`)).status).toBe(404);
    expect((await post(`${root}/chat/api/v1/notes`, {})).status).toBe(400);
    expect(errors).toEqual([]);
  });

  it.each([
    ['a form', { body: FORM }],
    ['JSON', JSON_BODY],
  ])('accepts %s that the application has parsed', async (_kind, body) => {
    const app = framework().use(framework.json(), framework.urlencoded({ extended: true }));
    const root = await listen(app.use('/chat', anAdapter().router));
    const response = await post(`${root}/chat/api/v1/notes`, body);
    expect(await response.json()).toMatchObject({ type: 'direct', content: 'a+b %' });
    const payload = await post(`${root}/chat/api/v1/payloads`, JSON_BODY);
    expect(await payload.json()).toMatchObject({ content: JSON_BODY.body });
  });

  it.each([
    ['text', `type=a&content=${'x'.repeat(5000)}`],
    ['fields', `type=a&${Array.from({ length: 1001 }, (_value, index) => `f${index}=`).join('&')}`],
  ])('refuses a parsed body with too much %s', async (_kind, body) => {
    const app = framework().use(framework.urlencoded({ extended: false, limit: '5mb', parameterLimit: 5000 }));
    const root = await listen(app.use('/chat', anAdapter({ limits: { anonymousBodyBytes: 20_000 } }).router));
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const long = body.replace('xxxxx', 'x'.repeat(20_000));
    expect((await post(`${root}/chat/api/v1/notes`, { headers, body: long })).status).toBe(413);
  });

  it.each([
    ['a form', FORM],
    ['JSON', '{"type":"direct"}'],
    ['a form with files', Object.assign(new FormData(), {})],
  ])('tells where to mount the router if %s was read without being kept', async (kind, body) => {
    const app = framework().use((request, _response, next) => void request.resume().once('end', () => next()));
    const root = await listen(app.use('/chat', anAdapter().router));
    const headers = kind === 'JSON' ? { headers: { 'content-type': 'application/json' } } : {};
    const response = await post(`${root}/chat/api/v1/notes`, { body, ...headers });
    expect(response.status).toBe(400);
    expect((await response.json()).msg).toBe(
      'The body was read before it reached Parley: mount its router before body parsers.',
    );
  });

  it('takes over the trusted proxies of the application by name', async () => {
    const app = framework()
      .set('trust proxy', 1)
      .use('/chat', anAdapter({ trustedProxies: 'app' }).router);
    const root = await listen(app);
    const headers = { 'x-forwarded-for': '9.9.9.9, 192.0.2.7' };
    const response = await post(`${root}/chat/api/v1/notes`, { body: FORM, headers });
    expect((await response.json()).ip).toBe('192.0.2.7');
    expect(warnings).toEqual([]);
  });

  it('warns once if the application trusts proxies and Parley does not', async () => {
    const app = framework().set('trust proxy', 'loopback').use('/chat', anAdapter().router);
    const root = await listen(app);
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    for (let call = 0; call < 2; call++) {
      const response = await post(`${root}/chat/api/v1/notes`, { body: FORM, headers });
      expect((await response.json()).ip).toBe('127.0.0.1');
    }
    expect(warnings).toEqual([
      "the application's proxies are not in trustedProxies: all their clients count as one address",
    ]);
  });
});

it('the router is an Express router', () => {
  expect(anAdapter().router).toBeInstanceOf(express.Router);
});
