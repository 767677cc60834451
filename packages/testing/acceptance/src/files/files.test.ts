import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore } from '@parley/blobs';
import { DeleteFile, SweepFiles } from '@parley/domain/files';
import { DomainError } from '@parley/domain/kernel';
import { RestoreMessages } from '@parley/domain/writing';
import { MemoryBlobStore, SeededRandomness, until } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { type FileUpload, MULTIPART, multipart, postFiles } from '../testing/multipart.js';
import { basic, sharedServer, TestServer, type TestUser } from '../testing/test-server.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const HELLO: FileUpload = { name: 'hello x.txt', content: 'hello' };

let server: TestServer;
let people: TestServer['people'];
const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
const fileLimits = { maxFileMib: 1, quotaMib: 2, userQuotaMib: null };
let outsider: TestUser;

const newOrganization = sharedServer({ blobs, fileLimits });
beforeEach(async () => {
  blobs.clear();
  server = await newOrganization();
  ({ people } = server);
  const realmId = await server.addRealm('other');
  outsider = await server.addUser({ email: 'prospero@other.com', fullName: 'Prospero', realmId });
});

const upload = (as: TestUser | null, ...files: FileUpload[]) => postFiles(server, '/user_uploads', as, files);
const uploaded = async (as: TestUser, file: FileUpload = HELLO): Promise<string> =>
  String(fieldsOf(await upload(as, file)).url);
const read = (url: string, as: TestUser | null, headers: Record<string, string> = {}) =>
  server.request('GET', `/${url}`, { as, headers });
const say = (as: TestUser, content: string, to: string | readonly TestUser[]) =>
  server.sendMessage(as, to, { content });
const listed = async (as: TestUser): Promise<Wire> => fieldsOf(await server.get('/attachments', as));
const messageIds = async (as: TestUser): Promise<number[][]> =>
  (await listed(as)).attachments.map((file: Wire) => file.message_ids);

const PAGE_UNKNOWN = '<p>This file does not exist or has been deleted.</p>';
const PAGE_FORBIDDEN = '<p>You are not authorized to view this file.</p>';

