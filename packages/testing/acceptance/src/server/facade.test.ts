import { SetTopicPolicy } from '@parley/domain/channels';
import type { ChannelId } from '@parley/domain/kernel';
import { SendMessage } from '@parley/domain/writing';
import { errorHandler, type ParleyEvent, type RealmToEnsure, refuse } from '@parley/server';
import { until } from '@parley/testkit';
import { serverPerSuite } from '../testing/servers.js';
import { basic } from '../testing/test-server.js';

const code = (expected: string) => expect.objectContaining({ code: expected });
const settle = async () => {
  for (let turn = 0; turn < 60; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const realm = 'shop';
const ann = { realm, externalId: 'u1' };
const bob = { realm, externalId: 'u2' };

/** Value that `authenticate` returns. */
let session: { realm: string; externalId: string } | null = null;
const logged: unknown[] = [];

const { server } = serverPerSuite({
  authenticate: async () => session,
  logger: { info: () => {}, error: (fields, message) => void logged.push({ ...fields, message }) },
});
beforeAll(async () => {
  const { parley } = server;
  await parley.realms.ensure({ name: realm, title: 'The Shop' });
  await parley.users.upsert({ ...ann, name: 'Ann', email: 'ann@example.org', role: 'owner' });
  await parley.users.upsert({ ...bob, name: 'B' });
  await parley.as(ann).channels.create({ name: 'orders', subscribers: ['u2'] });
});
beforeEach(() => logged.splice(0));

describe('parley.realms', () => {
  it('creates an organization once despite concurrent calls', async () => {
    const ensured = await Promise.all(
      Array.from({ length: 10 }, () => server.parley.realms.ensure({ name: 'many', title: 'Many' })),
    );
    expect(new Set(ensured.map(({ id }) => id)).size).toBe(1);
    const { differs, ...created } = ensured[0]!;
    expect(differs).toEqual([]);
    expect(created).toEqual({
      id: expect.any(Number),
      name: 'many',
      title: 'Many',
      url: server.url.replace('//', '//many.'),
      isActive: true,
      data: {},
      dataVersion: 0,
    });
    const other = { name: 'many', title: 'Other', data: { tenant: 1 } };
    await server.parley.realms.setData('many', { tenant: 2 });
    const existing = await server.parley.realms.find('many');
    expect(await server.parley.realms.ensure(other)).toEqual({ ...existing, differs: ['title', 'data'] });
    expect(existing).toEqual({ ...created, data: { tenant: 2 }, dataVersion: 1 });
    expect(await server.parley.realms.find('none')).toBeNull();
    expect((await server.parley.realms.list()).map(({ name }) => name)).toEqual(['zulip', 'shop', 'many']);
  });

  it('accepts names of one letter and rejects invalid names', async () => {
    expect((await server.parley.realms.ensure({ name: 'x' })).title).toBe('x');
    await expect(server.parley.realms.ensure({ name: 'No' })).rejects.toEqual(code('INVALID_STRING_ID'));
  });
});

describe('settings of an organization', () => {
  const stored = async (name: string) => {
    const { unitOfWork } = server.parley.ports;
    const found = (await unitOfWork.readAcross(({ realms }) => realms.findByStringId(name)))!;
    const groups = await unitOfWork.read(found.id, (repositories) => repositories.groups.systemGroupIds(found.id));
    return { ...found, groups };
  };

  it('apply to a new organization but leave an existing one unchanged', async () => {
    const { realms } = server.parley;
    const settings = { inviteRequired: false, messageRetentionDays: 30 };
    const permissions = { canInviteUsers: 'role:moderators' };
    const wanted = { name: 'set', settings, permissions, userDefaults: { enterSends: true } };
    expect(await realms.ensure(wanted)).toMatchObject({ differs: [] });
    expect(await realms.ensure(wanted)).toMatchObject({ differs: [] });
    const other = { settings: { ...settings, inviteRequired: true }, permissions: { canInviteUsers: 'role:owners' } };
    expect(await realms.ensure({ name: 'set', ...other, userDefaults: { enterSends: false } })).toMatchObject({
      differs: ['settings.inviteRequired', 'permissions.canInviteUsers', 'userDefaults.enterSends'],
    });
    const made = await stored('set');
    expect(made.settings).toMatchObject(settings);
    expect(made.permissions.canInviteUsers).toBe(made.groups.moderators);
  });

  it('are changed atomically by configure', async () => {
    const { realms } = server.parley;
    await realms.ensure({ name: 'changed' });
    const { differs } = await realms.ensure({ name: 'changed', preset: 'customers' });
    expect(differs).toContain('permissions.canAccessAllUsers');
    expect(await realms.configure({ name: 'changed', title: 'New', preset: 'customers' })).toMatchObject({
      title: 'New',
    });
    expect(await realms.ensure({ name: 'changed', preset: 'customers' })).toMatchObject({ differs: [] });
    const { permissions, userDefaults, groups } = await stored('changed');
    expect(permissions.canAccessAllUsers).toBe(groups.members);
    expect(userDefaults).toMatchObject({ emailAddressVisibility: 'administrators', enterSends: true });
    const failed = realms.configure({
      name: 'changed',
      title: 'Newer',
      userDefaults: { enterSends: false },
      permissions: { canInviteUsers: 'no such group' },
    });
    await expect(failed).rejects.toEqual(code('UNKNOWN_GROUP'));
    expect(await stored('changed')).toMatchObject({ name: 'New', userDefaults: { enterSends: true } });
    await expect(realms.configure({ name: 'none' })).rejects.toEqual(code('UNKNOWN_REALM'));
  });

  it('have types that reject unknown values', () => {
    const settings: RealmToEnsure = {
      name: 'typed',
      // @ts-expect-error: 'admins' is not a value of the setting.
      userDefaults: { emailAddressVisibility: 'admins' },
      // @ts-expect-error: there is no such permission.
      permissions: { canFly: 'role:members' },
    };
    expect(settings.name).toBe('typed');
  });
});

describe('parley.users', () => {
  it('finds, links, deactivates and reactivates users', async () => {
    const { users } = server.parley;
    const user = await users.upsert({ realm, externalId: 'u3', name: 'Cid' });
    expect(user).toEqual({
      id: expect.any(Number),
      externalId: 'u3',
      realm,
      name: 'Cid',
      email: expect.stringContaining('@users.parley.invalid'),
      role: 'member',
      isBot: false,
      isActive: true,
      data: {},
      dataVersion: 0,
    });
    expect(await users.find({ realm, externalId: 'u3' })).toEqual(user);
    expect(await users.find({ realm, userId: user.id })).toEqual(user);
    expect(await users.find({ realm, externalId: 'nobody' })).toBeNull();
    await users.deactivate({ realm, externalId: 'u3' });
    expect((await users.find({ realm, userId: user.id }))?.isActive).toBe(false);
    await users.reactivate({ realm, externalId: 'u3' });
    expect(await users.find({ realm, userId: user.id })).toEqual(user);
    const { id } = server.people.hamlet;
    expect(await users.link({ realm: 'zulip', externalId: 'h', userId: id })).toMatchObject({ id, externalId: 'h' });
  });

  it('upserts many users in order and returns a result for each', async () => {
    const { users } = server.parley;
    const before = await users.upsert({ realm, externalId: 'm0', name: 'Before' });
    const ids = Array.from({ length: 45 }, (_, n) => `m${n}`);
    const results = await users.upsertMany([
      ...ids.map((externalId) => ({ realm, externalId, name: `Many ${externalId}`, role: 'guest' as const })),
      { realm, externalId: 'm1', name: 'Newer' },
      { realm: 'unheard-of', externalId: 'm1', name: 'Elsewhere' },
      { realm, externalId: 'm45', name: 'Taken', email: before.email },
    ]);
    expect(results.slice(0, 45).map(({ value }) => [value?.externalId, value?.name, value?.role])).toEqual(
      ids.map((id) => [id, `Many ${id}`, 'guest']),
    );
    expect(results[0]!.value!.id).toBe(before.id);
    expect(results.slice(45).map(({ value, error }) => [value?.name, error?.code])).toEqual([
      ['Newer', undefined],
      [undefined, 'UNKNOWN_REALM'],
      [undefined, 'EMAIL_TAKEN'],
    ]);
    expect(await users.find({ realm, externalId: 'm1' })).toMatchObject({ name: 'Newer', role: 'guest' });
    expect(await users.find({ realm, externalId: 'm45' })).toBeNull();
    const wrong = [{ realm, externalId: 'm50', name: 'x' }, 'm51'] as unknown as Parameters<typeof users.upsertMany>[0];
    await expect(users.upsertMany(wrong)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(await users.find({ realm, externalId: 'm50' })).toBeNull();
  });

  it('lists all users of an organization, including deactivated ones on request', async () => {
    const { users, realms } = server.parley;
    await realms.ensure({ name: 'list' });
    for (let n = 0; n < 3; n++) await users.upsert({ realm: 'list', externalId: `l${n}`, name: `Person ${n}` });
    await users.deactivate({ realm: 'list', externalId: 'l1' });
    const listed = await users.list({ realm: 'list' }).toArray();
    expect(listed.map(({ externalId }) => externalId)).toEqual(['l0', 'l2']);
    expect(listed[0]).toEqual(await users.find({ realm: 'list', externalId: 'l0' }));
    const all: unknown[] = [];
    for await (const { externalId, isActive } of users.list({ realm: 'list', deactivated: true })) {
      all.push([externalId, isActive]);
    }
    expect(all).toEqual([
      ['l0', true],
      ['l1', false],
      ['l2', true],
    ]);
    await expect(users.list({ realm: 'nowhere' }).toArray()).rejects.toEqual(code('UNKNOWN_REALM'));
  });

  it('returns a key for clients and a different key after rotation', async () => {
    const { users } = server.parley;
    const first = await users.apiKey(ann);
    const ask = (apiKey: string) =>
      server.request('GET', '/users/me', {
        realm,
        headers: { Authorization: basic({ email: 'ann@example.org', apiKey }) },
      });
    expect((await ask(first)).body).toMatchObject({ full_name: 'Ann' });
    const second = await users.apiKey(ann, { rotate: true });
    expect([(await ask(first)).status, (await ask(second)).status]).toEqual([401, 200]);
  });

  it('accepts addresses at a machine from the host, which log in with them', async () => {
    const { users } = server.parley;
    const email = 'dee@localhost';
    await users.upsert({ realm, externalId: 'dee', name: 'Dee', email });
    const apiKey = await users.apiKey({ realm, externalId: 'dee' });
    const headers = { Authorization: basic({ email, apiKey }) };
    expect((await server.request('GET', '/users/me', { realm, headers })).body).toMatchObject({
      delivery_email: email,
    });
    const params = { username: email, password: 'wrong' };
    const { body } = await server.request('POST', '/fetch_api_key', { realm, params });
    expect(body).toMatchObject({ code: 'AUTHENTICATION_FAILED' });
  });

  it.each([
    ['another realm', { realm: 'zulip', externalId: 'u1' }, 'UNKNOWN_USER', 404],
    ['no realm', { realm: 'nowhere', externalId: 'u1' }, 'UNKNOWN_REALM', 404],
    ['nobody', { realm, externalId: 'u99' }, 'UNKNOWN_USER', 404],
    ['the id of no user', { realm, userId: 9999 }, 'UNKNOWN_USER', 404],
    ['the system', { realm: 'zulip', userId: 1 }, 'UNKNOWN_USER', 404],
  ])('rejects users of %s', async (_, ref, expected, status) => {
    const { users } = server.parley;
    for (const attempt of ['deactivate', 'reactivate', 'apiKey'] as const) {
      await expect(users[attempt](ref)).rejects.toMatchObject({ code: expected, status });
    }
  });
});

describe('parley.as', () => {
  it('sends to channels and users and lists the messages', async () => {
    const chat = server.parley.as(ann);
    const { id } = await chat.messages.send({ channel: 'orders', topic: '#7', content: 'Paid **now**' });
    expect(await chat.messages.get(id)).toEqual({
      id,
      realm,
      sender: { id: expect.any(Number), externalId: 'u1', name: 'Ann' },
      channel: { id: expect.any(Number), name: 'orders' },
      topic: '#7',
      people: [],
      content: 'Paid **now**',
      html: '<p>Paid <strong>now</strong></p>',
      sentAt: new Date(server.clock.now() * 1000),
      editedAt: null,
      client: 'parley',
      data: {},
      dataVersion: 0,
      isRead: true,
      isStarred: false,
      isMentioned: false,
    });
    const direct = await server.parley.as(bob, { client: 'shop' }).messages.send({ to: 'u1', content: 'Hello' });
    const [received] = await chat.messages.list({ with: ['u2'] }).toArray();
    expect(received).toMatchObject({ id: direct.id, client: 'shop', isRead: false, channel: null });
    expect(received!.people.map(({ externalId }) => externalId)).toEqual(['u1', 'u2']);
    await chat.messages.markRead([direct.id]);
    expect((await chat.messages.get(direct.id)).isRead).toBe(true);
    await chat.messages.markUnread([direct.id]);
    const unread = await chat.messages.list({ unread: true }).toArray();
    expect(unread.map((message) => message.id)).toContain(direct.id);
  });

  it('lists page by page, oldest first, from either end', async () => {
    const chat = server.parley.as(ann);
    const ids: number[] = [];
    await chat.channels.create({ name: 'long' });
    for (let number = 0; number < 12; number++) {
      ids.push((await chat.messages.send({ channel: 'long', topic: `t${number % 2}`, content: `n${number}` })).id);
    }
    const listed = async (selection: Parameters<typeof chat.messages.list>[0]) => {
      const found: number[] = [];
      for await (const message of chat.messages.list({ channel: 'long', ...selection })) found.push(message.id);
      return found.map((id) => ids.indexOf(id));
    };
    const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
    // Excludes the creation notice.
    expect((await listed({})).filter((index) => index >= 0)).toEqual(all);
    expect(await listed({ last: 3 })).toEqual([9, 10, 11]);
    expect(await listed({ topic: 't1', first: 2 })).toEqual([1, 3]);
    expect(await listed({ after: ids[8]! })).toEqual([9, 10, 11]);
    expect(await listed({ after: ids[2]!, first: 2 })).toEqual([3, 4]);
    expect(await listed({ last: 2, before: ids[5]! })).toEqual([3, 4]);
    expect(await listed({ after: ids[2]!, before: ids[5]! })).toEqual([3, 4]);
    expect(await listed({ last: 0 })).toEqual([]);
    expect(await listed({ search: 'n7' })).toEqual([7]);
  });

  it.each([{ last: 1, first: 1 }, { last: -1 }, { last: 5001 }, { first: 1.5 }])(
    'rejects the range %j',
    async (range) => {
      await expect(server.parley.as(ann).messages.list(range).toArray()).rejects.toEqual(code('INVALID_MESSAGE_RANGE'));
    },
  );

  it('edits, moves, deletes messages and adds reactions', async () => {
    const chat = server.parley.as(ann);
    const { id } = await chat.messages.send({ channel: 'orders', topic: 'a', content: 'one' });
    await chat.messages.edit(id, { content: 'two', topic: 'b' });
    expect(await chat.messages.get(id)).toMatchObject({ content: 'two', topic: 'b', editedAt: expect.any(Date) });
    await chat.messages.react(id, 'thumbs_up');
    await expect(chat.messages.react(id, 'thumbs_up')).rejects.toEqual(code('REACTION_ALREADY_EXISTS'));
    await chat.messages.unreact(id, 'thumbs_up');
    await chat.messages.delete(id);
    await expect(chat.messages.get(id)).rejects.toEqual(code('UNKNOWN_MESSAGE'));
  });

  it('creates, finds, subscribes to and archives channels', async () => {
    const { channels } = server.parley.as(ann);
    const made = await channels.create({ name: 'private', isPrivate: true, description: '*Only* us' });
    expect(made).toEqual({
      id: expect.any(Number),
      realm,
      name: 'private',
      description: '*Only* us',
      isPrivate: true,
      isWebPublic: false,
      isArchived: false,
      subscribers: 1,
      data: {},
      dataVersion: 0,
    });
    expect(await server.parley.as(bob).channels.find('private')).toBeNull();
    await channels.subscribe('private', { users: 'u2' });
    await channels.subscribe(made.id, { users: ['u2', made.id === 0 ? 0 : (await server.parley.users.find(bob))!.id] });
    expect(await server.parley.as(bob).channels.find('private')).toMatchObject({ id: made.id, subscribers: 2 });
    await server.parley.as(bob).channels.unsubscribe('private');
    expect(await channels.find(made.id)).toMatchObject({ subscribers: 1 });
    expect((await channels.list()).map(({ name }) => name)).toContain('private');
    await channels.archive('private');
    expect((await channels.list()).map(({ name }) => name)).not.toContain('private');
    await expect(channels.subscribe('unheard of')).rejects.toEqual(code('UNKNOWN_CHANNEL'));
  });

  it('lets the members of readers read and join a private channel without being subscribed', async () => {
    const { parley } = server;
    const { channels, messages } = parley.as(ann);
    const [name, closed] = ['for readers', 'for subscribers'];
    await channels.create({ name, isPrivate: true, sharesHistory: true, readers: 'role:members' });
    await channels.create({ name: closed, isPrivate: true, sharesHistory: true });
    for (const channel of [name, closed]) await messages.send({ channel, topic: 't', content: 'hello' });
    const reader = parley.as(bob);
    const read = (channel: string) => reader.messages.list({ channel }).toArray();
    expect((await read(name)).map(({ content }) => content)).toContain('hello');
    await expect(read(closed)).rejects.toEqual(code('UNKNOWN_CHANNEL'));
    await reader.messages.send({ channel: name, topic: 't', content: 'answer' });
    expect(await channels.find(name)).toMatchObject({ subscribers: 1 });
    await reader.channels.subscribe(name);
    expect(await channels.find(name)).toMatchObject({ subscribers: 2 });
    await expect(channels.create({ name: 'third', readers: 'members' })).rejects.toMatchObject({
      code: 'UNKNOWN_GROUP',
      message: "There is no group 'members'; did you mean role:members?",
    });
  });

  it('ensures a channel once despite concurrent calls', async () => {
    const { channels } = server.parley.as(ann);
    const ensured = await Promise.all(Array.from({ length: 5 }, () => channels.ensure({ name: 'once' })));
    expect(new Set(ensured.map(({ id }) => id)).size).toBe(1);
    await channels.create({ name: 'hidden', isPrivate: true });
    await expect(server.parley.as(bob).channels.ensure({ name: 'hidden' })).rejects.toEqual(code('CHANNEL_NAME_TAKEN'));
  });

  it('ensures many channels and returns a result for each', async () => {
    const { channels } = server.parley.as(ann);
    const existing = await channels.create({ name: 'existing', description: 'first' });
    await server.parley.as(bob).channels.create({ name: 'closed to others', isPrivate: true });
    const names = Array.from({ length: 45 }, (_, n) => `many ${n}`);
    const results = await channels.ensureMany([
      { name: 'existing', description: 'second' },
      ...names.map((name) => ({ name, isPrivate: true, subscribers: ['u2'] })),
      { name: 'MANY 0' },
      { name: ' ' },
      { name: 'many to nobody', subscribers: ['u99'] },
    ]);
    expect(results[0]).toEqual({ value: { ...existing, differs: ['description'] }, error: null });
    const made = results.slice(1, 46);
    expect(made.map(({ value }) => [value?.name, value?.subscribers])).toEqual(names.map((name) => [name, 2]));
    expect(results[46]).toEqual(made[0]);
    expect(results.slice(47).map(({ value, error }) => [value, error?.code])).toEqual([
      [null, 'INVALID_CHANNEL_NAME'],
      [null, 'UNKNOWN_USER'],
    ]);
    expect(await channels.find('many to nobody')).toBeNull();
    expect(await channels.ensureMany([])).toEqual([]);
  });

  it('checks all of many channels before it creates the first one', async () => {
    const { channels } = server.parley.as(ann);
    const wrong = [{ name: 'unmade' }, { name: 5 }] as unknown as Parameters<typeof channels.ensureMany>[0];
    await expect(channels.ensureMany(wrong)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'channels[1].name must be a string, not 5.',
    });
    expect(await channels.find('unmade')).toBeNull();
    const tooMany = Array.from({ length: 10_001 }, (_, n) => ({ name: `unmade ${n}` }));
    await expect(channels.ensureMany(tooMany)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'channels must be an array of at most 10000 values, not an array.',
    });
    expect(await channels.find('unmade 0')).toBeNull();
  });

  it('applies the permissions of the user', async () => {
    const { messages } = server.parley.as(bob);
    await server.parley.as(ann).channels.create({ name: 'owners', isPrivate: true });
    await expect(messages.send({ channel: 'owners', topic: 'x', content: 'x' })).rejects.toMatchObject({
      code: 'CANNOT_POST_IN_CHANNEL',
      status: 403,
    });
    await expect(messages.send({ to: 'u99', content: 'x' })).rejects.toEqual(code('UNKNOWN_USER'));
    await expect(
      server.parley.as({ realm, externalId: 'nobody' }).messages.send({ to: 'u1', content: 'x' }),
    ).rejects.toEqual(code('UNKNOWN_USER'));
    await server.parley.users.upsert({ realm, externalId: 'gone', name: 'Gone' });
    const gone = server.parley.as({ realm, externalId: 'gone' });
    await server.parley.users.deactivate({ realm, externalId: 'gone' });
    await expect(gone.messages.send({ to: 'u1', content: 'x' })).rejects.toEqual(code('USER_DEACTIVATED'));
  });

  it('returns the caller for use cases', async () => {
    const caller = await server.parley.as(ann).caller();
    const sent = await server.parley.useCase(SendMessage).execute(caller, {
      to: { kind: 'channelName', name: 'orders' },
      topic: 'x',
      content: 'x',
      isReadBySender: true,
      echo: null,
    });
    expect((await server.parley.as(ann).messages.get(sent.id)).sender.externalId).toBe('u1');
  });
});

describe('parley.as unread', () => {
  const town = { realm: 'town' };
  const reader = { ...town, externalId: 'reader' };
  const writer = { ...town, externalId: 'writer' };
  beforeAll(async () => {
    const { parley } = server;
    await parley.realms.ensure({ name: 'town', title: 'Town' });
    await parley.users.upsert({ ...writer, name: 'Writer', role: 'owner' });
    await parley.users.upsert({ ...reader, name: 'Reader' });
    for (const name of ['news', 'closed']) await parley.as(writer).channels.create({ name, subscribers: ['reader'] });
    await parley.as(reader).unread.markRead();
    const { messages, channels } = parley.as(writer);
    await messages.send({ channel: 'news', topic: 'one', content: 'first' });
    await messages.send({ channel: 'closed', topic: 'gone', content: 'in an archived channel' });
    await messages.send({ to: 'reader', content: 'direct' });
    await messages.send({ channel: 'news', topic: 'one', content: '@**Reader** look' });
    await messages.send({ channel: 'news', topic: 'two', content: 'more' });
    await channels.archive('closed');
    await parley.as(reader).unread.markRead({ with: (await parley.users.find(writer))!.id });
    await messages.send({ to: 'reader', content: 'direct again' });
  });

  it('counts unread messages and lists their conversations, newest first', async () => {
    const { unread } = server.parley.as(reader);
    const before = await server.parley.as(reader).messages.list({ unread: true, channel: 'news' }).toArray();
    expect(await unread.count()).toEqual({ messages: 4, mentions: 1, isComplete: true });
    const listed = await unread.list();
    expect(listed).toEqual([
      expect.objectContaining({ channel: null, topic: '', messages: 1, mentions: 0, isMuted: false }),
      expect.objectContaining({ topic: 'two', messages: 1, people: [] }),
      {
        channel: { id: expect.any(Number), name: 'news' },
        topic: 'one',
        people: [],
        messages: 2,
        mentions: 1,
        isMuted: false,
        firstId: before[0]!.id,
        lastId: before[1]!.id,
      },
    ]);
    expect(listed[0]!.people.map(({ externalId, name }) => [externalId, name]).sort()).toEqual([
      ['reader', 'Reader'],
      ['writer', 'Writer'],
    ]);
    expect(await unread.list({ last: 1 })).toEqual(listed.slice(0, 1));
    expect(await server.parley.as(writer).unread.count()).toMatchObject({ messages: 0, mentions: 0 });
  });

  it('marks a conversation, topic, channel or everything as read', async () => {
    const { unread } = server.parley.as(reader);
    const left = async () => (await unread.list()).map(({ topic }) => topic);
    await unread.markRead({ with: 'writer' });
    expect(await left()).toEqual(['two', 'one']);
    await unread.markRead({ channel: 'news', topic: 'two' });
    expect(await left()).toEqual(['one']);
    await unread.markRead({ channel: 'news' });
    expect(await left()).toEqual([]);
    await server.parley.as(writer).messages.send({ channel: 'news', topic: 'three', content: 'again' });
    await unread.markRead();
    expect(await unread.count()).toEqual({ messages: 0, mentions: 0, isComplete: true });
  });

  it('lists muted topics without counting them', async () => {
    const { parley } = server;
    const { id } = (await parley.as(reader).channels.find('news'))!;
    const caller = await parley.as(reader).caller();
    const topic = { channelId: id as ChannelId, topic: 'noise', visibility: 'muted' } as const;
    await parley.useCase(SetTopicPolicy).execute(caller, topic);
    await parley.as(writer).messages.send({ channel: 'news', topic: 'noise', content: 'noise' });
    expect(await parley.as(reader).unread.count()).toMatchObject({ messages: 0 });
    expect(await parley.as(reader).unread.list()).toMatchObject([{ topic: 'noise', messages: 1, isMuted: true }]);
  });

  it.each([-1, 1.5, 1001])('rejects a list length of %d', async (last) => {
    await expect(server.parley.as(reader).unread.list({ last })).rejects.toEqual(code('INVALID_MESSAGE_RANGE'));
  });

  it('rejects inaccessible channels and unknown users', async () => {
    const { parley } = server;
    await parley.as(writer).channels.create({ name: 'secret', isPrivate: true });
    const unread = (user: typeof reader) => parley.as(user).unread;
    await expect(unread(reader).markRead({ channel: 'secret' })).rejects.toEqual(code('UNKNOWN_CHANNEL'));
    await expect(unread(reader).markRead({ with: 'nobody' })).rejects.toEqual(code('UNKNOWN_USER'));
    await expect(unread({ ...town, externalId: 'nobody' }).count()).rejects.toEqual(code('UNKNOWN_USER'));
    await parley.users.upsert({ ...town, externalId: 'gone', name: 'Gone' });
    await parley.users.deactivate({ ...town, externalId: 'gone' });
    await expect(unread({ ...town, externalId: 'gone' }).count()).rejects.toEqual(code('USER_DEACTIVATED'));
  });
});

describe('missing user id', () => {
  const nobody: readonly [string, object][] = [
    ['no id', {}],
    ['a missing external id', { externalId: undefined }],
    ['a null external id', { externalId: null }],
    ['an external id in a list', { externalId: ['undefined'] }],
    ['an id in text form', { userId: '1' }],
    ['a null id', { userId: null, externalId: 'undefined' }],
  ];
  let known: { readonly id: number };
  beforeAll(async () => {
    known = await server.parley.users.upsert({ realm, externalId: 'undefined', name: 'U' });
    await server.parley.users.upsert({ realm, externalId: 'null', name: 'N' });
    // Fills the cache of external ids.
    for (const externalId of ['undefined', 'null']) await server.parley.as({ realm, externalId }).unread.count();
  });

  it.each(nobody)('is rejected with the name of the property: %s', async (_, id) => {
    const ref = { realm, ...id } as typeof ann;
    const refusal = expect.objectContaining({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^(user|external)Id must be/),
    });
    expect(() => server.parley.as(ref)).toThrow(refusal);
    await expect(server.parley.users.find(ref)).rejects.toEqual(refusal);
    await expect(server.parley.users.deactivate(ref)).rejects.toEqual(refusal);
    await expect(server.parley.users.apiKey(ref)).rejects.toEqual(refusal);
    expect(await server.parley.users.find({ realm, userId: known.id })).toMatchObject({ name: 'U' });
  });

  it('is rejected in recipients', async () => {
    const { messages } = server.parley.as(ann);
    for (const person of [undefined, null, ['undefined'], 1.5, ' ']) {
      await expect(messages.send({ to: [person as never], content: 'x' })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringMatching(/^to\[0\] must be an external id/),
      });
    }
  });
});

