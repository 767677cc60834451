import { anotherRealm, aUser } from '../builders.js';
import { type OpenStorage, stagesOn } from './storage-under-test.js';

export function apiKeyRepositoryContract(open: OpenStorage): void {
  describe('api key repository', () => {
    const stage = stagesOn(open);

    it('finds a key by fingerprint in any realm and by user', async () => {
      const fixture = await stage(aUser({ name: 'a' }));
      const other = await anotherRealm(fixture, aUser({ name: 'b' }));
      const mine = { realmId: fixture.realm.id, userId: fixture.user('a').id, generation: 1, seed: 'seed a' };
      const foreign = { realmId: other.realm.id, userId: other.user('b').id, generation: 7, seed: null };
      await fixture.uow.writeAcross(async (tx) => {
        await tx.apiKeys.put(foreign, 'print-b');
        await tx.apiKeys.put(mine, 'print-a');
      });
      await fixture.uow.readAcross(async (r) => {
        expect(await r.apiKeys.findByFingerprint('print-a')).toEqual(mine);
        expect(await r.apiKeys.findByFingerprint('print-b')).toEqual(foreign);
        expect(await r.apiKeys.findByFingerprint('print-c')).toBeNull();
        expect(await r.apiKeys.find(fixture.realm.id, mine.userId)).toEqual(mine);
        expect(await r.apiKeys.find(fixture.realm.id, foreign.userId)).toBeNull();
        expect(await r.apiKeys.listAll()).toEqual([mine, foreign]);
      });
    });

    it('removes the key that a new one replaces', async () => {
      const { uow, realm, user } = await stage(aUser({ name: 'a' }));
      const first = { realmId: realm.id, userId: user('a').id, generation: 1, seed: null };
      const second = { ...first, generation: 2, seed: 'another seed' };
      await uow.write(first.realmId, (tx) => tx.apiKeys.put(first, 'print-1'));
      await uow.write(second.realmId, (tx) => tx.apiKeys.put(second, 'print-2'));
      await uow.read(second.realmId, async (r) => {
        expect(await r.apiKeys.findByFingerprint('print-1')).toBeNull();
        expect(await r.apiKeys.findByFingerprint('print-2')).toEqual(second);
        expect(await r.apiKeys.listAll()).toEqual([second]);
      });
    });

    it('keeps the last issue of a key until another key replaces it', async () => {
      const fixture = await stage(aUser({ name: 'a' }), aUser({ name: 'b' }));
      const other = await anotherRealm(fixture);
      const { id: realmId } = fixture.realm;
      const { id: userId } = fixture.user('a');
      const issueOf = (owner = userId) => fixture.uow.read(realmId, (r) => r.apiKeys.findIssue(realmId, owner));
      const put = (generation: number) =>
        fixture.uow.write(realmId, (tx) =>
          tx.apiKeys.put({ realmId, userId, generation, seed: null }, `print-${generation}`),
        );
      const issue = { at: 200, ip: '192.0.2.7', clientName: 'ZulipMobile' };
      await put(1);
      expect(await issueOf()).toBeNull();
      await fixture.uow.write(realmId, (tx) => tx.apiKeys.putIssue(realmId, userId, issue));
      await fixture.uow.write(realmId, (tx) => tx.apiKeys.putIssue(realmId, userId, { ...issue, at: 300, ip: null }));
      expect(await issueOf()).toEqual({ ...issue, at: 300, ip: null });
      expect(await issueOf(fixture.user('b').id)).toBeNull();
      const there = other.realm.id;
      await fixture.uow.write(there, (tx) => tx.apiKeys.putIssue(there, userId, issue));
      expect(await fixture.uow.read(there, (r) => r.apiKeys.findIssue(there, userId))).toBeNull();
      await put(2);
      expect(await issueOf()).toBeNull();
    });

    it('stores which secret the fingerprints belong to', async () => {
      const { uow } = await stage();
      const secret = () => uow.readAcross((r) => r.apiKeys.secretFingerprint());
      expect(await secret()).toBeNull();
      await uow.writeAcross((tx) => tx.apiKeys.setSecretFingerprint('old'));
      await uow.writeAcross((tx) => tx.apiKeys.setSecretFingerprint('new'));
      expect(await secret()).toBe('new');
    });
  });
}