describe('POST /user_uploads (messages §16.1)', () => {
  it('stores the file and notifies the uploader', async () => {
    const { hamlet, iago } = people;
    const queues = [await openQueue(server, hamlet), await openQueue(server, iago)];
    const response = fieldsOf(await upload(hamlet, { ...HELLO, field: 'any name' }));
    expect(response).toEqual({
      url: expect.stringMatching(new RegExp(`^/user_uploads/${server.realmId}/[0-9a-f]{1,2}/[\\w-]{24}/hello-x.txt$`)),
      uri: response.url,
      filename: 'hello x.txt',
    });
    const attachment = {
      id: expect.any(Number),
      name: 'hello x.txt',
      path_id: String(response.url).slice('/user_uploads/'.length),
      size: 5,
      create_time: server.clock.now(),
      message_ids: [],
    };
    expect(await eventsAfter(server, queues[0]!)).toEqual([
      { type: 'attachment', op: 'add', attachment, upload_space_used: 5 },
    ]);
    expect(await eventsAfter(server, queues[1]!)).toEqual([]);
    expect(await listed(hamlet)).toEqual({ upload_space_used: 5, attachments: [attachment] });
    expect(await listed(iago)).toEqual({ upload_space_used: 5, attachments: [] });
    const elsewhere = await server.request('GET', '/attachments', { as: outsider, realm: 'other' });
    expect(fieldsOf(elsewhere)).toEqual({ upload_space_used: 0, attachments: [] });
  });

  it.each([
    ['héllo wörld.txt', 'héllo wörld.txt', 'h%C3%A9llo-w%C3%B6rld.txt'],
    ['h%C3%A9llo.txt', 'héllo.txt', 'h%C3%A9llo.txt'],
    ['50%', '50%', '50'],
    ['../../etc/passwd', 'passwd', 'passwd'],
    ['..%2f..%2fetc%2Fpasswd', 'passwd', 'passwd'],
    ['%2e%2e%2f%2e%2e%2fpasswd', 'passwd', 'passwd'],
    ['..%5c..%5cwindows%5cwin.ini', '..\\..\\windows\\win.ini', '....windowswin.ini'],
    ['%252e%252e%252fpasswd', '%2e%2e%2fpasswd', '2e2e2fpasswd'],
    ['..%c0%afpasswd', '..%c0%afpasswd', '..c0afpasswd'],
    ['/etc/passwd', 'passwd', 'passwd'],
    ['a%00.png%0d%0aX: y', 'a.pngX: y', 'a.pngX-y'],
    ['%2e%2e', '..', 'uploaded-file'],
    ['<b>&;.html', '<b>&;.html', 'b.html'],
    ['..', 'uploaded-file', 'uploaded-file'],
    ['???', '???', 'uploaded-file'],
    [`${'x'.repeat(300)}`, 'x'.repeat(255), 'x'.repeat(255)],
  ])('stores the file name %s as %s with %s in its URL', async (name, shown, last) => {
    const { url, filename } = fieldsOf(await upload(people.hamlet, { name, content: 'x' })) as Wire;
    expect(filename).toBe(shown);
    expect(encodeURI(url).split('/').at(-1)).toBe(last);
    expect((await read(encodeURI(url), people.hamlet)).body).toBe('x');
  });

  it('keeps the bytes if the file is stored although the connection to the database was lost', async () => {
    const { hamlet } = people;
    const { uow } = server.storage;
    const write = uow.write.bind(uow);
    jest.spyOn(uow, 'write').mockImplementationOnce(async (...unit) => {
      await write(...unit);
      throw new DomainError('STORAGE_UNAVAILABLE', 'The result of a commit is unknown');
    });
    expect((await upload(hamlet, HELLO)).status).toBe(503);
    const [{ path_id }] = (await listed(hamlet)).attachments;
    expect((await read(`/user_uploads/${path_id}`, hamlet)).body).toBe('hello');
  });

  it('rejects missing, multiple and oversized files and stores nothing', async () => {
    const { hamlet } = people;
    expectRefusal(await upload(hamlet), 'You must specify a file to upload');
    expectRefusal(await server.post('/user_uploads', hamlet), 'You must specify a file to upload');
    expectRefusal(await upload(hamlet, HELLO, HELLO), 'You may only upload one file at a time');
    const large = { name: 'large', content: Buffer.alloc(1024 * 1024 + 1) };
    const tooLarge = "File is larger than this server's configured maximum upload size (1 MiB).";
    expectRefusal(await upload(hamlet, large), tooLarge);
    expect(blobs.size).toBe(0);
    await uploaded(hamlet, { name: 'large', content: Buffer.alloc(1024 * 1024) });
  });

  it("rejects files that would exceed the organization's quota", async () => {
    const { hamlet, polonius } = people;
    const half = { name: 'half', content: Buffer.alloc(1024 * 1024) };
    await uploaded(hamlet, half);
    await uploaded(polonius, half);
    const response = await upload(hamlet, { name: 'more', content: 'x' });
    expect(response.status).toBe(400);
    expect(response.body).toEqual({
      result: 'error',
      code: 'REALM_UPLOAD_QUOTA',
      msg: "Upload would exceed your organization's upload quota.",
    });
    expect(blobs.size).toBe(2);
    // Another organization has its own quota.
    fieldsOf(await postFiles(server, '/user_uploads', outsider, [HELLO], {}, 'other'));
  });

  it("rejects files that would exceed the user's quota, without counting deleted ones", async () => {
    const limited = await TestServer.start({ blobs, fileLimits: { maxFileMib: 1, quotaMib: null, userQuotaMib: 1 } });
    const { hamlet, polonius } = limited.people;
    const most = { name: 'most', content: Buffer.alloc(1024 * 1024 - 1) };
    const post = (as: TestUser, file: FileUpload) => postFiles(limited, '/user_uploads', as, [file]);
    fieldsOf(await post(hamlet, most));
    const refusal = ['Upload would exceed your upload quota.', { code: 'USER_UPLOAD_QUOTA' }] as const;
    expectRefusal(await post(hamlet, HELLO), ...refusal);
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': '2' };
    const resumable = await limited.request('POST', '/tus/', { as: hamlet, headers });
    expect([resumable.status, resumable.body]).toEqual([413, { message: refusal[0] }]);
    fieldsOf(await post(polonius, HELLO));
    expect(blobs.size).toBe(2);
    const { attachments } = fieldsOf(await limited.get('/attachments', hamlet)) as Wire;
    fieldsOf(await limited.delete(`/attachments/${attachments[0].id}`, hamlet));
    fieldsOf(await post(hamlet, HELLO));
    await limited.close();
  });

  it('rejects anonymous callers and stores nothing', async () => {
    expect((await upload(null, HELLO)).status).toBe(401);
    expect(blobs.size).toBe(0);
  });

  it('returns its limits in the register response (events §5.1)', async () => {
    const response = fieldsOf(await server.post('/register', people.hamlet, { fetch_event_types: ['realm'] }));
    expect(response).toMatchObject({ max_file_upload_size_mib: 1, realm_upload_quota_mib: 2 });
  });
});

