import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataOwnerKind, MessageId, RealmId, UserId } from '@parley/domain/kernel';
import { ErasePerson, ListVisibleData } from '@parley/domain/membership';
import { DeleteRealmData } from '@parley/domain/realms';
import { RestoreMessages } from '@parley/domain/writing';
import { openExport, writeExport } from '@parley/export-files';
import { type ParleyEvent, refuse } from '@parley/server';
import { COLUMN_NAMES } from '@parley/server/testing';
import { until } from '@parley/testkit';
import { PersonReader, RealmReader } from '@parley/transfer/exports';
import { ImportRealm } from '@parley/transfer/imports';
import { eventsAfter, openQueue } from '../testing/event-queues.js';
import { fieldsOf } from '../testing/expectations.js';
import { runJobs } from '../testing/jobs.js';
import { serverPerSuite } from '../testing/servers.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

const realm = 'shop';
const sam = { realm, externalId: 'sam' };
const cara = { realm, externalId: 'cara' };
const NONE = { data: {}, dataVersion: 0 };
const code = (expected: string) => expect.objectContaining({ code: expected });

const { server } = serverPerSuite();
beforeAll(async () => {
  const { parley } = server;
  await parley.realms.ensure({ name: realm, preset: 'customers' });
  await parley.users.upsert({ ...sam, name: 'Sam', role: 'owner' });
  await parley.users.upsert({ ...cara, name: 'Cara', role: 'guest' });
  await parley.as(sam).channels.create({ name: 'Order 7', isPrivate: true, subscribers: ['cara'] });
});

const send = (as: typeof sam, data?: object) =>
  server.parley
    .as(as)
    .messages.send({ channel: 'Order 7', topic: 'Support', content: 'Hello', ...(data && { data: data as never }) });

const realmIdOf = async (name: string) => (await server.parley.realms.find(name))!.id as RealmId;

describe('data of messages', () => {
  it('is stored with the message and returned with it', async () => {
    const { messages } = server.parley.as(cara);
    const { id } = await send(sam, { orderId: 7, items: ['a', { price: 1.5 }] });
    const plain = await send(sam);
    const expected = { data: { orderId: 7, items: ['a', { price: 1.5 }] }, dataVersion: 1 };
    expect(await messages.get(id)).toMatchObject(expected);
    expect(await messages.list({ channel: 'Order 7', last: 2 }).toArray()).toMatchObject([
      { id, ...expected },
      { id: plain.id, ...NONE },
    ]);
  });

  it('changes only from the expected version', async () => {
    const { messages } = server.parley.as(sam);
    const { id } = await send(sam, { state: 'open' });
    expect(await messages.setData(id, { state: 'paid' }, { expectedVersion: 1 })).toEqual({
      data: { state: 'paid' },
      dataVersion: 2,
    });
    await expect(messages.setData(id, { state: 'open' }, { expectedVersion: 1 })).rejects.toMatchObject({
      code: 'DATA_VERSION_CONFLICT',
      details: { version: 2 },
    });
    expect(await messages.get(id)).toMatchObject({ data: { state: 'paid' }, dataVersion: 2 });
    expect(await messages.setData(id, {})).toEqual({ data: {}, dataVersion: 3 });
  });

  it('is changed by the sender and administrators only', async () => {
    const { id } = await send(cara);
    const own = await send(sam);
    await server.parley.as(cara).messages.setData(id, { by: 'sender' });
    await server.parley.as(sam).messages.setData(id, { by: 'owner' });
    await expect(server.parley.as(cara).messages.setData(own.id, {})).rejects.toEqual(code('CANNOT_CHANGE_DATA'));
    await expect(server.parley.as(cara).messages.setData(own.id + 1000, {})).rejects.toEqual(code('UNKNOWN_MESSAGE'));
  });

  it.each([
    ['a list', [], 'data must be an object.'],
    ['more than 4096 bytes', { text: 'x'.repeat(4096) }, 'data must be at most 4096 bytes of JSON.'],
  ])('rejects %s and sends nothing', async (_, data, message) => {
    const { messages } = server.parley.as(sam);
    const before = await messages.list({ last: 1 }).toArray();
    await expect(send(sam, data)).rejects.toMatchObject({ code: 'INVALID_DATA', message });
    expect(await messages.list({ last: 1 }).toArray()).toEqual(before);
    await expect(messages.setData(before[0]!.id, data as never)).rejects.toEqual(code('INVALID_DATA'));
  });

  it('disappears with the message', async () => {
    const { id } = await send(sam, { secret: 'qzvdata' });
    await server.parley.as(sam).messages.delete(id);
    const realmId = await realmIdOf(realm);
    const { unitOfWork } = server.parley.ports;
    expect(await unitOfWork.read(realmId, ({ hostData }) => hostData.list(realmId, 'message', [id as never]))).toEqual(
      new Map(),
    );
  });

  it('is seen, replaced and refused by hooks before the message is sent', async () => {
    const remove = server.parley.before('message.send', ({ data }) => {
      if (data.isBlocked) throw refuse('Blocked');
      return data.orderId === undefined ? {} : { data: { ...data, isKnown: true } };
    });
    try {
      const { id } = await send(sam, { orderId: 7 });
      expect(await server.parley.as(sam).messages.get(id)).toMatchObject({ data: { orderId: 7, isKnown: true } });
      const plain = await send(sam);
      expect(await server.parley.as(sam).messages.get(plain.id)).toMatchObject(NONE);
      await expect(send(sam, { isBlocked: true })).rejects.toEqual(code('MESSAGE_REFUSED'));
    } finally {
      remove();
    }
    const breaking = server.parley.before('message.send', () => ({ data: { at: new Date() } as never }));
    await expect(send(sam)).rejects.toEqual(code('INVALID_DATA'));
    breaking();
  });
});

