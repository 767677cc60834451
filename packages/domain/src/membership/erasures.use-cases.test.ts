import {
  anotherRealm,
  aUser,
  createFixture,
  expectRefused,
  type FixtureStep,
  type MemoryFixture,
} from '@parley/testkit';
import type { ErasureRecord } from '../kernel/administration.js';
import type { UserId } from '../kernel/ids.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { DELETED_USER_NAME, erasedEmail, isErased } from './erased-person.js';
import { ERASE_PERSON_JOB } from './erasures.js';
import { CopyErasuresToLedger, EraseUser, findErasure, ReplayErasures } from './erasures.use-cases.js';
import { linkVisit } from './merged-accounts.js';
import { emailKey, PLACEHOLDER_DOMAIN } from './placeholders.js';

let fixture: MemoryFixture;
const add = jest.fn(async (_: readonly ErasureRecord[]) => {});
const OWNER = aUser({ name: 'owner', role: 'owner' });

async function world(...steps: readonly FixtureStep[]): Promise<void> {
  add.mockClear();
  fixture = await createFixture(...steps);
}

const read = <T>(work: (reads: Repositories) => Promise<T>) => fixture.uow.read(fixture.realm.id, work);
const write = <T>(work: (tx: Transaction) => Promise<T>) => fixture.uow.write(fixture.realm.id, work);
const userOf = (name: string) => read(({ users }) => users.get(fixture.realm.id, fixture.user(name).id));
const erase = (name: string, everythingWritten = false) =>
  new EraseUser(fixture.uow, { add }, fixture.clock).execute({
    ...{ realmId: fixture.realm.id, user: { userId: fixture.user(name).id }, everythingWritten },
  });
const dueJobs = async () => {
  const selection = { kind: ERASE_PERSON_JOB.name, maxFormat: 1 };
  const due = await read(({ jobs }) => jobs.listDue(selection, fixture.clock.now(), 10));
  return due.map(({ payload }) => JSON.parse(payload));
};
const entryOf = (name: string, change: Partial<ErasureRecord> = {}): ErasureRecord => ({
  ...{ realmId: fixture.realm.id, realmUuid: fixture.realm.uuid, personId: fixture.user(name).id },
  ...{ requestedAt: fixture.clock.now(), everythingWritten: false },
  ...change,
});

