import type { RealmId } from '@parley/domain/kernel';
import { route, success } from '@parley/http';
import { composeParley } from '@parley/server/testing';
import { serverPerSuite } from '../testing/servers.js';
import { basic, TestServer } from '../testing/test-server.js';

class Nothing {}

/** Returns the caller. */
const whoAmI = route('GET', '/whoami', {
  summary: null,
  auth: 'user',
  scope: 'account',
  dto: Nothing,
  handle: async ({ caller }) => success({ user_id: caller.userId, client: caller.clientName }),
});

/** Returns the realm of an anonymous caller. */
const whereAmI = route('GET', '/whereami', {
  summary: null,
  auth: 'anyone',
  dto: Nothing,
  handle: async ({ caller }) => success({ realm_id: caller.realmId }),
});

const forOwners = route('POST', '/owners', {
  summary: null,
  auth: 'user',
  scope: 'account',
  roleRequirements: ['owner'],
  dto: Nothing,
  handle: async () => success(),
});

const moreRoutes = [whoAmI, whereAmI, forOwners];

describe('Parley application', () => {
  const { server } = serverPerSuite({ moreRoutes });

  it('authenticates by email and API key, ignoring the case of the email', async () => {
    const { hamlet } = server.people;
    for (const email of [hamlet.email, 'HAMLET@Zulip.com', ` ${hamlet.email} `]) {
      const reply = await server.get('/whoami', { ...hamlet, email });
      expect(reply).toMatchObject({ status: 200, body: { user_id: hamlet.id } });
    }
  });

  it.each`
    header                                                    | msg
    ${undefined}                                              | ${'Not logged in: API authentication or user session required'}
    ${'Basic !!'}                                             | ${'Invalid authorization header for basic auth'}
    ${basic({ email: 'hamlet@zulip.com', apiKey: 'short' })}  | ${'Malformed API key'}
    ${basic({ email: 'no@one.com', apiKey: 'a'.repeat(32) })} | ${'Invalid API key'}
  `('rejects an unauthenticated request: $msg', async ({ header, msg }) => {
    const reply = await server.request('GET', '/whoami', { headers: header && { Authorization: header } });
    expect(reply).toMatchObject({ status: 401, body: { result: 'error', code: 'UNAUTHORIZED', msg } });
    expect(reply.headers['www-authenticate']).toBe('Basic realm="zulip"');
  });

  it("rejects another user's API key", async () => {
    const { hamlet, iago } = server.people;
    const reply = await server.get('/whoami', { ...hamlet, apiKey: iago.apiKey });
    expect(reply.body.msg).toBe('Invalid API key');
  });

  it('rejects a key on the host of another realm or of no realm', async () => {
    const { hamlet } = server.people;
    await server.addRealm('lear');
    for (const realm of ['lear', 'nowhere']) {
      const reply = await server.request('GET', '/whoami', { as: hamlet, realm });
      expect(reply).toMatchObject({ status: 401, body: { msg: 'Account is not associated with this subdomain' } });
    }
  });

  it('resolves the realm of anonymous callers by host name', async () => {
    expect((await server.get('/whereami', null)).body.realm_id).toBe(server.realmId);
  });

  it('checks role requirements against the caller’s current role', async () => {
    const { desdemona, iago } = server.people;
    expect((await server.post('/owners', desdemona)).status).toBe(200);
    expect(await server.post('/owners', iago)).toMatchObject({
      status: 400,
      body: { code: 'UNAUTHORIZED_PRINCIPAL', msg: 'Must be an organization owner' },
    });
  });

  it('responds in JSON to unknown paths and methods', async () => {
    for (const path of ['/nothing', '//nothing', '//nothing.ico']) {
      expect(await server.get(path, null)).toMatchObject({
        status: 404,
        headers: { 'content-type': 'application/json' },
        body: { result: 'error', code: 'BAD_REQUEST', msg: 'Not found' },
      });
    }
  });
});