describe('data of channels', () => {
  it('is stored by creation and kept by later calls', async () => {
    const { channels } = server.parley.as(sam);
    const made = await channels.ensure({ name: 'Order 8', isPrivate: true, data: { orderId: 8 } });
    const expected = { data: { orderId: 8 }, dataVersion: 1 };
    expect(made).toMatchObject(expected);
    expect(await channels.ensure({ name: 'Order 8' })).toMatchObject(expected);
    expect(await channels.ensure({ name: 'Order 8', data: { orderId: 9 } })).toMatchObject(expected);
    expect(await channels.find('Order 7')).toMatchObject(NONE);
    expect((await channels.ensure({ name: 'Order 7', data: { orderId: 7 } })).data).toEqual({ orderId: 7 });
    expect((await channels.list()).map(({ name, data }) => [name, data.orderId])).toEqual([
      ['Order 7', 7],
      ['Order 8', 8],
    ]);
  });

  it('is changed by administrators of the channel only', async () => {
    const changed = await server.parley.as(sam).channels.setData('Order 7', { orderId: 70 });
    expect(changed.data).toEqual({ orderId: 70 });
    await expect(server.parley.as(cara).channels.setData('Order 7', {})).rejects.toEqual(
      code('CANNOT_ADMINISTER_CHANNEL'),
    );
  });
});

describe('data of users', () => {
  it('is replaced by an upsert with other data', async () => {
    const { users } = server.parley;
    expect(await users.upsert({ ...cara, name: 'Cara', data: { plan: 'free' } })).toMatchObject({ dataVersion: 1 });
    const same = { data: { plan: 'free' }, dataVersion: 1 };
    expect(await users.upsert({ ...cara, name: 'Cara', data: { plan: 'free' } })).toMatchObject(same);
    expect(await users.upsert({ ...cara, name: 'Cara' })).toMatchObject(same);
    expect(await users.setData(cara, { plan: 'pro' }, { expectedVersion: 1 })).toEqual({
      data: { plan: 'pro' },
      dataVersion: 2,
    });
    expect(await users.find(cara)).toMatchObject({ data: { plan: 'pro' } });
    const listed = await users.list({ realm }).toArray();
    expect(listed.map(({ name, data }) => [name, data])).toEqual([
      ['Sam', {}],
      ['Cara', { plan: 'pro' }],
    ]);
    const [good, bad] = await users.upsertMany([
      { realm, externalId: 'new', name: 'New', data: { n: 1 } },
      { realm, externalId: 'bad', name: 'Bad', data: [] as never },
    ]);
    expect(good).toMatchObject({ value: { data: { n: 1 } } });
    expect(bad).toMatchObject({ error: { code: 'INVALID_DATA' } });
    expect(await users.find({ realm, externalId: 'bad' })).toBeNull();
  });
});

