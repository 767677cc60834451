import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebhookRefused } from '@parley/domain/membership';
import type { FileRecord, ImportRecord } from '@parley/transfer/records';
import { DOWNLOAD_LIMITS, type DownloadOptions, downloadFiles, type FileResponse } from './downloads.js';
import { openRecords } from './testing/index.js';

const TOKEN = 'xoxb-secret-token';
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-downloads-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const aFile = (id: string, url: string, contentType?: string) =>
  ({ kind: 'file', id, name: `${id}.txt`, url, ...(contentType && { contentType }) }) as const;

interface Requested {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Web client with answers by path; records its requests. */
function fakeClient(answers: Readonly<Record<string, readonly Partial<FileResponse & { text: string }>[]>>) {
  const requests: Requested[] = [];
  const counts = new Map<string, number>();
  let active = 0;
  let mostActive = 0;
  const open: DownloadOptions['client']['open'] = async (url, headers) => {
    requests.push({ url, headers });
    mostActive = Math.max(mostActive, ++active);
    const { pathname } = new URL(url);
    const count = counts.get(pathname) ?? 0;
    counts.set(pathname, count + 1);
    await new Promise((resolve) => setImmediate(resolve));
    active--;
    const all = answers[pathname] ?? [{ status: 404 }];
    const { text = '', ...answer } = all[Math.min(count, all.length - 1)]!;
    return { status: 200, contentType: 'text/plain', retryAfter: null, body: bodyOf(text), ...answer };
  };
  return { open, requests, mostActive: () => mostActive };
}

function bodyOf(text: string, error?: Error): FileResponse['body'] {
  async function* bytes() {
    yield Buffer.from(text);
    if (error) throw error;
  }
  return Object.assign(bytes(), { destroy: () => {} });
}

async function download(
  records: readonly ReturnType<typeof aFile>[],
  client: DownloadOptions['client'],
  more: Partial<DownloadOptions> = {},
) {
  const waits: number[] = [];
  const { opened, counts } = await downloadFiles(openRecords(records), {
    ...{ folder, client, token: TOKEN, tokenHosts: ['slack.com'] },
    wait: async (ms) => {
      waits.push(ms);
    },
    ...more,
  });
  const found: ImportRecord[] = [];
  for await (const record of opened.records()) found.push(record);
  const contents: Record<string, string> = {};
  for (const { id, path } of found as FileRecord[]) {
    if (path === undefined) continue;
    const chunks = [];
    for await (const chunk of (await opened.openFile(path))!) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    expect(await opened.sizeOf(path)).toBe(bytes.length);
    contents[id] = bytes.toString();
  }
  await opened.close();
  return { records: found as FileRecord[], contents, counts, waits };
}

describe('downloadFiles', () => {
  it('stores files with equal bytes once, and reuses them later', async () => {
    const client = fakeClient({ '/a': [{ text: 'hello' }], '/b': [{ text: 'hello' }], '/c': [{ text: 'other' }] });
    const records = ['a', 'b', 'c'].map((id) => aFile(id, `https://files.example/${id}`));
    const first = await download(records, client);
    expect(first.contents).toEqual({ a: 'hello', b: 'hello', c: 'other' });
    expect(first.records[0]).not.toHaveProperty('url');
    expect(first.counts).toEqual({ downloaded: 3, existing: 0, bytes: 15, failed: {} });
    expect(readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name))).toHaveLength(2);

    const again = await download(records, client);
    expect(again.contents).toEqual(first.contents);
    expect(again.counts).toMatchObject({ downloaded: 0, existing: 3 });
    expect(client.requests).toHaveLength(3);
  });

  it('downloads a file again after its bytes were removed', async () => {
    const client = fakeClient({ '/a': [{ text: 'hello' }] });
    const records = [aFile('a', 'https://files.example/a')];
    await download(records, client);
    for (const name of readdirSync(folder)) if (/^[0-9a-f]{64}$/.test(name)) rmSync(join(folder, name));
    expect((await download(records, client)).contents).toEqual({ a: 'hello' });
  });

  it('sends the token by HTTPS to the hosts of the source only', async () => {
    const client = fakeClient({});
    const urls = [
      'https://files.slack.com/1',
      'https://slack.com/2',
      'http://files.slack.com/3',
      'https://slack.com.evil.example/4',
      'https://evilslack.com/5',
      'https://slack.com@evil.example/6',
    ];
    await download(
      urls.map((url, index) => aFile(`f${index}`, url)),
      client,
    );
    const withToken = client.requests.filter(({ headers }) => headers.Authorization === `Bearer ${TOKEN}`);
    expect(client.requests).toHaveLength(6);
    expect(withToken.map(({ url }) => url)).toEqual(urls.slice(0, 2));
  });

  it('stores neither the token nor URLs', async () => {
    const client = fakeClient({ '/a': [{ text: 'hello' }] });
    await download(
      [aFile('a', 'https://files.slack.com/a?t=xoxe-1'), aFile('b', 'https://files.slack.com/b?t=xoxe-1')],
      client,
    );
    const stored = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(stored.join()).not.toMatch(/xox|slack\.com/);
  });

