import {
  aUser,
  createFixture,
  expectRefused,
  FakeLoginAttempts,
  FakePasswordHasher,
  type MemoryFixture,
  noDirectoryPasswords,
} from '@parley/testkit';
import type { UserId } from '../kernel/ids.js';
import { PasswordCheck } from '../users/authentication.js';
import { GetErasure, RequestErasure, type RequestErasureInput } from './owner-erasures.use-cases.js';

let fixture: MemoryFixture;
let hasher: FakePasswordHasher;
const add = jest.fn(async () => {});

beforeEach(async () => {
  add.mockClear();
  hasher = new FakePasswordHasher();
  fixture = await createFixture(
    aUser({ name: 'owner', role: 'owner', passwordHash: 'hash of pw' }),
    aUser({ name: 'admin', role: 'administrator', passwordHash: 'hash of pw' }),
    aUser({ name: 'ann' }),
    aUser({ name: 'bot', botOf: 'owner' }),
  );
});

const request = (by: string, of: string, change: Partial<RequestErasureInput> = {}) => {
  const { uow, clock, user, caller } = fixture;
  const check = new PasswordCheck(uow, hasher, new FakeLoginAttempts(), noDirectoryPasswords, clock);
  const proof = { personId: user(of).id, name: of, everythingWritten: true, password: 'pw', ip: '192.0.2.7' };
  return new RequestErasure(check, { add }).execute(caller(by), { ...proof, ...change });
};
const find = (by: string, personId: UserId) => new GetErasure(fixture.uow).execute(fixture.caller(by), { personId });

describe('RequestErasure', () => {
  it('erases the person, and adds the erasure to the ledger', async () => {
    const { id: personId } = fixture.user('ann');
    expect(await find('owner', personId)).toBeNull();
    const erasure = await request('owner', 'ann', { name: ' ann ' });
    expect(erasure).toMatchObject({ personId, requestedAt: fixture.clock.now(), everythingWritten: true });
    expect(await find('owner', personId)).toEqual(erasure);
    const { id: realmId, uuid: realmUuid } = fixture.realm;
    const { requestedAt } = erasure;
    expect(add.mock.calls).toEqual([[[{ realmId, realmUuid, personId, requestedAt, everythingWritten: true }]]]);
  });

  it.each<[string, string, Partial<RequestErasureInput>, string]>([
    ['admin', 'ann', {}, 'MUST_BE_OWNER'],
    ['owner', 'ann', { personId: 999 as UserId }, 'UNKNOWN_USER'],
    ['owner', 'bot', {}, 'MUST_NOT_BE_BOT'],
    ['owner', 'owner', {}, 'LAST_OWNER'],
    ['owner', 'ann', { name: 'anna' }, 'OTHER_NAME'],
  ])('refuses the request by %s for %s with %j as %s before it examines the password', async (by, of, change, code) => {
    await expectRefused(fixture, () => request(by, of, { password: 'wrong', ...change }), { code });
    expect(hasher.verified).toEqual([]);
    expect(add).not.toHaveBeenCalled();
  });

  it('requires the password of the owner', async () => {
    await expectRefused(fixture, () => request('owner', 'ann', { password: 'wrong' }), { code: 'WRONG_PASSWORD' });
  });
});

describe('GetErasure', () => {
  it('is for owners, and for users of the organization', async () => {
    const { id } = fixture.user('ann');
    await expectRefused(fixture, () => find('admin', id), { code: 'MUST_BE_OWNER' });
    await expectRefused(fixture, () => find('owner', 999 as UserId), { code: 'UNKNOWN_USER' });
  });
});
