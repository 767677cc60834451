import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderBlobStore, FolderPartialBlobStore } from '@parley/blobs';
import { type BlobStore, inOneChunk, StripFiles } from '@parley/domain/files';
import { SharpImageProcessor } from '@parley/images';
import { blackPng, MemoryBlobStore, MemoryPartialBlobStore, withMetadata } from '@parley/testkit';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { ImportLab, messageRecord, personRecord } from '../testing/import-lab.js';
import { postFiles } from '../testing/multipart.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const CAMERA = 'CamCo SN-48151';
const PHOTO = withMetadata(blackPng(30, 20), CAMERA);
const TUS = { 'Tus-Resumable': '1.0.0' };

let server: TestServer;
let people: TestServer['people'];
const memory = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
afterEach(async () => {
  await server.close();
  memory.clear();
});

async function start(options: object = { blobs: memory }) {
  server = await TestServer.start({ images: new SharpImageProcessor(), ...options });
  ({ people } = server);
}

const upload = async (as: TestUser, content = PHOTO): Promise<string> =>
  String(fieldsOf(await postFiles(server, '/user_uploads', as, [{ name: 'a.png', content }])).url);

/** Sends a photo in two parts. Returns its URL. */
async function uploadInParts(as: TestUser): Promise<string> {
  const headers = { ...TUS, 'Upload-Length': String(PHOTO.length), 'Upload-Metadata': 'filename YS5wbmc=' };
  const { location } = (await server.request('POST', '/tus/', { as, headers })).headers;
  const path = `/tus/${String(location).split('/tus/')[1]}`;
  for (const [start, end] of [
    [0, 50],
    [50, PHOTO.length],
  ] as const) {
    const part = { ...TUS, 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(start) };
    const { status } = await server.request('PATCH', path, { as, headers: part, body: PHOTO.subarray(start, end) });
    expect(status).toBeLessThan(300);
  }
  return path.replace('/tus/', '/user_uploads/');
}

const read = (url: string, as: TestUser, headers = {}) => server.request('GET', `/${url}`, { as, headers });

async function contentsOf(blobs: BlobStore): Promise<Buffer[]> {
  const contents: Buffer[] = [];
  for (const { key } of await blobs.list(null, 100)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of blobs.read(key, { start: 0, end: (await blobs.sizeOf(key))! })) chunks.push(chunk);
    contents.push(Buffer.concat(chunks));
  }
  return contents;
}

describe('uploaded picture', () => {
  it.each([
    ['in one request', 'memory', upload],
    ['in parts', 'memory', uploadInParts],
    ['in one request', 'a folder', upload],
    ['in parts', 'a folder', uploadInParts],
  ])('has no metadata after an upload %s to %s', async (_how, where, send) => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-metadata-'));
    const onDisk = new FolderBlobStore(folder);
    const blobs = where === 'memory' ? memory : onDisk;
    const partialBlobs = new FolderPartialBlobStore(join(folder, 'uploads'), onDisk);
    await start(where === 'memory' ? { blobs } : { blobs, partialBlobs });
    const { hamlet } = people;
    const url = await send(hamlet);
    const response = await read(url, hamlet);
    expect(response.headers['content-length']).toBe(String(PHOTO.length));
    expect(String(response.body)).not.toContain(CAMERA);
    expect((await read(url, hamlet, { 'If-None-Match': response.headers.etag })).status).toBe(304);
    const { attachments, upload_space_used } = fieldsOf(await server.get('/attachments', hamlet)) as Wire;
    expect([attachments[0].size, upload_space_used]).toEqual([PHOTO.length, PHOTO.length]);
    const contents = await contentsOf(blobs);
    expect(contents.map((content) => [content.length, content.includes(CAMERA)])).toEqual([[PHOTO.length, false]]);
    rmSync(folder, { recursive: true });
  });

  it('exists once if several requests finish its upload', async () => {
    const partialBlobs = new MemoryPartialBlobStore(memory, { nowMs: () => server.clock.nowMs() });
    await start({ blobs: memory, partialBlobs });
    const { hamlet: as } = people;
    const headers = { ...TUS, 'Upload-Length': String(PHOTO.length), 'Upload-Metadata': 'filename YS5wbmc=' };
    const { location } = (await server.request('POST', '/tus/', { as, headers })).headers;
    const path = `/tus/${String(location).split('/tus/')[1]}`;
    const upload = await server.storage.uow.read(server.realmId, ({ unfinishedUploads }) =>
      unfinishedUploads.find(server.realmId, path.slice('/tus/'.length)),
    );
    await partialBlobs.append(upload!.blob, 0, inOneChunk(PHOTO));
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => server.request('HEAD', path, { as, headers: TUS })),
    );
    expect(responses.map((response) => [response.status, response.headers['upload-offset']])).toEqual(
      responses.map(() => [200, String(PHOTO.length)]),
    );
    expect((fieldsOf(await server.get('/attachments', as)) as Wire).attachments).toHaveLength(1);
    expect((await contentsOf(memory)).some((content) => content.includes(CAMERA))).toBe(false);
  });

  it('has no metadata as an avatar', async () => {
    await start();
    fieldsOf(await postFiles(server, '/users/me/avatar', people.hamlet, [{ name: 'a.png', content: PHOTO }]));
    const contents = await contentsOf(memory);
    expect(contents.map((content) => content.includes(CAMERA))).toEqual([false, false]);
  });
});

