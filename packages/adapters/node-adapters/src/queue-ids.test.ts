import type { EventSeq, RealmId } from '@parley/domain/kernel';
import { SystemRandomness } from './system.js';
import { HmacQueueIds } from './tokens.js';

const SHOP = 3 as RealmId;
const START = (2 ** 36 - 1) as EventSeq;

const idsOf = (database: string, secret = 'a secret') => new HmacQueueIds(secret, database, new SystemRandomness());

it('returns the event of an id for the same organization and database only', () => {
  const ids = idsOf('main');
  const id = ids.make(SHOP, START);
  expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(ids.make(SHOP, START)).not.toBe(id);
  expect(ids.startOf(SHOP, id)).toBe(START);
  for (const others of [idsOf('a copy'), idsOf('main', 'another secret')]) expect(others.startOf(SHOP, id)).toBe(-1);
  expect(ids.startOf(4 as RealmId, id)).toBe(-1);
});

it('rejects an id with one altered digit, and other texts', () => {
  const ids = idsOf('main');
  const id = ids.make(SHOP, 7 as EventSeq);
  for (const [at, digit] of [...id].entries()) {
    if (digit === '-') continue;
    expect(ids.startOf(SHOP, `${id.slice(0, at)}${digit === '0' ? '1' : '0'}${id.slice(at + 1)}`)).toBe(-1);
  }
  for (const text of ['', '0', id.slice(1), new SystemRandomness().uuid()]) expect(ids.startOf(SHOP, text)).toBe(-1);
});
