import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeliverWebhooks } from '@parley/domain/membership';
import { runCommand } from '@parley/server/testing';
import { hasTinyproxy, PROXIED_HOST, Tinyproxy } from '@parley/testkit';
import { runJobs } from '../testing/jobs.js';
import { TestServer } from '../testing/test-server.js';

(hasTinyproxy ? describe : describe.skip)('server with an outgoing proxy', () => {
  let tinyproxy: Tinyproxy;
  let service: Server;
  let url: string;
  let seen: string[] = [];

  beforeAll(async () => {
    tinyproxy = await Tinyproxy.start();
    service = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.via?.split(' (')[0]}`);
      response.end('<response><returncode>SUCCESS</returncode><createTime>1</createTime></response>');
    });
    await new Promise<void>((resolve) => service.listen(0, resolve));
    url = `http://${PROXIED_HOST}:${(service.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    seen = [];
  });
  afterAll(async () => {
    service.close();
    service.closeAllConnections();
    await tinyproxy.stop();
  });

  it('sends webhooks and creates meetings through it', async () => {
    const server = await TestServer.start({
      outgoingProxy: { http: tinyproxy.url, https: null, exceptions: [] },
      webhookNetworks: [`${PROXIED_HOST}/32`],
      bigBlueButton: { url, secret: 'shared' },
    });
    const { hamlet } = server.people;
    const bot = { full_name: 'hook', short_name: 'hook', bot_type: 3, payload_url: JSON.stringify(`${url}/hook`) };
    await server.createChannel('general', [hamlet]);
    await server.post('/bots', hamlet, bot);
    await server.sendMessage(hamlet, 'general', { topic: 'a', content: '@**hook**' });
    await runJobs(server, server.parley.useCase(DeliverWebhooks));
    const meeting = { realmId: server.realmId, key: 'k', name: 'call', isVoiceOnly: false, moderatorId: hamlet.id };
    await server.parley.ports.meetingServer!.join(meeting, { fullName: 'Hamlet', isModerator: true });
    expect(seen).toEqual(['POST /hook 1.1 proxy', expect.stringMatching(/^GET \/api\/create\?.* 1\.1 proxy$/)]);
    await server.close();
  });

  it('is named by parley doctor, which reaches the bucket through it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-doctor-'));
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' });
    const run = (environment: Record<string, string>, ...args: readonly string[]) =>
      runCommand(args, { environment: { PARLEY_DATABASE: `sqlite:${join(folder, 'parley.db')}`, ...environment } });
    await run({}, 'realm', 'create', '--new-database', '', 'Root');
    const files = { PARLEY_FILES: `s3:bucket?endpoint=${url}` };
    const { out } = await run(
      { ...files, HTTP_PROXY: tinyproxy.url, NO_PROXY: 'corp.example' },
      'doctor',
      '--thorough',
    );
    const { host } = new URL(tinyproxy.url);
    expect(out).toContain(`outgoing calls use ${host} for http, except corp.example`);
    expect(out).not.toContain('user:secret');
    const marks = ['parley-database.json', 'parley-history.json'];
    const requests = ['HEAD /bucket/', ...marks.map((name) => `GET /bucket/${name}?x-id=GetObject`)];
    expect(seen).toEqual(requests.map((request) => `${request} 1.1 proxy`));
    const direct = { ...files, HTTP_PROXY: tinyproxy.url, PARLEY_OUTGOING_PROXY: 'off' };
    expect((await run(direct, 'doctor', '--thorough')).out).not.toContain('outgoing calls');
    expect(seen.slice(3)).toEqual(requests.map((request) => `${request} undefined`));
    expect(await run({ HTTPS_PROXY: 'socks5://a' }, 'doctor')).toMatchObject({
      code: 2,
      err: expect.stringContaining('HTTPS_PROXY must be the address of an HTTP proxy'),
    });
    rmSync(folder, { recursive: true });
  });
});
