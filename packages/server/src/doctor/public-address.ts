import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Configuration } from '../configuration/configuration.js';
import type { Finding } from '../observation/postgres-findings.js';
import { type ProbeReport, probePathAt } from '../observation/probe.js';
import { findSecret } from '../start/secret.js';
import { reasonOf } from './log-in.js';

const MIB = 1024 * 1024;
/** Bytes sent of a body as large as the largest upload; clients send parts of 4 MiB. */
const SENT_BYTES = 5 * MIB;
/** Additional bytes of a form with a file. */
const FORM_BYTES = 1024;
/** Address that no client has. */
const FORGED = '203.0.113.9';
/** Headers that clients need. */
const HEADERS: Readonly<Record<string, string>> = {
  Authorization: 'Basic cHJvYmU6',
  Cookie: 'probe=1',
  'X-CSRFToken': 'probe',
  'X-Parley-User': '1',
  'Tus-Resumable': '1.0.0',
  'Upload-Offset': '0',
  'Upload-Metadata': 'filename cHJvYmU=',
};

export interface ProbeTimes {
  /** Time for which a response is held like that of a long poll. */
  readonly pollMs: number;
  /** Time between the first and the last byte of a stream. */
  readonly streamMs: number;
  /** Timeout of other responses. */
  readonly responseMs: number;
}

const TIMES: ProbeTimes = { pollMs: 55_000, streamMs: 3000, responseMs: 15_000 };

/** Tests the proxies between the public URL and the server by requests that the running server reports. @throws StartupError */
export async function examinePublicAddress(
  configuration: Pick<Configuration, 'url' | 'secret' | 'database' | 'fileLimits'>,
  { pollMs, streamMs, responseMs }: ProbeTimes = TIMES,
): Promise<readonly Finding[]> {
  const { url } = configuration;
  const { maxFileMib } = configuration.fileLimits;
  const secret = findSecret(configuration);
  if (url === null || secret === null) return [];
  const address = url.replace(/\/$/, '') + probePathAt(secret, Math.floor(Date.now() / 1000));
  const first = await ask(address, responseMs);
  const report = first.status === 200 ? reportIn(first.text) : null;
  if (!report) {
    const reason = first.failure ?? `the response has status ${first.status}`;
    return [
      advice(`${url} does not reach the running server from this machine, so that no proxy is tested: ${reason}`),
    ];
  }
  if (report.port === first.localPort) return [good(`${url} reaches the server without a proxy`)];
  const bytes = maxFileMib * MIB + FORM_BYTES;
  const [stream, body, poll] = await Promise.all([
    ask(`${address}?stream&wait=${streamMs}`, streamMs + responseMs),
    ask(`${address}?bytes=${Math.min(bytes, SENT_BYTES)}`, responseMs, bytes),
    ask(`${address}?wait=${pollMs}`, pollMs + responseMs),
  ]);
  const problems = [
    ...problemsOfHeaders(report, new URL(url)),
    ...problemsOfStream(stream, streamMs),
    ...problemsOfBody(body, maxFileMib),
    ...problemsOfPoll(poll, pollMs),
  ];
  if (problems.length > 0) return problems.map((text) => ({ level: 'problem', subject: 'proxy', text }));
  return [good(`${url}: streams, long polls, bodies, headers and addresses pass`)];
}

const good = (text: string): Finding => ({ level: 'good', subject: 'proxy', text });
const advice = (text: string): Finding => ({ level: 'advice', subject: 'proxy', text });

function* problemsOfHeaders({ headers, peer, isTrusted }: ProbeReport, { hostname }: URL): Generator<string> {
  const hosts = [headers.host, isTrusted && headers['x-forwarded-host']];
  if (!hosts.some((host) => host && String(host).replace(/:\d+$/, '') === hostname))
    yield `the proxy replaces Host (${hostname}) by ${headers.host}: nginx proxy_set_header Host $host; Apache ProxyPreserveHost On`;
  const dropped = Object.keys(HEADERS).filter((name) => !headers[name.toLowerCase()]?.includes(HEADERS[name]!));
  if (dropped.length > 0)
    yield `the proxy drops the headers ${dropped.join(', ')}: nginx proxy_pass_request_headers on;`;
  const own = 'nginx proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; HAProxy option forwardfor';
  const entries = String(headers['x-forwarded-for'] ?? '').split(',');
  const entry = entries.at(-1)!.trim();
  if (entry === FORGED) yield `the proxy lets every client choose its address: ${own}`;
  else if (entry === '') yield `the proxy hides the addresses of clients, which count as one: ${own}`;
  else if (!isTrusted) yield `all clients count as the address of the proxy: serve --trust-proxy ${peer}`;
}