describe('data of organizations', () => {
  it('is set by ensure, configure and setData', async () => {
    const { realms } = server.parley;
    expect(await realms.ensure({ name: 'own', data: { tenant: 1 } })).toMatchObject({ data: { tenant: 1 } });
    expect(await realms.ensure({ name: 'own', data: { tenant: 2 } })).toMatchObject({ data: { tenant: 1 } });
    expect(await realms.configure({ name: 'own', data: { tenant: 3 } })).toMatchObject({ dataVersion: 2 });
    expect(await realms.setData('own', { tenant: 4 })).toEqual({ data: { tenant: 4 }, dataVersion: 3 });
    expect(await realms.find('own')).toMatchObject({ data: { tenant: 4 } });
    expect((await realms.list()).find(({ name }) => name === 'own')).toMatchObject({ data: { tenant: 4 } });
    await expect(realms.setData('none', {})).rejects.toEqual(code('UNKNOWN_REALM'));
  });
});

describe('events', () => {
  it('contain the data of new messages and of changed objects', async () => {
    const { parley } = server;
    const events: ParleyEvent[] = [];
    const types = ['message.sent', 'data.changed'] as const;
    const consumer = await parley.consume('orders', (some) => void events.push(...some), { types });
    try {
      const { id } = await send(sam, { orderId: 7 });
      await parley.as(sam).messages.setData(id, { orderId: 7, isPaid: true });
      await parley.as(sam).messages.setData(id, { orderId: 7, isPaid: true });
      await parley.users.setData(cara, { plan: 'free' });
      await until(() => events.length >= 3);
      expect(events).toMatchObject([
        { type: 'message.sent', message: { id, data: { orderId: 7 }, dataVersion: 1 } },
        {
          type: 'data.changed',
          data: { owner: { kind: 'message', id }, version: 2 },
          current: { data: { orderId: 7, isPaid: true }, dataVersion: 2 },
        },
        { type: 'data.changed', data: { owner: { kind: 'user' } }, current: { data: { plan: 'free' } } },
      ]);
    } finally {
      await consumer.stop();
    }
  });

  it('have the current data of a message when they are read later', async () => {
    const { parley } = server;
    const events: ParleyEvent[] = [];
    const { id } = await send(sam, { orderId: 7 });
    await parley.as(sam).messages.setData(id, { orderId: 8 });
    const wanted = (some: readonly ParleyEvent[]) =>
      void events.push(...some.filter((event) => event.type === 'message.sent' && event.message.id === id));
    const consumer = await parley.consume('late', wanted, { from: 'oldest' });
    await until(() => events.length > 0);
    await consumer.stop();
    expect(events).toMatchObject([{ message: { data: { orderId: 8 }, dataVersion: 2 } }]);
  });

  it('contain no data for clients, nor do messages of the API', async () => {
    const { hamlet } = server.people;
    await server.createChannel('town', [hamlet]);
    const { parley } = server;
    const queue = await openQueue(server, hamlet);
    const as = parley.as({ realm: 'zulip', userId: hamlet.id });
    const { id } = await as.messages.send({ channel: 'town', content: 'Hello', data: { word: 'qzvdata' } });
    await as.messages.setData(id, { word: 'qzvdata2' });
    const found = fieldsOf(await server.request('GET', `/messages/${id}`, { as: hamlet }));
    const shown = JSON.stringify([await eventsAfter(server, queue), found]);
    expect(shown).toContain('Hello');
    expect(shown).not.toContain('qzvdata');
  });
});

