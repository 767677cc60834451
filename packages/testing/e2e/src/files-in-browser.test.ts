import { ParleyClient } from '@parley/client';
import { ANIMATED_GIF, blackPng, HEIC_PHOTO, TIFF } from '@parley/testkit';
import { encodeMultipart, send } from './conformance/request.js';
import { Chromium, findChromium } from './testing/chromium.js';
import { type ParleyProcess, runParley } from './testing/parley-process.js';
import { pause } from './testing/pause.js';
import { TestOrganization } from './testing/test-organization.js';

const command = findChromium();
if (command === null)
  console.warn('Files are not shown in a browser: no Chromium is installed (apt-get install chromium).');

const [EMAIL, PASSWORD] = ['ann@example.com', 'a password that nobody guesses'];
const SCRIPT = 'parent.hasRun = top.hasRun = window.hasRun = true';

interface FileUpload {
  readonly name: string;
  readonly bytes: Uint8Array | string;
}

const PICTURE: FileUpload = { name: 'cat.png', bytes: blackPng(60, 40) };

/** Files that a browser might interpret as another type. */
const HOSTILE: readonly FileUpload[] = [
  {
    name: 'drawing.svg',
    bytes: `<svg xmlns="http://www.w3.org/2000/svg" onload="${SCRIPT}"><script>${SCRIPT}</script></svg>`,
  },
  { name: 'drawing.png', bytes: `<svg xmlns="http://www.w3.org/2000/svg"><script>${SCRIPT}</script></svg>` },
  { name: 'page.html', bytes: `<!doctype html><script>${SCRIPT}</script>` },
  { name: 'page.png', bytes: `<!doctype html><script>${SCRIPT}</script>` },
  { name: 'page.txt', bytes: `<!doctype html><script>${SCRIPT}</script>` },
  { name: 'page.xhtml', bytes: `<html xmlns="http://www.w3.org/1999/xhtml"><script>${SCRIPT}</script></html>` },
  { name: 'script.gif', bytes: `GIF89a/*\0\0\0\0*/=1;${SCRIPT}` },
  { name: 'script.js', bytes: SCRIPT },
  { name: 'script.txt', bytes: SCRIPT },
  { name: 'style.css', bytes: 'body { visibility: hidden }' },
  {
    name: 'archive.png',
    bytes: Buffer.concat([blackPng(9, 9), Buffer.from(`PK\u0003\u0004<script>${SCRIPT}</script>`)]),
  },
  { name: 'paper.pdf', bytes: `%PDF-1.7\n<html><script>${SCRIPT}</script></html>` },
];

/** Dimensions of the uploaded images. */
const SIZES = new Map<string, readonly [number, number]>([
  ['a PNG', [60, 40]],
  ['a GIF', [2, 2]],
  ['a HEIC', [40, 20]],
  ['a TIFF', [3, 2]],
]);

