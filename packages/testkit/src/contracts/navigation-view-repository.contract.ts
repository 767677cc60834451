import type { NavigationView } from '@parley/domain/messages';
import { anotherRealm, aUser, type Fixture } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

const pieces = [aUser({ name: 'a' }), aUser({ name: 'b' })];
const STARRED: NavigationView = { fragment: 'narrow/is/starred', isPinned: false, name: null };
const ALERTS: NavigationView = { fragment: 'narrow/is/alerted', isPinned: true, name: 'Alerts' };

const put = (fixture: Fixture, who: string, view: NavigationView) =>
  fixture.uow.write(fixture.realm.id, (tx) => tx.navigationViews.put(fixture.realm.id, fixture.user(who).id, view));
const remove = (fixture: Fixture, who: string, fragment: string, realmId = fixture.realm.id) =>
  fixture.uow.write(realmId, (tx) => tx.navigationViews.remove(realmId, fixture.user(who).id, fragment));
const list = (fixture: Fixture, who: string, realmId = fixture.realm.id) =>
  fixture.uow.read(realmId, ({ navigationViews }) => navigationViews.list(realmId, fixture.user(who).id));

export function navigationViewRepositoryContract(open: OpenStorage): void {
  describe('navigation view repository', () => {
    const stage = stagesOn(open);

    it("stores each user's views by fragment, oldest first, even after changes", async () => {
      const fixture = await stage(...pieces);
      await put(fixture, 'a', STARRED);
      await put(fixture, 'a', ALERTS);
      await put(fixture, 'b', ALERTS);
      await put(fixture, 'a', { ...STARRED, isPinned: true });
      expect(await list(fixture, 'a')).toEqual([{ ...STARRED, isPinned: true }, ALERTS]);
      expect(await list(fixture, 'b')).toEqual([ALERTS]);
    });

    it('removes one view of a user', async () => {
      const fixture = await stage(...pieces);
      for (const who of ['a', 'b']) for (const view of [STARRED, ALERTS]) await put(fixture, who, view);
      const { realm } = await anotherRealm(fixture);
      await remove(fixture, 'a', ALERTS.fragment, realm.id);
      await remove(fixture, 'a', STARRED.fragment);
      await remove(fixture, 'a', 'narrow');
      expect(await list(fixture, 'a')).toEqual([ALERTS]);
      expect(await list(fixture, 'b')).toEqual([STARRED, ALERTS]);
      expect(await list(fixture, 'a', realm.id)).toEqual([]);
    });
  });
}