describe('filters by declared keys', () => {
  const shop = 'filtered';
  const staff = { realm: shop, externalId: 'sam' };
  const customer = { realm: shop, externalId: 'cara' };
  const idsIn = async (as: typeof sam, where: Record<`data.${string}`, string | number | boolean>) =>
    (await server.parley.as(as).messages.list({ where }).toArray()).map(({ id }) => id);

  beforeAll(async () => {
    const { parley } = server;
    await parley.realms.ensure({ name: shop, preset: 'customers' });
    await parley.users.upsert({ ...staff, name: 'Sam', role: 'owner', data: { team: 'support' } });
    await parley.users.upsert({ ...customer, name: 'Cara', role: 'guest', data: { team: 'none' } });
    const { channels } = parley.as(staff);
    await channels.create({ name: 'Order 7', isPrivate: true, subscribers: ['cara'], data: { orderId: 7 } });
    await channels.create({ name: 'Order 8', isPrivate: true, data: { orderId: 8 } });
  });

  const order = (number: 7 | 8, data: object) =>
    server.parley.as(staff).messages.send({ channel: `Order ${number}`, content: 'Hello', data: data as never });

  it('finds messages of before and after the declaration that the user can read', async () => {
    const { parley } = server;
    const [own, hidden] = [await order(7, { orderId: 7 }), await order(8, { orderId: 7 })];
    await expect(idsIn(staff, { 'data.orderId': 7 })).rejects.toMatchObject({
      code: 'INVALID_NARROW',
      message: 'Invalid narrow operator: unknown data key orderId',
    });
    await parley.realms.declareData(shop, { message: { keys: { orderId: 'number', state: 'string' } } });
    const later = await order(7, { orderId: 7, state: 'open' });
    expect(await idsIn(staff, { 'data.orderId': 7 })).toEqual([own.id, hidden.id, later.id]);
    expect(await idsIn(customer, { 'data.orderId': 7 })).toEqual([own.id, later.id]);
    expect(await idsIn(customer, { 'data.orderId': 7, 'data.state': 'open' })).toEqual([later.id]);
    await parley.as(staff).messages.setData(later.id, { orderId: 9 });
    expect(await idsIn(staff, { 'data.state': 'open' })).toEqual([]);
    expect(await idsIn(staff, { 'data.orderId': 9 })).toEqual([later.id]);
  });

  it('narrows by the operator data, also negated', async () => {
    const { parley } = server;
    const { hamlet } = server.people;
    await server.createChannel('orders', [hamlet]);
    await parley.realms.declareData('zulip', { message: { keys: { orderId: 'number' } } });
    const as = parley.as({ realm: 'zulip', userId: hamlet.id }).messages;
    const { id } = await as.send({ channel: 'orders', content: 'First', data: { orderId: 7 } });
    const other = await as.send({ channel: 'orders', content: 'Second' });
    const found = async (negated: boolean) => {
      const narrow = [['channel', 'orders'], { operator: 'data', operand: 'orderId=7', negated }];
      const page = { narrow, anchor: 'newest', num_before: 10, num_after: 0 };
      const { messages } = fieldsOf(await server.get('/messages', hamlet, page)) as never as {
        messages: { id: number }[];
      };
      return messages.map((message) => message.id);
    };
    expect(await found(false)).toEqual([id]);
    expect(await found(true)).toContain(other.id);
    expect(await found(true)).not.toContain(id);
    const queue = await server.request('POST', '/register', {
      as: hamlet,
      params: { narrow: [['data', 'orderId=7']] },
    });
    expect(queue.body).toMatchObject({ result: 'error', msg: 'Operator data not supported.' });
  });

  it('finds channels and users', async () => {
    const { parley } = server;
    await parley.realms.declareData(shop, {
      channel: { keys: { orderId: 'number' } },
      user: { keys: { team: 'string' } },
    });
    const channelsOf = async (as: typeof sam, orderId: number) =>
      (await parley.as(as).channels.list({ where: { 'data.orderId': orderId } })).map(({ name }) => name);
    expect(await channelsOf(staff, 8)).toEqual(['Order 8']);
    expect(await channelsOf(customer, 7)).toEqual(['Order 7']);
    expect(await channelsOf(customer, 8)).toEqual([]);
    const users = await parley.users.list({ realm: shop, where: { 'data.team': 'support' } }).toArray();
    expect(users.map(({ name }) => name)).toEqual(['Sam']);
    // The key of messages is no longer declared.
    await expect(idsIn(staff, { 'data.orderId': 7 })).rejects.toEqual(code('INVALID_NARROW'));
  });

  it('rejects wrong declarations and selections', async () => {
    const { parley } = server;
    const keys = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`key${n}`, 'number'] as const));
    for (const wrong of [{ 'a-b': 'number' }, { ['k'.repeat(51)]: 'number' }, keys] as const) {
      await expect(parley.realms.declareData(shop, { message: { keys: wrong } })).rejects.toEqual(
        code('INVALID_DATA_KEY'),
      );
    }
    await expect(idsIn(staff, Object.fromEntries(Object.keys(keys).map((key) => [`data.${key}`, 1])))).rejects.toThrow(
      'where must be an object of at most 20 properties, not an object.',
    );
    await expect(idsIn(staff, { ['k'.repeat(56)]: 1 })).rejects.toThrow(
      'Names in where must have at most 55 characters.',
    );
    await expect(parley.realms.declareData(shop, { order: {} } as never)).rejects.toEqual(code('INVALID_ARGUMENT'));
    await expect(parley.realms.declareData('none', {})).rejects.toEqual(code('UNKNOWN_REALM'));
    await expect(idsIn(staff, { orderId: 7 } as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'where must have names such as data.orderId, not orderId.',
    });
    await expect(parley.as(staff).channels.list({ where: { 'data.no': 1 } })).rejects.toEqual(
      code('INVALID_DATA_FILTER'),
    );
  });
});

