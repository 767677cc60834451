import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { TRANSPORT_LIMITS } from '../limits/budgets.js';
import type { Reply } from '../wire/reply.js';
import type { Request } from '../wire/request.js';
import { type ReplyContext, ResponseWriter } from './writer.js';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Response as received by a client that accepts the encodings. */
async function receive(reply: Reply, accepted?: string): Promise<Received> {
  const writer = new ResponseWriter(TRANSPORT_LIMITS);
  const server = createServer((raw, response) => {
    const context: ReplyContext = {
      request: { raw, id: 'r' } as Request,
      client: 'somebody' as never,
      isAuthenticated: true,
      longPollMethods: null,
      isSameOriginOnly: false,
      isForBrowsers: false,
      isSecure: false,
      limitHeaders: undefined,
      closes: false,
    };
    void writer.write(response, reply, context);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const answer = await new Promise<IncomingMessage>((resolve) => {
    request({ port, host: '127.0.0.1', headers, agent: false }, resolve).end();
  });
  const body = await buffer(answer);
  await new Promise((resolve) => server.close(resolve));
  return { headers: answer.headers, body };
}

const text = (length: number): string => `{"result":"success","msg":"","names":"${'Ann Bob '.repeat(length / 8)}"}\n`;
const ok = (body: Reply['body']): Reply => ({ status: 200, body });

describe('compression', () => {
  it.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate, br;q=0.9', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['GZIP;q=1.0, br;q=0', 'gzip', gunzipSync],
  ])('responds to Accept-Encoding %s with %s', async (accepted, encoding, decompress) => {
    for (const length of [2_000, 1_000_000]) {
      const { headers, body } = await receive(ok(text(length)), accepted);
      expect(headers).toMatchObject({ 'content-encoding': encoding, vary: 'Accept-Language, Accept-Encoding' });
      expect(decompress(body).toString()).toBe(text(length));
      expect(body.length).toBeLessThan(length / 10);
    }
  });

  it('compresses chunks and texts that are generated during the response', async () => {
    const chunks = [text(2_000), Buffer.from(text(600_000)), 'ü'];
    const chunked = await receive(ok(chunks), 'br');
    expect(brotliDecompressSync(chunked.body).toString()).toBe(chunks.join(''));
    async function* rest() {
      yield ['b', 'c'];
    }
    const streamed = await receive(ok({ start: ['a'], rest: rest(), end: 'd' }), 'gzip');
    expect(gunzipSync(streamed.body).toString()).toBe('abcd');
  });

  it.each([
    ['for clients that do not accept compression', ok(text(2_000)), undefined],
    ['for clients that reject compression', ok(text(2_000)), 'br;q=0, gzip;q=0.0'],
    ['of at most 1 KB', ok(text(512)), 'br'],
    ['with another content type', { ...ok(text(2_000)), contentType: 'text/html' }, 'br'],
    ['of an error', { status: 400, body: text(2_000) }, 'br'],
    ['with a token', ok(`${text(2_000)}"csrf_token":"x"`), 'br'],
    ['with a key in a buffer', ok([text(2_000), Buffer.from('"api_key":"x"')]), 'br'],
  ] as [string, Reply, string | undefined][])('does not compress JSON %s', async (_, reply, accepted) => {
    const { headers, body } = await receive(reply, accepted);
    expect(headers).not.toHaveProperty('content-encoding');
    expect(body.toString()).toBe(Array.isArray(reply.body) ? reply.body.join('') : reply.body);
  });

  it('compresses responses with an empty secret or with the name of a secret inside a text', async () => {
    for (const more of ['"giphy_api_key":""', JSON.stringify({ content: '"api_key":"x"' })]) {
      const { headers } = await receive(ok(text(2_000) + more), 'br');
      expect(headers).toMatchObject({ 'content-encoding': 'br' });
    }
  });
});