describe('call by untyped JavaScript', () => {
  /** Parley as seen by plain JavaScript. */
  const parley = () =>
    server.parley as unknown as Record<string, (...args: unknown[]) => unknown> & { users: Loose; realms: Loose };
  type Loose = Record<string, (...args: unknown[]) => unknown>;
  const chat = () => server.parley.as(ann) as unknown as { messages: Loose; channels: Loose; unread: Loose };
  const person = { realm, externalId: 'u7', name: 'Sue' };

  it.each<[string, () => unknown]>([
    ['externalId must be a nonblank string, not 7.', () => parley().users.upsert!({ ...person, externalId: 7 })],
    ['externalId must be a nonblank string, not "  ".', () => parley().users.upsert!({ ...person, externalId: '  ' })],
    ['name must be a string, not undefined.', () => parley().users.upsert!({ realm, externalId: 'u7' })],
    [
      'role must be one of owner, administrator, moderator, member, guest, not "admin".',
      () => parley().users.upsert!({ ...person, role: 'admin' }),
    ],
    ['email must be a string, not null.', () => parley().users.upsert!({ ...person, email: null })],
    ['realm must be a string, not undefined.', () => parley().users.upsert!({ ...person, realm: undefined })],
    ["realm: there is no organization 'shp'.", () => parley().users.upsert!({ ...person, realm: 'shp' })],
    ['The user must be an object, not "u1".', () => parley().as!('u1')],
    ['client must be a string, not 5.', () => parley().as!(ann, { client: 5 })],
    ['userId must be an integer: Parley\'s id, not "5".', () => parley().users.link!({ ...ann, userId: '5' })],
    ['name must be a string, not an object.', () => parley().realms.find!({ name: 'shop' })],
    ['title must be a string, not false.', () => parley().realms.ensure!({ name: 'x', title: false })],
    ['preset must be one of customers, not "staff".', () => parley().realms.ensure!({ name: 'x', preset: 'staff' })],
    ['settings must be an object, not 1.', () => parley().realms.ensure!({ name: 'x', settings: 1 })],
    [
      'settings has no property inviteRequird; did you mean inviteRequired?',
      () => parley().realms.configure!({ name: 'x', settings: { inviteRequird: true } }),
    ],
    [
      'settings.canInviteUsers must be absent (it is a permission; set permissions.canInviteUsers), not "role:members".',
      () => parley().realms.ensure!({ name: 'x', settings: { canInviteUsers: 'role:members' } }),
    ],
    [
      'settings.digestWeekday must be one of 0, 1, 2, 3, 4, 5, 6, not 9.',
      () => parley().realms.ensure!({ name: 'x', settings: { digestWeekday: 9 } }),
    ],
    [
      'userDefaults.emailAddressVisibility must be one of everyone, members, administrators, nobody, moderators, not "admins".',
      () => parley().realms.ensure!({ name: 'x', userDefaults: { emailAddressVisibility: 'admins' } }),
    ],
    [
      'userDefaults.timezone must be absent (it has no default in an organization), not "Asia/Tokyo".',
      () => parley().realms.ensure!({ name: 'x', userDefaults: { timezone: 'Asia/Tokyo' } }),
    ],
    [
      'permissions has no property canInviteUser; did you mean canInviteUsers?',
      () => parley().realms.ensure!({ name: 'x', permissions: { canInviteUser: 'role:members' } }),
    ],
    [
      'permissions.canInviteUsers must be a string, not 3.',
      () => parley().realms.ensure!({ name: 'x', permissions: { canInviteUsers: 3 } }),
    ],
    [
      'channel must be absent if to is given, not "orders".',
      () => chat().messages.send!({ to: 'u2', channel: 'orders', content: 'x' }),
    ],
    [
      'topic must be absent if to is given, not "t".',
      () => chat().messages.send!({ to: 'u2', topic: 't', content: 'x' }),
    ],
    [
      'sentAt must be a Date since 1970, not an invalid Date.',
      () => chat().messages.send!({ channel: 'orders', content: 'x', sentAt: new Date('x') }),
    ],
    ['content must be a string, not undefined.', () => chat().messages.send!({ channel: 'orders' })],
    [
      'channel, without to, must be the name or the number of a channel, not undefined.',
      () => chat().messages.send!({ content: 'x' }),
    ],
    ['id must be an integer: Parley\'s id, not "1".', () => chat().messages.get!('1')],
    ['ids must be an array of ids, not 1.', () => chat().messages.markRead!(1)],
    ['emoji must be a string, not undefined.', () => chat().messages.react!(1)],
    [
      'The channel has no property private; did you mean isPrivate?',
      () => chat().channels.create!({ name: 'n', private: true }),
    ],
    [
      'The channel has no property members; did you mean readers?',
      () => chat().channels.ensure!({ name: 'n', members: ['u2'] }),
    ],
    [
      'The message has no property chanel; did you mean channel?',
      () => chat().messages.send!({ chanel: 'orders', content: 'x' }),
    ],
    [
      'The selection has no property chanel; did you mean channel?',
      () => (chat().messages.list!({ chanel: 'orders' }) as { toArray(): unknown }).toArray(),
    ],
    [
      'The change has no property text. Its properties are content, topic, channel.',
      () => chat().messages.edit!(1, { text: 'x' }),
    ],
    ['The scope has no property chanel; did you mean channel?', () => chat().unread.markRead!({ chanel: 'orders' })],
    ['The user has no property rol; did you mean role?', () => parley().users.upsert!({ ...person, rol: 'guest' })],
    [
      'The organization has no property setings; did you mean settings?',
      () => parley().realms.ensure!({ name: 'x', setings: {} }),
    ],
    [
      'The organization has no property isStarted. Its properties are name, title, preset, data, settings, permissions, userDefaults.',
      () => parley().realms.configure!({ name: realm, isStarted: true }),
    ],
    ['isPrivate must be true or false, not "yes".', () => chat().channels.create!({ name: 'n', isPrivate: 'yes' })],
    ['channel must be the name or the number of a channel, not an object.', () => chat().channels.archive!({})],
    [
      "users[0] must be an external id, or Parley's id as a number, not an object.",
      () => chat().channels.subscribe!('orders', { users: [{}] }),
    ],
    [
      'The type must be the name of an event, not "message.snt"; did you mean message.sent?',
      () => parley().on!('message.snt', () => {}),
    ],
    ['The listener must be a function, not undefined.', () => parley().on!('message.sent')],
    ['The handler must be a function, not an object.', () => parley().consume!('c', {})],
    [
      'types[0] must be the name of an event, not "mesage.sent"; did you mean message.sent?',
      () => parley().consume!('c', () => {}, { types: ['mesage.sent'] }),
    ],
    ['from must be now or oldest, not "start".', () => parley().consume!('c', () => {}, { from: 'start' })],
    [
      'The type must be the name of a hook, not "message.sent"; did you mean message.send?',
      () => parley().before!('message.sent', () => {}),
    ],
    ['The hook must be a function, not true.', () => parley().before!('message.send', true)],
  ])('fails with: %s', async (message, call) => {
    await expect((async () => call())()).rejects.toMatchObject({
      message,
      status: message.startsWith('realm:') ? 404 : 400,
    });
    expect(await server.parley.users.find({ realm, externalId: 'u7' })).toBeNull();
  });
});

