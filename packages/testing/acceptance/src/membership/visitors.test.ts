import { EndVisit } from '@parley/domain/log-in';
import { ErasePerson } from '@parley/domain/membership';
import { MakeThumbnails } from '@parley/domain/messages';
import { openHeic, SharpImageProcessor } from '@parley/images';
import type { UserRef } from '@parley/server';
import type { Wire } from '../testing/expectations.js';
import { pngOf } from '../testing/images.js';
import { runJobs } from '../testing/jobs.js';
import { postFiles } from '../testing/multipart.js';
import { serverPerTest } from '../testing/servers.js';

const realm = 'shop';
const staff = { realm, externalId: 'sam' };
const DAY = 86_400;

let session: UserRef | null = null;

const images = new SharpImageProcessor(openHeic);
const { server } = serverPerTest({ authenticate: async () => session, hasRateLimits: true, images });
beforeEach(async () => {
  session = null;
  await server.parley.realms.ensure({ name: realm, title: 'The Shop', preset: 'customers' });
  await server.parley.users.upsert({ ...staff, name: 'Sam', role: 'owner' });
});

/** Starts a visitor with a channel, in which both sides write. */
async function aVisitor(days?: number) {
  const visitor = await server.parley.visitors.start({ realm, ...(days !== undefined && { days }) });
  const self = { realm, userId: visitor.user.id };
  const chat = server.parley.as(staff);
  const channel = `Visitor ${visitor.user.id}`;
  await chat.channels.ensure({ name: channel, isPrivate: true, subscribers: [visitor.user.id] });
  await server.parley.as(self).messages.send({ channel, content: 'Do you ship to Elsinore?' });
  await chat.messages.send({ channel, content: 'We do.' });
  return { ...visitor, self, channel };
}

const contentsFor = async (user: UserRef, channel: string) =>
  (await server.parley.as(user).messages.list({ channel, last: 10 }).toArray()).map(({ content, sender }) => [
    sender.name,
    content,
  ]);