it('imported picture has no metadata', async () => {
  const lab = await ImportLab.start({ blobs: memory });
  ({ server } = lab);
  const records = [
    personRecord('ann', { role: 'owner' }),
    { kind: 'channel', id: 'c', name: 'open', privacy: 'public', members: ['ann'] } as const,
    messageRecord('m1', 'ann', 100, 'see', { files: ['p'] }),
    { kind: 'file', id: 'p', name: 'p.png', path: 'photo.png' } as const,
  ].map((record) => ({ ...record, source: 'test:1' }));
  await lab.imported(records);
  const contents = await contentsOf(memory);
  expect(contents.map((content) => content.includes('CamCo'))).toEqual([false]);
});

describe('stored picture', () => {
  const strip = (isDryRun = false) => server.parley.useCase(StripFiles).execute({ isDryRun });
  const keep = (isKept: boolean) => server.changeRealm({ settings: { keepFileMetadata: isKept } });

  beforeEach(async () => {
    await start();
    await keep(true);
  });

  it('loses its metadata by the command, and only then', async () => {
    const { hamlet } = people;
    const url = await upload(hamlet);
    await upload(hamlet, blackPng(9, 9));
    const before = await read(url, hamlet);
    expect(String(before.body)).toContain(CAMERA);
    expect(await strip()).toEqual({ files: 2, cleaned: 0, held: 0, missing: 0 });
    await keep(false);
    expect(await strip(true)).toEqual({ files: 2, cleaned: 1, held: 0, missing: 0 });
    expect(String((await read(url, hamlet)).body)).toContain(CAMERA);
    expect(await strip()).toEqual({ files: 2, cleaned: 1, held: 0, missing: 0 });
    const after = await read(url, hamlet, { 'If-None-Match': before.headers.etag });
    expect(after.status).toBe(200);
    expect(String(after.body)).not.toContain(CAMERA);
    expect(memory.size).toBe(2);
    expect(await strip()).toEqual({ files: 2, cleaned: 0, held: 0, missing: 0 });
  });

  it('keeps its metadata while a legal hold keeps its message', async () => {
    const { hamlet, cordelia } = people;
    await server.sendMessage(hamlet, [cordelia], { content: `[x](${await upload(hamlet)})` });
    await server.parley.holds.create({ realm: 'zulip', reason: 'Case 1', person: hamlet.id });
    await keep(false);
    expect(await strip()).toEqual({ files: 1, cleaned: 0, held: 1, missing: 0 });
    expect(String((await contentsOf(memory))[0])).toContain(CAMERA);
  });

  it('is counted if its bytes are missing', async () => {
    await upload(people.hamlet);
    memory.clear();
    expect(await strip()).toEqual({ files: 1, cleaned: 0, held: 0, missing: 1 });
  });
});
