import { expectRefusal, fieldsOf, type Wire } from '../testing/expectations.js';
import { serverPerSuite } from '../testing/servers.js';
import type { TestUser } from '../testing/test-server.js';

let helper: TestUser;
const { server } = serverPerSuite();
beforeEach(async () => {
  helper = await server.addBot(server.people.hamlet, `helper${++bots}`);
});
let bots = 0;

const put = (storage: object, as = helper) => server.request('PUT', '/bot_storage', { as, params: { storage } });
const get = async (keys?: readonly string[], as = helper) =>
  fieldsOf(await server.get('/bot_storage', as, keys && { keys })).storage as Wire;
const remove = (keys?: readonly string[], as = helper) => server.delete('/bot_storage', as, keys && { keys });

describe('bot storage (users §14)', () => {
  it('adds to existing entries and reads all of them or those with given keys', async () => {
    expect(await get()).toEqual({});
    expect(fieldsOf(await put({ foo: 'bar', k: '{"json":[1]}' }))).toEqual({});
    expect(fieldsOf(await put({ foo: 'changed', é: 'ünï 😀' }))).toEqual({});
    expect(fieldsOf(await put({}))).toEqual({});
    expect(await get()).toEqual({ foo: 'changed', k: '{"json":[1]}', é: 'ünï 😀' });
    expect(await get(['é', 'k', 'é'])).toEqual({ é: 'ünï 😀', k: '{"json":[1]}' });
    expect(await get([])).toEqual({});
  });

  it('keeps the entries of each bot separate, even with the same owner', async () => {
    const other = await server.addBot(server.people.hamlet, 'other', 'outgoingWebhook');
    await put({ foo: 'bar' });
    expect(await get(undefined, other)).toEqual({});
    expectRefusal(await server.get('/bot_storage', other, { keys: ['foo'] }), 'Key does not exist.');
    await remove(undefined, other);
    expect(await get()).toEqual({ foo: 'bar' });
  });

  it('returns any number of entries ordered by key', async () => {
    const keys = Array.from({ length: 500 }, (_, n) => `key ${String(n).padStart(3, '0')}`);
    await put(Object.fromEntries(keys.map((key) => [key, key])));
    expect(Object.keys(await get())).toEqual(keys);
    fieldsOf(await remove());
    expect(await get()).toEqual({});
  });

  it('removes all entries, or either all or none of the given keys', async () => {
    await put({ a: '1', b: '2', c: '3' });
    for (const keys of [['a', 'none'], ['a', 'a'], ['none']]) {
      expectRefusal(await remove(keys), 'Key does not exist.');
    }
    expect(Object.keys(await get())).toEqual(['a', 'b', 'c']);
    expect(fieldsOf(await remove(['c', 'a']))).toEqual({});
    expect(await get()).toEqual({ b: '2' });
    expect(fieldsOf(await remove())).toEqual({});
    expect(fieldsOf(await remove())).toEqual({});
    expect(fieldsOf(await remove([]))).toEqual({});
    expect(await get()).toEqual({});
  });

  it('limits the storage to ten million characters', async () => {
    const value = 'x'.repeat(899_998);
    for (let n = 10; n < 21; n++) fieldsOf(await put({ [n]: value }));
    fieldsOf(await put({ 21: `${'x'.repeat(99_997)}😀` }));
    const excess = 'Request exceeds storage limit by 1 characters. The limit is 10000000 characters.';
    expectRefusal(await put({ x: '' }), excess);
    expectRefusal(await put({ 10: `${value}x` }), excess);
    expectRefusal(await put({ 20: '', x: value }), excess);
    expect(await get(['10', '20'])).toEqual({ 10: value, 20: value });
    fieldsOf(await put({ 20: '', x: value.slice(1) }));
    expect(Object.keys(await get())).toHaveLength(13);
  });

  it.each(['form', 'JSON'])('stores one value of the maximum size in one %s request', async (kind) => {
    const value = `${'é"\n'.repeat(1_000_000)}${'x'.repeat(6_999_998)}😀`;
    const isForm = kind === 'form';
    const body = isForm ? `storage=${encodeURIComponent(JSON.stringify({ k: value }))}` : undefined;
    const reply = await server.request('PUT', '/bot_storage', {
      as: helper,
      body: body ?? JSON.stringify({ storage: { k: value } }),
      headers: { 'Content-Type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' },
    });
    expect(fieldsOf(reply)).toEqual({});
    expect((await get(['k'])).k === value).toBe(true);
    const excess = 'Request exceeds storage limit by 1 characters. The limit is 10000000 characters.';
    expectRefusal(await put({ k: `${value}x` }), excess);
  });

  it('accepts bodies of 25 MiB, but only for bot storage', async () => {
    const body = 'x'.repeat(25 * 1024 * 1024 - 1);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const sent = (more: string, method = 'PUT', path = '/bot_storage') =>
      server.request(method, path, { as: helper, body: body + more, headers });
    expectRefusal(await sent('='), "Missing 'storage' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'storage',
    });
    const tooLarge = { status: 413, code: 'BAD_REQUEST' };
    expectRefusal(await sent('=='), 'Request body is too large', tooLarge);
    expectRefusal(await sent('=', 'POST', '/messages'), 'Request body is too large', tooLarge);
  });

  it('rejects more values than a body may contain before parsing them', async () => {
    const storage = `[${'0,'.repeat(5_000_000)}0]`;
    const reply = await server.request('PUT', '/bot_storage', { as: helper, params: { storage } });
    expectRefusal(reply, 'storage is not valid JSON');
  });

  it('replaces lone surrogates and uses the last of equal keys', async () => {
    fieldsOf(await put('{"a\\ud800":"1","a\\udc00":"\\ud83d\\ude00\\ud800"}' as never));
    expect(await get()).toEqual({ 'a\ufffd': '😀\ufffd' });
  });

  it('hides entries from another organization', async () => {
    await put({ foo: 'bar' });
    await server.addRealm('elsewhere');
    const reply = await server.request('GET', '/bot_storage', { as: helper, realm: 'elsewhere' });
    expectRefusal(reply, 'Account is not associated with this subdomain', { status: 401, code: 'UNAUTHORIZED' });
  });

  it.each(['GET', 'PUT', 'DELETE'])('rejects %s by a human before validating parameters', async (method) => {
    for (const as of [server.people.hamlet, server.people.desdemona, server.people.polonius]) {
      const reply = await server.request(method, '/bot_storage', { as, params: { keys: 'x' } });
      expectRefusal(reply, 'Must be a bot user', { code: 'PERMISSION_DENIED' });
    }
  });

  it('rejects unreadable parameters', async () => {
    expectRefusal(await server.request('PUT', '/bot_storage', { as: helper }), "Missing 'storage' argument", {
      code: 'REQUEST_VARIABLE_MISSING',
      var_name: 'storage',
    });
    expectRefusal(await put({ foo: 5 }), 'storage["foo"] is not a string');
    expectRefusal(await put({ foo: { bar: 'x' } }), 'storage["foo"] is not a string');
    expectRefusal(await put([]), 'storage is not a dict');
    const keysOf = (keys: unknown) => server.get('/bot_storage', helper, { keys });
    expectRefusal(await keysOf('x'), 'keys is not valid JSON');
    expectRefusal(await keysOf([1]), 'keys[0] is not a string');
    expectRefusal(await server.delete('/bot_storage', helper, { keys: { a: 1 } }), 'keys is not a list');
    expect(await get()).toEqual({});
  });
});
