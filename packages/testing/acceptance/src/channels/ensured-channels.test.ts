import type { ChannelToCreate } from '@parley/server';
import { fieldsOf } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';

const realm = 'shop';
const sam = { realm, externalId: 'sam' };
const mallory = { realm, externalId: 'mallory' };
const code = (expected: string) => expect.objectContaining({ code: expected });

let names = 0;
const { server } = serverPerSuite();
beforeAll(async () => {
  const { parley } = server;
  await parley.realms.ensure({ name: realm });
  for (const { externalId } of [sam, mallory]) await parley.users.upsert({ realm, externalId, name: externalId });
  await parley.users.upsert({ realm, externalId: 'sam', name: 'sam', role: 'owner' });
  await parley.users.upsert({ realm, externalId: 'ann', name: 'Ann', role: 'guest' });
});

type Options = Omit<ChannelToCreate, 'name'>;

/** Creates a channel with Mallory, and ensures a channel with the same name and other options. */
async function ensured(existing: Options, wanted: Options) {
  const name = `Order ${++names}`;
  await server.parley.as(mallory).channels.create({ name, subscribers: ['sam'], ...existing });
  return server.parley.as(sam).channels.ensure({ name, ...wanted });
}

describe('channels.ensure', () => {
  it('rejects a public channel of a member where a private one is requested', async () => {
    const name = 'Order';
    const { id } = await server.parley.as(mallory).channels.create({ name });
    const wanted = { name, isPrivate: true, subscribers: ['ann'] };
    const { channels } = server.parley.as(sam);
    await expect(channels.ensure(wanted)).rejects.toMatchObject({
      code: 'CHANNEL_NAME_TAKEN',
      message: "Channel 'Order' already exists and is open to more people than requested (isPrivate).",
      details: { channelName: name, channelId: id },
    });
    const [many] = await channels.ensureMany([wanted]);
    expect(many).toEqual({ value: null, error: code('CHANNEL_NAME_TAKEN') });
    expect(await channels.find(name)).toMatchObject({ isPrivate: false, subscribers: 1 });
  });

  it.each<[Options, Options]>([
    [
      { isPrivate: true, sharesHistory: true },
      { isPrivate: true, sharesHistory: false },
    ],
    [{ isPrivate: true, readers: 'role:members' }, { isPrivate: true }],
    [
      { isPrivate: true, readers: 'role:members' },
      { isPrivate: true, readers: 'role:moderators' },
    ],
    [{}, { isPrivate: true, readers: 'role:members' }],
  ])('rejects a channel with %j where %j is requested', (existing, wanted) =>
    expect(ensured(existing, wanted)).rejects.toEqual(code('CHANNEL_NAME_TAKEN')),
  );

  it('rejects a web-public channel where a public one is requested', async () => {
    const name = 'news';
    const { desdemona } = server.people;
    const { channels } = server.parley.as({ realm: 'zulip', userId: desdemona.id });
    const { id } = await channels.create({ name });
    await server.parley.realms.configure({ name: 'zulip', settings: { enableSpectatorAccess: true } });
    fieldsOf(await server.request('PATCH', `/streams/${id}`, { as: desdemona, params: { is_web_public: true } }));
    expect(await channels.ensure({ name })).toMatchObject({ isWebPublic: true, differs: [] });
    await expect(channels.ensure({ name, isPrivate: false })).rejects.toEqual(code('CHANNEL_NAME_TAKEN'));
  });

  it.each<[Options, Options, string[]]>([
    [{ isPrivate: true }, { isPrivate: false }, ['isPrivate']],
    [{ isPrivate: true }, { isPrivate: true, sharesHistory: true }, ['sharesHistory']],
    [{ isPrivate: true }, { isPrivate: true, readers: 'role:members' }, ['readers']],
    [{ isPrivate: true, readers: 'role:moderators' }, { isPrivate: true, readers: 'role:members' }, ['readers']],
    [{ description: 'one' }, { description: 'two' }, ['description']],
    [{}, { isDefault: true }, ['isDefault']],
    [{}, { subscribers: ['sam', 'ann'] }, ['subscribers']],
    [{ closesAfterDays: 3 }, { closesAfterDays: 30 }, ['closesAfterDays']],
    [{}, { closesAfterDays: 30 }, ['closesAfterDays']],
  ])('names the properties of a channel with %j that differ from %j', async (existing, wanted, differs) => {
    expect(await ensured(existing, wanted)).toMatchObject({ differs });
  });

  it.each<[Options, Options]>([
    [{ isPrivate: true, sharesHistory: true, description: 'one', closesAfterDays: 3 }, { isPrivate: true }],
    [{ isPrivate: true, readers: 'role:members' }, {}],
    [
      { isPrivate: true, readers: 'role:members' },
      { isPrivate: true, readers: 'role:members' },
    ],
    [{ description: 'a\nb' }, { description: 'a\nb', subscribers: ['sam', 'sam'] }],
    [{}, { isPrivate: false, sharesHistory: false }],
  ])('names no differences of a channel with %j from %j', async (existing, wanted) => {
    expect(await ensured(existing, wanted)).toMatchObject({ differs: [] });
  });

  it('names data that an existing channel has otherwise', async () => {
    const { channels } = server.parley.as(sam);
    const first = { name: 'with data', data: { order: { id: 8, paid: true } } };
    expect(await channels.ensure(first)).toMatchObject({ differs: [] });
    const sameOrder = { order: { paid: true, id: 8 } };
    expect(await channels.ensure({ ...first, data: sameOrder })).toMatchObject({ differs: [] });
    expect(await channels.ensure({ ...first, data: { order: 9 } })).toMatchObject({ ...first, differs: ['data'] });
  });
});
