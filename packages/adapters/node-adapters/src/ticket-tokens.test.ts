import type { RealmId, Seed } from '@parley/domain/kernel';
import { HmacTicketTokens } from './tokens.js';

const tokens = new HmacTicketTokens('a secret of tests', 'visitors');
const TICKET = { realmId: 2 as RealmId, id: 31, expiresAt: 1_700_000_000 };

/** Token of `sign` in release 0.3. */
const FORMER = '2-31-1700000000-kFbuaqXI9AqQIiTQHOamAz7LzqSKDnXRYfeCpM7N3C8';

it.each(['a seed', null])('HmacTicketTokens finds the row of its tokens by the seed %s', async (seed) => {
  const load = jest.fn(async () => ({ name: 'row', seed }));
  const token = tokens.sign(TICKET, seed);
  expect(token).toMatch(/^2-31-1700000000-[\w-]{43}$/);
  expect(await tokens.find(token, load)).toEqual({ name: 'row', seed });
  expect(load).toHaveBeenCalledWith(TICKET);
});

it('HmacTicketTokens accepts tokens of release 0.3 for rows without a seed', async () => {
  expect(tokens.sign(TICKET, null)).toBe(FORMER);
});

const signed = (seed: Seed = 'seed') => tokens.sign(TICKET, seed);

it.each([
  ['nothing', () => ''],
  ['another row', () => signed().replace('-31-', '-32-')],
  ['a later end', () => signed().replace('-1700', '-1800')],
  ['another secret', () => new HmacTicketTokens('another secret', 'visitors').sign(TICKET, 'seed')],
  ['another purpose', () => new HmacTicketTokens('a secret of tests', 'files').sign(TICKET, 'seed')],
  ['another seed', () => signed('former seed')],
  ['the id alone', () => signed(null)],
  ['no signature', () => '2-31-1700000000-'],
  ['text after the end', () => `${signed()}x`],
])('HmacTicketTokens rejects %s', async (_, made) => {
  expect(await tokens.find(made(), async () => ({ seed: 'seed' }))).toBeNull();
});

it('HmacTicketTokens rejects tokens of rows that no longer exist', async () => {
  expect(await tokens.find(signed(null), async () => null)).toBeNull();
});