describe('schemas', () => {
  const shop = 'checked';
  const staff = { realm: shop, externalId: 'sam' };
  const mismatch = (message: string) => ({ code: 'DATA_SCHEMA_MISMATCH', message });
  const schema = { properties: { orderId: { type: 'integer' } }, required: ['orderId'] };

  beforeAll(async () => {
    const { parley } = server;
    await parley.realms.ensure({ name: shop });
    await parley.users.upsert({ ...staff, name: 'Sam', role: 'owner' });
    await parley.as(staff).channels.create({ name: 'orders' });
    const declared = { schema };
    await parley.realms.declareData(shop, { message: declared, channel: declared, user: declared, realm: declared });
  });

  it('refuse data of messages, also of the API and of hooks, and change nothing', async () => {
    const { parley } = server;
    const { messages } = parley.as(staff);
    const write = (data: object) => messages.send({ channel: 'orders', content: 'Hello', data: data as never });
    const { id } = await write({ orderId: 7 });
    await messages.send({ channel: 'orders', content: 'Without data' });
    const before = await messages.list().toArray();
    await expect(write({ orderId: '7' })).rejects.toMatchObject(mismatch('data/orderId must be integer.'));
    await expect(messages.setData(id, { other: 1 })).rejects.toMatchObject(
      mismatch("data must have required property 'orderId'."),
    );
    const remove = parley.before('message.send', () => ({ data: { orderId: null } }));
    await expect(write({ orderId: 8 })).rejects.toMatchObject(mismatch('data/orderId must be integer.'));
    remove();
    expect(await messages.list().toArray()).toEqual(before);
    expect(await messages.setData(id, {})).toMatchObject({ data: {} });
  });

  it('refuse data of channels, users and organizations before anything is created', async () => {
    const { parley } = server;
    const data = { orderId: 1.5 };
    const problem = mismatch('data/orderId must be integer.');
    const { channels } = parley.as(staff);
    await expect(channels.create({ name: 'new', data })).rejects.toMatchObject(problem);
    await expect(channels.ensure({ name: 'new', data })).rejects.toMatchObject(problem);
    expect(await channels.find('new')).toBeNull();
    const person = { realm: shop, externalId: 'new' };
    await expect(parley.users.upsert({ ...person, name: 'New', data })).rejects.toMatchObject(problem);
    expect(await parley.users.find(person)).toBeNull();
    await expect(parley.realms.configure({ name: shop, title: 'Other', data })).rejects.toMatchObject(problem);
    expect(await parley.realms.find(shop)).toMatchObject({ title: shop, data: {} });
  });

  it.each(['{"$async":true,"required":["a"]}', '{"$ref":"#"}', '{'])(
    'do not refuse data if an earlier version stored a schema that is not supported: %s',
    async (stored) => {
      const { parley, storage } = server;
      const realmId = (await parley.realms.find(shop))!.id as RealmId;
      await storage.uow.write(realmId, async ({ dataSchemas }) => {
        const former = (await dataSchemas.findByKey(realmId, 'message'))!;
        await dataSchemas.update({ ...former, schema: stored });
      });
      const { messages } = parley.as(staff);
      const { id } = await messages.send({ channel: 'orders', content: 'Hello', data: { b: 1 } });
      expect(await messages.setData(id, { b: 2 })).toMatchObject({ data: { b: 2 } });
    },
  );

  it('are replaced by the next declaration and must be valid', async () => {
    const { parley } = server;
    const declare = (given: object) => parley.realms.declareData(shop, { message: { schema: given } });
    await expect(declare({ type: 'order' })).rejects.toEqual(code('INVALID_DATA_SCHEMA'));
    await expect(declare({ description: 'x'.repeat(16_384) })).rejects.toMatchObject({
      code: 'INVALID_DATA_SCHEMA',
      message: 'The schema for data of each message must be at most 16384 bytes of JSON.',
    });
    await expect(declare({ $async: true })).rejects.toMatchObject({
      code: 'INVALID_DATA_SCHEMA',
      message: 'The schema for data of each message is invalid: the keyword $async is not supported here.',
    });
    await expect(declare({ properties: { a: { pattern: '(' } } })).rejects.toEqual(code('INVALID_DATA_SCHEMA'));
    await expect(declare('x' as never)).rejects.toEqual(code('INVALID_ARGUMENT'));
    const { messages } = parley.as(staff);
    const write = (data: object) => messages.send({ channel: 'orders', content: 'Hello', data: data as never });
    await declare(schema);
    await expect(write({ state: 'open' })).rejects.toEqual(code('DATA_SCHEMA_MISMATCH'));
    await declare({ required: ['state'] });
    await write({ state: 'open' });
    await parley.realms.declareData(shop, {});
    await write({ other: true });
  });
});

