import { aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import type { ImportIds } from '../kernel/export-parts.js';
import type { ErasureId, UserId } from '../kernel/ids.js';
import { erasedEmail } from './erased-person.js';
import { ERASE_PERSON_JOB, ERASURE_FEATURE, type Erasure, requireErasable } from './erasures.js';

describe('requireErasable', () => {
  const owner = aUser({ name: 'owner', role: 'owner' });
  const refusalOf = async ({ uow, realm }: MemoryFixture, id: UserId): Promise<string | null> => {
    try {
      await uow.read(realm.id, async (reads) => requireErasable(reads, await reads.users.get(realm.id, id)));
      return null;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it.each([
    ['a member', [owner, aUser({ name: 'ann' })], null],
    ['a bot', [owner, aUser({ name: 'ann', botOf: 'owner' })], 'MUST_NOT_BE_BOT'],
    ['the only owner', [aUser({ name: 'ann', role: 'owner' })], 'LAST_OWNER'],
    ['one of two owners', [owner, aUser({ name: 'ann', role: 'owner' })], null],
  ])('decides about %s', async (_, steps, expected) => {
    const fixture = await createFixture(...steps);
    expect(await refusalOf(fixture, fixture.user('ann').id)).toBe(expected);
  });

  it('refuses a person who was merged into another one, unless it was erased', async () => {
    const fixture = await createFixture(owner, aUser({ name: 'ann' }), aUser({ name: 'old', isActive: false }));
    const { uow, realm, user } = fixture;
    const { id } = user('old');
    await uow.write(realm.id, async (tx) => {
      const batch = await tx.importBatches.add({
        ...{ realmId: realm.id, source: 'test:1', startedAt: 0, status: 'complete', createdRealm: false },
        ...{ messages: 0, lastMessageId: 0, requesterId: null, version: 1 },
      });
      const record = { kind: 'merge', recordId: String(id), targetId: user('ann').id } as const;
      await tx.importedRecords.put(realm.id, [
        { batchId: batch.id, ...record, hash: '', editedAt: null, reactions: 0 },
      ]);
    });
    expect(await refusalOf(fixture, id)).toBe('USER_MERGED');
    await uow.write(realm.id, (tx) => tx.users.update({ ...user('old'), isDeleted: true, email: erasedEmail(id) }));
    expect(await refusalOf(fixture, id)).toBeNull();
  });
});

describe('The import of erasures', () => {
  it('follows people to their new ids, also in addresses, and leaves unknown people and holds behind', async () => {
    const [former, unknown, back] = [77, 78, 79] as UserId[];
    const fixture = await createFixture(
      aUser({ name: 'gone', isActive: false, isDeleted: true, email: erasedEmail(former!) }),
      aUser({ name: 'back' }),
    );
    const { uow, realm, user } = fixture;
    const ids = new Map([
      [former, user('gone').id],
      [back, user('back').id],
    ]);
    const erasure: Omit<Erasure, 'realmId'> = {
      ...{ id: 1 as ErasureId, personId: former!, requestedAt: 5, endedAt: null },
      ...{ removedRows: 1, changedTexts: 2, everythingWritten: true, heldTexts: 3 },
    };
    const erasures = [erasure, { ...erasure, personId: unknown! }, { ...erasure, personId: back! }];
    const into = { users: { find: (id: UserId) => ids.get(id) } } as unknown as ImportIds;
    await uow.write(realm.id, (tx) => ERASURE_FEATURE.realmPart.add(tx, { realmId: realm.id }, { erasures }, into));
    const [added, people] = await uow.read(realm.id, async (reads) => [
      await reads.erasures.list(realm.id),
      await reads.users.list(realm.id, [user('gone').id, user('back').id]),
    ]);
    expect(added.map(({ id: _, ...row }) => row)).toEqual(
      ['gone', 'back'].map((name) => {
        const { id: _, ...row } = erasure;
        return { ...row, realmId: realm.id, personId: user(name).id, heldTexts: 0 };
      }),
    );
    expect(people.map(({ email }) => email)).toEqual([erasedEmail(user('gone').id), 'back@example.com']);
  });
});

describe('The job of an erasure', () => {
  const former = { id: 2, fullName: 'Ann', email: 'ann@example.com', externalId: null };
  const payload = { erasureId: 1, former, stage: 'rows', at: null };

  it('is read as it was stored', () => {
    expect(ERASE_PERSON_JOB.readPayload(payload, 1)).toEqual(payload);
  });

  it.each([
    { ...payload, erasureId: 'a' },
    { ...payload, former: { ...former, id: null } },
    { ...payload, former: undefined },
    { ...payload, stage: 'unknown' },
  ])('is rejected with the payload %j', (stored) => {
    expect(() => ERASE_PERSON_JOB.readPayload(stored, 1)).toThrow(TypeError);
  });
});