describe('host application log-in', () => {
  let logged: unknown[];
  let response: () => { realm: string; userId: number } | null;
  const { server } = serverPerSuite({
    moreRoutes,
    authenticate: async (request) => (request.headers['x-test'] ? response() : null),
    // Audit lines are tested separately.
    logger: { info: () => {}, error: (fields) => 'audit' in fields || logged.push(fields) },
  });
  beforeEach(() => {
    logged = [];
  });

  const ask = (headers = {}) => server.request('GET', '/whoami', { headers: { 'X-Test': '1', ...headers } });

  it('yields to an API key in the request', async () => {
    const { hamlet, iago } = server.people;
    response = () => ({ realm: 'zulip', userId: hamlet.id });
    expect((await ask({ Authorization: basic(iago) })).body.user_id).toBe(iago.id);
    expect((await ask()).body.user_id).toBe(hamlet.id);
  });

  it('falls back to API keys for an unrecognized caller', async () => {
    const { iago } = server.people;
    response = () => null;
    expect((await ask({ Authorization: basic(iago) })).body.user_id).toBe(iago.id);
    expect((await ask()).status).toBe(401);
  });

  it('responds to an exception with an opaque 500 and logs the error', async () => {
    response = () => {
      throw new Error('session store is down');
    };
    expect(await ask()).toMatchObject({ status: 500, body: { result: 'error', msg: 'Internal server error' } });
    expect(logged).toMatchObject([{ err: expect.any(Error) }]);
  });

  it.each([
    ['an unknown realm', { realm: 'nowhere', userId: 1 }, 'there is no organization "nowhere"'],
    ['an unknown user', { realm: 'zulip', userId: 4711 }, expect.stringContaining('4711')],
  ])('responds to %s with 401 and logs why', async (_, identity, reason) => {
    response = () => identity;
    expect(await ask()).toMatchObject({ status: 401, body: { msg: 'Account is unknown to this server' } });
    expect(logged).toMatchObject([{ reason }]);
  });

  it.each<[string, (hamlet: number) => unknown]>([
    ['an id in text form', (hamlet) => ({ realm: 'zulip', userId: String(hamlet) })],
    ['an id in a list', (hamlet) => ({ realm: 'zulip', userId: [hamlet] })],
    ['an id with a fraction', (hamlet) => ({ realm: 'zulip', userId: hamlet + 0.5 })],
    ['an object that converts to an id', (hamlet) => ({ realm: 'zulip', userId: { valueOf: () => hamlet } })],
    ['an id that changes on each access', (hamlet) => changing('userId', ['4711', hamlet])],
    ['an id above the maximum', () => ({ realm: 'zulip', userId: 1e308 })],
    ['no number', () => ({ realm: 'zulip', userId: Number.NaN })],
    ['an empty id together with an external id', () => ({ realm: 'zulip', userId: null, externalId: 'undefined' })],
    ['a missing external id', () => ({ realm: 'zulip', externalId: undefined })],
    ['a null external id', () => ({ realm: 'zulip', externalId: null })],
    ['an object as external id', () => ({ realm: 'zulip', externalId: {} })],
    ['an external id in a list', () => ({ realm: 'zulip', externalId: ['undefined'] })],
    ['an external id that changes on each access', () => changing('externalId', [{}, 'undefined'])],
    ['no realm', (hamlet) => ({ userId: hamlet })],
    ['a realm in a list', (hamlet) => ({ realm: ['zulip'], userId: hamlet })],
    ['a realm inherited from a prototype', (hamlet) => ({ realm: '__proto__', userId: hamlet })],
    ['nobody', () => ({ realm: 'zulip' })],
    ['a text', () => 'zulip'],
    ['true', () => true],
    [
      'an object with a throwing getter',
      () => ({
        get realm() {
          throw new Error('lost');
        },
      }),
    ],
    ['an endless realm name', (hamlet) => ({ realm: 'z'.repeat(2_000_000), userId: hamlet })],
    ['an endless external id', () => ({ realm: 'zulip', externalId: 'x'.repeat(2_000_000) })],
  ])('rejects the identity %s and logs a short line', async (_, lie) => {
    for (const externalId of ['undefined', 'null', '[object Object]']) {
      await server.parley.users.upsert({ realm: 'zulip', externalId, name: 'Somebody' });
    }
    response = () => lie(server.people.hamlet.id) as never;
    expect(await ask()).toMatchObject({ status: 401, body: { msg: 'Account is unknown to this server' } });
    expect(logged).toHaveLength(1);
    expect((logged[0] as { readonly reason: string }).reason.length).toBeLessThan(500);
  });

  it('rejects numeric external ids and logs that they must be text', async () => {
    await server.parley.users.upsert({ realm: 'zulip', externalId: '1603', name: 'Numbered' });
    response = () => ({ realm: 'zulip', externalId: 1603 }) as never;
    expect((await ask()).status).toBe(401);
    expect(logged).toMatchObject([{ reason: expect.stringContaining('externalId') }]);
  });

  it('separates users of different realms', async () => {
    const realmId: RealmId = await server.addRealm('lear');
    const { id } = await server.addUser({ email: 'fool@lear.com', fullName: 'The Fool', realmId });
    response = () => ({ realm: 'zulip', userId: id });
    expect((await ask()).status).toBe(401);
    response = () => ({ realm: 'lear', userId: id });
    expect((await ask()).body.user_id).toBe(id);
  });

  it('rejects deactivated users', async () => {
    const { cordelia } = server.people;
    await server.changeUser(cordelia, { isActive: false });
    response = () => ({ realm: 'zulip', userId: cordelia.id });
    expect(await ask()).toMatchObject({ status: 401, body: { msg: 'Account is deactivated' } });
  });
});

