import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FixedClock, hasTinyproxy, PROXIED_HOST, Tinyproxy } from '@parley/testkit';
import { describeProxies, NO_PROXY, OutgoingProxy, parseProxyUrl, proxySettingsOf } from './outgoing-proxy.js';
import { ApnsSender, FcmSender } from './phone-senders.js';
import { PublicWebClient } from './web-client.js';

const HTTP = 'http://proxy.example:3128/';
const HTTPS = 'http://secure.example:3129/';

describe('settings of outgoing proxies', () => {
  it.each([
    ['no variables', null, {}, { http: null, https: null }],
    ['both variables', null, { HTTP_PROXY: HTTP, HTTPS_PROXY: HTTPS }, { http: HTTP, https: HTTPS }],
    ['lower-case variables first', null, { HTTP_PROXY: HTTP, http_proxy: HTTPS }, { http: HTTPS, https: null }],
    ['an address without a scheme', null, { HTTPS_PROXY: 'proxy.example:3128' }, { http: null, https: HTTP }],
    ['an empty variable', null, { HTTPS_PROXY: '' }, { http: null, https: null }],
    ['the setting instead of variables', HTTP, { HTTPS_PROXY: HTTPS }, { http: HTTP, https: HTTP }],
    ['a setting that is off', 'off', { HTTPS_PROXY: HTTPS }, { http: null, https: null }],
  ])('come from %s', (_, setting, environment, expected) => {
    expect(proxySettingsOf(setting, environment)).toEqual({ ...expected, exceptions: [] });
  });

  it('names the variable with an invalid address', () => {
    expect(() => proxySettingsOf(null, { HTTPS_PROXY: 'socks5://proxy.example' })).toThrow(
      'HTTPS_PROXY must be the address of an HTTP proxy, such as http://proxy.example.com:3128, or PARLEY_OUTGOING_PROXY must be off',
    );
    for (const text of ['', 'http://', 'ftp://a', 'http://a/path', 'http://a?b']) {
      expect(() => parseProxyUrl(text)).toThrow('the address of an HTTP proxy');
    }
  });

  it.each([
    [NO_PROXY, null],
    [{ http: HTTP, https: HTTP, exceptions: [] }, 'proxy.example:3128'],
    [
      { http: HTTP, https: 'http://u:p@secure.example:3129/', exceptions: ['a', 'b'] },
      'secure.example:3129 for https, proxy.example:3128 for http, except a b',
    ],
    [{ http: null, https: HTTPS, exceptions: [] }, 'secure.example:3129 for https'],
  ])('are described without passwords', (settings, text) => expect(describeProxies(settings)).toBe(text));
});

describe('OutgoingProxy', () => {
  const exceptions = [
    '.corp.example',
    'plain.example',
    'port.example:8080',
    'dotted.example.',
    '10.0.0.0/8',
    '192.0.2.7',
    '2001:db8::/32',
  ];
  const proxy = new OutgoingProxy({ http: HTTP, https: HTTPS, exceptions });
  it.each([
    ['http://example.com/', HTTP],
    ['https://example.com/', HTTPS],
    ['https://198.51.100.1/', HTTPS],
    ['https://git.corp.example/', null],
    ['https://corp.example/', null],
    ['https://notcorp.example/', HTTPS],
    ['https://PLAIN.example/', null],
    ['https://sub.plain.example/', null],
    ['http://port.example:8080/', null],
    ['http://port.example/', HTTP],
    ['https://10.1.2.3/', null],
    ['https://192.0.2.7/', null],
    ['https://192.0.2.8/', HTTPS],
    ['https://[2001:db8::1]/', null],
    ['https://[2001:db9::1]/', HTTPS],
    ['http://localhost:9000/', null],
    ['http://localhost.:9000/', null],
    ['http://a.localhost./', null],
    ['https://git.corp.example./', null],
    ['https://dotted.example/', null],
    ['http://127.0.0.1:9000/', null],
    ['http://[::1]/', null],
  ])('reaches %s through %s', (url, expected) => expect(proxy.urlFor(url)).toBe(expected));

  it('reaches all hosts directly if NO_PROXY is an asterisk, and ignores invalid networks', () => {
    const to = (...all: string[]) =>
      new OutgoingProxy({ http: HTTP, https: HTTPS, exceptions: all }).urlFor('http://a');
    expect([to('*'), to('10.0.0.0/99'), to()]).toEqual([null, HTTP, HTTP]);
  });
});