describe('messages with their data', () => {
  const capable = { client_capabilities: { notification_settings_null: true, application_data: true } };

  it('are events for clients with the capability, and pages for clients that ask', async () => {
    const { hamlet } = server.people;
    const { messages } = server.parley.as({ realm: 'zulip', userId: hamlet.id });
    await server.createChannel('inline', [hamlet]);
    const [knowing, other] = [await openQueue(server, hamlet, capable), await openQueue(server, hamlet)];
    const { id } = await messages.send({ channel: 'inline', content: 'Paid', data: { orderId: 7 } });
    const received = async (queue: typeof knowing) => JSON.stringify(await eventsAfter(server, queue));
    expect(await received(knowing)).toContain('"application_data":{"data":{"orderId":7},"version":1}');
    expect(await received(other)).not.toContain('application_data');

    const page = async (more: object) => {
      const params = { narrow: [['channel', 'inline']], anchor: id, num_before: 0, num_after: 0, ...more };
      return (fieldsOf(await server.get('/messages', hamlet, params)) as never as { messages: object[] }).messages[0]!;
    };
    const asking = { include_application_data: true };
    expect(await page({})).not.toHaveProperty('application_data');
    expect(await page(asking)).toMatchObject({ application_data: { data: { orderId: 7 }, version: 1 } });
    expect(await page({})).not.toHaveProperty('application_data');
    await messages.setData(id, { orderId: 8 });
    expect(await page(asking)).toMatchObject({ application_data: { data: { orderId: 8 }, version: 2 } });
  });
});

