import type { ImageInfo, ImageProcessor, ImageTarget, ProcessedImage } from '@parley/domain/files';
import type { WorkOwner } from '@parley/domain/kernel';
import { MakeThumbnails } from '@parley/domain/messages';
import { openHeic, SharpImageProcessor } from '@parley/images';
import { ANIMATED_GIF, MemoryBlobStore, TIFF, TURNED_HEIC_PHOTO } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf, type Wire } from '../testing/expectations.js';
import { pngOf } from '../testing/images.js';
import { runJobs } from '../testing/jobs.js';
import { type FileUpload, postFiles } from '../testing/multipart.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

/** Records the order in which images are resized. */
class RememberingProcessor implements ImageProcessor {
  private readonly real = new SharpImageProcessor(openHeic);
  readonly served: number[] = [];

  inspect(image: Uint8Array): Promise<ImageInfo> {
    return this.real.inspect(image);
  }

  resize(image: Uint8Array, target: ImageTarget, { userId }: WorkOwner): Promise<ProcessedImage> {
    this.served.push(userId);
    return this.real.resize(image, target);
  }
}

const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
const images = new RememberingProcessor();
let outsider: TestUser;

const { server, people } = serverPerSuite({ blobs, images });
beforeAll(async () => {
  const realmId = await server.addRealm('other');
  outsider = await server.addUser({ email: 'prospero@other.com', fullName: 'Prospero', realmId });
});

const uploaded = async (as: TestUser, file: FileUpload): Promise<string> =>
  String(fieldsOf(await postFiles(server, '/user_uploads', as, [file])).url);
const say = async (as: TestUser, content: string, to: readonly TestUser[] = [as]): Promise<number> =>
  fieldsOf(await server.post('/messages', as, { type: 'direct', to: to.map(({ id }) => id), content })).id;
const shown = async (id: number, as = people.hamlet): Promise<string> =>
  (fieldsOf(await server.get(`/messages/${id}`, as)) as Wire).message.content;
const finish = () => runJobs(server, server.parley.useCase(MakeThumbnails));
const PHOTO: FileUpload = { name: 'photo é.png', content: pngOf(1680, 840), type: 'image/png' };
const about = (type: string, size: string) => `data-original-content-type="${type}" data-original-dimensions="${size}"`;
const SPINNER = '/static/images/loading/loader-black.svg';