function* problemsOfStream({ status, firstByteMs, failure }: Answer, streamMs: number): Generator<string> {
  if (status !== 200 || failure !== null) yield `a stream fails: ${failure ?? `status ${status}`}`;
  else if (firstByteMs! >= streamMs)
    yield 'the proxy buffers responses, so that event streams fail: nginx proxy_buffering off; Apache ProxyPass … flushpackets=on; Caddy flush_interval -1';
}

function* problemsOfBody({ status, failure }: Answer, maxFileMib: number): Generator<string> {
  const mebibytes = maxFileMib + Math.ceil(maxFileMib / 10);
  const limits = `nginx client_max_body_size ${mebibytes}m; Apache LimitRequestBody ${mebibytes * MIB}; Caddy request_body max_size ${mebibytes}MiB`;
  // A proxy that waits for the rest of the body accepts it.
  if (failure === TIMED_OUT) return;
  if (status === 413 || failure !== null)
    yield `the proxy refuses bodies of ${maxFileMib} MiB, the largest upload: ${limits}`;
  else if (status !== 200) yield `the proxy refuses PATCH with status ${status}, by which uploads continue`;
}

function* problemsOfPoll({ status, failure, durationMs }: Answer, pollMs: number): Generator<string> {
  if (status === 200 && failure === null) return;
  const timeouts =
    'nginx proxy_read_timeout 90s; Apache ProxyTimeout 90; HAProxy timeout server 90s; Caddy read_timeout 10m';
  const end = failure ?? `status ${status}`;
  yield `the proxy ends a long poll of ${pollMs / 1000} s after ${Math.round(durationMs / 1000)} s (${end}): ${timeouts}`;
}

function reportIn(text: string): ProbeReport | null {
  try {
    const report = JSON.parse(text) as Partial<ProbeReport>;
    return report.headers && report.peer !== undefined ? (report as ProbeReport) : null;
  } catch {
    return null;
  }
}

/** End of a request. `failure`: reason without a complete response. */
interface Answer {
  readonly status: number;
  readonly text: string;
  readonly failure: string | null;
  readonly localPort: number | null;
  readonly firstByteMs: number | null;
  readonly durationMs: number;
}

const TIMED_OUT = 'no response in time';

/** Sends a request; with `announced` bytes, it is a PATCH request of which only the first part is sent. */
function ask(address: string, timeoutMs: number, announced = 0): Promise<Answer> {
  const beganAt = performance.now();
  const send = address.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    let [status, text, firstByteMs]: [number, string, number | null] = [0, '', null];
    let localPort: number | null = null;
    const length = announced > 0 && { 'Content-Length': announced, 'Content-Type': 'application/offset+octet-stream' };
    const request: ClientRequest = send(address, {
      method: announced > 0 ? 'PATCH' : 'GET',
      headers: { ...HEADERS, 'X-Forwarded-For': FORGED, ...length },
      agent: false,
    });
    AbortSignal.timeout(timeoutMs).addEventListener('abort', () => finish(TIMED_OUT));
    const finish = (failure: string | null) => {
      resolve({ status, text, failure, localPort, firstByteMs, durationMs: performance.now() - beganAt });
      request.destroy();
    };
    request.on('error', (error) => finish(reasonOf(error)));
    request.on('response', (response: IncomingMessage) => {
      status = response.statusCode!;
      localPort = response.socket.localPort ?? null;
      response.setEncoding('utf8').on('data', (chunk: string) => {
        firstByteMs ??= performance.now() - beganAt;
        text += chunk;
      });
      response.on('end', () => finish(null));
      response.on('error', (error) => finish(reasonOf(error)));
    });
    if (announced > 0) request.write(Buffer.alloc(Math.min(announced, SENT_BYTES)));
    else request.end();
  });
}
