import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PreviewLinks } from '@parley/domain/writing';
import { openHeic, SharpImageProcessor } from '@parley/images';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { pngOf } from '../testing/images.js';
import { runJobs } from '../testing/jobs.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let server: TestServer;
let people: TestServer['people'];
let site: Server;
let siteUrl: string;
/** Responses by path; 404 for others. */
let pages: Record<string, RequestListener> = {};
let requested: string[] = [];

beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === '/tide.png') return response.writeHead(200).end(pngOf(10, 10));
    requested.push(request.url!);
    const answer = pages[request.url!];
    if (answer) answer(request, response);
    else response.writeHead(404).end();
    return;
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  server = await TestServer.start({
    webhookNetworks: ['127.0.0.0/8'],
    images: new SharpImageProcessor(openHeic),
  });
  ({ people } = server);
  await server.createChannel('general', [people.hamlet, people.cordelia]);
  await showPreviews(true);
});
afterAll(async () => {
  site.close();
  await server.close();
});
let count = 0;
beforeEach(() => {
  pages = {};
  requested = [];
  count++;
});

const showPreviews = async (isOn: boolean) =>
  fieldsOf(await server.patch('/realm', people.desdemona, { inline_url_embed_preview: isOn }));

const page =
  (head: string): RequestListener =>
  (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<html><head>${head}</head>`);
const ARTICLE = `<title>Other</title><meta property="og:title" content="Tides &amp; <i>moons</i>">
  <meta property="og:description" content="Why &quot;it&quot; rises"><meta property="og:image" content="/tide.png">`;

/** Address of a page that no earlier test has used. */
const link = (name = 'page') => `${siteUrl}/${count}/${name}`;
const serve = (name: string, listener: RequestListener): string => {
  pages[`/${count}/${name}`] = listener;
  return link(name);
};

const say = async (content: string, as: TestUser = people.hamlet): Promise<number> =>
  fieldsOf(await server.post('/messages', as, { type: 'channel', to: 'general', topic: 'links', content })).id;
const shown = async (id: number): Promise<string> =>
  (fieldsOf(await server.get(`/messages/${id}`, people.hamlet)) as Wire).message.content;
const preview = () => runJobs(server, server.parley.useCase(PreviewLinks));
const pathIn = (html: string): string => /url\(&quot;([^&]*)&quot;\)/.exec(html)![1]!;

describe('link preview (markdown §15.6)', () => {
  it('appends title, description and picture after the send and publishes a rendering-only update', async () => {
    const url = serve('page', page(ARTICLE));
    const id = await say(`see ${url}`);
    const before = await shown(id);
    expect(before).not.toContain('message_embed');
    const queue = await openQueue(server, people.cordelia);
    server.clock.advance(5);
    await preview();

    const after = await shown(id);
    const path = pathIn(after);
    expect(path).toMatch(/^\/external_content\/[0-9a-f]{40}\/[0-9a-f]+$/);
    const title = 'Tides &amp; &lt;i&gt;moons&lt;/i&gt;';
    expect(after).toBe(
      `${before}\n<div class="message_embed"><a class="message_embed_image" href="${url}" ` +
        `style="background-image: url(&quot;${path}&quot;)"></a><div class="data-container">` +
        `<div class="message_embed_title"><a href="${url}" title="${title}">${title}</a></div>` +
        '<div class="message_embed_description">Why "it" rises</div></div></div>',
    );
    const events = (await eventsAfter(server, queue)) as Wire[];
    expect(events).toEqual([
      expect.objectContaining({ type: 'update_message', rendering_only: true, user_id: null, rendered_content: after }),
    ]);
    expect(events[0]).toMatchObject({ message_ids: [id], content: `see ${url}`, edit_timestamp: server.clock.now() });
    const { message } = fieldsOf(await server.get(`/messages/${id}`, people.hamlet)) as Wire;
    expect(message).not.toHaveProperty('last_edit_timestamp');
  });

  it('is not fetched for messages of bots, and for links in quotes, to images, to this server or with credentials', async () => {
    const url = serve('page', page(ARTICLE));
    const { email } = people.hamlet;
    const bot = fieldsOf(await server.post('/bots', people.hamlet, { full_name: 'Bot', short_name: `b${count}` }));
    const asBot = { ...people.hamlet, email: `b${count}-bot@parley.invalid`, apiKey: bot.api_key } as TestUser;
    await server.post('/users/me/subscriptions', people.hamlet, {
      ...{ subscriptions: [{ name: 'general' }], principals: [bot.user_id] },
    });
    await say(url, asBot);
    await say(`> ${url}\n\n${url}.png and ${url}.mp4, ${server.url}/x, ${email} [x](http://a:b@127.0.0.1/)`);
    await preview();
    expect(requested).toEqual([]);
  });

  it('fetches nothing while the setting is off, and drops waiting previews', async () => {
    const url = serve('page', page(ARTICLE));
    await say(url);
    await showPreviews(false);
    try {
      const id = await say(url);
      await preview();
      expect(requested).toEqual([]);
      expect(await shown(id)).not.toContain('message_embed');
    } finally {
      await showPreviews(true);
    }
  });

  it('belongs to the new text if the message was edited during the request', async () => {
    const [first, second] = [serve('a', page(ARTICLE)), serve('b', page(ARTICLE.replace('Tides', 'Waves')))];
    const id = await say(first);
    const edit = () => server.patch(`/messages/${id}`, people.hamlet, { content: second });
    pages[`/${count}/a`] = async (request, response) => {
      fieldsOf(await edit());
      page(ARTICLE)(request, response);
    };
    await preview();
    const html = await shown(id);
    expect(html).toContain('Waves');
    expect(html).not.toContain('Tides');
    expect(html.match(/message_embed"/g)).toHaveLength(1);
  });

  it('fetches a page once for several messages, and at most five pages for a message', async () => {
    const urls = ['1', '2', '3', '4', '5', '6', '7'].map((name) => serve(name, page(ARTICLE)));
    const id = await say(urls.join(' '));
    await preview();
    expect(requested).toHaveLength(5);
    expect((await shown(id)).match(/class="message_embed"/g)).toHaveLength(5);
    const again = await say(`${urls[0]}#part ${urls[0]}`);
    await preview();
    expect(requested).toHaveLength(5);
    expect((await shown(again)).match(/class="message_embed"/g)).toHaveLength(2);
    const links = Array.from({ length: 25 }, (_, n) => serve(`x${n}`, page(ARTICLE)));
    await say(links.join(' '));
    await preview();
    expect(requested).toHaveLength(5);
  });

  it('shows nothing for a page without a picture', async () => {
    const id = await say(serve('page', page('<title>Only a title</title>')));
    await preview();
    expect(await shown(id)).not.toContain('message_embed');
  });

  it.each([401, 403, 404])('shows nothing for a page whose picture answers %s', async (status) => {
    const picture = serve('p.png', (_, response) => response.writeHead(status).end());
    const id = await say(serve('page', page(ARTICLE.replace('/tide.png', picture))));
    await preview();
    expect(await shown(id)).not.toContain('message_embed');
  });

  it('is not found by searches', async () => {
    const url = serve('page', page(ARTICLE.replace('Tides', 'Zanzibarian')));
    const id = await say(url);
    await preview();
    expect(await shown(id)).toContain('Zanzibarian');
    const narrow = [{ operator: 'search', operand: 'Zanzibarian' }];
    expect(await server.messagesFor(people.hamlet, { narrow, num_before: 10 })).toEqual([]);
  });
});