describe('message image (markdown §15.2)', () => {
  it('shows a placeholder until the thumbnail is ready, which is published to everyone with access', async () => {
    const { hamlet, cordelia, iago } = people;
    const url = await uploaded(hamlet, PHOTO);
    const id = await say(hamlet, `[cat](${url}) and ![a "dog" & > <b>](${url}?x)`, [hamlet, cordelia]);
    const before = await shown(id);
    const preview = `<div class="message_inline_image"><a href="${url}" title="cat">`;
    const LOADING = 'image-loading-placeholder';
    const original = about('image/png', '1680x840');
    expect(before).toContain(`${preview}<img class="${LOADING}" ${original} src="${SPINNER}"></a></div>`);
    expect(before).toContain(`class="inline-image ${LOADING}" ${original} data-original-src="${url}`);
    const queues = await Promise.all([hamlet, cordelia, iago].map((person) => openQueue(server, person)));
    server.clock.advance(5);

    await finish();
    const thumbnail = url.replace('/user_uploads/', '/user_uploads/thumbnail/');
    const after = await shown(id);
    expect(after).toContain(`${preview}<img ${original} src="${thumbnail}/840x560.webp"></a></div>`);
    expect(after).not.toContain(LOADING);
    expect(after).toContain('<img alt="a &quot;dog&quot; &amp; &gt; &lt;b&gt;" class="inline-image" ');
    const [own, others, none] = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    const event = {
      type: 'update_message',
      user_id: null,
      rendering_only: true,
      message_id: id,
      message_ids: [id],
      flags: [],
      edit_timestamp: server.clock.now(),
      content: `[cat](${url}) and ![a "dog" & > <b>](${url}?x)`,
      rendered_content: after,
    };
    expect(own).toEqual([event]);
    expect(others).toEqual([event]);
    expect(none).toEqual([]);
    const { message } = fieldsOf(await server.get(`/messages/${id}`, hamlet)) as Wire;
    expect(message).not.toHaveProperty('last_edit_timestamp');
    expect(message).not.toHaveProperty('edit_history');
    // A later message displays the finished thumbnail immediately, with identical HTML.
    expect(await shown(await say(hamlet, `[cat](${url}) and ![a "dog" & > <b>](${url}?x)`))).toBe(after);
  });

  it.each([
    ['a bare link', (url: string) => `${server.url}${url}`],
    ['a link in a list', (url: string) => `* [x](${url})`],
    ['an escaped link', (url: string) => `[x](${encodeURI(url)})`],
    ['a link with an absolute URL', (url: string) => `[x](${server.url}${url})`],
    ['an image within a text', (url: string) => `**![y](${url})**`],
    ['an image in a quote', (url: string) => `> ![y](${url})`],
  ])('equals an image with a finished thumbnail once it is ready, shown by %s', async (_what, text) => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, PHOTO);
    const id = await say(hamlet, text(url));
    expect(await shown(id)).toContain(SPINNER);
    await finish();
    const rendered = await shown(id);
    expect(rendered).not.toContain(SPINNER);
    expect(rendered).toBe(await shown(await say(hamlet, text(url))));
  });

  it('has a still variant if animated', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, { name: 'a.gif', content: ANIMATED_GIF, type: 'image/gif' });
    const id = await say(hamlet, `[x](${url})`);
    await finish();
    const thumbnail = url.replace('/user_uploads/', '/user_uploads/thumbnail/');
    expect(await shown(id)).toContain(
      `<img data-animated="true" ${about('image/gif', '2x2')} src="${thumbnail}/840x560-anim.webp">`,
    );
    for (const name of ['840x560-anim.webp', '840x560.webp']) {
      expect((await server.request('GET', `/${thumbnail}/${name}`, { as: hamlet })).status).toBe(200);
    }
  });

  it.each([
    ['TIFF', 'image/tiff', TIFF, '3x2'],
    ['HEIC', 'image/heic', TURNED_HEIC_PHOTO, '20x40'],
  ])('has a full-size displayable copy if browsers cannot display it: %s', async (_format, type, content, size) => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, { name: 'a', content, type: 'application/octet-stream' });
    const id = await say(hamlet, `[x](${url})`);
    await finish();
    const thumbnail = url.replace('/user_uploads/', '/user_uploads/thumbnail/');
    expect(await shown(id)).toContain(
      `<img ${about(type, size)} data-transcoded-image="${size}.webp" src="${thumbnail}/840x560.webp">`,
    );
    for (const name of [`${size}.webp`, '840x560.webp']) {
      const { status, headers, body } = await server.request('GET', `/${thumbnail}/${name}`, { as: hamlet });
      expect([status, headers['content-type']]).toEqual([200, 'image/webp']);
      expect(String(body)).not.toContain('Camera');
    }
  });

  it('disappears if the image turns out to be damaged', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, { name: 'a.png', content: pngOf(40, 20, true), type: 'image/png' });
    const id = await say(hamlet, `[x](${url}) ![y](${url})`);
    expect(await shown(id)).toContain(SPINNER);
    await finish();
    expect(await shown(id)).toBe(`<p><a href="${url}">x</a> </p>`);
    expect(await shown(await say(hamlet, `[x](${url})`))).not.toContain('<img');
  });

  it.each([
    ['a text file named like an image', { name: 'a.png', content: 'x', type: 'image/png' }],
    [
      'a vector drawing',
      { name: 'a.svg', content: '<svg xmlns="http://www.w3.org/2000/svg"/>', type: 'image/svg+xml' },
    ],
    ['an image with too many pixels', { name: 'a.png', content: pngOf(30_000, 30_000, true), type: 'image/png' }],
    ['a page', { name: 'a.png.html', content: '<p>', type: 'text/html' }],
  ])('is not shown for %s', async (_what, file) => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, file);
    expect(await shown(await say(hamlet, `[x](${url})`))).toBe(`<p><a href="${url}">x</a></p>`);
  });

  it('appears for links by users without access but is not attached', async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet, PHOTO);
    const id = await say(cordelia, `[x](${url})`);
    await finish();
    expect(await shown(id, cordelia)).not.toContain(SPINNER);
  });

  it('leaves edited and deleted messages unchanged', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, PHOTO);
    const [edited, deleted, other] = [
      await say(hamlet, `[x](${url})`),
      await say(people.desdemona, `[x](${url})`),
      await say(hamlet, 'none'),
    ];
    fieldsOf(await server.patch(`/messages/${edited}`, hamlet, { content: 'no picture' }));
    fieldsOf(await server.delete(`/messages/${deleted}`, people.desdemona));
    fieldsOf(await server.patch(`/messages/${other}`, hamlet, { content: `[x](${url})` }));
    const queue = await openQueue(server, hamlet);
    await finish();
    const events = (await eventsAfter(server, queue)) as Wire[];
    expect(events.map(({ type, message_id }) => [type, message_id])).toEqual([['update_message', other]]);
    expect(await shown(edited)).toBe('<p>no picture</p>');
    expect(await shown(other)).not.toContain(SPINNER);
  });

  it('is processed round-robin between uploads of different users', async () => {
    const { hamlet, cordelia, iago } = people;
    const small = { name: 'a.png', content: pngOf(20, 10), type: 'image/png' };
    images.served.length = 0;
    const urls: string[] = [];
    for (const as of [hamlet, hamlet, hamlet, hamlet, cordelia, iago, iago]) urls.push(await uploaded(as, small));
    const deleted = (fieldsOf(await server.get('/attachments', hamlet)) as Wire).attachments.find(({ path_id }: Wire) =>
      urls[1]!.endsWith(path_id),
    );
    fieldsOf(await server.delete(`/attachments/${deleted.id}`, hamlet));
    await finish();
    expect(images.served).toEqual([hamlet, cordelia, iago, hamlet, iago, hamlet].map(({ id }) => id));
  });

  it('updates any number of messages', async () => {
    const { hamlet } = people;
    const url = await uploaded(hamlet, PHOTO);
    const ids: number[] = [];
    for (let i = 0; i < 60; i++) ids.push(await say(hamlet, `[x](${url})`));
    await finish();
    for (const id of [ids[0]!, ids[49]!, ids[50]!, ids[59]!]) expect(await shown(id)).not.toContain(SPINNER);
  });
});

