import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Span, trace } from '@opentelemetry/api';
import { NotificationMeter } from '@parley/domain/push';
import type { Route } from '@parley/http';
import { freePort } from '@parley/testkit';
import { readConfiguration } from '../configuration/read-configuration.js';
import { type RunningServer, startServer } from '../start/serve.js';
import { ServerMetrics } from './metrics.js';
import { openTelemetryTracer } from './open-telemetry.js';
import { notReady, Readiness, withHealth } from './readiness.js';

const NO_GAUGES = {
  ...{ requestsInFlight: 0, bodiesBytes: 0, answersBytes: 0, queues: 0, waitingPolls: 0 },
  ...{
    undeliveredEvents: 0,
    jobLagSeconds: new Map<string, number>(),
    storage: null,
    bucket: null,
    cluster: null,
    disk: null,
    lastBackup: null,
  },
  ...{ bus: { state: 'connected' as const } },
};

describe('metrics and health endpoint', () => {
  let directory: string;
  let metricsPort: number;
  let server: RunningServer;
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'parley-observed-'));
    metricsPort = await freePort();
    server = await start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  function start(...args: readonly string[]): Promise<RunningServer> {
    const database = `--database=sqlite:${join(directory, 'parley.db')}`;
    const all = ['--port=0', '--log-level=silent', database, `--metrics=127.0.0.1:${metricsPort}`, ...args];
    return startServer(readConfiguration(all, {}).configuration, false, () => {});
  }

  const operator = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${metricsPort}${path}`, init);
  const metrics = async () => (await operator('/metrics')).text();
  const readingOf = (text: string, name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);

  it('counts requests by operation and status and measures their duration', async () => {
    await fetch(`${server.url}/api/v1/messages`);
    await fetch(`${server.url}/api/v1/messages`);
    await fetch(`${server.url}/api/v1/nothing/at/all`);
    const text = await metrics();
    expect(text).toContain('parley_http_requests_total{operation="GET /messages",status="401"} 2');
    expect(text).toContain('parley_http_requests_total{operation="none",status="404"} 1');
    expect(text).toContain('parley_http_request_duration_seconds_count{operation="GET /messages"} 2');
  });

  it('generates the metrics once for concurrent requests', async () => {
    const own = await ServerMetrics.create({ version: '1', ofProcess: false });
    expect(own.text()).toBe(own.text());
    const before = await own.text();
    own.committed({ units: 1, durationMs: 1 });
    expect(await own.text()).not.toBe(before);
  });

  it('counts notifications by channel and result, with the duration of attempts', async () => {
    const own = await ServerMetrics.create({ version: '1', ofProcess: false });
    const notifications = new NotificationMeter();
    notifications.due = 3;
    notifications.sent('push', 0.25);
    notifications.sent('push', 0.5);
    notifications.dropped('push', 'expired');
    notifications.dropped('web_push', 'refused');
    await expect(notifications.measure('email', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    own.watch(async () => ({ ...NO_GAUGES, notifications }));
    const text = await own.text();
    const result = (channel: string, name: string) =>
      readingOf(text, `parley_notifications_total{channel="${channel}",result="${name}"}`);
    expect(readingOf(text, 'parley_notifications_due_total')).toBe(3);
    expect([result('push', 'sent'), result('push', 'failed'), result('push', 'expired')]).toEqual([2, 0, 1]);
    expect([result('web_push', 'refused'), result('email', 'failed')]).toEqual([1, 1]);
    expect(readingOf(text, 'parley_notification_seconds_total{channel="push"}')).toBe(0.75);
  });

  it('has the suffix `_total` at counters only, as promtool requires', async () => {
    const own = await ServerMetrics.create({ version: '1', ofProcess: true });
    const types = [...(await own.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    expect(types.length).toBeGreaterThan(30);
    const misnamed = types.filter(([, name, type]) => name!.endsWith('_total') !== (type === 'counter'));
    expect(misnamed.map(([line]) => line)).toEqual([]);
  });

  it('reports commits, queues, jobs, memory and the event loop', async () => {
    await fetch(`${server.url}/readyz`); // the readiness check writes
    const text = await metrics();
    expect(readingOf(text, 'parley_up')).toBe(1);
    expect(readingOf(text, 'parley_commit_duration_seconds_count')).toBeGreaterThan(0);
    expect(readingOf(text, 'parley_commit_units_count')).toBeGreaterThan(0);
    expect(readingOf(text, 'parley_database_bytes')).toBeGreaterThan(0);
    expect(readingOf(text, 'parley_database_log_bytes')).toBeGreaterThan(0);
    expect(readingOf(text, 'parley_disk_free_bytes')).toBeGreaterThan(0);
    for (const name of [
      'event_queues',
      'polls_waiting',
      'events_undelivered',
      'writes_waiting',
      'http_requests_in_flight',
    ]) {
      expect([name, readingOf(text, `parley_${name}`)]).toEqual([name, 0]);
    }
    expect(text).toMatch(/^parley_job_lag_seconds\{kind="[\w.]+"\} 0$/m);
    expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
    expect(text).toMatch(/^process_resident_memory_bytes /m);
  });

  it('responds to health and readiness checks on both listeners', async () => {
    const [health, ready, checks] = await Promise.all([
      fetch(`${server.url}/healthz`),
      fetch(`${server.url}/readyz`),
      operator('/readyz'),
    ]);
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
    expect(await checks.json()).toEqual({ status: 'ready', checks: { write: 'ok', schema: 'ok', disk: 'ok' } });
    expect((await operator('/healthz', { method: 'HEAD' })).status).toBe(200);
  });

  it('serves metrics on the operator listener only', async () => {
    expect((await fetch(`${server.url}/metrics`)).status).toBe(404);
    expect((await operator('/api/v1/server_settings')).status).toBe(404);
    expect((await operator('/metrics', { method: 'POST' })).status).toBe(405);
  });

  it('reports a metrics port in use and keeps running', async () => {
    await expect(start()).rejects.toThrow(/is in use by another program; choose another one with --metrics\./);
  });

  it('responds while draining but reports that it is not ready', async () => {
    await server.stop();
    server = await start('--drain-seconds=3');
    const stopping = server.stop();
    const ready = await fetch(`${server.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready' }]);
    expect(await (await operator('/readyz')).json()).toMatchObject({ checks: { state: 'draining' } });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await stopping;
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  });
});

