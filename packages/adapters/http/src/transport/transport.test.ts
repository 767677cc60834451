import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { until } from '@parley/testkit';
import express from 'express';
import { type Route, route } from '../declarations/route.js';
import { createExpressAdapter, type ExpressAdapter } from '../express/router.js';
import type { AdapterOptions } from '../express/services.js';
import { ERROR_REPLIES } from '../features.js';
import type { LoadLevel } from '../limits/budgets.js';
import { RateLimiter } from '../limits/counters.js';
import { NoParameters, TextParam } from '../params/params.js';
import type { Authenticator } from '../security/authenticate.js';
import { type Reply, success, WireText } from '../wire/reply.js';

// Hostile connections: oversized or missing input, unread responses, ambiguous requests.

class EchoDto {
  @TextParam({ max: 1_000_000 }) text = '';
}

const echo = (path: string, auth: 'user' | 'anyone', more: object = {}) =>
  route('POST', path, {
    summary: null,
    auth,
    dto: EchoDto,
    handle: async ({ dto }) => success({ length: dto.text.length }),
    ...more,
  });

/** Callbacks that complete waiting requests on demand. */
const finishes: (() => void)[] = [];
const waiting = (path: string) =>
  route('GET', path, {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    longPoll: true,
    handle: () => new Promise<Reply>((resolve) => finishes.push(() => resolve(success({ events: [] })))),
  });

const MIB = 1024 * 1024;
/** Larger than the kernel's buffers. */
const sharedText = `"${'x'.repeat(8 * MIB)}"`;
let pulled = 0;
let isOver = false;

async function* endless() {
  try {
    for (;;) {
      pulled++;
      yield [',"', 'y'.repeat(MIB), '"'];
    }
  } finally {
    isOver = true;
  }
}

async function* numbers(failsAt: number) {
  for (let number = 1; number < 5; number++) {
    if (number === failsAt) throw new Error('storage is gone');
    yield [`,${number}`, `,"${'z'.repeat(100_000)}"`];
  }
  yield [']'];
}

const TABLE: readonly Route[] = [
  echo('/echo', 'user'),
  echo('/log_in', 'anyone'),
  echo('/upload', 'user', { body: 'files' }),
  route('PATCH', '/echo', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: EchoDto,
    handle: async () => success({ patched: true }),
  }),
  waiting('/events'),
  route('GET', '/short', {
    summary: null,
    auth: 'anyone',
    dto: NoParameters,
    handle: async () => success({ short: 'x'.repeat(200_000) }),
  }),
  route('GET', '/page', { summary: null, auth: 'visitor', dto: NoParameters, handle: async () => success() }),
  route('GET', '/script', {
    summary: null,
    auth: 'anyone',
    isNeverShed: true,
    dto: NoParameters,
    handle: async () => success(),
  }),
  route('GET', '/long', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success({ long: 'é'.repeat(MIB) }),
  }),
  route('GET', '/shared', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success(new WireText(['"texts":[', sharedText, ',', sharedText, ']'])),
  }),
  route('GET', '/pieces', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success(new WireText(['"text":"a', '😀'.repeat(150_000), 'b', '"'])),
  }),
  route('GET', '/endless', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success(new WireText('"all":[1', endless())),
  }),
  route('GET', '/numbers', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success(new WireText('"all":[0', numbers(99))),
  }),
  route('GET', '/broken', {
    summary: null,
    auth: 'user',
    scope: 'account',
    dto: NoParameters,
    handle: async () => success(new WireText('"all":[0', numbers(3))),
  }),
  route('GET', '/costly', {
    summary: null,
    auth: 'user',
    scope: 'account',
    isExpensive: true,
    dto: NoParameters,
    handle: async () => success(),
  }),
  route('GET', '/dev_list', {
    summary: null,
    auth: 'anyone',
    isDevelopment: true,
    dto: NoParameters,
    handle: async () => success(),
  }),
];

let server: Server;
let adapter: ExpressAdapter;
let port: number;
let level: LoadLevel;
let log: string[];
const sockets: Socket[] = [];

const USER_OF_HEADER: Authenticator = {
  authenticate: async (request) => {
    const user = request.header('x-user');
    return user === undefined ? null : { realmId: 1 as RealmId, userId: Number(user) as UserId };
  },
};