(hasTinyproxy ? describe : describe.skip)('outgoing calls through tinyproxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-outgoing-proxy-'));
  const open: (Server | Http2Server | TcpServer)[] = [];
  const sockets = new Set<Socket>();
  let tinyproxy: Tinyproxy;
  let proxy: OutgoingProxy;
  let [http, https]: [string, string] = ['', ''];
  let seen: string[] = [];

  const listen = async (server: Server | Http2Server | TcpServer, scheme: string): Promise<string> => {
    open.push(server);
    server.on('connection', (socket: Socket) => sockets.add(socket));
    await new Promise<void>((resolve) => server.listen(0, resolve));
    return `${scheme}://${PROXIED_HOST}:${(server.address() as AddressInfo).port}`;
  };

  beforeAll(async () => {
    tinyproxy = await Tinyproxy.start();
    proxy = new OutgoingProxy({ http: tinyproxy.url, https: tinyproxy.url, exceptions: [] });
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=test', '-keyout', key, '-out', cert];
    execFileSync('openssl', made, { stdio: 'pipe' });
    http = await listen(
      createServer((request, response) => {
        seen.push(`${request.method} ${request.url} ${request.headers.via?.split(' (')[0]}`);
        response.end('{"access_token":"t"}');
      }),
      'http',
    );
    https = await listen(
      createHttpsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (_, response) => response.end('secure')),
      'https',
    );
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(async () => {
    for (const server of open) server.close();
    for (const socket of sockets) socket.destroy();
    await tinyproxy.stop();
    rmSync(folder, { recursive: true });
  });

  const client = (allowedNetworks = [`${PROXIED_HOST}/32`]) =>
    new PublicWebClient({ allowedNetworks, proxy, userAgent: 'Test/1' });
  const HOOK = { contentType: 'application/json', body: '{}' };
  const VIA = '1.1 proxy';

  it('requests http addresses by fetch', async () => {
    const response = await proxy.fetch(`${http}/a`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
    expect([response.status, await response.text()]).toEqual([200, '{"access_token":"t"}']);
    expect(seen).toEqual([`POST /a ${VIA}`]);
  });

  it('verifies the certificate of the service behind a tunnel', async () => {
    const error = (await proxy.fetch(https).catch((reason) => reason)) as { readonly cause: unknown };
    expect(error.cause).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await expect(client().post(https, HOOK)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(tinyproxy.requests.slice(-2)).toEqual(Array(2).fill(`CONNECT ${https.slice('https://'.length)}`));
  });

  it('sends webhooks, downloads and page requests', async () => {
    expect(await client().post(`${http}/hook`, HOOK)).toEqual({ status: 200, text: '{"access_token":"t"}' });
    expect((await client().download(`${http}/picture`, 100)).length).toBe(20);
    const page = await client().get(`${http}/page`, 'text/html');
    page.body.destroy();
    expect(seen).toEqual(['POST /hook', 'GET /picture', 'GET /page'].map((it) => `${it} ${VIA}`));
  });

  it('still rejects private addresses in URLs, and leaves names to the proxy', async () => {
    const before = tinyproxy.requests.length;
    await expect(client([]).post('http://10.0.0.1/', HOOK)).rejects.toThrow('not on the public Internet');
    expect(tinyproxy.requests).toHaveLength(before);
    // tinyproxy answers 500 without reading the body, which may reset the connection.
    await client([])
      .post('http://name.invalid/', HOOK)
      .catch(() => {});
    expect(tinyproxy.requests.slice(before)).toEqual(['POST http://name.invalid/']);
  });

  it('pushes to phones by APNs over HTTP/2 and by FCM', async () => {
    const apns = createHttp2Server();
    apns.on('stream', (stream, headers) => {
      seen.push(`${headers[':method']} ${headers[':path']}`);
      stream.respond({ ':status': 200 });
      stream.end();
    });
    const url = await listen(apns, 'http');
    const parts = { clock: new FixedClock(), report: () => {}, proxy };
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const key = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    const push = { payload: {}, isUrgent: true, isSilent: false };
    const sender = new ApnsSender({ key, keyId: 'id', teamId: 'team', url }, parts);
    const before = tinyproxy.requests.length;
    const device = { kind: 'apns', token: 'c0ffee', iosAppId: 'app' } as const;
    const sent = await Promise.all([sender.send(device, push), sender.send(device, push)]);
    expect(sent.map(({ outcome }) => outcome)).toEqual(['sent', 'sent']);
    // Notifications share one connection.
    expect(tinyproxy.requests.slice(before)).toEqual([`CONNECT ${url.slice('http://'.length)}`]);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const account = { projectId: 'p', clientEmail: 'e', tokenUrl: `${http}/token`, url: http };
    const fcm = new FcmSender(
      { ...account, privateKey: rsa.export({ format: 'pem', type: 'pkcs8' }) as string },
      parts,
    );
    expect(await fcm.send({ kind: 'fcm', token: 't', iosAppId: null }, push)).toMatchObject({ outcome: 'sent' });
    expect(seen).toEqual([
      'POST /3/device/c0ffee',
      'POST /3/device/c0ffee',
      `POST /token ${VIA}`,
      `POST /v1/projects/p/messages:send ${VIA}`,
    ]);
  });

  it('reports the status of a proxy that refuses the tunnel', async () => {
    const anonymous = new URL(tinyproxy.url);
    anonymous.username = '';
    anonymous.password = '';
    const refused = new OutgoingProxy({ http: null, https: anonymous.href, exceptions: [] });
    await expect(refused.tunnelTo(https, 5000)).rejects.toThrow('the proxy answers 407');
    await expect(refused.fetch(https)).rejects.toThrow('fetch failed');
  });

  it('delivers the bytes that a target sends together with the response of the proxy', async () => {
    const eager = createTcpServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 Connection established\r\n\r\nfirst'));
    });
    const proxyUrl = await listen(eager, 'http');
    const tunnel = await new OutgoingProxy({ http: proxyUrl, https: null, exceptions: [] }).tunnelTo(
      'http://name.invalid/',
      5000,
    );
    expect(String(await tunnel!.toArray())).toBe('first');
  });

  it('gives up on a proxy that does not respond', async () => {
    const silent = await listen(createTcpServer(), 'http');
    const dead = new OutgoingProxy({ http: null, https: silent, exceptions: [] });
    await expect(dead.tunnelTo(https, 50)).rejects.toThrow('aborted');
  });
});