describe('parley.visitors.start', () => {
  it('adds a guest without channels, who chats in the channel of the staff and sees nothing else', async () => {
    await server.parley.users.upsert({ realm, externalId: 'bob', name: 'Bob', role: 'guest' });
    const { user, self, channel, token, expiresAt } = await aVisitor();
    expect(user).toMatchObject({ name: 'Visitor', role: 'guest' });
    expect(expiresAt.getTime()).toBe((server.clock.now() + 30 * DAY) * 1000);
    expect(await contentsFor(self, channel)).toEqual([
      ['Visitor', 'Do you ship to Elsinore?'],
      ['Sam', 'We do.'],
    ]);
    session = await server.parley.visitors.find({ realm, token });
    const { body } = await server.request('POST', '/register', { realm, params: {} });
    expect((body as Wire).subscriptions.map(({ name }: Wire) => name)).toEqual([channel]);
    expect(JSON.stringify(body)).not.toContain('Bob');
  });

  it('stores data of the application, which a customer without an account keeps', async () => {
    const { visitors, realms, users } = server.parley;
    await realms.declareData(realm, { user: { schema: { properties: { page: { type: 'string' } } } } });
    const { user, token } = await visitors.start({ realm, data: { page: '/shoes' } });
    expect(user).toMatchObject({ data: { page: '/shoes' }, dataVersion: 1 });
    await visitors.become({ realm, token, externalId: 'eve', name: 'Eve', role: 'guest' });
    expect(await users.find({ realm, externalId: 'eve' })).toMatchObject({ id: user.id, data: { page: '/shoes' } });
    const misfit = visitors.start({ realm, data: { page: 7 } });
    await expect(misfit).rejects.toMatchObject({ code: 'DATA_SCHEMA_MISMATCH' });
    expect((await users.list({ realm }).toArray()).filter(({ name }) => name === 'Visitor')).toEqual([]);
  });

  it('limits the visitors of an address and leaves other addresses alone', async () => {
    const start = (address: string) => server.parley.visitors.start({ realm, address });
    for (let count = 0; count < 10; count++) await start('192.0.2.1');
    await expect(start('192.0.2.1')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await start('192.0.2.2');
    server.clock.advance(3600);
    await start('192.0.2.1');
  });

  it.each([
    [{ realm: 'nowhere' }, 'UNKNOWN_REALM'],
    [{ realm, days: 0 }, 'INVALID_ARGUMENT'],
    [{ realm, days: 366 }, 'INVALID_ARGUMENT'],
    [{ realm, name: ' ' }, 'INVALID_USER_NAME'],
  ])('rejects %j with %s', (visitor, code) =>
    expect(server.parley.visitors.start(visitor)).rejects.toMatchObject({ code }),
  );

  it('gives visitors different names where names are unique', async () => {
    await server.parley.realms.configure({ name: realm, settings: { requireUniqueNames: true } });
    const names = [await server.parley.visitors.start({ realm }), await server.parley.visitors.start({ realm })];
    expect(names.map(({ user }) => user.name)).toEqual(['Visitor', expect.stringMatching(/^Visitor [0-9a-f]{8}$/)]);
  });
});

describe('parley.visitors.find', () => {
  it('finds the visitor of a token in its organization until it expires', async () => {
    const { visitors, realms } = server.parley;
    await realms.ensure({ name: 'other', title: 'Another Shop' });
    const { user, token } = await visitors.start({ realm, days: 1 });
    expect(await visitors.find({ realm, token })).toEqual({ realm, userId: user.id });
    expect(await visitors.find({ realm: 'other', token })).toBeNull();
    expect(await visitors.find({ realm, token: token.replace(`-${user.id}-`, `-${user.id - 1}-`) })).toBeNull();
    server.clock.advance(DAY);
    expect(await visitors.find({ realm, token })).toBeNull();
  });

  it('does not find a deactivated visitor', async () => {
    const { user, token } = await server.parley.visitors.start({ realm });
    await server.parley.users.deactivate({ realm, userId: user.id });
    expect(await server.parley.visitors.find({ realm, token })).toBeNull();
  });
});

describe('parley.visitors.become', () => {
  const ann = { realm, externalId: 'ann', name: 'Ann', email: 'ann@example.org' };

  it('keeps the account for a customer without one', async () => {
    const { user, token, channel } = await aVisitor();
    expect(await server.parley.visitors.become({ ...ann, token })).toMatchObject({
      id: user.id,
      name: 'Ann',
      email: 'ann@example.org',
      role: 'guest',
    });
    expect(await contentsFor(ann, channel)).toEqual([
      ['Ann', 'Do you ship to Elsinore?'],
      ['Sam', 'We do.'],
    ]);
    expect(await server.parley.visitors.find({ realm, token })).toBeNull();
    expect(await server.parley.visitors.become({ ...ann, token })).toMatchObject({ id: user.id });
  });

  it('ends the key, queues and tokens of a visitor when a customer gets the account', async () => {
    const { user, token, self, channel } = await aVisitor();
    session = self;
    const post = async (path: string, params = {}) =>
      (await server.request('POST', path, { realm, params })).body as Wire;
    const { api_key } = await post('/users/me/api_key/regenerate');
    const { queue_id } = await post('/register');
    const { token: chatToken } = await server.parley.tokens.create({ user: self, conversations: [{ channel }] });
    session = null;
    const keyed = { Authorization: `Basic ${btoa(`${user.email}:${api_key}`)}` };
    const bearer = { Authorization: `Bearer ${chatToken}` };
    const read = async (headers: Record<string, string>) =>
      (
        await server.request('GET', '/messages', {
          realm,
          headers,
          params: { anchor: 'newest', num_before: 9, num_after: 0 },
        })
      ).status;
    const poll = async (headers: Record<string, string>) =>
      server.request('GET', '/events', { realm, headers, params: { queue_id, last_event_id: -1, dont_block: true } });
    expect([await read(keyed), await read(bearer), (await poll(keyed)).status]).toEqual([200, 200, 200]);

    await server.parley.visitors.become({ realm, token, externalId: 'eve', name: 'Eve', role: 'guest' });
    const eve = { realm, externalId: 'eve' };
    await server.parley.as(staff).messages.send({ channel, content: 'For Eve only' });
    expect([await read(keyed), await read(bearer), (await poll(keyed)).status]).toEqual([401, 401, 401]);
    session = eve;
    expect(await poll({})).toMatchObject({ status: 400, body: { code: 'BAD_EVENT_QUEUE_ID' } });
    expect((await server.parley.tokens.list(eve)).length).toBe(0);
    expect(await contentsFor(eve, channel)).toEqual([
      ['Eve', 'Do you ship to Elsinore?'],
      ['Sam', 'We do.'],
      ['Sam', 'For Eve only'],
    ]);
    expect(await server.parley.users.find(eve)).toMatchObject({ id: user.id });
  });

  it('refuses the external id of a visitor to the application', async () => {
    const { user } = await aVisitor();
    const externalId = user.externalId!;
    const { users } = server.parley;
    const refusal = { code: 'INVALID_EXTERNAL_ID', message: "An external id must not begin with 'parley-visitor:'." };
    await expect(users.upsert({ realm, externalId, name: 'Mallory' })).rejects.toMatchObject(refusal);
    await expect(users.link({ realm, externalId, userId: user.id })).rejects.toMatchObject(refusal);
    const [many] = await users.upsertMany([{ realm, externalId, name: 'Mallory' }]);
    expect(many).toMatchObject({ error: refusal });
  });

  it('gives the channels, messages and unread marks to a customer with an account', async () => {
    const { users, visitors } = server.parley;
    const { id } = await users.upsert({ ...ann, role: 'guest' });
    const { user, token, channel } = await aVisitor();
    expect(await visitors.become({ ...ann, token })).toMatchObject({ id });
    expect(await contentsFor(ann, channel)).toEqual([
      ['Ann', 'Do you ship to Elsinore?'],
      ['Sam', 'We do.'],
    ]);
    session = ann;
    const { body } = await server.request('POST', '/register', { realm, params: {} });
    expect((body as Wire).unread_msgs).toMatchObject({
      count: 1,
      streams: [{ unread_message_ids: [expect.any(Number)] }],
    });
    expect(await users.find({ realm, userId: user.id })).toMatchObject({ isActive: false, name: 'Ann' });
    expect(await visitors.find({ realm, token })).toBeNull();
    expect(await visitors.become({ ...ann, token })).toMatchObject({ id });
  });

  it('gives direct messages and reactions to a customer with an account', async () => {
    const { users, visitors } = server.parley;
    const { id } = await users.upsert({ ...ann, role: 'guest' });
    const { id: samId } = await users.upsert({ ...staff, name: 'Sam' });
    const { user, token, self } = await aVisitor();
    session = staff;
    const send = (to: number, content: string) =>
      server.request('POST', '/messages', { realm, params: { type: 'direct', to: JSON.stringify([to]), content } });
    const sent = (await send(user.id, 'Here is a photo')).body as Wire;
    session = self;
    await server.request('POST', `/messages/${sent.id}/reactions`, { realm, params: { emoji_name: 'tada' } });
    expect((await send(samId, 'Thanks')).status).toBe(200);
    await visitors.become({ ...ann, token });
    const narrow = (other: number) => JSON.stringify([{ operator: 'dm', operand: [other] }]);
    const read = async (as: UserRef, other: number) => {
      session = as;
      const params = { anchor: 'newest', num_before: 10, num_after: 0, narrow: narrow(other) };
      return ((await server.request('GET', '/messages', { realm, params })).body as Wire).messages as Wire[];
    };
    for (const messages of [await read(ann, samId), await read(staff, id)]) {
      expect(messages.map(({ sender_id, content }) => [sender_id, content])).toEqual([
        [samId, '<p>Here is a photo</p>'],
        [id, '<p>Thanks</p>'],
      ]);
      expect(messages[0]!.reactions.map(({ user_id }: Wire) => user_id)).toEqual([id]);
    }
    expect(await read(staff, user.id)).toEqual([]);
  });

  describe('with files', () => {
    const HELLO = { name: 'hello.txt', content: 'Hello' };
    const upload = async (as: UserRef, file: Parameters<typeof postFiles>[3][number] = HELLO) => {
      session = as;
      return ((await postFiles(server, '/user_uploads', null, [file], {}, realm)).body as Wire).url as string;
    };
    const read = async (as: UserRef | null, url: string) => {
      session = as;
      return server.request('GET', `/${url}`, { realm });
    };
    const attachmentsOf = async (as: UserRef) => {
      session = as;
      return ((await server.request('GET', '/attachments', { realm })).body as Wire).attachments as Wire[];
    };
    const withLink = (url: string) => `[file](${url})`;

    /** Visitor who sent a file and uploaded another one, and the customer with an account. */
    async function aVisitorWithFiles() {
      const { id } = await server.parley.users.upsert({ ...ann, role: 'guest' });
      const visitor = await aVisitor();
      const [sent, unsent] = [await upload(visitor.self), await upload(visitor.self, { ...HELLO, name: 'draft.txt' })];
      const { channel, self } = visitor;
      const message = await server.parley.as(self).messages.send({ channel, content: withLink(sent) });
      return { ...visitor, customerId: id, sent, unsent, message };
    }

    it('gives the files under the same addresses to a customer with an account', async () => {
      const { token, self, sent, unsent, message } = await aVisitorWithFiles();
      await server.parley.users.upsert({ realm, externalId: 'bob', name: 'Bob', role: 'guest' });
      expect((await read(ann, sent)).status).not.toBe(200);
      await server.parley.visitors.become({ ...ann, token });
      expect(await read(ann, sent)).toMatchObject({ status: 200, body: 'Hello' });
      expect(await read(ann, unsent)).toMatchObject({ status: 200, body: 'Hello' });
      expect(await read(staff, sent)).toMatchObject({ status: 200, body: 'Hello' });
      for (const other of [null, self, { realm, externalId: 'bob' }])
        for (const url of [sent, unsent]) expect((await read(other, url)).status).toBeGreaterThanOrEqual(400);
      expect((await read(staff, unsent)).status).toBeGreaterThanOrEqual(400);
      const attachments = await attachmentsOf(ann);
      expect(attachments.map(({ name, message_ids }) => [name, message_ids])).toEqual([
        ['hello.txt', [message.id]],
        ['draft.txt', []],
      ]);
    });

    it('lets the customer send, delete and export the files', async () => {
      const { token, channel, sent, unsent } = await aVisitorWithFiles();
      await server.parley.visitors.become({ ...ann, token });
      await server.parley.as(ann).messages.send({ channel, content: withLink(unsent) });
      expect(await read(staff, unsent)).toMatchObject({ status: 200, body: 'Hello' });
      const chunks: Uint8Array[] = [];
      for await (const chunk of server.parley.users.export(ann)) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString('latin1')).toContain('hello.txt');
      const [attachment] = await attachmentsOf(ann);
      expect((await server.request('DELETE', `/attachments/${attachment!.id}`, { realm })).status).toBe(200);
      expect((await read(ann, sent)).status).toBe(404);
    });

    it('notifies clients of the customer about the files', async () => {
      const { token } = await aVisitorWithFiles();
      session = ann;
      const { queue_id } = (await server.request('POST', '/register', { realm, params: {} })).body as Wire;
      await server.parley.visitors.become({ ...ann, token });
      const params = { queue_id, last_event_id: -1, dont_block: true };
      const { events } = (await server.request('GET', '/events', { realm, params })).body as Wire;
      const added = events.filter(({ type, op }: Wire) => type === 'attachment' && op === 'add');
      expect(added.map(({ attachment }: Wire) => attachment.name)).toEqual(['hello.txt', 'draft.txt']);
    });

    it('makes thumbnails of images that the visitor uploaded shortly before', async () => {
      await server.parley.users.upsert({ ...ann, role: 'guest' });
      const { token, self, channel } = await aVisitor();
      const url = await upload(self, { name: 'a.png', type: 'image/png', content: pngOf(900, 900) });
      await server.parley.as(self).messages.send({ channel, content: withLink(url) });
      await server.parley.visitors.become({ ...ann, token });
      await runJobs(server, server.parley.useCase(MakeThumbnails));
      const thumbnail = url.replace('/user_uploads/', '/user_uploads/thumbnail/');
      expect((await read(ann, `${thumbnail}/840x560.webp`)).status).toBe(200);
    });

    it('keeps the files of a customer without an account', async () => {
      const visitor = await aVisitor();
      const [sent, unsent] = [await upload(visitor.self), await upload(visitor.self)];
      await server.parley.as(visitor.self).messages.send({ channel: visitor.channel, content: withLink(sent) });
      await server.parley.visitors.become({ ...ann, token: visitor.token });
      for (const url of [sent, unsent]) expect(await read(ann, url)).toMatchObject({ status: 200, body: 'Hello' });
      expect(await attachmentsOf(ann)).toHaveLength(2);
    });
  });

  it('erases the visits of a customer with the customer', async () => {
    const { users, visitors } = server.parley;
    await users.upsert({ ...ann, role: 'guest' });
    const visits = [await aVisitor(), await aVisitor(), await aVisitor()];
    for (const { token } of visits) await visitors.become({ ...ann, token });
    const accounts = async () => Promise.all(visits.map(async ({ self }) => (await users.find(self))?.name));
    expect(await accounts()).toEqual(['Ann', 'Ann', 'Ann']);
    const userId = (await users.find(ann))!.id;
    await users.erase(ann);
    const deleted = 'Deleted user';
    expect(await accounts()).toEqual([deleted, deleted, deleted]);
    const list = await users.list({ realm, deactivated: true }).toArray();
    expect(list.map(({ name }) => name).sort()).toEqual([deleted, deleted, deleted, deleted, 'Sam']);
    await runJobs(server, server.parley.useCase(ErasePerson));
    await users.erase({ realm, userId }, { everythingWritten: true });
    const erased = await Promise.all(visits.map(({ self }) => users.erase(self)));
    expect(erased.map(({ everythingWritten }) => everythingWritten)).toEqual([true, true, true]);
  });

  it('continues where an earlier call ended', async () => {
    const { user, token, channel } = await aVisitor();
    // The account of the customer was added, and the process ended.
    await server.parley.users.upsert({ ...ann, role: 'guest' });
    await server.parley.visitors.become({ ...ann, token });
    await server.parley.as(ann).messages.send({ channel, content: 'Thanks' });
    expect(await server.parley.users.find({ realm, userId: user.id })).toMatchObject({ isActive: false });
  });

  it.each([
    ['a wrong token', async () => ({ ...ann, token: 'x' }), 'UNKNOWN_VISITOR'],
    ['a blank id', async () => ({ ...ann, externalId: ' ', token: 'x' }), 'INVALID_ARGUMENT'],
    ['an unknown organization', async () => ({ ...ann, realm: 'nowhere', token: 'x' }), 'UNKNOWN_REALM'],
  ])('rejects %s', async (_, given, code) =>
    expect(server.parley.visitors.become(await given())).rejects.toMatchObject({ code }),
  );
});

