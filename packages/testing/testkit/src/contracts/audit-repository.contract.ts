import type { RealmId, UserId } from '@parley/domain/kernel';
import { type AuditDetail, type AuditEntry, type AuditFilter, newChain } from '@parley/domain/membership';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const entry = (realmId: RealmId, number: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ realmId, number, at: 100 + number, actorId: null, program: 'command', action: 'a', subjectId: null },
  ...{ target: '{"channel_id":7}', changes: '{}', detailDigest: null, digest: `digest ${number}` },
  ...more,
});
const DETAIL: AuditDetail = { salt: 's', content: '{"ip":"127.0.0.1"}' };

export function auditRepositoryContract(open: OpenStorage): void {
  describe('audit repository', () => {
    const stage = stagesOn(open);

    const append = (
      { uow, realm }: Fixture,
      number: number,
      more: Partial<AuditEntry> = {},
      detail: AuditDetail | null = null,
      realmId = realm.id,
    ) => uow.write(realmId, (tx) => tx.audit.append(entry(realmId, number, more), detail));
    const numbers = ({ uow, realm }: Fixture, filter: AuditFilter, limit = 10) =>
      uow.read(realm.id, async ({ audit }) => (await audit.list(realm.id, filter, limit)).map(({ number }) => number));
    const chainOf = ({ uow, realm }: Fixture, realmId = realm.id) =>
      uow.read(realmId, ({ audit }) => audit.findChain(realmId));

    it('returns entries as they were added, with their details, oldest first', async () => {
      const fixture = await stage(aUser({ name: 'Ann' }));
      const { uow, realm } = fixture;
      const byAnn = { actorId: fixture.user('Ann').id, program: null, subjectId: 9 as UserId, detailDigest: 'd' };
      await append(fixture, 1, byAnn, DETAIL);
      await append(fixture, 2);
      await append(fixture, 3);
      const listed = (after: number, limit: number) =>
        uow.read(realm.id, ({ audit }) => audit.listAfter(realm.id, after, limit));
      expect(await listed(0, 2)).toEqual([
        { ...entry(realm.id, 1, byAnn), detail: DETAIL },
        { ...entry(realm.id, 2), detail: null },
      ]);
      expect((await listed(2, 10)).map(({ number }) => number)).toEqual([3]);
    });

    it('keeps the chain of each organization', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      expect(await chainOf(fixture)).toBeNull();
      await append(fixture, 1);
      await append(fixture, 2);
      await append(fixture, 1, { digest: 'other' }, null, other.realm.id);
      const { anchor } = newChain(fixture.realm.id);
      const last = { number: 2, digest: 'digest 2' };
      expect(await chainOf(fixture)).toEqual({ realmId: fixture.realm.id, anchor, last });
      expect(await chainOf(fixture, other.realm.id)).toMatchObject({ last: { number: 1, digest: 'other' } });
      expect(await numbers(fixture, {})).toEqual([2, 1]);
    });

    it('finds entries that meet all conditions, newest first', async () => {
      const fixture = await stage();
      const [ann, bob] = [7 as UserId, 8 as UserId];
      await append(fixture, 1, { actorId: ann });
      await append(fixture, 2, { actorId: ann, subjectId: bob });
      await append(fixture, 3, { actorId: bob, subjectId: bob, action: 'b' });
      await append(fixture, 4, { actorId: ann, subjectId: bob, action: 'b' });
      expect(await numbers(fixture, { actorId: ann })).toEqual([4, 2, 1]);
      expect(await numbers(fixture, { subjectId: bob })).toEqual([4, 3, 2]);
      expect(await numbers(fixture, { action: 'b' })).toEqual([4, 3]);
      expect(await numbers(fixture, { action: 'B' })).toEqual([]);
      expect(await numbers(fixture, { since: 102, until: 103 })).toEqual([3, 2]);
      expect(await numbers(fixture, { before: 3 })).toEqual([2, 1]);
      expect(await numbers(fixture, { actorId: ann, subjectId: bob, action: 'b', since: 104, before: 5 })).toEqual([4]);
      expect(await numbers(fixture, {}, 2)).toEqual([4, 3]);
    });

    it('removes entries with their details up to the anchor, in one organization', async () => {
      const fixture = await stage();
      const other = await anotherRealm(fixture);
      for (const number of [1, 2, 3]) await append(fixture, number, {}, DETAIL);
      await append(fixture, 1, {}, DETAIL, other.realm.id);
      const { uow, realm } = fixture;
      const anchor = { number: 2, digest: 'digest 2' };
      await uow.write(realm.id, (tx) => tx.audit.removeUpTo(realm.id, anchor));
      expect(await numbers(fixture, {})).toEqual([3]);
      expect(await chainOf(fixture)).toMatchObject({ anchor, last: { number: 3 } });
      const kept = await uow.read(other.realm.id, ({ audit }) => audit.listAfter(other.realm.id, 0, 10));
      expect(kept).toEqual([{ ...entry(other.realm.id, 1), detail: DETAIL }]);
      // The numbers of removed details are free.
      await append(fixture, 2, {}, DETAIL);
    });

    it('loses the details of an erased actor or subject', async () => {
      const fixture = await stage();
      const [ann, bob] = [7 as UserId, 8 as UserId];
      await append(fixture, 1, { actorId: ann }, DETAIL);
      await append(fixture, 2, { actorId: bob, subjectId: ann }, DETAIL);
      await append(fixture, 3, { actorId: bob }, DETAIL);
      const { uow, realm } = fixture;
      await uow.write(realm.id, (tx) => tx.personalData.removeSome(realm.id, { id: ann, email: 'a' }, null, 500));
      const left = await uow.read(realm.id, ({ audit }) => audit.listAfter(realm.id, 0, 10));
      expect(left.map(({ number, detail }) => [number, detail])).toEqual([
        [1, null],
        [2, null],
        [3, DETAIL],
      ]);
    });
  });
}