describe('aborted upload', () => {
  it('leaves nothing in the folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-uploads-'));
    const onDisk = await TestServer.start({ blobs: new FolderBlobStore(folder) });
    const { hamlet } = onDisk.people;
    const blobsOnDisk = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const { hostname, port } = new URL(onDisk.url);
    const headers = { ...MULTIPART, Authorization: basic(hamlet), 'Content-Length': 500_000 };
    const upload = request({ hostname, port, method: 'POST', path: '/api/v1/user_uploads', headers });
    upload.on('error', () => {});
    upload.write(multipart([{ name: 'large', content: Buffer.alloc(300_000) }]).subarray(0, 200_000));
    await until(() => blobsOnDisk().length === 1);
    upload.destroy();
    await until(() => blobsOnDisk().length === 0);
    const whole = await postFiles(onDisk, '/user_uploads', hamlet, [HELLO]);
    expect(fieldsOf(whole)).toMatchObject({ filename: 'hello x.txt' });
    expect(blobsOnDisk()).toHaveLength(1);
    expect((await onDisk.request('GET', `/${whole.body.url}`, { as: hamlet })).body).toBe('hello');
    await onDisk.close();
    rmSync(folder, { recursive: true });
  });
});

describe('GET /user_uploads (messages §16.2)', () => {
  it('serves the bytes with headers that prevent execution', async () => {
    const url = await uploaded(people.hamlet);
    const { status, headers, body } = await read(url, people.hamlet);
    expect([status, body]).toEqual([200, 'hello']);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '5',
      'content-disposition': `inline; filename="hello x.txt"; filename*=UTF-8''hello%20x.txt`,
      'content-security-policy': expect.stringMatching(/^sandbox; default-src 'none'/),
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
    });
    const head = await server.request('HEAD', `/${url}`, { as: people.hamlet });
    expect([head.status, head.headers['content-length'], head.body]).toEqual([200, '5', null]);
  });

  it.each([
    ['text/html', 'text/html'],
    ['image/svg+xml', 'image/svg+xml'],
    ['audio/x+xml', 'audio/x+xml'],
    ['audio/SVG+XML', 'audio/svg+xml'],
    ['text/html; charset=x', 'text/html'],
    ['text/javascript', 'text/plain; charset=utf-8'],
    ['application/x-javascript', 'text/plain; charset=utf-8'],
    ['TEXT/JavaScript1.5', 'text/plain; charset=utf-8'],
    ['text/css', 'text/plain; charset=utf-8'],
  ])('serves files of type %s as downloads', async (type, served) => {
    const url = await uploaded(people.hamlet, { name: 'a%22b%5Cé.html', content: '<script>', type });
    const { headers } = await read(encodeURI(url), people.hamlet);
    expect(headers['content-type']).toBe(served);
    expect(headers['content-disposition']).toBe(
      `attachment; filename="a_b__.html"; filename*=UTF-8''a%22b%5C%C3%A9.html`,
    );
  });

  it.each`
    content                                            | name        | claimed                       | served                        | disposition
    ${PIXEL}                                           | ${'a.txt'}  | ${'text/plain'}               | ${'image/png'}                | ${'inline'}
    ${'<html><script>alert(1)</script></html>'}        | ${'a.png'}  | ${'image/png'}                | ${'application/octet-stream'} | ${'attachment'}
    ${'%PDF-1.7 1 0 obj'}                              | ${'a'}      | ${'application/octet-stream'} | ${'application/pdf'}          | ${'inline'}
    ${'<?xml version="1.0"?><svg onload="x()"/>'}      | ${'a.svg'}  | ${'image/svg+xml'}            | ${'image/svg+xml'}            | ${'attachment'}
    ${'a,b'}                                           | ${'a.csv'}  | ${'application/octet-stream'} | ${'text/csv'}                 | ${'attachment'}
    ${Buffer.from([1, 0, 2])}                          | ${'a'}      | ${'text/plain'}               | ${'application/octet-stream'} | ${'attachment'}
    ${Buffer.concat([PIXEL, Buffer.from('<script>')])} | ${'a.html'} | ${'text/html'}                | ${'image/png'}                | ${'inline'}
  `(
    'serves $name, claimed as $claimed, as $served',
    async ({ content, name, claimed, served, disposition }: Record<string, string>) => {
      const url = await uploaded(people.hamlet, { name: name!, content: content!, type: claimed! });
      const { headers } = await read(url, people.hamlet);
      expect(headers['content-type']).toBe(served);
      expect(String(headers['content-disposition'])).toMatch(new RegExp(`^${disposition}; `));
      // Browsers do not display a PDF in a sandbox.
      expect(String(headers['content-security-policy']).includes('sandbox')).toBe(served !== 'application/pdf');
    },
  );

  it('serves ranges and responds 304 for cached files', async () => {
    const url = await uploaded(people.hamlet);
    const part = await read(url, people.hamlet, { Range: 'bytes=1-3' });
    expect([part.status, part.body, part.headers['content-range']]).toEqual([206, 'ell', 'bytes 1-3/5']);
    const beyond = await read(url, people.hamlet, { Range: 'bytes=9-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */5']);
    // Multiple ranges and invalid ranges return the whole file.
    for (const range of ['bytes=0-1,3-4', 'bytes=3-1', 'lines=0-1']) {
      const whole = await read(url, people.hamlet, { Range: range });
      expect([range, whole.status, whole.body]).toEqual([range, 200, 'hello']);
    }
    expect((await read(url, people.hamlet, { Range: 'bytes=-2' })).body).toBe('lo');
    const etag = String(part.headers.etag);
    for (const tags of [`W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await read(url, people.hamlet, { 'If-None-Match': tags, Range: 'bytes=0-1' });
      expect([tags, same.status, same.body, same.headers.etag]).toEqual([tags, 304, null, etag]);
    }
    expect((await read(url, people.hamlet, { 'If-None-Match': '"other"' })).status).toBe(200);
    expect((await read(url, people.hamlet, { 'If-None-Match': etag })).status).toBe(304);
    expect((await read(url, people.hamlet, { Range: 'bytes=1-3', 'If-Range': etag })).status).toBe(206);
    expect((await read(url, people.hamlet, { Range: 'bytes=1-3', 'If-Range': '"other"' })).status).toBe(200);
  });

  it('forces a download below /user_uploads/download', async () => {
    const url = await uploaded(people.hamlet);
    const { headers, body } = await read(url.replace('/user_uploads/', '/user_uploads/download/'), people.hamlet);
    expect(body).toBe('hello');
    expect(headers['content-disposition']).toMatch(/^attachment; /);
  });

  it('accepts an API key as a parameter (protocol §7.4)', async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet);
    expect((await read(`${url}?api_key=${hamlet.apiKey}`, null)).body).toBe('hello');
    expect((await read(`${url}?api_key=${cordelia.apiKey}`, null)).status).toBe(403);
    for (const key of ['', 'x', 'x'.repeat(32), outsider.apiKey]) {
      const { status, body } = await read(`${url}?api_key=${key}`, null);
      expect([status, body.code, body.msg]).toEqual([401, 'INVALID_API_KEY', 'Invalid API key']);
    }
    expect((await read(url, null)).status).toBe(401);
    expect((await server.get(`/users/me?api_key=${hamlet.apiKey}`, null)).status).toBe(401);
  });

  it('responds with a page for missing and inaccessible files', async () => {
    const url = await uploaded(people.hamlet);
    for (const [path, as, status, page] of [
      ['/user_uploads/2/ab/nothing.txt', people.hamlet, 404, PAGE_UNKNOWN],
      [url, people.cordelia, 403, PAGE_FORBIDDEN],
    ] as const) {
      const response = await read(path, as);
      expect([response.status, response.body, response.headers['content-type']]).toEqual([
        status,
        page,
        'text/html; charset=utf-8',
      ]);
    }
    const elsewhere = await server.request('GET', `/${url}`, { as: outsider, realm: 'other' });
    expect(elsewhere.status).toBe(404);
  });
});

describe('temporary file URL (messages §16.2)', () => {
  const temporary = async (url: string, as: TestUser, encode = (path: string) => path) => {
    const [realm, ...rest] = url.slice('/user_uploads/'.length).split('/');
    return server.get(`/user_uploads/${realm}/${encode(rest.join('/'))}`, as);
  };

  it('works without credentials for a minute', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet);
    for (const encode of [(path: string) => path, encodeURIComponent]) {
      const response = fieldsOf(await temporary(url, hamlet, encode));
      expect(response).toEqual({ url: expect.stringMatching(/^\/user_uploads\/temporary\/[\w-]+\/hello-x\.txt$/) });
      expect((await read(String(response.url), null)).body).toBe('hello');
    }
    const { url: address } = fieldsOf(await temporary(url, hamlet)) as Wire;
    expectRefusal(await read(address.replace('hello-x', 'other'), null), 'Invalid filename');
    expectRefusal(await read(address.replace('temporary/', 'temporary/1'), null), 'Invalid token');
    expectRefusal(await server.request('GET', `/${address}`, { realm: 'other' }), 'Invalid token');
    server.clock.advance(59);
    expect((await read(address, null)).status).toBe(200);
    server.clock.advance(1);
    expectRefusal(await read(address, null), 'Invalid token');
  });

  it('works for any file name', async () => {
    const url = await uploaded(people.hamlet, { name: 'héllo 日本.txt', content: 'hello' });
    const response = fieldsOf(await temporary(url, people.hamlet, encodeURI));
    expect(response.url).toMatch(/\/h%C3%A9llo-%E6%97%A5%E6%9C%AC\.txt$/);
    expect((await read(String(response.url), null)).body).toBe('hello');
  });

  it('requires access to the file and expires with it', async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet);
    expect((await temporary(url, cordelia)).status).toBe(403);
    expect((await temporary('/user_uploads/2/ab/nothing.txt', hamlet)).status).toBe(404);
    const { url: address } = fieldsOf(await temporary(url, hamlet)) as Wire;
    const [{ id }] = (await listed(hamlet)).attachments;
    fieldsOf(await server.delete(`/attachments/${id}`, hamlet));
    expectRefusal(await read(address, null), 'Invalid token');
  });
});

describe('file access', () => {
  /** Expects exactly these readers of Hamlet's file. */
  async function expectReaders(url: string, readers: readonly (keyof typeof people)[]): Promise<void> {
    const found: string[] = [];
    for (const [name, person] of Object.entries(people)) if ((await read(url, person)).status === 200) found.push(name);
    expect(found.sort()).toEqual([...readers].sort());
  }
  const ALL = ['desdemona', 'iago', 'shiva', 'hamlet', 'cordelia'] as const;

  it('is granted to readers of a message that links to the file', async () => {
    const { hamlet, cordelia, polonius, iago } = people;
    const url = await uploaded(hamlet);
    await expectReaders(url, ['hamlet']);
    await say(hamlet, `[x](${url})`, [cordelia]);
    await expectReaders(url, ['hamlet', 'cordelia']);
    await server.createChannel('secret', [hamlet, iago, polonius], { invite_only: true });
    const inSecret = await say(hamlet, `[x](${url})`, 'secret');
    await expectReaders(url, ['hamlet', 'cordelia', 'iago', 'polonius']);
    await server.createChannel('open', [hamlet]);
    const inOpen = await say(hamlet, `see ${server.url}${url}`, 'open');
    await expectReaders(url, [...ALL, 'polonius']);
    fieldsOf(await server.delete(`/messages/${inSecret}`, hamlet));
    await expectReaders(url, ALL);
    fieldsOf(await server.delete(`/messages/${inOpen}`, people.desdemona));
    await expectReaders(url, ['hamlet', 'cordelia']);
  });

  it('changes immediately with edits and moves', async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet);
    await server.createChannel('open', [hamlet]);
    const secret = await server.createChannel('secret', [hamlet, people.desdemona], { invite_only: true });
    const id = await say(hamlet, `[x](${url})`, 'open');
    await expectReaders(url, ALL);
    fieldsOf(await server.patch(`/messages/${id}`, people.desdemona, { stream_id: secret }));
    await expectReaders(url, ['desdemona', 'hamlet']);
    const queue = await openQueue(server, hamlet);
    const { detached_uploads } = fieldsOf(
      await server.patch(`/messages/${id}`, hamlet, { content: 'no file' }),
    ) as Wire;
    expect(detached_uploads).toEqual((await listed(hamlet)).attachments);
    expect(detached_uploads).toMatchObject([{ name: 'hello x.txt', message_ids: [] }]);
    await expectReaders(url, ['hamlet']);
    const events = (await eventsAfter(server, queue)) as Wire[];
    expect(events.filter(({ type }) => type === 'attachment')).toEqual([
      { type: 'attachment', op: 'update', attachment: detached_uploads[0], upload_space_used: 5 },
    ]);
    const again = fieldsOf(await server.patch(`/messages/${id}`, hamlet, { content: `[y](${url})` })) as Wire;
    expect(again.detached_uploads).toEqual([]);
    expect(await messageIds(hamlet)).toEqual([[id]]);
    // An edit that keeps the link keeps the attachment.
    fieldsOf(await server.patch(`/messages/${id}`, hamlet, { content: `[z](${url})` }));
    expect(await messageIds(hamlet)).toEqual([[id]]);
    await expectReaders(url, ['desdemona', 'hamlet']);
    expect((await read(url, cordelia)).status).toBe(403);
  });

  it('matches a naive model after random sends, edits, moves and deletions', async () => {
    const { hamlet, cordelia, desdemona } = people;
    const url = await uploaded(hamlet);
    const channels = {
      open: await server.createChannel('open', [hamlet]),
      secret: await server.createChannel('secret', [hamlet, desdemona], { invite_only: true }),
    };
    const READERS = { open: ALL, secret: ['hamlet', 'desdemona'], direct: ['hamlet', 'cordelia'] } as const;
    type Conversation = keyof typeof READERS;
    let messages: { readonly id: number; readonly conversation: Conversation; readonly isLinked: boolean }[] = [];
    const random = new SeededRandomness(16);
    const anyOf = <T>(list: readonly T[]): T => list[Math.floor(random.fraction() * list.length)]!;
    for (let step = 0; step < 30; step++) {
      const chosen = messages.length === 0 ? null : anyOf(messages);
      const what = anyOf(['send', 'edit', 'edit', 'move', 'delete', 'delete'] as const);
      const isLinked = random.fraction() < 0.7;
      const content = isLinked ? `${step} [x](${url})` : `${step}`;
      const others = messages.filter((message) => message !== chosen);
      if (chosen === null || what === 'send') {
        const conversation = anyOf(['open', 'secret', 'direct'] as const);
        messages.push({
          id: await say(hamlet, content, conversation === 'direct' ? [cordelia] : conversation),
          conversation,
          isLinked,
        });
      } else if (what === 'edit') {
        fieldsOf(await server.patch(`/messages/${chosen.id}`, hamlet, { content }));
        messages = [...others, { ...chosen, isLinked }];
      } else if (what === 'delete') {
        fieldsOf(await server.delete(`/messages/${chosen.id}`, chosen.conversation === 'direct' ? hamlet : desdemona));
        messages = others;
      } else if (chosen.conversation !== 'direct') {
        const conversation = chosen.conversation === 'open' ? 'secret' : 'open';
        fieldsOf(await server.patch(`/messages/${chosen.id}`, desdemona, { stream_id: channels[conversation] }));
        messages = [...others, { ...chosen, conversation }];
      }
      const linked = messages.filter((message) => message.isLinked);
      await expectReaders(url, [
        ...new Set(['hamlet' as const, ...linked.flatMap(({ conversation }) => READERS[conversation])]),
      ]);
      expect(await messageIds(hamlet)).toEqual([linked.map(({ id }) => id).sort((a, b) => a - b)]);
    }
  });

  it('is published before topic and message events (messages §4.2)', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet);
    await server.createChannel('open', [hamlet]);
    const queue = await openQueue(server, hamlet, { event_types: ['attachment', 'user_topic', 'message'] });
    await say(hamlet, `[x](${url})`, 'open');
    const events = (await eventsAfter(server, queue)) as Wire[];
    expect(events.map(({ type }) => type)).toEqual(['attachment', 'user_topic', 'message']);
  });

  it('is not granted by a link of a user without access', async () => {
    const { hamlet, cordelia, iago } = people;
    const url = await uploaded(hamlet);
    await server.createChannel('open', [cordelia]);
    const id = await say(cordelia, `[x](${url})`, 'open');
    await expectReaders(url, ['hamlet']);
    expect(await messageIds(hamlet)).toEqual([[]]);
    const has = async (as: TestUser) =>
      (
        fieldsOf(
          await server.get('/messages', as, {
            ...{ anchor: 'newest', num_before: 9, num_after: 0 },
            narrow: [{ operator: 'has', operand: 'attachment' }],
          }),
        ) as Wire
      ).messages.map((message: Wire) => message.id);
    expect(await has(cordelia)).toEqual([]);
    await say(hamlet, `[x](${url})`, [cordelia]);
    const passedOn = await say(cordelia, `[x](${url})`, 'open');
    expect(await has(cordelia)).toEqual([id + 1, passedOn]);
    expect((await read(url, iago)).status).toBe(200);
  });

  it('is not granted to users of another organization who link to the file', async () => {
    const url = await uploaded(people.hamlet);
    await server.request('POST', '/messages', {
      as: outsider,
      realm: 'other',
      params: { type: 'direct', to: [outsider.id], content: `[x](${url})` },
    });
    expect((await server.request('GET', `/${url}`, { as: outsider, realm: 'other' })).status).toBe(404);
    expect(await messageIds(people.hamlet)).toEqual([[]]);
  });

  it("notifies the file's owner when anyone links the file", async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet);
    const queue = await openQueue(server, hamlet);
    const first = await say(hamlet, `[x](${url})`, [cordelia]);
    const second = await say(cordelia, `[x](${url})`, [hamlet]);
    fieldsOf(await server.delete(`/messages/${first}`, hamlet));
    const events = ((await eventsAfter(server, queue)) as Wire[]).filter(({ type }) => type === 'attachment');
    expect(events.map(({ op, attachment }) => [op, attachment.message_ids])).toEqual([
      ['update', [first]],
      ['update', [first, second]],
      ['update', [second]],
    ]);
  });
});

describe('DELETE /attachments/{attachment_id} (users §16)', () => {
  it("deletes the caller's file with its bytes", async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet);
    await say(hamlet, `[x](${url})`, [cordelia]);
    const [{ id }] = (await listed(hamlet)).attachments;
    const queue = await openQueue(server, hamlet);
    expect(fieldsOf(await server.delete(`/attachments/${id}`, hamlet))).toEqual({});
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'attachment', op: 'remove', attachment: { id }, upload_space_used: 0 },
    ]);
    expect(blobs.size).toBe(0);
    expect((await read(url, cordelia)).status).toBe(404);
    expectRefusal(await server.delete(`/attachments/${id}`, hamlet), 'Invalid attachment');
  });

  it('rejects files of other users', async () => {
    await uploaded(people.hamlet);
    const [{ id }] = (await listed(people.hamlet)).attachments;
    expectRefusal(await server.delete(`/attachments/${id}`, people.desdemona), 'Invalid attachment');
    const elsewhere = await server.request('DELETE', `/attachments/${id}`, { as: outsider, realm: 'other' });
    expectRefusal(elsewhere, 'Invalid attachment');
    expect(blobs.size).toBe(1);
  });

  it('succeeds even if removing the bytes fails; the sweep removes them later', async () => {
    const { hamlet } = people;
    await uploaded(hamlet);
    const [{ id }] = (await listed(hamlet)).attachments;
    jest.spyOn(blobs, 'remove').mockRejectedValueOnce(new Error('disk'));
    const caller = { realmId: server.realmId, userId: hamlet.id, clientName: 'test' };
    await server.parley.useCase(DeleteFile).execute(caller, { id });
    expect(blobs.size).toBe(1);
    server.clock.advance(3601);
    const swept = await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect([swept, blobs.size]).toEqual([{ files: 0, uploads: 0, blobs: 1 }, 0]);
  });
});

describe('file sweep', () => {
  const DAY = 86_400;
  const sweep = (isDryRun = false) =>
    server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 30 * DAY, isDryRun });
  // The sweep counts the files of all organizations.
  beforeEach(async () => {
    server = await TestServer.start({ blobs, fileLimits });
    ({ people } = server);
  });

  it('removes files without a message after a week', async () => {
    const { hamlet, cordelia } = people;
    const used = await uploaded(hamlet);
    await say(hamlet, `[x](${used})`, [cordelia]);
    await uploaded(hamlet, { name: 'unused', content: 'x' });
    server.clock.advance(7 * DAY);
    expect(await sweep()).toEqual({ files: 0, uploads: 0, blobs: 0 });
    server.clock.advance(1);
    expect(await sweep(true)).toEqual({ files: 1, uploads: 0, blobs: 0 });
    expect(blobs.size).toBe(2);
    expect(await sweep()).toEqual({ files: 1, uploads: 0, blobs: 0 });
    expect(blobs.size).toBe(1);
    expect((await listed(hamlet)).attachments).toMatchObject([{ name: 'hello x.txt' }]);
  });

  it('keeps files linked by scheduled messages', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet);
    const params = { type: 'direct', to: [hamlet.id], content: `[x](${url})` };
    const at = server.clock.now() + 30 * DAY;
    fieldsOf(await server.post('/scheduled_messages', hamlet, { ...params, scheduled_delivery_timestamp: at }));
    server.clock.advance(8 * DAY);
    expect(await sweep()).toEqual({ files: 0, uploads: 0, blobs: 0 });
    expect((await listed(hamlet)).attachments).toHaveLength(1);
  });

  it('keeps files of deleted messages while they can be restored', async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet);
    const id = await say(hamlet, `[x](${url})`, [cordelia]);
    fieldsOf(await server.delete(`/messages/${id}`, hamlet));
    server.clock.advance(29 * DAY);
    expect(await sweep()).toEqual({ files: 0, uploads: 0, blobs: 0 });
    const selection = { messageId: id as never, channelId: null, topicKey: null, since: null };
    await server.parley.useCase(RestoreMessages).execute({ realmId: server.realmId, selection, isDryRun: false });
    expect(await messageIds(hamlet)).toEqual([[id]]);
    server.clock.advance(9 * DAY);
    expect(await sweep()).toEqual({ files: 0, uploads: 0, blobs: 0 });
    expect((await read(url, cordelia)).body).toBe('hello');
    fieldsOf(await server.delete(`/attachments/${(await listed(hamlet)).attachments[0].id}`, hamlet));
    expect(blobs.size).toBe(0);
  });
});

describe('anonymous file access (messages §16.2, protocol §9)', () => {
  const anybody = (url: string) => server.request('GET', `/${url}`, { as: null });
  const allow = async (enable_spectator_access: boolean) =>
    fieldsOf(await server.patch('/realm', people.desdemona, { enable_spectator_access }));

  it('is allowed while messages in web-public channels link to the file', async () => {
    const { hamlet, desdemona } = people;
    await allow(true);
    await server.createChannel('museum', [hamlet], { is_web_public: true });
    await server.createChannel('open', [hamlet]);
    const url = await uploaded(hamlet);
    await say(hamlet, `[x](${url})`, 'open');
    await say(hamlet, `[x](${url})`, [desdemona]);
    const refused = await anybody(url);
    expect([refused.status, refused.body]).toEqual([403, PAGE_FORBIDDEN]);
    const id = await say(hamlet, `[x](${url})`, 'museum');
    const shown = await anybody(url);
    expect([shown.status, shown.body, shown.headers['cache-control']]).toEqual([200, 'hello', 'private, no-cache']);
    const saved = await anybody(url.replace('/user_uploads/', '/user_uploads/download/'));
    expect(saved.headers['content-disposition']).toMatch(/^attachment/);
    expect((await anybody(`${url}?api_key=${'x'.repeat(32)}`)).status).toBe(401);
    expect((await anybody('/user_uploads/2/ab/nothing.txt')).status).toBe(404);
    expect((await anybody(url.replace('/user_uploads/', '/user_uploads/thumbnail/'))).status).toBe(404);
    expect((await server.request('GET', `/${url}`, { realm: 'other' })).status).toBe(401);
    // Temporary URLs require a log-in.
    expect((await server.get(url, null)).status).toBe(401);
    fieldsOf(await server.delete(`/messages/${id}`, desdemona));
    expect((await anybody(url)).status).toBe(403);
  });

  it('is rejected if the organization disables it', async () => {
    const { hamlet } = people;
    await allow(true);
    await server.createChannel('museum', [hamlet], { is_web_public: true });
    const url = await uploaded(hamlet);
    await say(hamlet, `[x](${url})`, 'museum');
    await allow(false);
    expectRefusal(await anybody(url), 'Not logged in: API authentication or user session required', {
      status: 401,
      code: 'UNAUTHORIZED',
    });
  });

  it('redirects logged-out browsers to the log-in page and back', async () => {
    const url = (await uploaded(people.hamlet)).replace(/^\/+/, '/');
    const headers = { Accept: 'text/html,*/*;q=0.8' };
    const reply = await server.request('GET', `/${url}`, { headers });
    expect(reply.status).toBe(302);
    expect(reply.headers.location).toBe(`/login/?next=${encodeURIComponent(url)}`);
    expect((await server.request('GET', `/${url}`, { headers: { Accept: 'image/*' } })).status).toBe(401);
    const wrong = { ...headers, Authorization: 'Basic eDp5' };
    expect((await server.request('GET', `/${url}`, { headers: wrong })).status).toBe(401);
  });

  it('is limited to a thousand reads of one file per day', async () => {
    const limited = await TestServer.start({ hasRateLimits: true });
    const { desdemona } = limited.people;
    fieldsOf(await limited.patch('/realm', desdemona, { enable_spectator_access: true }));
    await limited.createChannel('museum', [desdemona], { is_web_public: true });
    const { url } = fieldsOf(await postFiles(limited, '/user_uploads', desdemona, [HELLO])) as Wire;
    await limited.sendMessage(desdemona, 'museum', { content: `[x](${url})` });
    const get = async () => (await limited.request('GET', `/${url}`)).status;
    for (let i = 0; i < 1000; i++) expect(await get()).toBe(200);
    expect(await get()).toBe(429);
    expect((await limited.request('GET', `/${url}`, { as: desdemona })).status).toBe(200);
    await limited.close();
  });
});
