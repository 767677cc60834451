import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { blackPng, SeededRandomness } from '@parley/testkit';
import { IS_LONG, SEED, size } from './hostile/scale.js';
import type { ParleyProcess } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { type Person, TestOrganization } from './testing/test-organization.js';

const ROUNDS = size(4, 40);
const TUS = { 'Tus-Resumable': '1.0.0' };
const PICTURE = blackPng(60, 40);
const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

const versionOf = (url: string): number => Number(new URL(url).searchParams.get('version'));

// biome-ignore lint/suspicious/noExplicitAny: responses, checked by assertions.
type Answer = any;

/** Repeated `kill -9` during uploads. */
describe('server killed during uploads', () => {
  let organization: TestOrganization;
  let hamlet: Person;
  let server: ParleyProcess;
  /** Acknowledged uploads: digests by URL, messages, emoji names, the avatar. */
  const acknowledged = new Map<string, string>();
  const messages: number[] = [];
  const emoji: string[] = [];
  let avatarVersion = 0;
  let isOver = false;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    hamlet = await organization.addPerson('Hamlet', 'owner');
    server = await organization.serve();
  });
  afterAll(() => organization.close());

  const call = (path: string, init: RequestInit = {}): Promise<Response> => {
    const Authorization = `Basic ${Buffer.from(`${hamlet.email}:${hamlet.apiKey}`).toString('base64')}`;
    return fetch(server.url + path, { ...init, headers: { ...(init.headers as object), Authorization } });
  };
  /** Null after a short timeout without a complete response. */
  const post = async (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    contentType: string,
  ): Promise<Answer | null> => {
    const answer = await call(`/api/v1${path}`, { method: 'POST', body, headers: { 'Content-Type': contentType } })
      .then((response) => response.json() as Promise<Answer>)
      .catch(() => null);
    if (answer === null) await pause(30);
    else expect(answer).toMatchObject({ result: 'success' });
    return answer;
  };
  const postFile = (path: string, name: string, bytes: Uint8Array): Promise<Answer | null> => {
    const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--b--\r\n')]);
    return post(path, body, 'multipart/form-data; boundary=b');
  };

  async function uploadForms(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      const bytes = randomBytes(n % 3 === 0 ? 400_000 : 5000);
      const answer = await postFile('/user_uploads', `form ${n}`, bytes);
      if (answer) acknowledged.set(answer.url, digestOf(bytes));
    }
  }

  /** Uploads images, which get thumbnails and appear in messages. */
  async function uploadPictures(): Promise<void> {
    while (!isOver) {
      const answer = await postFile('/user_uploads', 'cat.png', PICTURE);
      if (!answer) continue;
      acknowledged.set(answer.url, digestOf(PICTURE));
      const form = new URLSearchParams({ type: 'direct', to: `[${hamlet.id}]`, content: `[x](${answer.url})` });
      const sent = await post('/messages', String(form), 'application/x-www-form-urlencoded');
      if (sent) messages.push(sent.id);
    }
  }

  async function changeAvatars(): Promise<void> {
    while (!isOver) {
      const answer = await postFile('/users/me/avatar', 'me.png', PICTURE);
      if (answer) avatarVersion = versionOf(answer.avatar_url);
    }
  }

  async function addEmoji(): Promise<void> {
    for (let n = 0; !isOver; n++) {
      if (await postFile(`/realm/emoji/cat_${n}`, 'cat.png', PICTURE)) emoji.push(`cat_${n}`);
    }
  }

  /** Uploads in two parts, resuming at the server's offset after any failure. */
  async function uploadInParts(): Promise<void> {
    const sent = { ...TUS, 'Content-Type': 'application/offset+octet-stream' };
    while (!isOver) {
      const bytes = randomBytes(300_000);
      const headers = { ...TUS, 'Upload-Length': String(bytes.length) };
      const begun = await call('/api/v1/tus/', { method: 'POST', headers }).catch(() => null);
      const path = begun?.headers.get('location') ?? '';
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

  /** An interrupted job resumes when its lease expires; short runs do not wait for that. */
  async function expectPicture(messageId: number): Promise<void> {
    for (const endsAt = performance.now() + size(0, 180_000); ; await pause(1000)) {
      const { message } = (await (await call(`/api/v1/messages/${messageId}`)).json()) as Answer;
      const [, thumbnail] = /src="(\/user_uploads\/thumbnail\/[^"]*\/840x560.webp)"/.exec(message.content) ?? [];
      if (thumbnail !== undefined) {
        expect([thumbnail, (await call(thumbnail)).status]).toEqual([thumbnail, 200]);
        return;
      }
      expect(message.content).toContain('image-loading-placeholder');
      if (performance.now() < endsAt) continue;
      expect(IS_LONG).toBe(false);
      return;
    }
  }

  it('has the bytes of every listed file, and no other files after a sweep', async () => {
    const loops = [uploadForms, uploadInParts, uploadPictures, changeAvatars, addEmoji].map((loop) => loop());
    const random = new SeededRandomness(SEED);
    let log = '';
    for (let round = 0; round < ROUNDS; round++) {
      const before = acknowledged.size + emoji.length;
      while (acknowledged.size + emoji.length < before + 6) await pause(1);
      await pause(Math.floor(random.fraction() * 300));
      await server.kill();
      log += server.output;
      server = await organization.serve([], server.port);
    }
    // On a slow machine, kills may prevent the longest uploads from finishing.
    while (messages.length === 0 || avatarVersion <= 1) await pause(10);
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

    const { members } = (await (await call('/api/v1/users')).json()) as Answer;
    const { avatar_url: avatar } = members.find(({ user_id }: Answer) => user_id === hamlet.id);
    // The last one may be stored without an acknowledgement.
    expect(versionOf(avatar)).toBeGreaterThanOrEqual(avatarVersion);
    const listed = Object.values<Answer>(((await (await call('/api/v1/realm/emoji')).json()) as Answer).emoji);
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(emoji));
    const pictures = [avatar, avatar.replace('.png', '-medium.png'), ...listed.map(({ source_url }) => source_url)];
    for (const url of pictures) {
      const response = await call(new URL(url, server.url).href.slice(server.url.length));
      expect([url, response.status, response.headers.get('content-type')]).toEqual([url, 200, 'image/png']);
    }
    for (const id of messages) await expectPicture(id);

    await server.terminate();
    const folder = join(organization.directory, 'data', 'files');
    const files = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !/^parley-.*\.json$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name));
    // Simulates that everything happened hours ago.
    for (const file of files()) utimesSync(file, 1000, 1000);
    const { code, out, err } = await organization.run(['file', 'sweep']);
    expect([code, err, out]).toEqual([0, '', expect.stringMatching(/^Removed 0 files, 0 unfinished uploads and /)]);
    const kept = files().filter((file) => !file.includes('uploads')).length;
    expect(kept).toBeGreaterThanOrEqual(attachments.length + pictures.length);
    expect((await organization.run(['doctor', '--thorough'])).out).toContain(`the content of ${kept} files exists`);
  }, 1_200_000);
});