describe('GET /external_content/{signature}/{encoded_url}', () => {
  const pictureOf = async (name: string, listener: RequestListener): Promise<string> => {
    serve(name, listener);
    const id = await say(serve('page', page(ARTICLE.replace('/tide.png', link(name)))));
    await preview();
    return pathIn(await shown(id));
  };
  const load = (path: string) => server.request('GET', `/${path}`, { as: null });
  const file = (type: string, bytes: Buffer | string) => (_: unknown, response: Parameters<RequestListener>[1]) =>
    void response.writeHead(200, { 'Content-Type': type }).end(bytes);

  it('returns a small WebP to anyone, loaded once from the other site', async () => {
    const path = await pictureOf('a.png', file('image/png', pngOf(2000, 1000)));
    for (let time = 0; time < 2; time++) {
      const { status, headers } = await load(path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('image/webp');
      expect(headers['content-security-policy']).toBe("sandbox; default-src 'none'");
      expect(headers['cache-control']).toBe('public, max-age=86400');
    }
    expect(requested.filter((url) => url.endsWith('a.png'))).toHaveLength(1);
  });

  it('rejects paths that the server did not sign', async () => {
    const path = await pictureOf('a.png', file('image/png', pngOf(10, 10)));
    const [, , signature, encoded] = path.split('/');
    const other = Buffer.from('http://127.0.0.1/secret.png').toString('hex');
    for (const [a, b] of [
      [signature, other],
      [signature!.replace(/^./, (c) => (c === '0' ? '1' : '0')), encoded],
      [signature, `${encoded}zz`],
      ['', encoded],
      ['zz', 'zz'],
    ]) {
      const { status } = await load(`/external_content/${a}/${b}`);
      expect([a, b, status]).toEqual([a, b, 404]);
    }
  });

  it.each([
    ['SVG', file('image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['a page', file('text/html', '<script>alert(1)</script>')],
    ['SVG as PNG', file('image/png', '<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ['a missing file', (_: unknown, response: Parameters<RequestListener>[1]) => void response.writeHead(404).end()],
    ['a huge file', file('image/png', Buffer.alloc(9 * 1024 * 1024))],
  ])('returns 404 for a picture that became %s', async (_what, listener) => {
    const path = await pictureOf('a.png', file('image/png', pngOf(10, 10)));
    serve('a.png', listener as RequestListener);
    server.clock.advance(3600);
    expectRefusal(await load(path), 'There is no such picture.', { status: 404 });
  });
});
