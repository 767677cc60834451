import { SweepFiles } from '@parley/domain/files';
import { MemoryBlobStore } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { type FileUpload, imageFile, MULTIPART, multipart, postFiles } from '../testing/multipart.js';
import { organizationPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
const { server, people } = organizationPerTest({ blobs });
beforeEach(() => blobs.clear());

const change = (as = people.hamlet, files: readonly FileUpload[] = [imageFile()]) =>
  postFiles(server, '/users/me/avatar', as, files);
const remove = (as = people.hamlet) => server.delete('/users/me/avatar', as);
const changed = async (as = people.hamlet): Promise<string> => String(fieldsOf(await change(as)).avatar_url);
const userOf = async (id: number, as = people.iago): Promise<Wire> =>
  (fieldsOf(await server.get(`/users/${id}`, as)) as Wire).user;
/** Requests a URL of this server without credentials. */
const load = (url: string, realm?: string) =>
  server.request('GET', `/${url.replace(server.url, '')}`, realm === undefined ? {} : { realm });
const avatarsUrl = () => `${server.url}/user_avatars/${server.realmId}`;
const uploadedUrl = (version: number) => new RegExp(`^${avatarsUrl()}/[0-9a-f]{32}\\.png\\?version=${version}$`);
const mediumOf = (url: string) => url.replace('.png', '-medium.png');
const DISABLED = 'Avatar changes are disabled in this organization.';

describe('own avatar (users §11)', () => {
  it('serves the avatar in two sizes to any caller with its URL', async () => {
    const { hamlet, cordelia } = people;
    const queue = await openQueue(server, cordelia, { event_types: ['realm_user'] });
    const url = await changed();
    expect(url).toMatch(uploadedUrl(2));
    expect([(await load(url)).body, (await load(mediumOf(url))).body]).toEqual(['png 100x100x1', 'png 500x500x1']);
    expect(await userOf(hamlet.id)).toMatchObject({ avatar_url: url, avatar_version: 2 });
    expect(await eventsAfter(server, queue)).toEqual([
      {
        type: 'realm_user',
        op: 'update',
        person: {
          user_id: hamlet.id,
          avatar_source: 'U',
          avatar_url: url,
          avatar_url_medium: mediumOf(url),
          avatar_version: 2,
        },
      },
    ]);
    const registered = fieldsOf(await server.post('/register', hamlet, { fetch_event_types: ['realm_user'] })) as Wire;
    expect(registered).toMatchObject({ avatar_source: 'U', avatar_url: url, avatar_url_medium: mediumOf(url) });
  });

  it('shows a new avatar with earlier messages', async () => {
    const { hamlet, cordelia } = people;
    const params = { type: 'direct', to: [cordelia.id], content: 'hello' };
    const { id } = fieldsOf(await server.post('/messages', hamlet, params)) as Wire;
    const shown = async () =>
      (fieldsOf(await server.get('/messages', cordelia, { message_ids: [id] })) as Wire).messages[0].avatar_url;
    expect(await shown()).toBe(`${avatarsUrl()}/${hamlet.id}.png?version=1`);
    const url = await changed();
    expect(await shown()).toBe(url);
    const queue = await openQueue(server, cordelia, { event_types: ['message'] });
    await server.post('/messages', hamlet, params);
    expect(await eventsAfter(server, queue)).toMatchObject([{ message: { avatar_url: url } }]);
  });

  it('replaces the avatar with an unpredictable new URL', async () => {
    const first = await changed();
    const second = await changed();
    expect(second).toMatch(uploadedUrl(3));
    expect(second.replace('version=3', 'version=2')).not.toBe(first);
    expect([(await load(first)).status, (await load(mediumOf(first))).status]).toEqual([404, 404]);
    expect([(await load(second)).status, blobs.size]).toEqual([200, 2]);
    server.clock.advance(86_400);
    await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect(blobs.size).toBe(2);
  });

  it('keeps one avatar after concurrent uploads', async () => {
    const urls = await Promise.all([changed(), changed(), changed()]);
    const { avatar_url: url, avatar_version: version } = await userOf(people.hamlet.id);
    expect([urls.includes(url), version, blobs.size]).toEqual([true, 4, 2]);
    expect((await load(url)).status).toBe(200);
  });

  it('removes the avatar once and ignores a second removal', async () => {
    const { hamlet, cordelia } = people;
    const url = await changed();
    const queue = await openQueue(server, cordelia, { event_types: ['realm_user'] });
    const drawn = `${avatarsUrl()}/${hamlet.id}.png?version=3`;
    for (let times = 0; times < 2; times++) expect(fieldsOf(await remove())).toEqual({ avatar_url: drawn });
    expect(await eventsAfter(server, queue)).toEqual([
      {
        type: 'realm_user',
        op: 'update',
        person: {
          user_id: hamlet.id,
          avatar_source: 'J',
          avatar_url: drawn,
          avatar_url_medium: mediumOf(drawn),
          avatar_version: 3,
        },
      },
    ]);
    expect([(await load(url)).status, blobs.size]).toEqual([404, 0]);
  });

  it('falls back to a gravatar for callers who can access the email', async () => {
    const { hamlet, iago, cordelia, desdemona } = people;
    fieldsOf(await server.patch('/realm', desdemona, { default_avatar_source: 'G' }));
    fieldsOf(await server.patch('/settings', hamlet, { email_address_visibility: 3 }));
    await changed();
    const queues = [await openQueue(server, iago), await openQueue(server, cordelia)];
    expect(fieldsOf(await remove()).avatar_url).toMatch(
      /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?d=identicon&version=3$/,
    );
    const [seen, unseen] = await Promise.all(queues.map((queue) => eventsAfter(server, queue)));
    expect(seen).toMatchObject([{ person: { avatar_source: 'G', avatar_url: expect.stringContaining('gravatar') } }]);
    expect(unseen).toMatchObject([{ person: { avatar_url: `${avatarsUrl()}/${hamlet.id}.png?version=3` } }]);
  });

  it.each`
    files                                                                    | reason                                                       | code
    ${[]}                                                                    | ${'You must upload exactly one avatar.'}                     | ${'BAD_REQUEST'}
    ${[imageFile(), imageFile()]}                                            | ${'You must upload exactly one avatar.'}                     | ${'BAD_REQUEST'}
    ${[{ name: 'a', content: Buffer.alloc(5 * 2 ** 20 + 1) }]}               | ${'Uploaded file is larger than the allowed limit of 5 MiB'} | ${'BAD_REQUEST'}
    ${[{ name: 'a', content: '<svg xmlns="http://www.w3.org/2000/svg"/>' }]} | ${'Could not decode image; did you upload an image file?'}   | ${'BAD_IMAGE'}
    ${[{ name: 'a', content: 'png 40x20x1 damaged' }]}                       | ${'Could not decode image; did you upload an image file?'}   | ${'BAD_IMAGE'}
    ${[{ name: 'a', content: 'webp 9000x9000x1' }]}                          | ${'Image size exceeds limit.'}                               | ${'BAD_IMAGE'}
  `('rejects files that cannot be an avatar: $reason', async ({ files, reason, code }) => {
    const url = await changed();
    expectRefusal(await change(people.hamlet, files), reason, { code });
    expect(await userOf(people.hamlet.id)).toMatchObject({ avatar_url: url, avatar_version: 2 });
    expect(blobs.size).toBe(2);
  });

  it('rejects changes by non-administrators if the organization forbids them', async () => {
    const { desdemona, iago, polonius } = people;
    await changed(polonius);
    fieldsOf(await server.patch('/realm', desdemona, { avatar_changes_disabled: true }));
    expectRefusal(await change(polonius, []), 'You must upload exactly one avatar.');
    expectRefusal(await change(polonius), DISABLED);
    expectRefusal(await remove(polonius), DISABLED);
    expect(await changed(iago)).toMatch(uploadedUrl(2));
    fieldsOf(await remove(iago));
  });
});

it('profile deletion removes an uploaded avatar', async () => {
  const { hamlet, iago, cordelia } = people;
  const url = await changed();
  const queue = await openQueue(server, cordelia, { event_types: ['realm_user'] });
  fieldsOf(await server.delete(`/users/${hamlet.id}`, iago, { actions: { delete_profile: true } }));
  const drawn = `${avatarsUrl()}/${hamlet.id}.png?version=3`;
  expect(await userOf(hamlet.id)).toMatchObject({ full_name: 'Deleted user', avatar_url: drawn, avatar_version: 3 });
  expect((await load(url)).status).toBe(404);
  expect(await eventsAfter(server, queue)).toMatchObject([
    { person: { full_name: 'Deleted user' } },
    { person: { avatar_source: 'J', avatar_url: drawn } },
    { person: { is_active: false } },
  ]);
  server.clock.advance(86_400);
  await server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
  expect(blobs.size).toBe(0);
});

describe('avatar by user id (users §1.3)', () => {
  const redirect = async (path: string, as: TestUser | null) => {
    const { status, headers } = await server.request('GET', `//avatar/${path}`, { as });
    return [status, headers.location];
  };

  it('redirects every user of the organization to the avatar', async () => {
    const { hamlet, cordelia } = people;
    const url = await changed();
    expect(await redirect(`${hamlet.id}`, cordelia)).toEqual([302, url]);
    expect(await redirect(`${hamlet.id}/medium`, cordelia)).toEqual([302, mediumOf(url)]);
    const withKey = `${hamlet.id}?api_key=${cordelia.apiKey}`;
    expect(await redirect(withKey, null)).toEqual([302, url]);
    expect((await redirect(`${hamlet.id}`, null))[0]).toBe(401);
  });

  it('redirects to the same image for unknown and inaccessible users', async () => {
    const { hamlet, polonius } = people;
    const realmId = await server.addRealm('other');
    const outsider = await server.addUser({ email: 'o@other.example', fullName: 'Other', realmId });
    const unknown = [302, `${avatarsUrl()}/unknown.png`];
    expect(await redirect('999999', hamlet)).toEqual(unknown);
    expect(await redirect(`${outsider.id}`, hamlet)).toEqual(unknown);
    expect((await redirect(`${hamlet.id}`, polonius))[1]).toContain(`/${hamlet.id}.png`);
    await server.limitGuests();
    expect(await redirect(`${hamlet.id}`, polonius)).toEqual(unknown);
  });

  it("finds avatars only in the user's own organization", async () => {
    const url = await changed();
    await server.addRealm('other');
    expect((await load(url, 'other')).status).toBe(404);
    expect((await load(url.replace(`/${server.realmId}/`, '/99/'))).status).toBe(404);
    expect((await load(`${avatarsUrl()}/${'0'.repeat(32)}.png`)).status).toBe(404);
  });
});

describe('bot avatar (users §15)', () => {
  const BOT = { full_name: 'Helper', short_name: 'helper' };
  const create = (files: readonly FileUpload[], fields: Record<string, string> = BOT) =>
    postFiles(server, '/bots', people.hamlet, files, fields);
  const update = (id: number, files: readonly FileUpload[], fields: Record<string, string> = {}, as = people.hamlet) =>
    server.request('PATCH', `/bots/${id}`, { as, body: multipart(files, fields), headers: MULTIPART });

  it('sets an avatar at creation and changes it later', async () => {
    const { user_id: id, avatar_url: url } = fieldsOf(await create([imageFile()])) as Wire;
    expect(url).toMatch(uploadedUrl(1));
    expect(await userOf(id)).toMatchObject({ avatar_url: url, avatar_version: 1 });
    expect((await load(url)).body).toBe('png 100x100x1');
    const queue = await openQueue(server, people.cordelia, { event_types: ['realm_user'] });
    const changes = fieldsOf(await update(id, [imageFile()], { full_name: 'Great helper' })) as Wire;
    expect(changes).toMatchObject({ full_name: 'Great helper', avatar_url: expect.stringMatching(uploadedUrl(2)) });
    expect(await eventsAfter(server, queue)).toMatchObject([
      { person: { user_id: id, full_name: 'Great helper' } },
      { person: { user_id: id, avatar_source: 'U', avatar_url: changes.avatar_url, avatar_version: 2 } },
    ]);
    expect([(await load(url)).status, blobs.size]).toEqual([404, 2]);
    expect(fieldsOf(await update(id, [], { full_name: 'Helper' })).avatar_url).toBe(changes.avatar_url);
  });

  it('validates the avatar last and changes nothing if it is rejected', async () => {
    const bad: FileUpload = { name: 'a', content: 'no image' };
    const undecodable = ['Could not decode image; did you upload an image file?', { code: 'BAD_IMAGE' }] as const;
    expectRefusal(await create([bad], { ...BOT, interface_type: '7' }), 'Invalid interface type');
    expectRefusal(await create([imageFile(), imageFile()]), 'You may only upload one file at a time');
    expectRefusal(await create([bad]), ...undecodable);
    const { user_id: id } = fieldsOf(await create([])) as Wire;
    expectRefusal(await update(id, [bad], { full_name: ' ' }), 'Name too short!');
    expectRefusal(await update(id, [bad], { full_name: 'Changed' }), ...undecodable);
    expectRefusal(await update(id, [imageFile(), imageFile()]), 'You may only upload one file at a time');
    expectRefusal(await update(id, [imageFile()], {}, people.cordelia), 'Insufficient permission');
    expect(await userOf(id)).toMatchObject({ full_name: 'Helper', avatar_version: 1 });
    expect(blobs.size).toBe(0);
  });
});
