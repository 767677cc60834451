import { createHook } from 'node:async_hooks';
import { brotliCompressSync, createGunzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

let bot: TestUser;
const { server } = serverPerSuite();
beforeAll(async () => {
  await server.createChannel('reports', [server.people.hamlet]);
  bot = await server.addBot(server.people.hamlet, 'hook', 'incomingWebhook');
});

const ENCODINGS = [
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
] as const;
const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

const webhook = (body: Buffer, encoding: string) =>
  server.request('POST', `/external/json?api_key=${bot.apiKey}&stream=reports`, {
    body,
    headers: { 'Content-Type': JSON_TYPE, 'Content-Encoding': encoding },
  });
const preview = (body: Buffer, encoding: string, type = FORM_TYPE) =>
  server.request('POST', '/messages/render', {
    as: server.people.hamlet,
    body,
    headers: { 'Content-Type': type, 'Content-Encoding': encoding },
  });

describe('body with a Content-Encoding (protocol §2)', () => {
  it.each(ENCODINGS)('is decoded: %s', async (encoding, compress) => {
    fieldsOf(await webhook(compress(Buffer.from('{"id": 7}')), encoding));
    for (const [body, type] of [
      ['content=hello', FORM_TYPE],
      ['{"content": "hello"}', JSON_TYPE],
    ] as const) {
      const { rendered } = fieldsOf(await preview(compress(Buffer.from(body)), encoding, type)) as Wire;
      expect(rendered).toBe('<p>hello</p>');
    }
  });

  it('is decoded for identity and an empty value', async () => {
    for (const encoding of ['identity', '']) fieldsOf(await preview(Buffer.from('content=hello'), encoding));
  });

  it('is refused for an unknown encoding, and for several ones', async () => {
    for (const encoding of ['br', 'zstd', 'compress', 'gzip, gzip', 'constructor']) {
      const reply = await webhook(gzipSync('{}'), encoding);
      expectRefusal(reply, 'The Content-Encoding must be gzip, deflate or identity.', { status: 415 });
      expect(reply.headers['accept-encoding']).toBe('gzip, deflate');
    }
  });

  it('is refused if it is damaged, or not compressed', async () => {
    for (const [encoding, compress] of ENCODINGS) {
      const body = compress(Buffer.from(`{"text": "${'some text '.repeat(50)}"}`));
      for (const damaged of [Buffer.from('{"id": 7}'), body.subarray(0, body.length / 2)]) {
        expectRefusal(await webhook(damaged, encoding), 'Malformed payload', { status: 400 });
      }
    }
  });

  it('is refused if it decodes to more than the limit, or to more than a hundred times its size', async () => {
    const random = Buffer.from(Array.from({ length: 1_200_000 }, (_, n) => 97 + ((n * n * 31) % 25)));
    for (const [encoding, compress] of ENCODINGS) {
      for (const bytes of [random, Buffer.alloc(500_000, 'a'), Buffer.alloc(50_000_000, 'a')]) {
        expectRefusal(await webhook(compress(bytes), encoding), 'Request body is too large', { status: 413 });
      }
    }
    // Short texts may repeat.
    fieldsOf(await preview(gzipSync(`content=${'a'.repeat(9000)}`), 'gzip'));
  });

  it('is refused for files and streams', async () => {
    const headers = { 'Content-Encoding': 'gzip' };
    const upload = await server.request('POST', '/user_uploads', {
      as: server.people.hamlet,
      body: gzipSync('x'),
      headers: { ...headers, 'Content-Type': 'multipart/form-data; boundary=b' },
    });
    expectRefusal(upload, 'The body of this request must not have a Content-Encoding.', { status: 415 });
  });
});

describe('compressed body of an anonymous caller (protocol §2)', () => {
  const letters = Buffer.alloc(60_000, 'a');
  let decoders = 0;
  const counting = createHook({
    init(_, type) {
      if (type === 'ZLIB') decoders++;
    },
  });
  beforeAll(() => counting.enable());
  afterAll(() => counting.disable());

  it('is not decoded, and counts for the rate limits', async () => {
    const limited = await TestServer.start({ hasRateLimits: true });
    const bodies = { gzip: gzipSync(letters), deflate: deflateSync(letters), br: brotliCompressSync(letters) };
    const statuses: number[] = [];
    decoders = 0;
    for (let call = 0; call < 120; call++) {
      const encoding = (['gzip', 'deflate', 'br'] as const)[call % 3]!;
      const path = call % 2 === 0 ? '/messages' : '/fetch_api_key';
      const reply = await limited.request('POST', path, {
        body: bodies[encoding],
        headers: { 'Content-Type': FORM_TYPE, 'Content-Encoding': encoding },
      });
      statuses.push(reply.status);
      if (reply.status !== 415) continue;
      expectRefusal(reply, 'Compressed bodies require authentication.', { status: 415 });
      expect(reply.headers['accept-encoding']).toBe('identity');
    }
    await limited.close();
    expect(decoders).toBe(0);
    expect(statuses.slice(0, 2)).toEqual([401, 415]);
    expect(new Set(statuses.slice(100))).toEqual(new Set([429]));
    // The counter sees decoders.
    createGunzip().destroy();
    expect(decoders).toBe(1);
  });
});