describe('authenticate', () => {
  afterEach(() => {
    session = null;
  });

  it('identifies a user by external id', async () => {
    session = bob;
    expect((await server.request('GET', '/users/me', { realm })).body).toMatchObject({ full_name: 'B' });
  });

  it.each<[string, object]>([
    ['"shop" has no user "u99"', { realm, externalId: 'u99' }],
    ['"shop" has no user 9999', { realm, userId: 9999 }],
    ['there is no organization "shp"', { realm: 'shp', externalId: 'u1' }],
    ['externalId must be a nonblank string, not 1603.', { realm, externalId: 1603 }],
    ['realm must be a string, not undefined.', { externalId: 'u1' }],
  ])('responds 401 and logs an error if it names an unknown caller: %s', async (reason, named) => {
    session = named as typeof ann;
    const { status, body } = await server.request('GET', '/users/me', { realm });
    expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
    expect(logged).toContainEqual({ reason, message: `authenticate() named an unknown caller: ${reason}` });
  });

  it('is skipped for requests with an API key, valid or not', async () => {
    session = bob;
    const email = 'ann@example.org';
    const asking = async (authorization: string) =>
      server.request('GET', '/users/me', { realm, headers: { authorization } });
    const key = await server.parley.users.apiKey(ann);
    expect((await asking(basic({ email, apiKey: key }))).body).toMatchObject({ full_name: 'Ann' });
    expect(await asking(basic({ email, apiKey: 'x'.repeat(32) }))).toMatchObject({
      status: 401,
      body: { msg: 'Invalid API key' },
    });
    // Headers of the application's own log-in.
    for (const own of [basic({ email, apiKey: 'password' }), 'Bearer abc']) {
      expect((await asking(own)).body).toMatchObject({ full_name: 'B' });
    }
  });
});

