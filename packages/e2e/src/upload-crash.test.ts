import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { size } from './hostile/scale.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const ROUNDS = size(5, 60);
const TUS = { 'Tus-Resumable': '1.0.0' };
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** `kill -9` in the middle of uploads, again and again. */
describe('a server that is killed while files are uploaded', () => {
  let organization: TestOrganization;
  let hamlet: Person;
  let server: ParleyProcess;
  /** Of what was acknowledged, by address. */
  const acknowledged = new Map<string, string>();
  let isOver = false;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    hamlet = await organization.addPerson('Hamlet');
    server = await organization.serve();
  });
  afterAll(() => organization.close());

  const call = (path: string, init: RequestInit = {}): Promise<Response> => {
    const Authorization = `Basic ${Buffer.from(`${hamlet.email}:${hamlet.apiKey}`).toString('base64')}`;
    return fetch(server.url + path, { ...init, headers: { ...(init.headers as object), Authorization } });
  };

  async function uploadForms(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const bytes = randomBytes(n % 3 === 0 ? 400_000 : 5000);
      const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="form ${n}"\r\n\r\n`;
      const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--b--\r\n')]);
      const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
      const answer = await call('/api/v1/user_uploads', { method: 'POST', body, headers })
        .then((response) => response.json())
        .catch(() => null);
      if (answer) acknowledged.set(answer.url, digestOf(bytes));
      else await pause(30);
    }
  }

  /** In two parts each, going on where the server says, whatever has happened to it. */
  async function uploadInParts(): Promise<void> {
    const sent = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };
    while (!isOver) {
      const bytes = randomBytes(300_000);
      const headers = { ...TUS, 'Upload-Length': String(bytes.length) };
      const begun = await call('/api/v1/tus/', { method: 'POST', headers }).catch(() => null);
      const path = `/api/v1/tus/${begun?.headers.get('location')}`;
      for (let offset = 0; begun && offset < bytes.length; ) {
        const head = await call(path, { method: 'HEAD', headers: TUS }).catch(() => null);
        if (!head) {
          await pause(30);
          continue;
        }
        expect(head.status).toBe(200);
        offset = Number(head.headers.get('upload-offset'));
        if (offset === bytes.length) break;
        const body = bytes.subarray(offset, Math.max(150_000, offset + 100_000));
        await call(path, { method: 'PATCH', body, headers: { ...sent, 'Upload-Offset': String(offset) } }).catch(
          () => null,
        );
      }
      if (begun) acknowledged.set(path.replace('/api/v1/tus/', '/user_uploads/'), digestOf(bytes));
      else await pause(30);
    }
  }

  it('has the bytes of every file that it lists, and after a sweep no others', async () => {
    const loops = [uploadForms(), uploadForms(), uploadInParts(), uploadInParts()];
    let log = '';
    for (let round = 0; round < ROUNDS; round++) {
      const goal = acknowledged.size + 6 + 3 * (round % 4);
      while (acknowledged.size < goal) await pause(1 + (round % 3));
      await server.kill();
      log += server.output;
      server = await organization.serve([], server.port);
    }
    isOver = true;
    await Promise.all(loops);
    expect(log + server.output).not.toContain('"level":"error"');

    for (const [url, digest] of acknowledged) {
      const response = await call(url);
      expect([url, response.status]).toEqual([url, 200]);
      expect([url, digestOf(new Uint8Array(await response.arrayBuffer()))]).toEqual([url, digest]);
    }
    const { attachments } = (await (await call('/api/v1/attachments')).json()) as {
      attachments: { readonly path_id: string; readonly size: number }[];
    };
    expect(attachments.length).toBeGreaterThanOrEqual(acknowledged.size);
    for (const { path_id, size: bytes } of attachments) {
      const response = await call(`/user_uploads/${path_id}`);
      expect((await response.arrayBuffer()).byteLength).toBe(bytes);
    }

    await server.terminate();
    const folder = join(organization.directory, 'data', 'files');
    const files = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
    // As if all of it had happened hours ago.
    for (const file of files()) utimesSync(file, 1000, 1000);
    const { code, out, err } = await organization.run(['file', 'sweep']);
    expect([code, err, out]).toEqual([0, '', expect.stringMatching(/^Removed 0 files, 0 unfinished uploads and /)]);
    expect(files().filter((file) => !file.includes('uploads'))).toHaveLength(attachments.length);
  }, 300_000);
});