describe('the end of a visit', () => {
  const endVisits = () => runJobs(server, server.parley.useCase(EndVisit));

  it('erases the visitor', async () => {
    const { user, channel } = await aVisitor(1);
    server.clock.advance(DAY);
    await endVisits();
    expect(await server.parley.users.find({ realm, userId: user.id })).toMatchObject({
      name: 'Deleted user',
      isActive: false,
    });
    expect(await contentsFor(staff, channel)).toEqual([
      ['Deleted user', 'Do you ship to Elsinore?'],
      ['Sam', 'We do.'],
    ]);
  });

  it('keeps a visitor with another role', async () => {
    const { user } = await aVisitor(1);
    const self = { realm, userId: user.id };
    session = staff;
    expect((await server.request('PATCH', `/users/${user.id}`, { realm, params: { role: 400 } })).status).toBe(200);
    server.clock.advance(DAY);
    await endVisits();
    expect(await server.parley.users.find(self)).toMatchObject({ role: 'member', isActive: true });
  });

  it('keeps customers who were visitors', async () => {
    const { token } = await aVisitor(1);
    await server.parley.visitors.become({ realm, token, externalId: 'ann', name: 'Ann' });
    server.clock.advance(DAY);
    await endVisits();
    expect(await server.parley.users.find({ realm, externalId: 'ann' })).toMatchObject({ name: 'Ann', isActive: true });
  });
});