describe('parley.on', () => {
  it('calls listeners with commits in order until removed', async () => {
    const heard: ParleyEvent<'message.sent'>[] = [];
    const off = server.parley.on('message.sent', (event) => void heard.push(event));
    const chat = server.parley.as(ann);
    const ids = await Promise.all(
      [1, 2, 3].map(async (n) => (await chat.messages.send({ channel: 'orders', topic: 'on', content: `${n}` })).id),
    );
    await until(() => heard.length === 3);
    expect(heard.map(({ message }) => message.id)).toEqual([...ids].sort((a, b) => a - b));
    expect(heard[0]).toMatchObject({
      type: 'message.sent',
      realm,
      at: new Date(server.clock.now() * 1000),
      message: { sender: { externalId: 'u1' }, channel: { name: 'orders' }, topic: 'on' },
      data: { isPublic: true },
    });
    off();
    await chat.messages.send({ channel: 'orders', topic: 'on', content: 'later' });
    await settle();
    expect(heard).toHaveLength(3);
  });

  it('calls no listener for rejected operations', async () => {
    const heard: unknown[] = [];
    const off = server.parley.on('message.sent', (event) => heard.push(event));
    await expect(server.parley.as(bob).messages.send({ channel: 'owners', content: 'x' })).rejects.toThrow();
    await settle();
    off();
    expect(heard).toEqual([]);
  });

  it('includes external ids of new users', async () => {
    const heard: ParleyEvent<'user.created'>[] = [];
    const off = server.parley.on('user.created', (event) => heard.push(event));
    await server.parley.users.upsert({ realm, externalId: 'new', name: 'N' });
    await until(() => heard.length > 0);
    off();
    expect(heard[0]).toMatchObject({ realm, user: { externalId: 'new', name: 'N' } });
  });

  it('logs failing listeners and calls the others', async () => {
    const heard: unknown[] = [];
    const offs = [
      server.parley.on('message.sent', () => {
        throw new Error('thrown');
      }),
      server.parley.on('message.sent', async () => {
        throw new Error('rejected');
      }),
      server.parley.on('message.sent', (event) => heard.push(event)),
    ];
    await server.parley.as(ann).messages.send({ channel: 'orders', content: 'x' });
    await until(() => heard.length > 0 && logged.length === 2);
    for (const off of offs) off();
    expect(logged).toEqual([
      expect.objectContaining({ message: "a listener of 'message.sent' failed", err: new Error('thrown') }),
      expect.objectContaining({ message: "a listener of 'message.sent' failed", err: new Error('rejected') }),
    ]);
  });
});

