import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createProxy, connect as dial, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ParleyClient, ParleyError, type ReceivedEvent } from '@parley/client';
import { until } from '@parley/testkit';
import { bundleClient } from './testing/bundle-client.js';
import { pause, within } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

describe('ParleyClient', () => {
  let organization: TestOrganization;
  let ann: Person;
  let bob: Person;
  beforeAll(async () => {
    // Restores the native class, which zulip-js replaces.
    const native = await new Response(new URLSearchParams()).formData();
    globalThis.FormData = native.constructor as typeof FormData;
    organization = await TestOrganization.withOrganization();
    [ann, bob] = [await organization.addPerson('Ann', 'owner'), await organization.addPerson('Bob')];
  });
  afterAll(() => organization.close());

  const clientOf = (url: string, person: Person, options = {}) =>
    new ParleyClient({ url, credentials: { email: person.email, apiKey: person.apiKey }, ...options });

  /** Returns the content of the next message and collects earlier events. */
  async function nextMessage(events: AsyncIterator<ReceivedEvent>, passed: string[] = []): Promise<string> {
    for (;;) {
      const next = await within(60_000, events.next());
      if (!next || next.done) throw new Error('No message came');
      const event = next.value;
      if (event.type === 'message') return event.message.content;
      passed.push(event.type === 'registered' ? `registered: ${event.reason}` : event.type);
    }
  }

  it('calls operations, uploads files and reports errors', async () => {
    const { url } = await organization.serve();
    const client = clientOf(url, ann);
    expect(await client.get('/users/me')).toMatchObject({ full_name: 'Ann', user_id: ann.id });
    await client.post('/users/me/subscriptions', { subscriptions: [{ name: 'orders' }] });
    const { id } = await client.post('/messages', { type: 'channel', to: 'orders', topic: '7', content: 'Paid' });
    await client.patch('/messages/{message_id}', { message_id: id, content: 'Paid *twice*' });
    const { messages } = await client.get('/messages', { anchor: 'newest', num_before: 1, num_after: 0 });
    expect(messages).toMatchObject([{ id, content: '<p>Paid <em>twice</em></p>' }]);
    const { url: path } = await client.post('/user_uploads', { filename: new File(['data'], 'data.txt') });
    expect(path).toMatch(/data\.txt$/);
    await client.post('/navigation_views', { fragment: 'narrow/is/starred', is_pinned: true });
    await client.delete('/navigation_views/{fragment}', { fragment: 'narrow/is/starred' });
    expect((await client.get('/navigation_views')).navigation_views).toEqual([]);

    const refusal = await client.get('/messages/{message_id}', { message_id: 999_999 }).catch((error) => error);
    expect(refusal).toBeInstanceOf(ParleyError);
    expect(refusal).toMatchObject({ code: 'BAD_REQUEST', status: 400, isTemporary: false });
    const wrong = { url, username: ann.email, password: 'wrong' };
    await expect(ParleyClient.logIn(wrong)).rejects.toMatchObject({ code: 'AUTHENTICATION_FAILED', status: 401 });
  });

  it('continues after a kill -9 of the server with every message once and in order', async () => {
    let server = await organization.serve();
    const { url, port } = server;
    const changes: string[] = [];
    const stream = clientOf(url, ann).events({ event_types: ['message'] }, { onConnection: (it) => changes.push(it) });
    const events = stream[Symbol.asyncIterator]();
    const sender = clientOf(url, bob);
    const send = (content: string) => sender.post('/messages', { type: 'direct', to: [ann.id], content });
    expect((await events.next()).value).toMatchObject({ type: 'registered', reason: 'start' });
    expect(stream.queueId).toEqual(expect.any(String));
    const passed: string[] = [];
    await send('one');
    expect(await nextMessage(events, passed)).toBe('<p>one</p>');
    const second = nextMessage(events, passed);
    await pause(200);
    await server.kill();
    await pause(500);
    server = await organization.serve([], port);
    // The server ends an idle poll after 45 seconds at the earliest.
    await within(
      30_000,
      until(() => changes.length === 2),
    );
    expect(changes).toEqual(['offline', 'online']);
    await send('two');
    await send('three');
    expect(await second).toBe('<p>two</p>');
    expect(await nextMessage(events, passed)).toBe('<p>three</p>');
    expect(passed.filter((it) => it.startsWith('registered'))).toEqual([]);
    expect(changes).toEqual(['offline', 'online']);
    await events.return?.();
    await server.terminate();
  });

  it('registers again and reports it if the queue has expired', async () => {
    const { url } = await organization.serve();
    const client = clientOf(url, ann);
    const stream = client.events({ event_types: ['message'] });
    const events = stream[Symbol.asyncIterator]();
    await events.next();
    const first = stream.queueId!;
    const passed: string[] = [];
    const message = nextMessage(events, passed);
    await client.delete('/events', { queue_id: first });
    for (let attempt = 0; stream.queueId === first && attempt < 600; attempt++) await pause(50);
    await clientOf(url, bob).post('/messages', { type: 'direct', to: [ann.id], content: 'again' });
    expect(await message).toBe('<p>again</p>');
    expect(passed).toContain('registered: expired');
    await events.return?.();
  });

  it('ends during a poll when closed or aborted and removes its queue', async () => {
    const { url } = await organization.serve();
    const client = clientOf(url, ann);
    const closed = client.events({ event_types: ['message'] });
    const seen: string[] = [];
    let queueId = '';
    for await (const { type } of closed) {
      seen.push(type);
      queueId = closed.queueId!;
      setTimeout(() => closed.close(), 300);
    }
    expect(seen).toEqual(['registered']);
    const isGone = () =>
      client.get('/events', { queue_id: queueId, last_event_id: -1, dont_block: true }).then(
        () => false,
        ({ code }) => code === 'BAD_EVENT_QUEUE_ID',
      );
    for (let attempt = 0; !(await isGone()) && attempt < 1000; attempt++) await pause(20);
    expect(await isGone()).toBe(true);

    const abort = new AbortController();
    const aborted = (async () => {
      for await (const _event of client.events({ event_types: ['message'] }, { signal: abort.signal })) {
        setTimeout(() => abort.abort(new Error('enough')), 100);
      }
    })();
    await expect(aborted).rejects.toThrow('enough');
  });

  describe('through an unreliable proxy', () => {
    let proxy: ReturnType<typeof createProxy>;
    const sockets = new Set<Socket>();
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    });

    it('retries and receives missed events', async () => {
      const server = await organization.serve();
      proxy = createProxy((socket) => {
        const upstream = dial(Number(server.port), '127.0.0.1');
        for (const one of [socket, upstream]) {
          sockets.add(one);
          one.on('error', () => {}).on('close', () => sockets.delete(one));
        }
        socket.on('close', () => upstream.destroy()).pipe(upstream);
        upstream.on('close', () => socket.destroy()).pipe(socket);
      }).listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      const events = clientOf(`http://localhost:${portOf(proxy)}`, ann)
        .events({ event_types: ['message'] })
        [Symbol.asyncIterator]();
      await events.next();
      for (const content of ['a', 'b', 'c']) {
        const message = nextMessage(events);
        await pause(150);
        for (const socket of sockets) socket.destroy();
        await clientOf(server.url, bob).post('/messages', { type: 'direct', to: [ann.id], content });
        expect(await message).toBe(`<p>${content}</p>`);
      }
      await events.return?.();
    });
  });

  describe('with a failing server', () => {
    let other: Server;
    let answers: (readonly [status: number, body: string, headers?: Record<string, string>])[];
    let asked: { readonly method: string; readonly at: number }[];
    beforeEach(async () => {
      [answers, asked] = [[], []];
      other = createServer((request, response) => {
        asked.push({ method: request.method!, at: performance.now() });
        const [status, body, headers = {}] = answers.shift()!;
        response.writeHead(status, headers).end(body);
      }).listen(0, '127.0.0.1');
      await once(other, 'listening');
    });
    afterEach(() => other.close());

    const SUCCESS = [200, '{"result":"success","msg":"","id":5}'] as const;
    const LIMITED = [429, '{"result":"error","msg":"Slow down","code":"RATE_LIMIT_HIT","retry-after":0.6}'] as const;
    const GATEWAY = [502, '<h1>Bad gateway</h1>'] as const;
    const client = (options = {}) => clientOf(`http://127.0.0.1:${portOf(other)}`, ann, options);
    const send = (it: ParleyClient) => it.post('/messages', { type: 'direct', to: [1], content: 'x' });

    it('waits for any call as long as a 429 response requests', async () => {
      answers = [LIMITED, [...SUCCESS]];
      expect(await send(client())).toMatchObject({ id: 5 });
      expect(asked[1]!.at - asked[0]!.at).toBeGreaterThan(595);
    });

    it('retries reads after network failures and never sends twice', async () => {
      answers = [GATEWAY, [...SUCCESS]];
      await client().get('/users/me');
      expect(asked).toHaveLength(2);
      answers = [GATEWAY];
      await expect(send(client())).rejects.toMatchObject({ code: 'NOT_PARLEY', status: 502, isTemporary: true });
      expect(asked).toHaveLength(3);
    });

    it('gives up after the maximum number of attempts, or immediately if the delay is too long', async () => {
      answers = [GATEWAY, GATEWAY];
      await expect(client({ maxRetries: 1 }).get('/users/me')).rejects.toMatchObject({ code: 'NOT_PARLEY' });
      answers = [[429, '{"result":"error","msg":"Tomorrow","code":"RATE_LIMIT_HIT"}', { 'Retry-After': '86400' }]];
      await expect(client().get('/users/me')).rejects.toMatchObject({ retryAfterMs: 86_400_000 });
    });

    it('ends the stream of a logged-out user', async () => {
      answers = [[401, '{"result":"error","msg":"Invalid API key","code":"INVALID_API_KEY"}']];
      const events = client().events()[Symbol.asyncIterator]();
      await expect(events.next()).rejects.toMatchObject({ code: 'INVALID_API_KEY', status: 401 });
    });
  });

  it('takes less than 15 KB bundled, minified and compressed, without dependencies', async () => {
    const { code, metafile } = await bundleClient();
    expect(Object.values(metafile.outputs).flatMap(({ imports }) => imports)).toEqual([]);
    expect(gzipSync(code).length).toBeLessThan(15_000);
  });
});