describe('files of visitors', () => {
  const MIB = 1024 * 1024;
  const other = { name: 'a.bin', content: Buffer.alloc(9 * MIB, 'x') };
  const FULL = { code: 'USER_UPLOAD_QUOTA', msg: 'Upload would exceed your upload quota.' };

  async function enter() {
    const { user, token } = await server.parley.visitors.start({ realm });
    session = await server.parley.visitors.find({ realm, token });
    return user;
  }
  const upload = (file = other) => postFiles(server, '/user_uploads', null, [file], {}, realm);
  const begin = (size: number) => {
    const metadata = `filename ${Buffer.from('big.bin').toString('base64')}`;
    const headers = { 'Tus-Resumable': '1.0.0', 'Upload-Length': String(size), 'Upload-Metadata': metadata };
    return server.request('POST', '/tus/', { realm, headers });
  };
  const storedBlobs = async () => (await server.parley.ports.blobStore.list(null, 100)).length;

  it('take at most 20 MiB per visitor, including unfinished uploads, and store no more bytes', async () => {
    await enter();
    expect((await upload()).status).toBe(200);
    expect((await begin(9 * MIB)).status).toBe(201);
    const before = await storedBlobs();
    expect(await upload()).toMatchObject({ status: 400, body: FULL });
    expect(await begin(3 * MIB)).toMatchObject({ status: 413 });
    expect(await storedBlobs()).toBe(before);
    expect((await upload({ name: 'b', content: Buffer.alloc(2 * MIB) })).status).toBe(200);
    expect(await upload({ name: 'c', content: Buffer.alloc(1) })).toMatchObject({ body: FULL });
  });

  it('take at most 200 MiB of all visitors of an organization on a day, and none of users', async () => {
    for (let count = 0; count < 22; count++) {
      if (count % 2 === 0) await enter();
      expect((await upload()).status).toBe(200);
    }
    await enter();
    expect(await upload()).toMatchObject({ status: 400, body: FULL });
    expect((await begin(3 * MIB)).status).toBe(413);
    session = staff;
    expect((await upload()).status).toBe(200);
    server.clock.advance(DAY);
    await enter();
    expect((await upload()).status).toBe(200);
  }, 60_000);
});