describe('parley.consume', () => {
  it('passes on events and sends within the transaction that stores the position', async () => {
    const { parley } = server;
    const chat = parley.as(ann);
    await parley.as(ann).channels.create({ name: 'log' });
    const handled: string[] = [];
    const consumer = await parley.consume(
      'copier',
      async (events, tx) => {
        expect(tx.realm).toBe(realm);
        await new Promise((resolve) => setTimeout(resolve, 1));
        for (const { message } of events) {
          if (message.channel?.name !== 'orders') continue;
          handled.push(message.content);
          await tx.send(ann, { channel: 'log', topic: 'copies', content: message.content });
        }
      },
      { types: ['message.sent'] },
    );
    await chat.messages.send({ channel: 'orders', topic: 'c', content: 'first' });
    await until(() => handled.length === 1);
    await consumer.stop();
    await chat.messages.send({ channel: 'orders', topic: 'c', content: 'second' });
    await settle();
    expect(handled).toEqual(['first']);

    const again = await parley.consume('copier', (events) => {
      for (const event of events) if (event.type === 'message.sent') handled.push(event.message.content);
    });
    await until(() => handled.length > 1);
    await again.stop();
    expect(handled.filter((content) => content === 'second')).toEqual(['second']);
    const copies = await chat.messages.list({ channel: 'log', topic: 'copies' }).toArray();
    expect(copies.map(({ content }) => content)).toEqual(['first']);
    expect(await parley.forgetConsumer('copier')).toBe(true);
    expect(await parley.forgetConsumer('copier')).toBe(false);
  });

  it('discards staged changes if the handler fails', async () => {
    const { parley } = server;
    let failures = 0;
    const consumer = await parley.consume(
      'failing',
      async (events, tx) => {
        await tx.send(ann, { channel: 'log', topic: 'failing', content: `${events.length}` });
        failures++;
        throw new Error('no');
      },
      { types: ['message.sent'] },
    );
    await parley.as(ann).messages.send({ channel: 'orders', content: 'x' });
    await until(() => failures > 0);
    await consumer.stop();
    expect(await parley.as(ann).messages.list({ channel: 'log', topic: 'failing' }).toArray()).toEqual([]);
    await parley.forgetConsumer('failing');
  });

  it('rejects a second consumer of the same name and calls of `tx` after the handler returned', async () => {
    const { parley } = server;
    const errors: unknown[] = [];
    const consumer = await parley.consume('one', (_events, tx) => {
      setTimeout(() => void tx.send(ann, { channel: 'log', content: 'late' }).catch((error) => errors.push(error)), 1);
    });
    await expect(parley.consume('one', () => {})).rejects.toThrow("The consumer 'one' is already running.");
    await expect(parley.consume('o ne', () => {})).rejects.toEqual(code('INVALID_CONSUMER_NAME'));
    await expect(parley.consume('two', () => {}, { maxEvents: 0 })).rejects.toThrow(RangeError);
    await parley.as(ann).messages.send({ channel: 'orders', content: 'x' });
    await until(() => errors.length > 0);
    expect(String(errors[0])).toContain('The handler has already returned');
    await consumer.stop();
    await parley.forgetConsumer('one');
  });
});