(command === null ? describe.skip : describe)('uploaded file in a browser', () => {
  let organization: TestOrganization;
  let server: ParleyProcess;
  let ann: ParleyClient;
  let apiKey: string;
  let browser: Chromium;
  /** URL and dimensions of public pictures by kind. */
  const pictures: Record<string, readonly [url: string, width: number, height: number]> = {};
  /** File in a direct message to Ann. */
  let secret: string;

  beforeAll(async () => {
    organization = await TestOrganization.withOrganization();
    const create = ['user', 'create', EMAIL, 'Ann', '--role=owner', '--password-stdin'];
    const { out } = await runParley([...create, `--database=sqlite:${organization.database}`], `${PASSWORD}\n`);
    apiKey = /API key: (\w+)/.exec(out)![1]!;
    server = await organization.serve(['--web-public-channels=on']);
    ann = new ParleyClient({ url: server.url, credentials: { email: EMAIL, apiKey } });
    await addPictures();
    browser = await Chromium.start(command!, { runsScripts: true });
  });
  afterAll(async () => {
    await browser?.close();
    await organization.close();
  });

  async function postFile(path: string, { name, bytes }: FileUpload, fields = {}): Promise<Record<string, string>> {
    const part = { field: 'file', name, content: Buffer.from(bytes), type: 'application/octet-stream' };
    const { body, contentType } = await encodeMultipart(fields, [part]);
    const authorization = `Basic ${Buffer.from(`${EMAIL}:${apiKey}`).toString('base64')}`;
    const headers = { 'Content-Type': contentType, Authorization: authorization };
    const { status, text } = await send({ method: 'POST', url: `${server.url}/api/v1${path}`, headers, body });
    expect([status, text]).toEqual([200, expect.anything()]);
    return JSON.parse(text);
  }
  const upload = async (file: FileUpload): Promise<string> => (await postFile('/user_uploads', file)).url!;

  async function addPictures(): Promise<void> {
    await ann.patch('/realm', { enable_spectator_access: true });
    await ann.post('/users/me/subscriptions', { subscriptions: [{ name: 'museum' }], is_web_public: true });
    const given = { 'a PNG': PICTURE, 'a GIF': { name: 'a.gif', bytes: ANIMATED_GIF } };
    const transcoded = { 'a HEIC': { name: 'a.heic', bytes: HEIC_PHOTO }, 'a TIFF': { name: 'a.tiff', bytes: TIFF } };
    const urls = new Map<string, string>();
    for (const [what, file] of Object.entries({ ...given, ...transcoded })) urls.set(what, await upload(file));
    secret = await upload({ ...PICTURE, name: 'secret.png' });

    const content = [...urls.values()].map((url) => `[x](${url}) ![y](${url})`).join('\n\n');
    const { id } = await ann.post('/messages', { type: 'channel', to: 'museum', topic: 'all', content });
    const { user_id } = await ann.get('/users/me');
    await ann.post('/messages', { type: 'direct', to: [user_id], content: `[x](${secret})` });
    let html = '';
    do {
      await pause(100);
      html = (await ann.get('/messages/{message_id}', { message_id: id })).message.content;
    } while (html.includes('image-loading-placeholder'));
    for (const [what, url] of urls) {
      const [width, height] = SIZES.get(what)!;
      const thumbnails = url.replace('/user_uploads/', '/user_uploads/thumbnail/');
      if (what in given) pictures[what] = [url, width, height];
      else pictures[`${what} in full size`] = [`${thumbnails}/${width}x${height}.webp`, width, height];
      const thumbnail = new RegExp(`src="(${thumbnails}/840x560(?:-anim)?.webp)"`).exec(html)![1]!;
      pictures[`the thumbnail of ${what}`] = [thumbnail, width, height];
    }

    const { avatar_url: avatar } = await postFile('/users/me/avatar', PICTURE);
    pictures['an avatar'] = [avatar!, 100, 100];
    pictures['a larger avatar'] = [avatar!.replace('.png', '-medium.png'), 500, 500];
    pictures['a drawn avatar'] = ['/user_avatars/1/999.png', 100, 100];
    pictures['an avatar by its owner'] = [`/avatar/${user_id}`, 100, 100];
    await postFile('/realm/emoji/moving', { name: 'a.gif', bytes: ANIMATED_GIF });
    const [emoji] = Object.values((await ann.get('/realm/emoji')).emoji);
    pictures['an emoji'] = [emoji!.source_url, 64, 64];
    pictures['a still emoji'] = [emoji!.still_url!, 64, 64];
    pictures['an icon'] = [(await postFile('/realm/icon', PICTURE)).icon_url!, 100, 100];
    for (const night of ['false', 'true']) await postFile('/realm/logo', PICTURE, { night });
    const { realm_logo_url, realm_night_logo_url } = await ann.post('/register', { fetch_event_types: ['realm'] });
    pictures['a logo'] = [realm_logo_url!, 60, 40];
    pictures['a logo at night'] = [realm_night_logo_url!, 60, 40];
  }

  /** Loads images on an otherwise idle same-origin page; returns their sizes, [0, 0] for broken ones. */
  const sizesOf = (urls: readonly string[]): Promise<readonly (readonly [number, number])[]> =>
    browser.evaluate(`Promise.all(${JSON.stringify(urls)}.map((url) => new Promise((resolve) => {
      const image = document.createElement('img');
      image.onload = image.onerror = () => resolve([image.naturalWidth, image.naturalHeight]);
      image.src = url;
      document.body.append(image);
    })))`);
  const openPage = () => browser.open(`${server.url}/api/v1/server_settings`);
  const logIn = async (): Promise<void> => {
    await openPage();
    const status = await browser.evaluate(`(async () => {
      await fetch('/accounts/login/');
      const headers = { 'X-CSRFToken': /csrftoken=([^;]*)/.exec(document.cookie)[1] };
      const body = new URLSearchParams({ username: '${EMAIL}', password: '${PASSWORD}' });
      return (await fetch('/accounts/login/', { method: 'POST', headers, body })).status;
    })()`);
    expect(status).toBe(200);
  };

  it('appears to anonymous visitors with access', async () => {
    await openPage();
    const names = Object.keys(pictures);
    expect(names).toHaveLength(17);
    const sizes = await sizesOf(names.map((name) => pictures[name]![0]));
    expect(names.map((name, at) => [name, ...sizes[at]!])).toEqual(
      names.map((name) => [name, ...pictures[name]!.slice(1)]),
    );
    expect(
      await sizesOf([secret, `${secret.replace('/user_uploads/', '/user_uploads/thumbnail/')}/840x560.webp`]),
    ).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  it('appears in a session', async () => {
    await logIn();
    const names = Object.keys(pictures);
    const sizes = await sizesOf([...names.map((name) => pictures[name]![0]), secret]);
    expect(sizes.at(-1)).toEqual([60, 40]);
    expect(names.map((name, at) => [name, ...sizes[at]!])).toEqual(
      names.map((name) => [name, ...pictures[name]!.slice(1)]),
    );
  });

  it('executes nothing, however it is embedded', async () => {
    await logIn();
    const urls: string[] = [];
    for (const file of HOSTILE) urls.push(await upload(file));
    await openPage();
    const found = await browser.evaluate(`(async () => {
      const put = (tag, attribute, url, more = {}) => new Promise((resolve) => {
        const element = document.createElement(tag);
        element.onload = element.onerror = resolve;
        Object.assign(element, more, { [attribute]: url });
        document.body.append(element);
      });
      for (const url of ${JSON.stringify(urls)}) {
        await Promise.all([put('script', 'src', url), put('img', 'src', url), put('link', 'href', url, { rel: 'stylesheet' })]);
        for (const [tag, attribute] of [['iframe', 'src'], ['object', 'data'], ['embed', 'src']]) {
          // Browsers do not report the rejection of some of these.
          await Promise.race([put(tag, attribute, url), new Promise((resolve) => setTimeout(resolve, 100))]);
        }
      }
      return [window.hasRun ?? false, getComputedStyle(document.body).visibility];
    })()`);
    expect(found).toEqual([false, 'visible']);
  });

  it('does not render as a page when opened', async () => {
    await logIn();
    for (const name of ['page.txt', 'archive.png']) {
      await browser.open(server.url + (await upload(HOSTILE.find((file) => file.name === name)!)));
      const opened = await browser.evaluate('[window.hasRun ?? false, window.origin, document.scripts.length]');
      expect([name, ...opened]).toEqual([name, false, 'null', 0]);
    }
  });
});