describe('EraseUser', () => {
  it('removes the phones of the person at once, and unregisters them at the push service', async () => {
    await world(OWNER, aUser({ name: 'ann' }));
    const { realm, clock } = fixture;
    const { id: userId } = fixture.user('ann');
    await write((tx) => tx.pushTokens.add(realm.id, userId, { kind: 'fcm', token: 'phone', iosAppId: null }));
    await erase('ann');
    expect(await read(({ pushTokens }) => pushTokens.list(realm.id, userId))).toEqual([]);
    const jobs = await read((reads) => reads.jobs.listDue({ kind: 'push.unregister', maxFormat: 1 }, clock.now(), 10));
    expect(jobs).toMatchObject([{ payload: JSON.stringify({ userId, kind: 'fcm', token: 'phone' }) }]);
  });

  it.each([true, false])('removes the identity of a person at once who is active: %s', async (isActive) => {
    await world(OWNER, aUser({ name: 'ann', isActive, passwordHash: 'hash', specialPermissions: ['canHoldMessages'] }));
    const { realm } = fixture;
    const { id } = fixture.user('ann');
    await write((tx) => tx.externalIds.assign(realm.id, id, 'ann-1'));
    const erasure = await erase('ann');
    expect(await userOf('ann')).toMatchObject({
      ...{ isActive: false, isDeleted: true, fullName: DELETED_USER_NAME, email: erasedEmail(id) },
      specialPermissions: [],
    });
    expect(await read(({ externalIds }) => externalIds.find(realm.id, 'ann-1'))).toBeNull();
    expect(await read(({ users }) => users.findPasswordHash(realm.id, id))).toBeNull();
    expect(await read(({ provisioning }) => provisioning.listRemovedUserIds(realm.id))).toEqual([id]);
    const announced = fixture.storage.announced.map(({ event }) => event);
    expect(announced).toContainEqual({ type: 'user.external_id_assigned', userId: id, externalId: null });
    const deactivations = fixture.storage.announced.filter(({ event }) => event.type === 'user.activation_changed');
    expect(deactivations).toHaveLength(isActive ? 1 : 0);
    const former = { id, fullName: 'ann', email: 'ann@example.com', externalId: 'ann-1' };
    expect(await dueJobs()).toEqual([
      { erasureId: erasure.id, former, everythingWritten: false, stage: 'rows', at: null },
    ]);
    expect(add.mock.calls).toEqual([[[entryOf('ann')]]]);
  });

  it('refuses a bot', async () => {
    await world(OWNER, aUser({ name: 'bot', botOf: 'owner' }));
    await expectRefused(fixture, () => erase('bot'), { code: 'MUST_NOT_BE_BOT' });
    expect(add).not.toHaveBeenCalled();
  });

  it.each<
    [
      string,
      { written: boolean; ended: boolean; request: boolean },
      { written: boolean; ended: boolean; jobs: string[] },
    ]
  >([
    [
      'changes nothing',
      { written: false, ended: true, request: false },
      { written: false, ended: true, jobs: ['rows'] },
    ],
    [
      'changes nothing of an erasure of everything written',
      { written: true, ended: true, request: true },
      { written: true, ended: true, jobs: ['rows'] },
    ],
    [
      'takes nothing back',
      { written: true, ended: true, request: false },
      { written: true, ended: true, jobs: ['rows'] },
    ],
    [
      'extends the job of an unfinished erasure',
      { written: false, ended: false, request: true },
      { written: true, ended: false, jobs: ['rows'] },
    ],
    [
      'begins again with the messages after the end',
      { written: false, ended: true, request: true },
      { written: true, ended: false, jobs: ['rows', 'messages'] },
    ],
  ])('repeated, %s', async (_, { written, ended, request }, expected) => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'bob' }));
    const first = await erase('ann', written);
    await erase('bob');
    if (ended) await write((tx) => tx.erasures.update({ ...first, endedAt: 5 }));
    fixture.clock.advance(60);
    const again = await erase('ann', request);
    expect(again).toMatchObject({ id: first.id, personId: fixture.user('ann').id });
    const [row] = await read(({ erasures }) => erasures.list(fixture.realm.id));
    expect(row).toEqual(again);
    expect({ written: again.everythingWritten, ended: again.endedAt !== null }).toMatchObject({
      ...{ written: expected.written, ended: expected.ended },
    });
    const jobs = (await dueJobs()).filter(({ former }) => former.id === fixture.user('ann').id);
    expect(jobs.map(({ stage }) => stage)).toEqual(expected.jobs);
  });

  it('erases a placeholder of the same person too, also by a later request', async () => {
    const old = aUser({ name: 'old', isActive: false, email: `old@${PLACEHOLDER_DOMAIN}` });
    await world(OWNER, aUser({ name: 'ann' }), old);
    const { realm, user } = fixture;
    await write((tx) =>
      tx.placeholderKeys.add({ realmId: realm.id, placeholderId: user('old').id, key: emailKey('ann@example.com') }),
    );
    await erase('ann');
    expect(isErased(await userOf('old'))).toBe(true);
    await erase('ann', true);
    const erasures = await read((reads) => reads.erasures.list(realm.id));
    expect(erasures.map(({ everythingWritten }) => everythingWritten)).toEqual([true, true]);
  });

  it('erases the visit of a customer, which stays linked once', async () => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'visit', role: 'guest' }));
    const { realm, user } = fixture;
    await write((tx) => linkVisit(tx, user('visit'), user('ann').id));
    const links = () => read(({ placeholderKeys }) => placeholderKeys.list(realm.id));
    const before = await links();
    await erase('ann');
    expect(isErased(await userOf('visit'))).toBe(true);
    expect(await links()).toEqual(before);
  });

  it('repeated, does not look for further accounts', async () => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'visit', role: 'guest' }));
    await erase('ann');
    await write((tx) => linkVisit(tx, fixture.user('visit'), fixture.user('ann').id));
    await erase('ann');
    expect(isErased(await userOf('visit'))).toBe(false);
  });
});