describe('parley.before', () => {
  const offs: (() => void)[] = [];
  afterEach(() => {
    for (const off of offs.splice(0)) off();
  });
  const post = (params: object) =>
    server.request('POST', '/messages', { realm, params: { type: 'stream', ...params } });

  it('changes messages before they are sent in any way', async () => {
    const asked: unknown[] = [];
    offs.push(
      server.parley.before('message.send', async (draft) => {
        asked.push(draft);
        return { content: draft.content.replace('bad', '***'), topic: 'moderated' };
      }),
      server.parley.before('message.send', ({ content }) => ({ content: `${content}!` })),
    );
    session = bob;
    const { body } = await post({ to: 'orders', topic: 't', content: 'a bad word' });
    session = null;
    expect(await server.parley.as(bob).messages.get(body.id)).toMatchObject({
      content: 'a *** word!',
      topic: 'moderated',
    });
    expect(asked).toEqual([
      {
        realm,
        sender: { id: expect.any(Number), externalId: 'u2', name: 'B' },
        client: expect.any(String),
        channel: { id: expect.any(Number), name: 'orders' },
        topic: 't',
        people: [],
        content: 'a bad word',
        data: {},
      },
    ]);
    await server.parley.as(ann).messages.send({ to: ['u2'], content: 'hi' });
    expect(asked[1]).toMatchObject({ channel: null, topic: null, people: [{ externalId: 'u2', name: 'B' }] });
  });

  it('rejects messages before they are sent', async () => {
    offs.push(
      server.parley.before('message.send', () => {
        throw refuse('No links, please.');
      }),
    );
    session = bob;
    const { status, body } = await post({ to: 'orders', topic: 't', content: 'x' });
    session = null;
    expect([status, body]).toEqual([400, { result: 'error', msg: 'No links, please.', code: 'BAD_REQUEST' }]);
    await expect(server.parley.as(bob).messages.send({ to: 'u1', content: 'x' })).rejects.toMatchObject({
      code: 'MESSAGE_REFUSED',
      status: 403,
      message: 'No links, please.',
    });
  });

  it('calls the hook before edits', async () => {
    const { messages } = server.parley.as(bob);
    const { id } = await messages.send({ channel: 'orders', topic: 't', content: 'x' });
    offs.push(
      server.parley.before('message.edit', ({ messageId, content }) => {
        expect(messageId).toBe(id);
        if (content === 'bad') throw refuse('No.');
        return { content: `${content} (edited)` };
      }),
    );
    await expect(messages.edit(id, { content: 'bad' })).rejects.toEqual(code('MESSAGE_REFUSED'));
    await messages.edit(id, { content: 'y' });
    expect((await messages.get(id)).content).toBe('y (edited)');
  });

  it('rejects the message temporarily if the hook times out', async () => {
    offs.push(server.parley.before('message.send', () => new Promise(() => {}), { timeoutMs: 20 }));
    session = bob;
    const { status } = await post({ to: 'orders', topic: 't', content: 'x' });
    session = null;
    expect(status).toBe(503);
  });

  it('responds 500 if the hook fails and sends nothing', async () => {
    offs.push(
      server.parley.before('message.send', () => {
        throw new TypeError('a bug');
      }),
    );
    session = bob;
    expect((await post({ to: 'orders', topic: 't', content: 'unsent' })).status).toBe(500);
    session = null;
    offs.pop()!();
    const found = await server.parley.as(bob).messages.list({ channel: 'orders', search: 'unsent' }).toArray();
    expect(found).toEqual([]);
  });
});

