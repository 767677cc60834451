import { MemoryBlobStore } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { type FileUpload, imageFile, postFiles } from '../testing/multipart.js';
import { organizationPerTest } from '../testing/servers.js';

const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
const { server, people } = organizationPerTest({ blobs });
beforeEach(() => blobs.clear());

const postIcon = (files: readonly FileUpload[] = [imageFile()], as = people.iago) =>
  postFiles(server, '/realm/icon', as, files);
const postLogo = (night: boolean | null, files: readonly FileUpload[] = [imageFile()], as = people.iago) =>
  postFiles(server, '/realm/logo', as, files, night === null ? {} : { night: JSON.stringify(night) });
const urlOf = (name: string, version: number) =>
  `${server.url}/user_avatars/${server.realmId}/realm/${name}.png?version=${version}`;
const load = (url: string, realm?: string) =>
  server.request('GET', `/${url.replace(server.url, '')}`, realm === undefined ? {} : { realm });
const registered = async (): Promise<Wire> =>
  fieldsOf(await server.post('/register', people.polonius, { fetch_event_types: ['realm'] }));
const change = (property: string, data: object) => ({ type: 'realm', op: 'update_dict', property, data });
const FOR_ADMINISTRATORS = ['Must be an organization administrator', { code: 'UNAUTHORIZED_PRINCIPAL' }] as const;

describe('organization icon (organization §3)', () => {
  it('shows the default before an upload and after removal', async () => {
    const usual = await load(urlOf('icon', 1));
    expect([usual.status, usual.headers['content-type']]).toEqual([200, 'image/png']);
    const queue = await openQueue(server, people.polonius, { event_types: ['realm'] });
    expect(fieldsOf(await postIcon())).toEqual({ icon_url: urlOf('icon', 2) });
    expect(await registered()).toMatchObject({ realm_icon_source: 'U', realm_icon_url: urlOf('icon', 2) });
    expect((await server.get('/server_settings', null)).body.realm_icon).toBe(urlOf('icon', 2));
    expect((await load(urlOf('icon', 2))).body).toBe('png 100x100x1');
    expect(blobs.size).toBe(2);
    fieldsOf(await postIcon([imageFile({ format: 'gif', frames: 3 })]));
    expect(blobs.size).toBe(2);
    for (let times = 0; times < 2; times++) {
      expect(fieldsOf(await server.delete('/realm/icon', people.iago))).toEqual({ icon_url: urlOf('icon', 4) });
    }
    expect((await load(urlOf('icon', 4))).body).toBe(usual.body);
    expect(blobs.size).toBe(0);
    expect(await eventsAfter(server, queue)).toEqual([
      change('icon', { icon_source: 'U', icon_url: urlOf('icon', 2) }),
      change('icon', { icon_source: 'U', icon_url: urlOf('icon', 3) }),
      change('icon', { icon_source: 'G', icon_url: urlOf('icon', 4) }),
    ]);
  });

  it('redirects GET /realm/icon to the icon', async () => {
    const redirect = async () => {
      const { status, headers } = await server.get('/realm/icon', people.polonius);
      return [status, headers.location];
    };
    expect(await redirect()).toEqual([302, urlOf('icon', 1)]);
    fieldsOf(await postIcon());
    expect(await redirect()).toEqual([302, urlOf('icon', 2)]);
    await server.addRealm('other');
    expect((await load(urlOf('icon', 2), 'other')).body).not.toBe('png 100x100x1');
  });

  it('keeps the icon when other settings change', async () => {
    fieldsOf(await postIcon());
    fieldsOf(await server.patch('/realm', people.desdemona, { name: 'Lear' }));
    expect(await registered()).toMatchObject({ realm_name: 'Lear', realm_icon_url: urlOf('icon', 2) });
  });
});

describe('organization logo (organization §3)', () => {
  it('stores separate logos for day and night mode', async () => {
    const queue = await openQueue(server, people.hamlet, { event_types: ['realm'] });
    const usual = { realm_logo_source: 'D', realm_night_logo_source: 'D' };
    expect(await registered()).toMatchObject({ ...usual, realm_logo_url: urlOf('logo', 1) });
    expect(fieldsOf(await postLogo(false, [imageFile({ width: 4000, height: 1000 })]))).toEqual({});
    expect(fieldsOf(await postLogo(true))).toEqual({});
    expect(await registered()).toMatchObject({
      realm_logo_source: 'U',
      realm_logo_url: urlOf('logo', 2),
      realm_night_logo_source: 'U',
      realm_night_logo_url: urlOf('night_logo', 2),
    });
    expect((await load(urlOf('logo', 2))).body).toBe('png 400x100x1');
    expect((await load(urlOf('night_logo', 2))).body).toBe('png 10x20x1');
    const redirect = async (night: boolean) =>
      (await server.get('/realm/logo', people.polonius, { night })).headers.location;
    expect([await redirect(false), await redirect(true)]).toEqual([urlOf('logo', 2), urlOf('night_logo', 2)]);
    expect(fieldsOf(await server.delete('/realm/logo', people.iago, { night: true }))).toEqual({});
    expect(await eventsAfter(server, queue)).toEqual([
      change('logo', { logo_source: 'U', logo_url: urlOf('logo', 2) }),
      change('night_logo', { night_logo_source: 'U', night_logo_url: urlOf('night_logo', 2) }),
      change('night_logo', { night_logo_source: 'D', night_logo_url: urlOf('night_logo', 3) }),
    ]);
    expect(blobs.size).toBe(1);
  });
});

describe.each(['icon', 'logo'] as const)('%s upload', (what) => {
  const post = (files: readonly FileUpload[], as = people.iago) =>
    what === 'icon' ? postIcon(files, as) : postLogo(false, files, as);

  it.each`
    files                                                      | reason                                                       | code
    ${[]}                                                      | ${'You must upload exactly one {what}.'}                     | ${'BAD_REQUEST'}
    ${[imageFile(), imageFile()]}                              | ${'You must upload exactly one {what}.'}                     | ${'BAD_REQUEST'}
    ${[{ name: 'a', content: Buffer.alloc(5 * 2 ** 20 + 1) }]} | ${'Uploaded file is larger than the allowed limit of 5 MiB'} | ${'BAD_REQUEST'}
    ${[{ name: 'a', content: 'not an image' }]}                | ${'Could not decode image; did you upload an image file?'}   | ${'BAD_IMAGE'}
    ${[{ name: 'a', content: 'png 20000x20000x1' }]}           | ${'Image size exceeds limit.'}                               | ${'BAD_IMAGE'}
  `('rejects an invalid image: $reason', async ({ files, reason, code }) => {
    expectRefusal(await post(files), reason.replace('{what}', what), { code });
    expect(blobs.size).toBe(0);
  });

  it('rejects non-administrators before validating the image', async () => {
    for (const as of [people.shiva, people.hamlet, people.polonius]) {
      expectRefusal(await post([], as), ...FOR_ADMINISTRATORS);
      expectRefusal(await server.delete(`/realm/${what}`, as), ...FOR_ADMINISTRATORS);
    }
  });
});

it('logo upload requires day or night mode', async () => {
  const missing = ["Missing 'night' argument", { code: 'REQUEST_VARIABLE_MISSING', var_name: 'night' }] as const;
  expectRefusal(await postLogo(null), ...missing);
  expectRefusal(await server.delete('/realm/logo', people.iago), ...missing);
  expectRefusal(await server.get('/realm/logo', people.iago), ...missing);
});
