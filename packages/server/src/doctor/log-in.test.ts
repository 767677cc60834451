import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@parley/testkit';
import { runCommand } from '../testing/run-command.js';

const URL_OF_SERVER = 'https://chat.example.com';

describe('parley doctor --thorough on log-ins', () => {
  let folder: string;
  let service: Server;
  let address: string;
  /** Redirect URLs registered at the service. */
  let registered: readonly string[];
  let secret: string;
  let date: Date | null;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'parley-doctor-'));
    const files = ['-keyout', join(folder, 'idp.key'), '-out', join(folder, 'idp.pem')];
    const certificate = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=idp', ...files];
    execFileSync('openssl', certificate, { stdio: 'pipe' });
    service = createServer(async (request, response) => {
      const { pathname, searchParams } = new URL(request.url!, address);
      let body = '';
      for await (const chunk of request) body += chunk;
      if (date) response.setHeader('Date', date.toUTCString());
      const json = (status: number, value: object) =>
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
      const redirect = searchParams.get('redirect_uri')!;
      if (pathname === '/.well-known/openid-configuration') {
        const endpoints = { authorization_endpoint: `${address}/authorize`, token_endpoint: `${address}/token` };
        json(200, { issuer: address, ...endpoints, jwks_uri: `${address}/keys` });
      } else if (pathname === '/token')
        json(400, {
          error: new URLSearchParams(body).get('client_secret') === secret ? 'invalid_grant' : 'invalid_client',
        });
      else if (pathname === '/authorize' && registered.includes(redirect))
        response.writeHead(303, { Location: `${redirect}?error=login_required` }).end();
      else if (pathname === '/sso') response.end('Which service?');
      else response.writeHead(pathname === '/authorize' ? 400 : 404).end();
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    address = `http://localhost:${(service.address() as AddressInfo).port}`;
    await run(['realm', 'create', '--new-database', 'lear', 'King Lear']);
    await run(['realm', 'create', 'verona', 'Verona']);
  });
  beforeEach(async () => {
    registered = ['chat', 'verona.chat'].map((it) => `https://${it}.example.com/accounts/login/complete/company/`);
    secret = 'the secret';
    date = null;
    const methods = 'authentication';
    await run(['realm', 'set', 'lear', methods, 'OpenID Connect=on,SAML=on,LDAP=on']);
    await run(['realm', 'set', 'verona', methods, 'OpenID Connect=on,SAML=off,LDAP=off']);
  });
  afterAll(() => {
    service.closeAllConnections();
    service.close();
    rmSync(folder, { recursive: true });
  });

  async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const { code, out, err } = await runCommand([...args, `--database=sqlite:${join(folder, 'parley.db')}`], {
      environment: { PARLEY_URL: URL_OF_SERVER, ...environment },
    });
    return { code, text: out || err };
  }
  const doctor = (environment: Readonly<Record<string, string>>) => run(['doctor', '--thorough'], environment);
  const openIdConnect = (change: object = {}) => ({
    PARLEY_OPENID_CONNECT: JSON.stringify([
      { name: 'company', issuer: address, clientId: 'parley', clientSecret: 'the secret', ...change },
    ]),
  });
  const saml = (change: object = {}) => ({
    PARLEY_SAML: JSON.stringify([
      {
        name: 'company',
        entityId: 'https://idp.example.com',
        entryPoint: `${address}/sso`,
        certificateFile: join(folder, 'idp.pem'),
        ...change,
      },
    ]),
  });
  const ldap = (realm: string) => ({
    PARLEY_LDAP: JSON.stringify([{ name: 'company', realm, url: 'ldap://localhost:1', baseDn: 'dc=example' }]),
  });
  const expectProblem = async (environment: Readonly<Record<string, string>>, text: string | RegExp) => {
    const found = await doctor(environment);
    expect(found.text).toMatch(text);
    expect(found.text).not.toContain('the service company can be used');
    expect(found.code).toBe(3);
  };

  it('accepts services that are reachable, enabled and configured for every organization', async () => {
    const { code, text } = await doctor({ ...openIdConnect(), ...saml({ name: 'idp' }) });
    expect(text).toContain('ok       log-in: the service company can be used');
    expect(text).toContain('ok       log-in: the service idp can be used');
    expect(code).toBe(0);
  });

  it('reports an unregistered redirect URL of an organization', async () => {
    registered = registered.slice(0, 1);
    await expectProblem(
      openIdConnect(),
      /cannot be used: it rejects the redirect address https:\/\/verona\.chat\.example\.com\/accounts\/login\/complete\/company\//,
    );
  });

  it('reports an expired client secret', async () => {
    secret = 'the next secret';
    await expectProblem(openIdConnect(), 'it rejects clientId with its clientSecret, which may have expired');
  });

  it('reports an issuer with a wrong path', async () => {
    await expectProblem(
      openIdConnect({ issuer: `${address}/realms/x` }),
      'openid-configuration returns 404; issuer must',
    );
  });

  it('rejects an issuer without encryption', async () => {
    const { code, text } = await doctor(openIdConnect({ issuer: 'http://id.example.com' }));
    expect(text).toContain('PARLEY_OPENID_CONNECT[0].issuer must be an address with https');
    expect(code).toBe(2);
  });

  it('reports a method that is not enabled in any organization', async () => {
    await run(['realm', 'set', 'lear', 'authentication', 'OpenID Connect=off,SAML=off']);
    await run(['realm', 'set', 'verona', 'authentication', 'OpenID Connect=off']);
    const command = "no organization has enabled it: run parley realm set 'lear' authentication";
    await expectProblem(openIdConnect(), `${command} 'OpenID Connect=on'`);
    await expectProblem(saml(), `${command} 'SAML=on'`);
  });

  it("reports unknown organizations in a service's configuration", async () => {
    await expectProblem(
      openIdConnect({ realms: ['lear', 'venice'] }),
      'realms names "venice", but the organizations are "lear", "verona"',
    );
  });

  it.each([
    ['ahead of', -7200],
    ['behind', 7200],
  ])('reports a clock that is hours %s that of a service', async (direction, seconds) => {
    date = new Date(Date.now() + seconds * 1000);
    const text = new RegExp(`the clock of this machine is 7\\d\\d\\d seconds ${direction} that of the service`);
    await expectProblem(openIdConnect(), text);
    await expectProblem(saml(), text);
  });

  it('reports an unreachable identity provider', async () => {
    await expectProblem(
      saml({ entryPoint: `http://localhost:${await freePort()}/sso` }),
      /entryPoint http:\/\/localhost:\d+\/sso cannot be reached from this machine: fetch failed: .*ECONNREFUSED/,
    );
    await expectProblem(saml({ entryPoint: `${address}/typo` }), 'typo returns 404; copy it from the provider');
  });

  it('reports SAML on a public URL without encryption', async () => {
    await expectProblem(
      { ...saml(), PARLEY_URL: 'http://chat.example.com' },
      'browsers must reach this server by https, unlike http://chat.example.com/accounts/login/complete/company/',
    );
  });

  it("reports an unknown organization in a directory's configuration", async () => {
    await expectProblem(
      ldap('venice'),
      'the directory company cannot be used: realm names "venice", but the organizations are "lear", "verona"',
    );
  });

  it('reports a directory that does not accept passwords', async () => {
    const { text } = await doctor(ldap('verona'));
    expect(text).toContain(
      "consider directory: passwords of company are not accepted: run parley realm set 'verona' authentication 'LDAP=on'",
    );
    expect((await doctor(ldap('lear'))).text).not.toContain('are not accepted');
  });
});

it('parley --help lists the --thorough option', async () => {
  expect((await runCommand(['--help'])).out).toMatch(/parley doctor.*\n.*--thorough/);
});