describe('Readiness', () => {
  it('reports the failed check and caches results for a second', async () => {
    let looks = 0;
    const readiness = new Readiness([
      {
        name: 'disk',
        run: () => {
          looks++;
          throw new Error('later', { cause: new Error('it is full') });
        },
      },
      { name: 'write', run: async () => {} },
    ]);
    const reports = await Promise.all([readiness.report(), readiness.report(), readiness.report()]);
    expect(reports[2]).toEqual({ isReady: false, checks: { disk: 'it is full', write: 'ok' } });
    expect(looks).toBe(1);
    readiness.end();
    expect(await readiness.report()).toEqual({ isReady: false, checks: { state: 'draining' } });
  });

  it('fails a check that takes too long', async () => {
    const readiness = new Readiness([{ name: 'write', run: () => new Promise(() => {}) }]);
    expect(await readiness.report()).toEqual({ isReady: false, checks: { write: 'took longer than 3 s' } });
  });

  it('passes other paths to the server', async () => {
    const server = createServer(
      withHealth(
        async () => notReady('starting'),
        (_, response) => response.end('mine'),
      ),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await (await fetch(`${url}/healthz/x`)).text()).toBe('mine');
    expect(await (await fetch(`${url}/healthz`, { method: 'POST' })).text()).toBe('mine');
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    server.close();
  });
});

describe('tracing', () => {
  const ROUTE = { method: 'POST', path: '/messages' } as Route;
  const request = { method: 'POST', headers: {} } as IncomingMessage;
  afterEach(() => trace.disable());

  it('starts no span without a provider', async () => {
    expect((await openTelemetryTracer('1')).start(request)).toBeNull();
  });

  it('uses a provider even if it is registered late', async () => {
    const tracer = await openTelemetryTracer('1');
    const said: unknown[] = [];
    const span = {
      isRecording: () => true,
      updateName: (name: string) => said.push(name),
      setAttribute: (name: string, value: unknown) => said.push([name, value]),
      setStatus: (status: unknown) => said.push(status),
      end: () => said.push('end'),
    } as unknown as Span;
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span }) as never });
    const traced = tracer.start(request)!;
    await traced.run(async () => said.push('work'));
    traced.end({ route: ROUTE, status: 503, durationMs: 1 });
    expect(said).toEqual([
      'work',
      'POST /messages',
      ['http.route', '/messages'],
      ['http.response.status_code', 503],
      { code: 2 },
      'end',
    ]);
  });
});
