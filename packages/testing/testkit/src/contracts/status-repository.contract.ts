import type { UserStatus } from '@parley/domain/users';
import { anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const SMILE = { type: 'unicode', code: '1f642', name: 'smile' } as const;
const BUSY: UserStatus = { text: 'busy', emoji: SMILE };
const NOTHING: UserStatus = { text: '', emoji: null };

export function statusRepositoryContract(open: OpenStorage): void {
  describe('status repository', () => {
    const stage = stagesOn(open);

    it("stores and replaces each user's status", async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }), aUser({ name: 'c' }));
      const [a, b, c] = ['a', 'b', 'c'].map((name) => fixture.user(name).id);
      await fixture.uow.write(fixture.realm.id, async ({ statuses }) => {
        await statuses.put(fixture.realm.id, b!, BUSY);
        await statuses.put(fixture.realm.id, a!, BUSY);
        await statuses.put(fixture.realm.id, a!, { text: '𝕂', emoji: null });
        expect(await statuses.find(fixture.realm.id, a!)).toEqual({ text: '𝕂', emoji: null });
        await statuses.put(fixture.realm.id, a!, NOTHING);
      });
      await fixture.uow.read(fixture.realm.id, async ({ statuses }) => {
        expect([...(await statuses.list(fixture.realm.id))]).toEqual([
          [a, NOTHING],
          [b, BUSY],
        ]);
        expect(await statuses.find(fixture.realm.id, c!)).toBeNull();
      });
    });

    it('isolates realms', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const { id } = fixture.user('a');
      await fixture.uow.write(fixture.realm.id, (tx) => tx.statuses.put(fixture.realm.id, id, BUSY));
      const other = (await anotherRealm(fixture)).realm.id;
      await fixture.uow.read(other, async ({ statuses }) => {
        expect(await statuses.find(other, id)).toBeNull();
        expect((await statuses.list(other)).size).toBe(0);
      });
    });
  });
}
