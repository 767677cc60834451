import { SweepFiles } from '@parley/domain/files';
import { MemoryBlobStore } from '@parley/testkit';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { type FileUpload, imageFile, postFiles } from '../testing/multipart.js';
import { serverPerTest } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

const blobs = new MemoryBlobStore({ nowMs: () => server.clock.nowMs() });
let outsider: TestUser;
const { server, people } = serverPerTest({ blobs });
beforeEach(async () => {
  blobs.clear();
  const realmId = await server.addRealm('other');
  outsider = await server.addUser({ email: 'o@other.example', fullName: 'Other', role: 'owner', realmId });
});

const add = (name: string, as = people.hamlet, files: readonly FileUpload[] = [imageFile()]) =>
  postFiles(server, `/realm/emoji/${encodeURIComponent(name)}`, as, files);
const remove = (name: string, as = people.hamlet) => server.delete(`/realm/emoji/${name}`, as);
const list = async (as = people.polonius): Promise<Wire> => fieldsOf(await server.get('/realm/emoji', as)).emoji;
const record = (id: number, name: string, more: object = {}) => ({
  id: String(id),
  name,
  source_url: `/user_avatars/${server.realmId}/emoji/images/${id}.png`,
  still_url: null,
  deactivated: false,
  author_id: people.hamlet.id,
  ...more,
});
const picture = (path: string, realm?: string) =>
  server.request('GET', `/${path}`, realm === undefined ? {} : { realm });
const NEW = { individual_emoji_changes: true };
const queueOf = (as: TestUser, capabilities = {}) =>
  openQueue(server, as, { client_capabilities: { notification_settings_null: true, ...capabilities } });