describe('the life cycle of data', () => {
  const dataIn = (of: TestServer, realmId: RealmId, kind: DataOwnerKind, ids: readonly number[]) =>
    of.storage.uow.read(realmId, async ({ hostData }) => [
      ...(await hostData.list(realmId, kind, ids as never)).values(),
    ]);

  it('survives an export and its import into another server', async () => {
    const { parley } = server;
    const shop = (await parley.realms.find(realm))!;
    const { id } = await send(sam, { orderId: 7, text: 'é"\0' });
    await parley.as(sam).channels.setData('Order 7', { orderId: 7 });
    const user = await parley.users.upsert({ ...cara, name: 'Cara', data: { plan: 'archived' } });
    await parley.realms.setData(realm, { tenant: 7 });
    await parley.realms.declareData(realm, {
      message: { keys: { orderId: 'number' } },
      user: { schema: { required: ['plan'] } },
    });
    const owned = [
      ['message', id],
      ['channel', (await parley.as(sam).channels.find('Order 7'))!.id],
      ['user', user.id],
      ['realm', shop.id],
    ] as const;
    const stored = (of: TestServer, realmId: RealmId, idOf: (id: number, kind: DataOwnerKind) => number) =>
      Promise.all(owned.map(([kind, each]) => dataIn(of, realmId, kind, [idOf(each, kind)])));
    const before = await stored(server, shop.id as RealmId, (each) => each);
    expect(before.map(([data]) => data?.data)).toEqual([
      { orderId: 7, text: 'é"\0' },
      { orderId: 7 },
      { plan: 'archived' },
      { tenant: 7 },
    ]);

    const folder = mkdtempSync(join(tmpdir(), 'parley-host-data-'));
    const other = await TestServer.start();
    try {
      const options = { names: COLUMN_NAMES, temporaryFolder: folder };
      const path = join(folder, 'export.tar.gz');
      const source = await parley.useCase(RealmReader).open(shop.id as RealmId, { covers: 'all' });
      await writeFile(path, writeExport(source, options));
      const { source: copy, close } = await openExport(path, options);
      const made = await other.parley.useCase(ImportRealm).execute({ source: copy, stringId: 'moved' });
      await close();
      const messages = await other.storage.uow.read(made.realm.id, ({ copies }) =>
        copies.listMessageIds(made.realm.id, 0, 1000),
      );
      const all = await Promise.all([
        dataIn(other, made.realm.id, 'message', messages.ids),
        ...(['channel', 'user'] as const).map((kind) =>
          dataIn(
            other,
            made.realm.id,
            kind,
            Array.from({ length: 1000 }, (_, each) => each),
          ),
        ),
        dataIn(other, made.realm.id, 'realm', [made.realm.id]),
      ]);
      for (const [index, [data]] of before.entries()) expect(all[index]).toContainEqual(data);
      const [key] = await other.storage.uow.read(made.realm.id, ({ dataKeys }) => dataKeys.list(made.realm.id));
      expect(key).toMatchObject({ kind: 'message', name: 'orderId', type: 'number', isIndexed: true });
      const indexed = await other.storage.uow.read(made.realm.id, ({ dataKeys }) =>
        dataKeys.listObjects(made.realm.id, { key: key!, value: '7' }, 0, 1000),
      );
      expect(messages.ids).toEqual(expect.arrayContaining([...indexed]));
      expect(indexed.length).toBeGreaterThan(0);
      const schemas = await other.storage.uow.read(made.realm.id, ({ dataSchemas }) => dataSchemas.list(made.realm.id));
      expect(schemas).toMatchObject([{ kind: 'user', schema: '{"required":["plan"]}' }]);
      await parley.realms.declareData(realm, { message: { keys: { orderId: 'number' } } });
      // Deleting the organization removes all of it.
      await other.storage.uow.write(made.realm.id, async ({ realms }) => {
        await realms.update({ ...(await realms.get(made.realm.id)), isDeactivated: true });
      });
      await other.parley.useCase(DeleteRealmData).deleteNow(made.realm.id);
      expect(await dataIn(other, made.realm.id, 'realm', [made.realm.id])).toEqual([]);
      expect(await dataIn(other, made.realm.id, 'message', messages.ids)).toEqual([]);
    } finally {
      await other.close();
      rmSync(folder, { recursive: true });
    }
  }, 60_000);

  it('is part of the copy for a person and ends with their erasure', async () => {
    const { parley } = server;
    const eve = { realm, externalId: 'eve' };
    const { id: userId } = await parley.users.upsert({ ...eve, name: 'Eve', data: { card: 'qzverased' } });
    await parley.as(sam).channels.subscribe('Order 7', { users: 'eve' });
    await send(eve, { basket: ['qzvkept'] });
    const account = await parley
      .useCase(PersonReader)
      .open({ realmId: await realmIdOf(realm), userId: userId as UserId });
    expect(account.account.personal.hostData).toEqual({ data: { card: 'qzverased' }, version: 1 });
    const messages = [];
    for await (const page of account.channelMessages()) messages.push(...page);
    expect(messages.map(({ data }) => data)).toEqual([{ basket: ['qzvkept'] }]);

    await parley.users.erase(eve);
    await runJobs(server, parley.useCase(ErasePerson));
    await server.storage.eraseDeleted();
    const stored = await server.storage.stored();
    expect(stored).not.toContain('qzverased');
    expect(stored).toContain('qzvkept');
  });

  it('continues with a restored message', async () => {
    const realmId = await realmIdOf(realm);
    const { id } = await send(sam, { orderId: 9 });
    await server.parley.as(sam).messages.delete(id);
    const selection = { messageId: id as MessageId, channelId: null, topicKey: null, since: null };
    await server.parley.useCase(RestoreMessages).execute({ realmId, selection, isDryRun: false });
    const orders = server.parley.as(sam).messages.list({ where: { 'data.orderId': 9 } });
    expect((await orders.toArray()).map((message) => message.id)).toEqual([id]);
    expect(await server.parley.as(sam).messages.get(id)).toMatchObject({ data: { orderId: 9 }, dataVersion: 1 });
  });
});