async function start(options: Partial<AdapterOptions> = {}): Promise<void> {
  const clock = { now: () => 1_700_000_000, nowMs: () => 1_700_000_000_000 };
  level = 'normal';
  log = [];
  adapter = createExpressAdapter({
    errorReplies: ERROR_REPLIES,
    routes: TABLE,
    resolve: () => undefined as never,
    authenticators: [USER_OF_HEADER],
    browserAuthenticators: [USER_OF_HEADER],
    realms: { findRealm: async () => 1 as RealmId },
    roleLookup: { roleOf: async () => ({ role: 'member', isBot: false, synchronizesDrafts: true }) },
    limiter: new RateLimiter({ clock, isOn: false }),
    logger: { info: () => {}, error: (_fields, message) => log.push(message) },
    load: {
      get level() {
        return level;
      },
    },
    ...options,
  });
  server = createServer((request, response) => adapter.router(request, response, () => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
}

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const finish of finishes.splice(0)) finish();
  server.closeAllConnections();
  server.close();
});

interface SentResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: wire JSON, looked at field by field
  readonly body: any;
}

interface Call {
  readonly user?: number | null;
  readonly headers?: Record<string, string>;
  readonly form?: Record<string, string>;
}

function call(method: string, path: string, { user = 7, headers = {}, form }: Call = {}): Promise<SentResponse> {
  const content = form && new URLSearchParams(form).toString();
  return new Promise((resolve, reject) => {
    httpRequest(
      {
        host: '127.0.0.1',
        port,
        method,
        path: `/api/v1${path}`,
        headers: {
          ...(user !== null && { 'X-User': String(user) }),
          ...(content !== undefined && {
            'Content-Type': 'application/x-www-form-urlencoded',
            'Content-Length': String(Buffer.byteLength(content)),
          }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode!, headers: response.headers, text, body: text && JSON.parse(text) });
        });
      },
    )
      .on('error', reject)
      .end(content);
  });
}

/** Client that sends the text and reads only on request. */
function open(text: string): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.write(text);
  sockets.push(socket);
  return socket;
}

/** Returns all bytes received until the server closes the connection. */
async function responseTo(text: string): Promise<string> {
  const chunks: Buffer[] = [];
  const socket = open(text);
  socket.on('data', (chunk) => chunks.push(chunk));
  await Promise.race([once(socket, 'end'), once(socket, 'close')]);
  return Buffer.concat(chunks).toString();
}