describe('custom emoji (organization §7)', () => {
  it('adds and deactivates emoji and notifies all users in the format their client supports', async () => {
    const { polonius, cordelia } = people;
    const [queue, oldQueue] = [await queueOf(polonius, NEW), await queueOf(cordelia)];
    expect(fieldsOf(await add(' green tick'))).toEqual({});
    const tick = record(1, 'green_tick');
    expect(await list()).toEqual({ 1: tick });
    const registered = await server.post('/register', polonius, { fetch_event_types: ['realm_emoji'] });
    expect((fieldsOf(registered) as Wire).realm_emoji).toEqual({ 1: tick });
    expect(await eventsAfter(server, oldQueue)).toEqual([
      { type: 'realm_emoji', op: 'update', realm_emoji: { 1: tick } },
    ]);
    expect(fieldsOf(await remove('green_tick'))).toEqual({});
    const gone = { ...tick, deactivated: true };
    expect(await list()).toEqual({ 1: gone });
    fieldsOf(await add('green_tick'));
    expect(await list()).toEqual({ 1: gone, 2: record(2, 'green_tick') });
    expect(await eventsAfter(server, queue)).toEqual([
      { type: 'realm_emoji', op: 'add', emoji: tick },
      { type: 'realm_emoji', op: 'update_one', emoji_id: '1', data: { deactivated: true } },
      { type: 'realm_emoji', op: 'add', emoji: record(2, 'green_tick') },
    ]);
    // Older clients receive the current list of emoji with each change.
    expect((await eventsAfter(server, oldQueue)).at(-1)).toEqual({
      type: 'realm_emoji',
      op: 'update',
      realm_emoji: { 1: gone, 2: record(2, 'green_tick') },
    });
    expect(fieldsOf(await server.request('GET', '/realm/emoji', { as: outsider, realm: 'other' })).emoji).toEqual({});
  });

  it('serves images of one size without authentication and with caching', async () => {
    fieldsOf(await add('tick', people.hamlet, [imageFile({ format: 'jpeg', width: 300 })]));
    const url = `/user_avatars/${server.realmId}/emoji/images`;
    const reply = await picture(`${url}/1.png`);
    expect([reply.status, reply.headers['content-type'], reply.body]).toEqual([200, 'image/png', 'png 64x64x1']);
    expect(reply.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(reply.headers['x-content-type-options']).toBe('nosniff');
    expect(reply.headers['content-security-policy']).toBe("sandbox; default-src 'none'");
    for (const missing of ['1.gif', '2.png', '01.png', '1', 'still/1.png']) {
      expect((await picture(`${url}/${missing}`)).status).toBe(404);
    }
    expect((await picture(`${url}/1.png`, 'other')).status).toBe(404);
    expect((await picture(`/user_avatars/${outsider.user.realmId}/emoji/images/1.png`)).status).toBe(404);
  });

  it.each(['gif', 'webp'] as const)('preserves animation in %s and adds a still image', async (format) => {
    fieldsOf(await add('party', people.hamlet, [imageFile({ format, frames: 5 })]));
    const url = `/user_avatars/${server.realmId}/emoji/images`;
    const moving = { source_url: `${url}/1.${format}`, still_url: `${url}/still/1.png` };
    expect(await list()).toEqual({ 1: record(1, 'party', moving) });
    expect((await picture(`${url}/1.${format}`)).body).toBe(`${format} 64x64x5`);
    expect((await picture(`${url}/still/1.png`)).body).toBe('png 64x64x1');
  });

  it.each`
    name               | files                                                      | reason
    ${'my_EMoji'}      | ${[]}                                                      | ${'Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.'}
    ${'a/b'}           | ${[]}                                                      | ${'Emoji names must contain only lowercase English letters, digits, spaces, dashes, and underscores.'}
    ${'my_emoji_'}     | ${[]}                                                      | ${'Emoji names must end with either a letter or digit.'}
    ${'-'}             | ${[]}                                                      | ${'Emoji names must end with either a letter or digit.'}
    ${' '}             | ${[]}                                                      | ${'Emoji name is missing'}
    ${'tick'}          | ${[]}                                                      | ${'A custom emoji with this name already exists.'}
    ${'smile'}         | ${[]}                                                      | ${'You must upload exactly one file.'}
    ${'smile'}         | ${[imageFile(), imageFile()]}                              | ${'You must upload exactly one file.'}
    ${'smile'}         | ${[{ name: 'a', content: 'x' }]}                           | ${'Only administrators can override default emoji.'}
    ${'zulip'}         | ${[imageFile()]}                                           | ${'Only administrators can override default emoji.'}
    ${'x'.repeat(101)} | ${[imageFile()]}                                           | ${'emoji_name is too long (limit: 100 characters)'}
    ${'fresh'}         | ${[{ name: 'a', content: Buffer.alloc(5 * 2 ** 20 + 1) }]} | ${'Uploaded file is larger than the allowed limit of 5 MiB'}
  `('rejects the name $name: $reason', async ({ name, files, reason }) => {
    fieldsOf(await add('tick'));
    expectRefusal(await add(name, people.hamlet, files), reason);
    expect(Object.keys(await list())).toEqual(['1']);
    expect(blobs.size).toBe(1);
  });

  it.each`
    content                      | reason
    ${'no image'}                | ${'Could not decode image; did you upload an image file?'}
    ${Buffer.alloc(5 * 2 ** 20)} | ${'Could not decode image; did you upload an image file?'}
    ${'png 10000x10000x1'}       | ${'Image size exceeds limit.'}
    ${'gif 10x10x2001'}          | ${'Image size exceeds limit.'}
    ${'gif 10x10x3 damaged'}     | ${'Corrupt animated image.'}
    ${'tiff 10x10x3'}            | ${'Unknown animated image format.'}
  `('rejects an undisplayable image: $reason', async ({ content, reason }) => {
    expectRefusal(await add('fresh', people.hamlet, [{ name: 'a.png', content }]), reason, { code: 'BAD_IMAGE' });
    expect([await list(), blobs.size]).toEqual([{}, 0]);
  });

  it('requires permission to add emoji and always rejects guests', async () => {
    expectRefusal(await add('my_EMoji', people.polonius), 'Not allowed for guest users');
    const administrators = (await server.systemGroups()).administrators;
    const setting = { can_add_custom_emoji_group: { new: administrators } };
    fieldsOf(await server.patch('/realm', people.desdemona, setting));
    expectRefusal(await add('my_emoji_'), 'Emoji names must end with either a letter or digit.');
    expectRefusal(await add('tick'), 'Insufficient permission');
    fieldsOf(await add('smile', people.iago));
    expect(await list()).toEqual({ 1: record(1, 'smile', { author_id: people.iago.id }) });
  });

  it('requires unique names even for concurrent additions', async () => {
    const replies = await Promise.all([add('tick'), add('tick', people.iago), add('tick', people.cordelia)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    expectRefusal(replies.find(({ status }) => status === 400)!, 'A custom emoji with this name already exists.');
    expect([Object.keys(await list()), blobs.size]).toEqual([['1'], 1]);
  });

  it('lets the author and administrators deactivate an emoji', async () => {
    fieldsOf(await add('tick'));
    expectRefusal(await remove('other'), "Emoji 'other' does not exist", { status: 404 });
    expectRefusal(await remove('tick', people.cordelia), 'Must be an organization administrator or emoji author');
    expectRefusal(
      await server.request('DELETE', '/realm/emoji/tick', { as: outsider, realm: 'other' }),
      "Emoji 'tick' does not exist",
      { status: 404 },
    );
    fieldsOf(await remove('tick', people.iago));
    expectRefusal(await remove('tick', people.iago), "Emoji 'tick' does not exist", { status: 404 });
    // Messages that contain it still display it.
    expect((await picture(`/user_avatars/${server.realmId}/emoji/images/1.png`)).status).toBe(200);
  });

  it('keeps emoji images during file sweeps', async () => {
    fieldsOf(await add('party', people.hamlet, [imageFile({ format: 'gif', frames: 5 })]));
    server.clock.advance(86_400);
    const sweep = () => server.parley.useCase(SweepFiles).execute({ keepDetachedSeconds: 0 });
    expect([await sweep(), blobs.size]).toEqual([{ files: 0, blobs: 0, uploads: 0 }, 2]);
  });
});

describe('use of custom emoji', () => {
  let message: number;
  beforeEach(async () => {
    const params = { type: 'direct', to: [people.cordelia.id], content: 'look: :tick: :smile:' };
    fieldsOf(await add('tick'));
    message = fieldsOf(await server.post('/messages', people.hamlet, params)).id;
  });
  const react = (as: TestUser, params: object) => server.post(`/messages/${message}/reactions`, as, { ...params });
  const unreact = (as: TestUser, params: object) => server.delete(`/messages/${message}/reactions`, as, { ...params });
  const shown = async (): Promise<Wire> =>
    (fieldsOf(await server.get(`/messages/${message}`, people.hamlet)) as Wire).message;
  const rendered = async (content: string) =>
    (fieldsOf(await server.post('/messages/render', people.hamlet, { content })) as Wire).rendered;
  const TICK = { emoji_name: 'tick', emoji_code: '1', reaction_type: 'realm_emoji' };
  const image = (name: string, id: number) =>
    `<img alt=":${name}:" class="emoji" src="/user_avatars/${server.realmId}/emoji/images/${id}.png" title="${name}">`;

  it('prefers a custom emoji to other emoji of the same name in messages', async () => {
    expect((await shown()).content).toContain(image('tick', 1));
    expect(await rendered(':smile:')).toContain('<span');
    fieldsOf(await add('smile', people.iago));
    expect(await rendered(':smile:')).toBe(`<p>${image('smile', 2)}</p>`);
    fieldsOf(await remove('smile', people.iago));
    expect(await rendered(':smile:')).toContain('<span');
    expect(await rendered('`:tick:` :none:')).toBe('<p><code>:tick:</code> :none:</p>');
  });

  it('allows reactions by name or with code until the emoji is deactivated', async () => {
    const { hamlet, cordelia } = people;
    fieldsOf(await react(hamlet, { emoji_name: 'tick' }));
    expectRefusal(await react(hamlet, TICK), 'Reaction already exists.', { code: 'REACTION_ALREADY_EXISTS' });
    expect((await shown()).reactions).toEqual([{ ...TICK, user_id: hamlet.id }]);
    expectRefusal(await react(cordelia, { ...TICK, emoji_code: '2' }), 'Invalid custom emoji.');
    expectRefusal(await react(cordelia, { ...TICK, emoji_code: '9'.repeat(20) }), 'Invalid custom emoji.');
    expectRefusal(await react(cordelia, { ...TICK, emoji_name: 'tock', emoji_code: '01' }), 'Invalid custom emoji.');
    fieldsOf(await remove('tick'));
    expectRefusal(await react(cordelia, { emoji_name: 'tick' }), "Emoji 'tick' does not exist");
    fieldsOf(await react(cordelia, TICK));
    fieldsOf(await unreact(hamlet, TICK));
    fieldsOf(await unreact(cordelia, TICK));
    expectRefusal(await react(cordelia, TICK), 'This custom emoji has been deactivated.');
    fieldsOf(await add('tock'));
    expectRefusal(
      await react(cordelia, { ...TICK, emoji_name: 'tick', emoji_code: '2' }),
      'Invalid custom emoji name.',
    );
  });

  it('removes a reaction by name', async () => {
    fieldsOf(await react(people.hamlet, { emoji_name: 'tick' }));
    expectRefusal(await unreact(people.cordelia, { emoji_name: 'tick' }), "Reaction doesn't exist.", {
      code: 'REACTION_DOES_NOT_EXIST',
    });
    fieldsOf(await unreact(people.hamlet, { emoji_name: 'tick' }));
    expect((await shown()).reactions).toEqual([]);
  });

  it('accepts a custom emoji in a status', async () => {
    const { hamlet } = people;
    fieldsOf(await server.post('/users/me/status', hamlet, { emoji_name: 'tick' }));
    const status = fieldsOf(await server.get(`/users/${hamlet.id}/status`, people.iago)) as Wire;
    expect(status.status).toEqual(TICK);
    fieldsOf(await remove('tick'));
    expectRefusal(await server.post('/users/me/status', hamlet, TICK), 'This custom emoji has been deactivated.');
  });
});