describe('GET /user_uploads/thumbnail (messages §16.2)', () => {
  it('serves the thumbnail to readers of the image only', async () => {
    const { hamlet, cordelia } = people;
    const url = await uploaded(hamlet, PHOTO);
    const thumbnail = `/${url.replace('/user_uploads/', '/user_uploads/thumbnail/')}`;
    const get = (path: string, as: TestUser | null, realm?: string) =>
      server.request('GET', encodeURI(path), { as, ...(realm && { realm }) });
    expect((await get(`${thumbnail}/840x560.webp`, hamlet)).status).toBe(404);
    await finish();
    const response = await get(`${thumbnail}/840x560.webp`, hamlet);
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'image/webp',
      'content-disposition': expect.stringMatching(/^inline; filename="photo _.png.webp"/),
      'x-content-type-options': 'nosniff',
    });
    for (const name of ['840x560-anim.webp', '1x1.webp', '840x560.png', '..', '']) {
      expect((await get(`${thumbnail}/${name}`, hamlet)).status).toBe(404);
    }
    expect((await get(`${thumbnail}/840x560.webp`, cordelia)).status).toBe(403);
    expect((await get(`${thumbnail}/840x560.webp`, null)).status).toBe(401);
    expect((await get(`${thumbnail}/840x560.webp?api_key=${hamlet.apiKey}`, null)).status).toBe(200);
    expect((await get(`${thumbnail}/840x560.webp`, outsider, 'other')).status).toBe(404);
    await say(hamlet, `[x](${url})`, [hamlet, cordelia]);
    expect((await get(`${thumbnail}/840x560.webp`, cordelia)).status).toBe(200);
  });

  it("deletes the thumbnail's bytes with the image", async () => {
    const { hamlet } = people;
    const before = blobs.size;
    const url = await uploaded(hamlet, PHOTO);
    await finish();
    expect(blobs.size).toBe(before + 2);
    const { attachments } = fieldsOf(await server.get('/attachments', hamlet)) as Wire;
    const { id } = attachments.find(({ path_id }: Wire) => url.endsWith(path_id));
    fieldsOf(await server.delete(`/attachments/${id}`, hamlet));
    expect(blobs.size).toBe(before);
  });
});