  it.each<[string, Partial<FileResponse>, string]>([
    ['a rejected request', { status: 403 }, 'the server returned 403'],
    ['a redirect', { status: 302 }, 'the server returned 302'],
    [
      'a log-in page',
      { contentType: 'text/html; charset=utf-8' },
      'the server returned a web page instead of the file',
    ],
    ['a file that is too large', { body: bodyOf('x'.repeat(101)) }, 'it is larger than 100 bytes'],
  ])('names %s as the reason for a missing file', async (_, answer, reason) => {
    const limits = { ...DOWNLOAD_LIMITS, maxFileBytes: 100 };
    const { records, counts } = await download(
      [aFile('a', 'https://files.example/a', 'image/png')],
      fakeClient({ '/a': [answer] }),
      { limits },
    );
    expect(records).toEqual([
      { source: 'test:1', kind: 'file', id: 'a', name: 'a.txt', contentType: 'image/png', missing: reason },
    ]);
    expect(counts.failed).toEqual({ [reason]: 1 });
    expect(readdirSync(folder)).toEqual(['index.sqlite']);
  });

  it.each(['ftp://files.example/a', 'file:///etc/passwd', 'https://', 'a'])('rejects the URL %s', async (url) => {
    const { records } = await download([aFile('a', url)], fakeClient({}));
    expect(records[0]!.missing).toBe('its URL is invalid');
  });

  it('names an address that is not public as the reason for a missing file', async () => {
    const open = async () => {
      throw new WebhookRefused('private');
    };
    const { records } = await download([aFile('a', 'https://127.0.0.1/')], { open });
    expect(records[0]!.missing).toBe('its address is not on the public Internet');
  });

  it('retries temporary failures after the time that the server named', async () => {
    const client = fakeClient({ '/a': [{ status: 429, retryAfter: 7 }, { status: 503 }, { text: 'hello' }] });
    const { contents, waits } = await download([aFile('a', 'https://files.example/a')], client);
    expect(contents).toEqual({ a: 'hello' });
    expect(waits).toEqual([7000, 4000]);
  });

  it('keeps the URL of a file after a broken connection, so that the next download tries again', async () => {
    const broken = () => ({ body: bodyOf('he', new Error('reset')) });
    const client = fakeClient({ '/a': [broken(), broken(), broken(), { text: 'hello' }] });
    const records = [aFile('a', 'https://files.example/a')];
    const first = await download(records, client);
    expect(first.records[0]).toHaveProperty('url');
    expect(first.counts.failed).toEqual({ 'the connection broke': 1 });
    expect(readdirSync(folder)).toEqual(['index.sqlite']);
    expect((await download(records, client)).contents).toEqual({ a: 'hello' });
  });

  it('downloads at most eight files at a time', async () => {
    const client = fakeClient({});
    await download(
      Array.from({ length: 30 }, (_, n) => aFile(`f${n}`, `https://files.example/${n}`)),
      client,
    );
    expect(client.requests).toHaveLength(30);
    expect(client.mostActive()).toBe(8);
  });

  it('gives up on a server after ten failures in a row', async () => {
    let requests = 0;
    const open = async () => {
      requests++;
      throw Object.assign(new Error('connect https://files.example/?t=xoxe-1'), { code: 'ECONNREFUSED' });
    };
    const records = Array.from({ length: 100 }, (_, n) => aFile(`f${n}`, `https://files.example/${n}`));
    const { counts } = await download(records, { open });
    expect(requests).toBeLessThanOrEqual(3 * 18);
    expect(Object.keys(counts.failed)).toEqual([
      'the server cannot be reached (ECONNREFUSED)',
      'the server cannot be reached',
    ]);
  });

  it('stops at the limits on all files', async () => {
    const client = fakeClient({ '/a': [{ text: 'x'.repeat(60) }], '/b': [{ text: 'y'.repeat(60) }] });
    const records = ['a', 'b'].map((id) => aFile(id, `https://files.example/${id}`));
    await expect(download(records, client, { limits: { ...DOWNLOAD_LIMITS, maxBytes: 100 } })).rejects.toMatchObject({
      code: 'INVALID_IMPORT',
    });
    await expect(download(records, client, { limits: { ...DOWNLOAD_LIMITS, maxFiles: 1 } })).rejects.toMatchObject({
      code: 'INVALID_IMPORT',
    });
    expect(readdirSync(folder).filter((name) => name.startsWith('part-'))).toEqual([]);
  });

  it('rejects when a download exceeds the limits while the next record is being read', async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const body = Object.assign(bodyOf('x'.repeat(60)), { destroy: () => end() });
    const client = fakeClient({ '/a': [{ body }] });
    const exported = openRecords(['a', 'b'].map((id) => aFile(id, `https://files.example/${id}`)));
    const slow = {
      ...exported,
      records: async function* () {
        for await (const record of exported.records()) {
          yield record;
          await ended;
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    };
    const options = { folder, client, token: null, tokenHosts: [], limits: { ...DOWNLOAD_LIMITS, maxBytes: 50 } };
    await expect(downloadFiles(slow, options)).rejects.toMatchObject({ code: 'INVALID_IMPORT' });
    expect(client.requests).toHaveLength(1);
  });

  it('serves no other file under the path of a downloaded one', async () => {
    const { opened } = await downloadFiles(openRecords([]), {
      ...{ folder, client: fakeClient({}), token: null, tokenHosts: [] },
    });
    await expect(opened.sizeOf('\0downloaded/../index.sqlite')).rejects.toThrow('wrong');
    await expect(opened.openFile('\0downloaded/index.sqlite')).rejects.toThrow('wrong');
    expect(await opened.openFile(`\0downloaded/${'a'.repeat(64)}`)).toBeNull();
    await opened.close();
    expect(existsSync(folder)).toBe(true);
  });
});