describe('error handling', () => {
  it('explains that a use case belongs to another copy of the package', () => {
    const OtherSendMessage = { SendMessage: class extends SendMessage {} }.SendMessage;
    expect(() => server.parley.useCase(OtherSendMessage)).toThrow(
      /This engine has no SendMessage\. .* the same copy of Parley/,
    );
    class NoUseCase {}
    // @ts-expect-error it has no `inject`
    expect(() => server.parley.useCase(NoUseCase)).toThrow(/This engine has no NoUseCase\./);
  });

  it('responds to a DomainError in JSON and passes on other errors', async () => {
    const written: unknown[] = [];
    const response = {
      headersSent: false,
      statusCode: 200,
      setHeader: (...header: unknown[]) => written.push(header),
      end: (body: string) => written.push(JSON.parse(body)),
    };
    const passed: unknown[] = [];
    const handle = errorHandler() as unknown as (...args: readonly unknown[]) => void;
    const refusal = await server.parley.users.deactivate({ realm, externalId: 'x' }).catch((error) => error);
    handle(refusal, {}, response, (error: unknown) => passed.push(error));
    expect([response.statusCode, written]).toEqual([
      404,
      [
        ['Content-Type', 'application/json'],
        { code: 'UNKNOWN_USER', message: "There is no user with the external id 'x'." },
      ],
    ]);
    const bug = new Error('bug');
    handle(bug, {}, response, (error: unknown) => passed.push(error));
    expect(passed).toEqual([bug]);
  });
});