describe('Parley.close', () => {
  it('finishes pending requests and runs only once', async () => {
    let start = () => {};
    let finish = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const slow = route('GET', '/slow', {
      summary: null,
      auth: 'anyone',
      dto: Nothing,
      handle: async () => {
        await new Promise<void>((resolve) => {
          finish = resolve;
          start();
        });
        return success({ done: true });
      },
    });
    const server = await TestServer.start({ moreRoutes: [slow] });
    const reply = server.get('/slow', null);
    await started;
    let isClosed = false;
    const closed = server.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isClosed).toBe(false);
    finish();
    expect(await reply).toMatchObject({ status: 200, body: { done: true } });
    await closed;
    await server.parley.close();
  });
});

describe('changed server secret', () => {
  it('is rejected by a command while the server is running', async () => {
    const server = await TestServer.start({ moreRoutes });
    const parts = { ...server.parts, secret: 'another secret, by mistake' };
    await expect(composeParley({ ...parts, onOtherSecret: 'refuse' })).rejects.toThrow(
      /secret of the database has changed/,
    );
    expect((await server.get('/whoami', server.people.hamlet)).status).toBe(200);
    await server.close();
  });

  it('changes every API key at the next start', async () => {
    const server = await TestServer.start({ moreRoutes });
    const { hamlet } = server.people;
    const said: unknown[] = [];
    const logger = { info: () => {}, error: (...words: unknown[]) => void said.push(words) };
    const parley = await composeParley({ ...server.parts, logger, secret: 'another secret, on purpose' });
    expect(said).toEqual([[{ users: expect.any(Number) }, expect.stringContaining('all API keys are new')]]);
    const record = await server.storage.uow.read(server.realmId, ({ apiKeys }) =>
      apiKeys.find(server.realmId, hamlet.id),
    );
    const apiKey = parley.ports.apiKeyMint.derive(record!);
    expect(apiKey).not.toBe(hamlet.apiKey);
    const found = await server.storage.uow.readAcross(({ apiKeys }) =>
      apiKeys.findByFingerprint(parley.ports.apiKeyMint.fingerprint(apiKey)),
    );
    expect(found).toEqual(record);
    await server.close();
  });
});

/** Object with a property that returns the next value on each access. */
function changing(name: string, responses: readonly unknown[]): unknown {
  let asked = 0;
  return Object.defineProperty({ realm: 'zulip' }, name, {
    enumerable: true,
    get: () => responses[Math.min(asked++, responses.length - 1)],
  });
}
