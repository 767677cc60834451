import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request as forward, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@parley/testkit';
import { readConfiguration } from '../configuration/read-configuration.js';
import { probePathAt, withProbes } from '../observation/probe.js';
import { startServer } from '../start/serve.js';
import { runCommand } from '../testing/run-command.js';
import { examinePublicAddress } from './public-address.js';

const SECRET = 'a secret of the server';
const TIMES = { pollMs: 600, streamMs: 600, responseMs: 2000 };
const MIB = 1024 * 1024;

/** Faults of a proxy. */
interface Faults {
  readonly buffersResponses?: boolean;
  readonly buffersRequests?: boolean;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  readonly refuses?: string;
  readonly headers?: (headers: IncomingMessage['headers']) => void;
}

const servers: Server[] = [];
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const proxyTo =
  (
    port: number,
    { buffersResponses, buffersRequests, maxBytes, timeoutMs, refuses, headers: change }: Faults,
  ): RequestListener =>
  async (incoming, response) => {
    if (Number(incoming.headers['content-length'] ?? 0) > (maxBytes ?? Number.POSITIVE_INFINITY)) {
      response.writeHead(413).end('<h1>Request Entity Too Large</h1>');
      return;
    }
    if (incoming.method === refuses) {
      response.writeHead(405).end();
      return;
    }
    const headers = { ...incoming.headers };
    headers['x-forwarded-for'] = `${headers['x-forwarded-for']}, 127.0.0.1`;
    change?.(headers);
    for (const name of Object.keys(headers)) if (headers[name] === undefined) delete headers[name];
    const body: Buffer[] = [];
    try {
      if (buffersRequests) for await (const chunk of incoming) body.push(chunk as Buffer);
    } catch {
      return;
    }
    const outgoing = forward({ port, host: '127.0.0.1', path: incoming.url, method: incoming.method, headers });
    const timer = timeoutMs && setTimeout(() => response.headersSent || response.writeHead(504).end(), timeoutMs);
    outgoing.on('error', () => response.destroy());
    outgoing.on('response', (answer) => {
      answer.on('error', () => response.destroy());
      if (response.headersSent) return;
      answer.on('end', () => timer && clearTimeout(timer));
      if (buffersResponses) {
        const held: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => held.push(chunk));
        answer.on('end', () => response.writeHead(answer.statusCode!).end(Buffer.concat(held)));
      } else {
        response.writeHead(answer.statusCode!);
        answer.pipe(response);
      }
    });
    incoming.on('error', () => outgoing.destroy());
    if (buffersRequests) outgoing.end(Buffer.concat(body));
    else incoming.pipe(outgoing);
  };

async function examine(faults: Faults = {}, trust: readonly string[] = ['127.0.0.0/8'], secret = SECRET) {
  const node = await serve(withProbes(SECRET, trust, (_, response) => response.writeHead(404).end()));
  const url = `http://127.0.0.1:${await serve(proxyTo(node, faults))}`;
  const database = { kind: 'sqlite', path: 'none.db' } as const;
  const fileLimits = { maxFileMib: 20, quotaMib: null, userQuotaMib: null };
  const findings = await examinePublicAddress({ url, secret, database, fileLimits }, TIMES);
  return findings.map(({ level, text }) => `${level}: ${text}`);
}

describe('parley doctor --thorough on the public address', () => {
  it('finds nothing wrong with a proxy that passes everything', async () => {
    expect(await examine()).toEqual([
      expect.stringMatching(/^good: .* streams, long polls, bodies, headers and addresses pass$/),
    ]);
  });

  it.each<[fault: string, faults: Faults, finding: RegExp]>([
    ['buffers responses', { buffersResponses: true }, /^problem: the proxy buffers responses.*proxy_buffering off/],
    [
      'refuses bodies below the upload limit',
      { maxBytes: 8 * MIB },
      /^problem: the proxy refuses bodies of 20 MiB.*client_max_body_size 22m; .*LimitRequestBody 23068672;/,
    ],
    ['refuses PATCH', { refuses: 'PATCH' }, /^problem: the proxy refuses PATCH with status 405/],
    [
      'ends long polls',
      { timeoutMs: 300 },
      /^problem: the proxy ends a long poll of 0.6 s after 0 s \(status 504\).*proxy_read_timeout 90s/,
    ],
    [
      'drops headers',
      { headers: (it) => Object.assign(it, { authorization: undefined, 'upload-offset': undefined }) },
      /^problem: the proxy drops the headers Authorization, Upload-Offset/,
    ],
    [
      'replaces Host',
      { headers: (it) => Object.assign(it, { host: 'node:9991' }) },
      /^problem: the proxy replaces Host \(127.0.0.1\) by node:9991.*proxy_set_header Host \$host/,
    ],
    [
      'lets clients choose their address',
      { headers: (it) => Object.assign(it, { 'x-forwarded-for': '203.0.113.9' }) },
      /^problem: the proxy lets every client choose its address.*X-Forwarded-For/,
    ],
    [
      "hides the client's address",
      { headers: (it) => Object.assign(it, { 'x-forwarded-for': undefined }) },
      /^problem: the proxy hides the addresses of clients/,
    ],
  ])('names the directive for a proxy that %s', async (_, faults, finding) => {
    expect((await examine(faults)).filter((text) => finding.test(text))).toHaveLength(1);
  });

  it('accepts a proxy that sends requests on once it has them', async () => {
    expect(await examine({ buffersRequests: true })).toEqual([expect.stringMatching(/^good: /)]);
  });

  it('names the address of a proxy that --trust-proxy lacks', async () => {
    const findings = await examine({}, ['10.0.0.0/8']);
    expect(findings).toEqual([expect.stringMatching(/^problem: .*serve --trust-proxy 127\.0\.0\.1$/)]);
  });

  it('advises to start the server if another program responds', async () => {
    const findings = await examine({}, [], 'the secret of another server');
    expect(findings).toEqual([expect.stringMatching(/^advice: .* does not reach the running server .* status 404$/)]);
  });

  it('responds only to probes of the last minutes', async () => {
    const node = await serve(withProbes(SECRET, 0, (_, response) => response.writeHead(404).end()));
    const seconds = Math.floor(Date.now() / 1000);
    const statusAt = async (time: number) =>
      (await fetch(`http://127.0.0.1:${node}${probePathAt(SECRET, time)}`)).status;
    expect(await Promise.all([seconds, seconds - 301, seconds + 400].map(statusAt))).toEqual([200, 404, 404]);
  });

  it('reaches a running server without a proxy', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-probe-'));
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const database = `sqlite:${join(folder, 'parley.db')}`;
    const { configuration } = readConfiguration([], {
      PARLEY_DATABASE: database,
      PARLEY_URL: url,
      PARLEY_PORT: String(port),
      PARLEY_LOG_LEVEL: 'silent',
    });
    const server = await startServer(configuration, false, () => {});
    try {
      const { out } = await runCommand(['doctor', '--thorough', `--database=${database}`], {
        environment: { PARLEY_URL: url },
      });
      expect(out).toContain(`ok       proxy: ${url} reaches the server without a proxy`);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  });
});
