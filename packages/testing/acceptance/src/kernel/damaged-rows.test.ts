import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { createParley, type Parley } from '@parley/server';
import { basic } from '../testing/test-server.js';

/** Unreadable rows of one organization must neither stop the server nor affect another organization. */
describe('database with damaged rows', () => {
  const directory = mkdtempSync(join(tmpdir(), 'parley-damaged-'));
  const database = join(directory, 'parley.db');
  const errors: string[] = [];
  let parley: Parley;
  let server: Server;
  const authorizations = new Map<string, string>();

  async function open(): Promise<void> {
    parley = await createParley({
      database: `sqlite:${database}`,
      url: 'http://localhost',
      rateLimits: false,
      // The test counts log lines, and load shedding on a busy machine would add lines.
      shedsLoad: false,
      logger: { info: () => {}, error: (_fields, message) => errors.push(message) },
    });
  }

  function damage(statements: string): void {
    const script = `require(${JSON.stringify(require.resolve('better-sqlite3'))})(${JSON.stringify(database)}).exec(${JSON.stringify(statements)}).close()`;
    expect(spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  }

  const call = async (
    realm: string,
    name: string,
    method: string,
    path: string,
    params: Record<string, string> = {},
  ) => {
    const { port } = server.address() as AddressInfo;
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: { 'X-Test-Host': realm, authorization: authorizations.get(`${realm}/${name}`) ?? '' },
      ...(method === 'POST' && { body: new URLSearchParams(params) }),
    });
    return { status: reply.status, body: await reply.json() };
  };

  beforeAll(async () => {
    await open();
    for (const stringId of ['', 'healthy']) {
      const realm = await parley.useCase(CreateRealm).execute({ stringId, name: `Realm ${stringId}` });
      for (const [fullName, role] of [
        ['Owner', 'owner'],
        ['Member', 'member'],
      ] as const) {
        const email = `${fullName.toLowerCase()}@example.com`;
        const person = { realmId: realm.id, email, fullName, role, password: `a password of ${fullName}` };
        await parley.useCase(RegisterUser).execute(person);
      }
    }
    await parley.close();
  });
  afterAll(async () => {
    server.close();
    await parley.close();
    rmSync(directory, { recursive: true });
  });

  it('starts, serves other organizations normally and warns the operator', async () => {
    damage(`
      UPDATE realm SET settings = '{', user_defaults = '[', permissions = 'x' WHERE string_id = '';
      UPDATE user SET settings = 'x', special_permissions = 'x', role = 'x', avatar_source = 'x'
      WHERE full_name = 'Owner' AND realm_id = (SELECT id FROM realm WHERE string_id = '');
      UPDATE user_group SET permissions = 'x' WHERE realm_id = (SELECT id FROM realm WHERE string_id = '');
    `);
    await open();
    server = createServer((request, response) => {
      // `fetch` does not allow setting the Host header.
      const realm = String(request.headers['x-test-host']);
      request.headers.host = realm === '' ? 'localhost' : `${realm}.localhost`;
      parley.handler(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    for (const realm of ['', 'healthy']) {
      for (const name of ['Owner', 'Member']) {
        const email = `${name.toLowerCase()}@example.com`;
        const key = await call(realm, name, 'POST', '/fetch_api_key', {
          username: email,
          password: `a password of ${name}`,
        });
        expect(key).toMatchObject({ status: 200, body: { result: 'success' } });
        authorizations.set(`${realm}/${name}`, basic({ email, apiKey: key.body.api_key }));
        const register = await call(realm, name, 'POST', '/register');
        expect(register).toMatchObject({ status: 200, body: { result: 'success' } });
        expect(register.body.realm_users.map((user: { full_name: string }) => user.full_name)).toEqual(
          // A user with an unreadable role gets the lowest role, which hides other users in the realm without
          // settings.
          expect.arrayContaining(realm === '' && name === 'Owner' ? ['Owner', 'Unknown user'] : ['Owner', 'Member']),
        );
        expect(register.body.is_owner).toBe(realm === 'healthy' && name === 'Owner');
      }
    }
    const users = await call('healthy', 'Owner', 'GET', '/users');
    expect(users).toMatchObject({ status: 200, body: { result: 'success' } });
    expect(errors.filter((message) => message.startsWith('The database contains an invalid value'))).toEqual(
      expect.arrayContaining([expect.stringContaining('realm 1, settings'), expect.stringContaining('role')]),
    );
    const others = errors.filter((message) => !message.startsWith('The database contains an invalid value'));
    // Audit lines of `POST /fetch_api_key`.
    expect(others.filter((message) => message !== 'log-in')).toEqual([]);
  });
});