const get = (path: string, headers = 'X-User: 7\r\n') =>
  `GET /api/v1${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
const post = (path: string, length: number, begin = '', headers = 'X-User: 7\r\n') =>
  `POST /api/v1${path} HTTP/1.1\r\nHost: localhost\r\n${headers}` +
  `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n${begin}`;

const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the first response with this status. */
async function first(status: number, ask: () => Promise<SentResponse>): Promise<SentResponse> {
  let response: SentResponse | undefined;
  await until(async () => {
    response = await ask();
    return response.status === status;
  });
  return response!;
}

const refusal = (status: number, code: string) => ({
  status,
  body: { result: 'error', msg: expect.any(String), code },
});

describe('request body limit', () => {
  const small = { anonymousBodyBytes: 1000, bodyBytes: 20_000 };
  const form = (length: number) => ({ text: 'x'.repeat(length - 5) });

  it('accepts a large body only after authentication', async () => {
    await start({ limits: small });
    expect((await call('POST', '/log_in', { user: null, form: form(1000) })).status).toBe(200);
    expect(await call('POST', '/log_in', { user: null, form: form(1001) })).toMatchObject(refusal(413, 'BAD_REQUEST'));
    expect((await call('POST', '/echo', { form: form(20_000) })).body.length).toBe(19_995);
    expect(await call('POST', '/echo', { form: form(20_001) })).toMatchObject(refusal(413, 'BAD_REQUEST'));
    expect((await call('POST', '/echo', { user: null, form: form(20_000) })).status).toBe(401);
    // A user name does not raise the limit for anonymous operations.
    expect((await call('POST', '/log_in', { form: form(1001) })).status).toBe(413);
  });

  it('measures a body of undeclared length on arrival', async () => {
    await start({ limits: small });
    const statusOf = async (path: string, length: number) => {
      const body = `text=${'x'.repeat(length - 5)}`;
      const chunks = [body.slice(0, 10), body.slice(10)].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`);
      const head = post(path, 0, '', 'X-User: 7\r\nConnection: close\r\n').replace(
        /Content-Length.*/,
        'Transfer-Encoding: chunked',
      );
      return (await responseTo(`${head}${chunks.join('')}0\r\n\r\n`)).split(' ', 2)[1];
    };
    expect(await statusOf('/echo', 20_000)).toBe('200');
    expect(await statusOf('/echo', 20_001)).toBe('413');
    expect(await statusOf('/log_in', 1000)).toBe('200');
    expect(await statusOf('/log_in', 1001)).toBe('413');
  });

  it('allows a form field to change the method only within the anonymous limit', async () => {
    await start({ limits: small });
    const patching = (length: number) => ({ form: { method: 'PATCH', text: 'x'.repeat(length - 18) } });
    expect((await call('POST', '/echo', patching(1000))).body.patched).toBe(true);
    expect((await call('POST', '/echo', patching(1001))).body).toMatchObject({ length: 983 });
  });

  it('accepts a body byte by byte', async () => {
    await start({ limits: small });
    const body = `text=${'y'.repeat(295)}`;
    const socket = open(post('/echo', body.length));
    socket.setNoDelay(true);
    for (const byte of body) {
      socket.write(byte);
      await pause(0);
    }
    const [response] = await once(socket, 'data');
    expect(String(response)).toContain('"length":295');
  });

  it('rejects a body that does not arrive within the time limit', async () => {
    await start({ limits: { bodyMs: 40, filesMs: 80 } });
    const multipart = 'Content-Type: multipart/form-data; boundary=B\r\n';
    for (const request of [
      post('/log_in', 50, 't', ''),
      post('/echo', 100_000, 't'),
      `POST /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nX-User: 7\r\n${multipart}Content-Length: 99\r\n\r\n--B`,
    ]) {
      const response = await responseTo(request);
      expect(response).toMatch(/^HTTP\/1\.1 408 /);
      expect(response).toContain('"code":"BAD_REQUEST"');
    }
    await until(async () => (await connections()) === 0);
    expect(adapter.inFlight).toBe(0);
  });

  it('sets no time limit for a slow response after the body has arrived', async () => {
    await start({ limits: { bodyMs: 20, headersMs: 20, answerMs: 20 } });
    const poll = call('GET', '/events');
    await until(() => finishes.length === 1);
    await pause(80);
    finishes.pop()!();
    expect((await poll).status).toBe(200);
  });

  it("rejects a body above the client's share or above the total", async () => {
    await start({ limits: { bodyBytes: 100_000, bodiesBytes: 300_000, anonymousBodyBytes: 100 } });
    // The share of a client equals two of its largest bodies.
    const stalled = (user: number) => open(post('/echo', 100_000, `text=${'x'.repeat(90_000)}`, `X-User: ${user}\r\n`));
    stalled(1);
    stalled(1);
    const more = form(50_000);
    const mine = await first(429, () => call('POST', '/echo', { user: 1, form: more }));
    expect(mine.body).toMatchObject({ code: 'RATE_LIMIT_HIT', 'retry-after': 1 });
    expect(mine.headers['retry-after']).toBe('1');
    expect((await call('POST', '/echo', { user: 2, form: more })).status).toBe(200);
    stalled(3);
    const others = await first(503, () => call('POST', '/echo', { user: 2, form: more }));
    expect(others).toMatchObject(refusal(503, 'SERVER_NOT_READY'));
    expect(others.headers['retry-after']).toBe('1');
    // Small calls and anonymous callers are unaffected.
    expect((await call('POST', '/log_in', { user: null, form: { text: 'x' } })).status).toBe(200);
    expect(adapter.bytesInFlight.bodies).toBeGreaterThan(250_000);
    for (const socket of sockets) socket.destroy();
    await until(() => adapter.inFlight === 0);
    expect(adapter.bytesInFlight.bodies).toBe(0);
    expect((await call('POST', '/echo', { user: 1, form: more })).status).toBe(200);
  });

  it('charges a body by actual memory instead of declared length', async () => {
    await start({ limits: { bodyBytes: 100_000, bodiesBytes: 200_000, anonymousBodyBytes: 100 } });
    for (let user = 0; user < 20; user++) open(post('/echo', 100_000, 'text=', `X-User: ${user}\r\n`));
    await until(() => adapter.inFlight === 20);
    expect((await call('POST', '/echo', { user: 100, form: form(100_000) })).status).toBe(200);
  });

  it('counts files separately', async () => {
    await start({ limits: { bodyBytes: 1000, fileBytes: 50_000, filesBytes: 120_000 } });
    const part = `--B\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n${'x'.repeat(49_000)}\r\n`;
    const upload = (body: string) =>
      `POST /api/v1/upload HTTP/1.1\r\nHost: localhost\r\nX-User: ${1 + sockets.length}\r\nConnection: close\r\n` +
      `Content-Type: multipart/form-data; boundary=B\r\nContent-Length: ${body.length + 5}\r\n\r\n${body}`;
    open(upload(part + part));
    await until(async () => (await responseTo(`${upload(part)}--B--`)).startsWith('HTTP/1.1 503 '));
    sockets[0]!.write('--B--');
    await until(() => adapter.inFlight === 0);
    expect(await responseTo(`${upload(part)}--B--`)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('request rejected before it is complete', () => {
  it('receives its response even if the client keeps sending', async () => {
    await start({ limits: { anonymousBodyBytes: 100, lingerMs: 5000 } });
    const body = 'x'.repeat(3 * MIB);
    const response = await responseTo(post('/log_in', body.length, body, 'Connection: close\r\n'));
    expect(response).toMatch(/^HTTP\/1\.1 413 .*"code":"BAD_REQUEST"\}\n$/s);
  });

  it('releases the connection after a time limit', async () => {
    await start({ limits: { anonymousBodyBytes: 100, lingerMs: 40 } });
    expect(await responseTo(post('/log_in', 3 * MIB, 'x'))).toMatch(/^HTTP\/1\.1 413 /);
    await until(async () => (await connections()) === 0);
  });
});

describe('long response', () => {
  it('arrives completely in any number of pieces', async () => {
    await start();
    const long = await call('GET', '/long');
    expect(long.body.long).toBe('é'.repeat(MIB));
    expect(Number(long.headers['content-length'])).toBe(Buffer.byteLength(long.text));
    const pieces = await call('GET', '/pieces?unknown=1');
    expect(pieces.body).toEqual({
      result: 'success',
      msg: '',
      text: `a${'😀'.repeat(150_000)}b`,
      ignored_parameters_unsupported: ['unknown'],
    });
    expect(Number(pieces.headers['content-length'])).toBe(Buffer.byteLength(pieces.text));
  });

  it('may be generated while it is sent', async () => {
    await start();
    const { headers, body } = await call('GET', '/numbers?unknown=1');
    expect(headers).toMatchObject({ 'transfer-encoding': 'chunked', 'content-type': 'application/json' });
    expect(body.all.filter((one: unknown) => typeof one === 'number')).toEqual([0, 1, 2, 3, 4]);
    expect(body.ignored_parameters_unsupported).toEqual(['unknown']);
    expect((await call('HEAD', '/numbers')).text).toBe('');
    expect((await call('HEAD', '/long')).headers['content-length']).toBe(
      (await call('GET', '/long')).headers['content-length'],
    );
  });

  it('closes the connection if it fails in the middle', async () => {
    await start();
    await expect(call('GET', '/broken')).rejects.toThrow();
    expect(log).toEqual(['cannot write the response']);
    expect(adapter.inFlight).toBe(0);
  });

  it("grows at the client's reading speed and stops when the client disconnects", async () => {
    await start();
    pulled = 0;
    isOver = false;
    const socket = open(get('/endless'));
    // Amount buffered by the kernel.
    let taken = 0;
    while (pulled === 0 || pulled > taken) {
      taken = pulled;
      await pause(50);
    }
    expect(taken).toBeLessThan(20);
    socket.destroy();
    await until(() => isOver);
    await until(() => adapter.inFlight === 0);
  });

  it('disconnects a client that does not read', async () => {
    await start({ limits: { answerMs: 50, answerBytesPerSecond: 10 * MIB } });
    isOver = false;
    const socket = open(get('/endless'));
    await until(() => isOver);
    await until(async () => (await connections()) === 0);
    expect(adapter.inFlight).toBe(0);
    socket.destroy();
  });

  it('fails above the unsent limit of one client or of all clients', async () => {
    await start({ limits: { answersBytes: 64 * MIB } });
    const unread = (user: number) => {
      for (let count = 0; count < 2; count++) open(get('/endless', `X-User: ${user}\r\n`));
    };
    unread(1);
    await until(() => adapter.inFlight === 2);
    expect(adapter.bytesInFlight).toMatchObject({ bodies: 0, responses: 8 * MIB });
    const mine = await call('GET', '/long', { user: 1 });
    expect(mine).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_HIT', 'retry-after': 1 } });
    expect((await call('GET', '/long', { user: 2 })).status).toBe(200);
    for (let user = 2; user <= 8; user++) unread(user);
    await until(() => adapter.inFlight === 16);
    const others = await call('GET', '/long', { user: 9 });
    expect(others).toMatchObject(refusal(503, 'SERVER_NOT_READY'));
    expect(others.headers['retry-after']).toBe('1');
    expect((await call('POST', '/echo', { user: 9, form: { text: 'short' } })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until(() => adapter.inFlight === 0);
    expect(adapter.bytesInFlight).toEqual({ bodies: 0, responses: 0 });
    expect((await call('GET', '/long', { user: 1 })).status).toBe(200);
  });

  it('counts shared content once', async () => {
    await start({ limits: { answersBytes: 12 * MIB } });
    for (let user = 0; user < 20; user++) {
      for (let count = 0; count < 2; count++) open(get('/shared', `X-User: ${user}\r\n`));
    }
    await until(() => adapter.inFlight === 40);
    await pause(20);
    expect(adapter.inFlight).toBe(40);
    expect((await call('GET', '/shared', { user: 99 })).body.texts).toHaveLength(2);
    for (const socket of sockets) socket.destroy();
    await until(() => adapter.inFlight === 0);
    expect((await call('GET', '/long')).status).toBe(200);
  });
});

describe('short response', () => {
  it('ends together with a client that does not read it', async () => {
    await start({ limits: { answerMs: 50, answerBytesPerSecond: 10 * MIB } });
    const socket = open('');
    // The kernel buffers several responses before one has to wait.
    const ask = setInterval(() => socket.write(get('/short', '')), 2);
    await until(async () => (await connections()) === 1);
    await until(async () => (await connections()) === 0);
    clearInterval(ask);
  });
});

describe('pipelined request', () => {
  it('runs after the previous request of its connection', async () => {
    await start();
    const socket = open(get('/events') + get('/costly') + get('/costly'));
    await until(() => finishes.length === 1);
    await pause(20);
    expect(adapter.inFlight).toBe(1);
    finishes.pop()!();
    let responses = '';
    socket.on('data', (chunk) => {
      responses += chunk;
    });
    await until(() => responses.split('HTTP/1.1 200 OK').length === 4);
  });

  it('ends when the connection closes', async () => {
    await start();
    const socket = open(get('/events') + get('/costly'));
    await until(() => finishes.length === 1);
    socket.destroy();
    await until(async () => (await connections()) === 0);
    finishes.pop()!();
    await until(() => adapter.inFlight === 0);
  });

  it('gets an error above the maximum, after earlier responses, and ends the connection', async () => {
    await start();
    const socket = open(get('/events') + get('/costly').repeat(20));
    let answers = '';
    socket.on('data', (chunk) => {
      answers += chunk;
    });
    await until(() => finishes.length === 1);
    await pause(20);
    finishes.pop()!();
    await until(async () => (await connections()) === 0);
    const statuses = [...answers.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
    expect(statuses).toEqual([...Array(9).fill('200'), '429']);
    expect(answers).toContain('"code":"RATE_LIMIT_HIT"');
    expect(adapter.inFlight).toBe(0);
  });
});

describe('request host', () => {
  it.each([
    ['one', 'GET /api/v1/short HTTP/1.1\r\nHost: a.test\r\n', 200],
    ['two', 'GET /api/v1/short HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n', 400],
    ['sent twice', 'GET /api/v1/short HTTP/1.1\r\nhost: a.test\r\nHOST: a.test\r\n', 400],
    ['the target’s', 'GET http://a.test/api/v1/short HTTP/1.1\r\nHost: A.test\r\n', 200],
    [
      'equal to the target’s, with the default port',
      'GET http://a.test:80/api/v1/short?x=1 HTTP/1.1\r\nHost: a.test\r\n',
      200,
    ],
    ['different from the target’s', 'GET http://b.test/api/v1/short HTTP/1.1\r\nHost: a.test\r\n', 400],
    [
      'different from the target’s, for an unknown path',
      'GET http://b.test/api/v1/x HTTP/1.1\r\nHost: a.test\r\n',
      400,
    ],
  ])('handles Host headers: %s', async (_what, head, status) => {
    await start();
    const response = await responseTo(`${head}Connection: close\r\n\r\n`);
    expect(response.split(' ', 2)[1]).toBe(String(status));
    if (status === 400) expect(response).toContain('"msg":"Malformed HTTP request"');
  });
});

describe('development endpoint', () => {
  it.each([
    ['localhost:9991', {}, 200],
    ['127.0.0.1', {}, 200],
    ['[::1]:9991', {}, 200],
    ['lear.localhost:9991', {}, 200],
    ['chat.example.com', {}, 200],
    ['lear.chat.example.com', {}, 200],
    ['evil.example', {}, 403],
    ['127.0.0.1.evil.example', {}, 403],
    ['evilchat.example.com', {}, 403],
    ['localhost:9991', { origin: 'http://localhost:9991', 'sec-fetch-site': 'same-origin' }, 200],
    ['localhost', { origin: 'http://localhost' }, 200],
    ['localhost:9991', { 'sec-fetch-site': 'none' }, 200],
    ['localhost:9991', { origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }, 403],
    ['localhost:9991', { origin: 'https://evil.example' }, 403],
    ['localhost:9991', { origin: 'null' }, 403],
    ['localhost:9991', { 'sec-fetch-site': 'cross-site' }, 403],
  ])('responds to host %p with %j: %i', async (host, headers, status) => {
    await start({ publicUrl: 'https://chat.example.com' });
    const response = await call('GET', '/dev_list', { user: null, headers: { ...headers, host } });
    expect(response.status).toBe(status);
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('hides responses from pages of other origins', async () => {
    await start();
    for (const method of ['OPTIONS', 'DELETE']) {
      const response = await call(method, '/dev_list', { user: null });
      expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it.each([
    ['localhost:9991', {}, 200],
    ['localhost:9991', { origin: 'http://localhost:5173', 'sec-fetch-site': 'same-site' }, 200],
    ['localhost:9991', { origin: 'http://127.0.0.1:5173', 'sec-fetch-site': 'cross-site' }, 200],
    ['localhost:9991', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, 403],
    ['evil.example', { origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' }, 403],
  ])(
    'checks the host of log-ins too if passwords are publicly known: host %p with %j: %i',
    async (host, headers, status) => {
      await start({ hasKnownPasswords: true });
      const ask = { user: null, form: { text: 'pw' }, headers: { ...headers, host } };
      expect((await call('POST', '/log_in', ask)).status).toBe(status);
      await restartWithSecretPasswords();
      expect((await call('POST', '/log_in', ask)).status).toBe(200);
    },
  );

  async function restartWithSecretPasswords() {
    server.closeAllConnections();
    server.close();
    await start();
  }
});

describe('router mounted in an application', () => {
  beforeEach(async () => {
    await start({ limits: { anonymousBodyBytes: 1000, bodyMs: 40, answerMs: 50, answerBytesPerSecond: 10 * MIB } });
    server.removeAllListeners('request');
    server.on('request', express().use('/', adapter.router));
  });

  it('applies the same size and time limits to bodies', async () => {
    const form = { text: 'x'.repeat(1000) };
    expect(await call('POST', '/log_in', { user: null, form })).toMatchObject(refusal(413, 'BAD_REQUEST'));
    expect(await responseTo(post('/log_in', 50, 't', ''))).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('disconnects clients that do not read their responses', async () => {
    isOver = false;
    open(get('/endless'));
    await until(() => isOver);
    await until(async () => (await connections()) === 0);
    expect((await call('GET', '/short')).status).toBe(200);
  });

  it('requires exactly one host', async () => {
    const response = await responseTo(
      'GET http://b.test/api/v1/short HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n',
    );
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('server under load', () => {
  it('rejects anonymous requests first and expensive ones next, but serves scripts', async () => {
    await start();
    const statuses = async () => [
      (await call('GET', '/short', { user: null })).status,
      (await call('GET', '/costly')).status,
      (await call('POST', '/echo', { form: { text: 'x' } })).status,
      (await call('GET', '/script', { user: null })).status,
      (await call('GET', '/page', { user: null })).status,
      (await call('GET', '/page')).status,
    ];
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
    level = 'busy';
    expect(await statuses()).toEqual([503, 200, 200, 200, 503, 200]);
    level = 'overloaded';
    expect(await statuses()).toEqual([503, 503, 200, 200, 503, 200]);
    const { headers, body } = await call('GET', '/costly');
    expect([headers['retry-after'], body.result, body.code]).toEqual(['1', 'error', 'SERVER_NOT_READY']);
    level = 'normal';
    expect(await statuses()).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
