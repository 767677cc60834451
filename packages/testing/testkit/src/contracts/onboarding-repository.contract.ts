import { anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function onboardingRepositoryContract(open: OpenStorage): void {
  describe('onboarding repository', () => {
    const stage = stagesOn(open);

    it('stores each shown step once per user', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const { id: realmId } = fixture.realm;
      const [a, b] = [fixture.user('a').id, fixture.user('b').id];
      const { realm: other } = await anotherRealm(fixture);
      await fixture.uow.write(realmId, async (tx) => {
        await tx.onboarding.markDone(realmId, a, 'intro_inbox_view_modal');
        await tx.onboarding.markDone(realmId, a, 'visibility_policy_banner');
        await tx.onboarding.markDone(realmId, a, 'intro_inbox_view_modal');
      });
      await fixture.uow.readAcross(async ({ onboarding }) => {
        expect(await onboarding.listDone(realmId, a)).toEqual(
          new Set(['intro_inbox_view_modal', 'visibility_policy_banner']),
        );
        expect(await onboarding.listDone(realmId, b)).toEqual(new Set());
        expect(await onboarding.listDone(other.id, a)).toEqual(new Set());
      });
    });
  });
}
