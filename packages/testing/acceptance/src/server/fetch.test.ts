import { setTimeout as sleep } from 'node:timers/promises';
import { fieldsOf } from '../testing/expectations.js';
import { MULTIPART, multipart } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';
import { basic } from '../testing/test-server.js';

const { server } = serverPerSuite();

const authorization = () => ({ Authorization: basic(server.people.hamlet) });
const requestFor = (path: string, init: RequestInit & { readonly duplex?: 'half' } = {}) =>
  new Request(server.url + path, {
    ...init,
    headers: { ...authorization(), 'Accept-Encoding': 'identity', ...init.headers },
  });
const fetchIt = (path: string, init?: RequestInit & { readonly duplex?: 'half' }) =>
  server.parley.fetch(requestFor(path, init));

/** Headers that differ between any two responses, or belong to a connection. */
const VARIABLE =
  /^(connection|date|expires|keep-alive|last-modified|transfer-encoding|x-request-id|set-cookie|x-ratelimit-.*)$/;
async function partsOf(response: Response) {
  const headers = [...response.headers].filter(([name]) => !VARIABLE.test(name));
  const body = (await response.text()).replace(/(csrfmiddlewaretoken" value)="[^"]*"/, '$1');
  return { status: response.status, headers, body, cookies: response.headers.getSetCookie().length };
}

async function waitingPoll(path = '/api/v1/events') {
  const { hamlet } = server.people;
  const { queue_id } = fieldsOf(await server.post('/register', hamlet, { event_types: ['message'] }));
  const aborted = new AbortController();
  const { signal } = aborted;
  const response = fetchIt(`${path}?queue_id=${queue_id}&last_event_id=-1`, { signal });
  const lastPolled = () => server.parley.ports.servedQueues.lastPolled(hamlet.id).get(queue_id);
  while (lastPolled() !== Number.POSITIVE_INFINITY) await sleep(1);
  return { response, aborted, hasEnded: () => lastPolled() !== Number.POSITIVE_INFINITY };
}

describe('fetch', () => {
  it.each([
    ['GET', '/api/v1/users/me'],
    ['GET', '/api/v1/messages?anchor=newest&num_before=5&num_after=0'],
    ['GET', '/api/v1/messages'],
    ['HEAD', '/api/v1/users/me'],
    ['OPTIONS', '/api/v1/users/me'],
    ['DELETE', '/api/v1/drafts/7'],
    ['POST', '/api/v1/messages'],
    ['PUT', '/api/v1/nowhere%2Felse?a=%20b'],
    ['GET', '/login/'],
    ['GET', '/accounts/login/'],
  ])('returns the same response as the mount to %s %s', async (method, path) => {
    const overNetwork = await fetch(requestFor(path, { method }));
    expect(await partsOf(await fetchIt(path, { method }))).toEqual(await partsOf(overNetwork));
  });

  it('reads forms, and responds to an unknown host as the mount does', async () => {
    const { iago } = server.people;
    const body = new URLSearchParams({ type: 'direct', to: `[${iago.id}]`, content: 'by fetch' });
    const sent = await fetchIt('/api/v1/messages', { method: 'POST', body });
    expect(await sent.json()).toMatchObject({ result: 'success' });
    const wrongHost = requestFor('/api/v1/users/me', { headers: { Host: 'nowhere.example.com' } });
    expect((await server.parley.fetch(wrongHost)).status).toBe(
      (await server.request('GET', '/users/me', { as: server.people.hamlet, headers: { Host: 'nowhere.example.com' } }))
        .status,
    );
  });

  it('streams uploads and downloads', async () => {
    const content = Buffer.alloc(3_000_000, 'parley ');
    const form = multipart([{ name: 'large.txt', content }]);
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < form.length; at += 50_000) controller.enqueue(form.subarray(at, at + 50_000));
        controller.close();
      },
    });
    const uploaded = await fetchIt('/api/v1/user_uploads', {
      method: 'POST',
      headers: MULTIPART,
      body,
      duplex: 'half',
    });
    const { url } = (await uploaded.json()) as { readonly url: string };
    const file = await fetchIt(`/api/v1${url}`);
    const { url: temporary } = (await file.json()) as { readonly url: string };
    const downloaded = await server.parley.fetch(new Request(server.url + temporary));
    expect(Buffer.from(await downloaded.arrayBuffer()).equals(content)).toBe(true);
  });

  it('reads no more of a rejected upload', async () => {
    let chunks = 0;
    const body = new ReadableStream({
      pull(controller) {
        chunks++;
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    const init = {
      method: 'POST',
      headers: { ...MULTIPART, Authorization: 'Basic !!' },
      body,
      duplex: 'half' as const,
    };
    expect((await fetchIt('/api/v1/user_uploads', init)).status).toBe(401);
    await sleep(50);
    const before = chunks;
    await sleep(50);
    expect(chunks).toBe(before);
    expect(chunks).toBeLessThan(50);
  });

  it.each([
    ['consumed', (request: Request) => request.text()],
    ['locked', (request: Request) => request.body!.getReader()],
    [
      'drained',
      async (request: Request) => {
        const reader = request.body!.getReader();
        while (!(await reader.read()).done);
        reader.releaseLock();
      },
    ],
  ])('rejects a request with a %s body at once, and opens no connection that an abort could break', async (_, use) => {
    const aborted = new AbortController();
    const init = { method: 'POST', headers: { 'Content-Length': '5' }, body: 'a=b&c', signal: aborted.signal };
    const request = requestFor('/api/v1/messages', init);
    await use(request);
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    await expect(server.parley.fetch(request)).rejects.toThrow(/body nobody has read|is locked/);
    aborted.abort();
    await sleep(20);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it.each([
    ['GET', '/api/v1/users/me'],
    ['POST', '/api/v1/messages'],
  ])('ignores the length of a %s request without body to %s', async (method, path) => {
    const overNetwork = await partsOf(await fetch(requestFor(path, { method })));
    expect(await partsOf(await fetchIt(path, { method, headers: { 'Content-Length': '5' } }))).toEqual(overNetwork);
  });

  it.each([
    ['shorter', 5],
    ['longer', -5],
  ])('rejects a body that is %s than declared, without waiting, and stores nothing', async (_, missing) => {
    const { hamlet } = server.people;
    const body = `type=direct&to=[${hamlet.id}]&content=declared`;
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': String(body.length + missing),
    };
    await expect(fetchIt('/api/v1/messages', { method: 'POST', headers, body })).rejects.toThrow('Content-Length');
    const page = { anchor: 'newest', num_before: 5, num_after: 0 };
    const { messages } = fieldsOf(await server.get('/messages', hamlet, page));
    expect(JSON.stringify(messages)).not.toContain('declar');
  });

  it.each<[string, string, RequestInit, number]>([
    ['more headers than the maximum', '', { headers: { 'X-Long': 'x'.repeat(140_000) } }, 431],
    ['a URL beyond the maximum', `?a=${'x'.repeat(140_000)}`, {}, 431],
    ['a control character in a header', '', { headers: { 'X-Control': 'a\u0001b' } }, 400],
    ['an unknown method', '', { method: 'NONSENSE' }, 400],
    ['an impossible length', '', { method: 'POST', headers: { 'Content-Length': '1x' }, body: 'a' }, 400],
  ])('rejects %s, which the parser of the mount rejects, in the form of errors', async (_, query, init, status) => {
    const response = await fetchIt(`/api/v1/users/me${query}`, init);
    expect([response.status, response.headers.get('Content-Type')]).toEqual([status, 'application/json']);
    expect(await response.json()).toEqual({ result: 'error', msg: expect.any(String), code: 'BAD_REQUEST' });
  });

  it('rejects a URL that cannot be a path', async () => {
    expect((await server.parley.fetch(new Request('data:a b'))).status).toBe(400);
  });

  it('ends a waiting poll whose request is aborted', async () => {
    const { response, aborted, hasEnded } = await waitingPoll();
    aborted.abort();
    expect((await response).status).toBe(499);
    while (!hasEnded()) await sleep(1);
  });

  it('sends events of a stream at once, until its body is cancelled', async () => {
    const { response, hasEnded } = await waitingPoll('/api/v1/events/stream');
    const reader = (await response).body!.getReader();
    await server.post('/messages', server.people.hamlet, {
      ...{ type: 'direct', to: [server.people.hamlet.id], content: 'streamed' },
    });
    let text = '';
    while (!text.includes('streamed')) text += new TextDecoder().decode((await reader.read()).value);
    await reader.cancel();
    while (!hasEnded()) await sleep(1);
  });
});