describe('findErasure', () => {
  it('returns no erasure of somebody who is not erased', async () => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'bob' }));
    const { id: _, ...erasure } = await erase('bob');
    await write((tx) => tx.erasures.add({ ...erasure, personId: fixture.user('ann').id }));
    const ann = await userOf('ann');
    expect(await read((reads) => findErasure(reads, ann))).toBeUndefined();
  });
});

describe('CopyErasuresToLedger', () => {
  it('adds the erasures of all organizations', async () => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'bob' }));
    await erase('ann');
    await erase('bob', true);
    await anotherRealm(fixture);
    add.mockClear();
    await new CopyErasuresToLedger(fixture.uow, { add }).execute();
    expect(add.mock.calls).toEqual([[[entryOf('ann'), entryOf('bob', { everythingWritten: true })]], [[]]]);
  });
});

describe('ReplayErasures', () => {
  const replay = (...entries: readonly ErasureRecord[]) =>
    new ReplayErasures(fixture.uow, { add }, fixture.clock).execute(entries);
  const DAY = 86_400;

  it('repeats erasures once, in the order of their requests, and adds them to the ledger', async () => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'bob' }));
    const now = fixture.clock.now();
    const [later, earlier] = [entryOf('ann', { requestedAt: now + DAY }), entryOf('bob')];
    expect(await replay(later, earlier)).toEqual({ repeated: [earlier, later], withoutOwner: [] });
    expect(add.mock.calls).toEqual([[[earlier, later]]]);
    // The clock of the server that had the requests may be ahead.
    expect((await dueJobs()).map(({ former }) => former.fullName)).toEqual(['bob', 'ann']);
    expect(await replay(later, earlier)).toEqual({ repeated: [], withoutOwner: [] });
  });

  it.each<[string, () => Partial<ErasureRecord>, string?]>([
    ['of another organization with the id', () => ({ realmUuid: 'other' })],
    ['of an unknown organization', () => ({ realmId: 999 as never })],
    ['of an unknown person', () => ({ personId: 999 as UserId })],
    ['of a person who joined later', () => ({ requestedAt: fixture.user('ann').joinedAt - 1 })],
    ['of a bot', () => ({ personId: fixture.user('bot').id })],
  ])('ignores an erasure %s', async (_, change) => {
    await world(OWNER, aUser({ name: 'ann' }), aUser({ name: 'bot', botOf: 'owner' }));
    expect(await replay(entryOf('ann', change()))).toEqual({ repeated: [], withoutOwner: [] });
    expect(fixture.storage.announced).toEqual([]);
  });

  it('repeats an erasure in the second in which the person joined', async () => {
    await world(OWNER, aUser({ name: 'ann' }));
    const entry = entryOf('ann', { requestedAt: fixture.user('ann').joinedAt });
    expect(await replay(entry)).toMatchObject({ repeated: [entry] });
  });

  it.each<[string, readonly FixtureStep[], boolean]>([
    ['the only owner', [aUser({ name: 'ann', role: 'owner' })], true],
    ['one of two owners', [OWNER, aUser({ name: 'ann', role: 'owner' })], false],
    ['a member', [OWNER, aUser({ name: 'ann' })], false],
  ])('lists the organization after erasing %s again if no owner is left', async (_, steps, isNamed) => {
    await world(...steps);
    const { withoutOwner } = await replay(entryOf('ann'));
    expect(withoutOwner.map(({ id }) => id)).toEqual(isNamed ? [fixture.realm.id] : []);
    expect(isErased(await userOf('ann'))).toBe(true);
  });
});
