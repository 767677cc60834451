import { aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import type { UserId } from '../kernel/ids.js';
import {
  CONFIRMATION_EMAIL,
  CONFIRMATION_SECONDS,
  type Confirmation,
  endConfirmationOf,
  FORGET_CONFIRMATION,
  type LinkKeys,
  loadConfirmation,
  MAX_SIGN_UPS,
  pretendConfirmation,
  requestConfirmation,
  requireRoomForSignUp,
} from './confirmations.js';

const keys: LinkKeys = { derive: ({ id }) => `key ${id}`, find: (key, load) => load(Number(key.slice('key '.length))) };
const NOW = 1_000_000;

type Wanted = Parameters<typeof requestConfirmation>[1];

async function staged() {
  const fixture = await createFixture(aUser({ name: 'ann' }), aUser({ name: 'bob' }));
  const { uow, realm } = fixture;
  const userId = fixture.user('ann').id;
  const change = (email: string, more: Partial<Wanted> = {}): Wanted => ({
    realmId: realm.id,
    purpose: 'emailChange',
    email,
    userId,
    invitationId: null,
    ...more,
  });
  const request = (wanted: Wanted, now = NOW) =>
    uow.write(wanted.realmId, (tx) => requestConfirmation(tx, wanted, now));
  const load = (id: number, now = NOW, purpose: Confirmation['purpose'] = 'emailChange') =>
    uow.read(realm.id, (r) =>
      loadConfirmation(r, keys, { realmId: realm.id, purpose, key: keys.derive({ id, seed: null }) }, now),
    );
  return { fixture, change, request, load };
}
const jobsOf = ({ uow }: MemoryFixture, { name, format }: { readonly name: string; readonly format: number }) =>
  uow.readAcross((r) => r.jobs.listDue({ kind: name, maxFormat: format }, Number.MAX_SAFE_INTEGER, 100));

describe('requestConfirmation', () => {
  it('reuses the link for an identical request and extends its validity', async () => {
    const { fixture, change, request, load } = await staged();
    await request(change('a@example.com'));
    await request(change('a@example.com'), NOW + 100);
    expect(await load(1)).toMatchObject({ email: 'a@example.com', expiresAt: NOW + 100 + CONFIRMATION_SECONDS });
    expect(await jobsOf(fixture, CONFIRMATION_EMAIL)).toHaveLength(1);
    const [forget, ...others] = await jobsOf(fixture, FORGET_CONFIRMATION);
    expect(others).toEqual([]);
    expect(forget!.dueAt).toBe(NOW + 100 + 2 * CONFIRMATION_SECONDS);
  });

  it('invalidates the link of a different request and of an expired one', async () => {
    const { change, request, load } = await staged();
    await request(change('a@example.com'));
    await request(change('b@example.com'));
    await expect(load(1)).rejects.toMatchObject({ code: 'CONFIRMATION_EXPIRED' });
    const later = NOW + CONFIRMATION_SECONDS;
    await expect(load(2, later)).rejects.toMatchObject({ code: 'CONFIRMATION_EXPIRED' });
    await request(change('b@example.com'), later);
    await expect(load(2, later)).rejects.toMatchObject({ code: 'CONFIRMATION_EXPIRED' });
    expect(await load(3, later)).toMatchObject({ email: 'b@example.com' });
  });

  it('keeps confirmations of other users and other purposes', async () => {
    const { fixture, change, request, load } = await staged();
    await request(change('a@example.com'));
    await request(change('a@example.com', { userId: fixture.user('bob').id }));
    await request(change('a@example.com', { purpose: 'passwordReset' }));
    expect([await load(1), await load(2)]).toHaveLength(2);
    await expect(load(3)).rejects.toMatchObject({ code: 'UNKNOWN_CONFIRMATION' });
    expect(await load(3, NOW, 'passwordReset')).toBeDefined();
  });

  it('schedules an email without a recipient if the address is unknown', async () => {
    const { fixture } = await staged();
    await fixture.uow.write(fixture.realm.id, (tx) => pretendConfirmation(tx, fixture.realm.id, NOW));
    const [job] = await jobsOf(fixture, CONFIRMATION_EMAIL);
    expect(JSON.parse(job!.payload)).toEqual({ confirmationId: null });
  });
});

it("endConfirmationOf ends a user's pending confirmation, if any", async () => {
  const { fixture, change, request, load } = await staged();
  const end = (id: UserId) =>
    fixture.uow.write(fixture.realm.id, (tx) =>
      endConfirmationOf(tx, { realmId: fixture.realm.id, id }, 'emailChange', NOW),
    );
  await request(change('a@example.com'));
  await end(fixture.user('bob').id);
  expect(await load(1)).toBeDefined();
  await end(fixture.user('ann').id);
  await expect(load(1)).rejects.toMatchObject({ code: 'CONFIRMATION_EXPIRED' });
});

it('requestConfirmation rejects sign-ups beyond the maximum', () => {
  expect(() => requireRoomForSignUp(MAX_SIGN_UPS - 1)).not.toThrow();
  expect(() => requireRoomForSignUp(MAX_SIGN_UPS)).toThrow('Too many people are signing up');
});