describe('/application_data', () => {
  const patch = (as: TestUser, params: object) => server.patch('/application_data', as, params as never);
  const get = async (as: TestUser, object_type: string, object_ids: readonly number[]) =>
    fieldsOf(await server.get('/application_data', as, { object_type, object_ids })).objects;
  /** Creates a private channel of Hamlet and Iago, and another one of Cordelia with a message. */
  const world = async () => {
    const { hamlet, iago, cordelia } = server.people;
    const { parley } = server;
    const channels = parley.as({ realm: 'zulip', userId: server.people.desdemona.id }).channels;
    const name = `private ${Math.random()}`;
    const subscribers = [hamlet.id, iago.id];
    const channel = await channels.create({ name, isPrivate: true, subscribers, data: { of: 'channel' } });
    const { id } = await parley
      .as({ realm: 'zulip', userId: hamlet.id })
      .messages.send({ channel: channel.id, content: 'Hello', data: { of: 'message' } });
    return { hamlet, iago, cordelia, channelId: channel.id, messageId: id };
  };

  it('returns the data of objects that the caller can see', async () => {
    const { hamlet, iago, cordelia, channelId, messageId } = await world();
    const { parley, realmId } = server;
    await parley.users.setData({ realm: 'zulip', userId: iago.id }, { of: 'user' });
    await parley.realms.setData('zulip', { of: 'realm' });
    const shop = (await parley.realms.find(realm))!.id;
    const of = (object_id: number, word: string) => [{ object_id, data: { of: word }, version: 1 }];
    expect(await get(hamlet, 'message', [messageId, messageId + 1000, messageId])).toEqual(of(messageId, 'message'));
    expect(await get(hamlet, 'channel', [channelId])).toEqual(of(channelId, 'channel'));
    expect(await get(hamlet, 'user', [iago.id, hamlet.id])).toEqual(of(iago.id, 'user'));
    expect(await get(hamlet, 'realm', [realmId, shop])).toEqual(of(realmId, 'realm'));
    expect(await get(cordelia, 'message', [messageId])).toEqual([]);
    expect(await get(cordelia, 'channel', [channelId])).toEqual([]);
  });

  it('hides users from guests who cannot see them', async () => {
    const shop = await server.parley.users.upsert({
      realm,
      externalId: 'eva',
      name: 'Eva',
      role: 'guest',
      data: { a: 1 },
    });
    const found = async (externalId: string) => {
      const caller = await server.parley.as({ realm, externalId }).caller();
      return server.parley.useCase(ListVisibleData).execute(caller, { kind: 'user', ids: [shop.id] });
    };
    expect((await found('sam')).size).toBe(1);
    expect((await found('cara')).size).toBe(0);
  });

  it('changes the data of own messages with the expected version', async () => {
    const { hamlet, iago, cordelia, messageId } = await world();
    const change = { object_type: 'message', object_id: messageId, data: { of: 'bot' } };
    expect(fieldsOf(await patch(hamlet, { ...change, expected_version: 1 }))).toEqual({
      data: { of: 'bot' },
      version: 2,
    });
    expect((await patch(hamlet, { ...change, expected_version: 1 })).body).toEqual({
      result: 'error',
      code: 'DATA_VERSION_CONFLICT',
      msg: 'The data has version 2, not 1.',
      version: 2,
    });
    expect(fieldsOf(await patch(iago, { ...change, data: {} })).version).toBe(3);
    for (const [who, msg] of [
      [cordelia, 'Invalid message(s)'],
      [hamlet, 'data must be at most 4096 bytes of JSON.'],
    ] as const) {
      const data = { text: 'x'.repeat(5000) };
      expect((await patch(who, who === hamlet ? { ...change, data } : change)).body).toMatchObject({ msg });
    }
    expect((await patch(hamlet, { ...change, object_type: 'user' })).body).toMatchObject({ result: 'error' });
  });

  it('announces changes to clients with the capability that can see the object', async () => {
    const { hamlet, iago, cordelia, messageId, channelId } = await world();
    const as = server.parley.as({ realm: 'zulip', userId: server.people.desdemona.id });
    const capable = { client_capabilities: { notification_settings_null: true, application_data: true } };
    const [knowing, other, stranger] = [
      await openQueue(server, iago, capable),
      await openQueue(server, iago),
      await openQueue(server, cordelia, capable),
    ];
    fieldsOf(await patch(hamlet, { object_type: 'message', object_id: messageId, data: { a: 1 } }));
    await as.channels.setData(channelId, { a: 2 });
    await server.parley.users.setData({ realm: 'zulip', userId: hamlet.id }, { n: Math.random() });
    const own = { type: 'application_data', version: expect.any(Number) };
    const ofUser = { ...own, object_type: 'user', object_id: hamlet.id };
    expect(await eventsAfter(server, knowing)).toEqual([
      { ...own, object_type: 'message', object_id: messageId },
      { ...own, object_type: 'channel', object_id: channelId },
      ofUser,
    ]);
    expect(await eventsAfter(server, other)).toEqual([]);
    expect(await eventsAfter(server, stranger)).toEqual([ofUser]);
  });
});
