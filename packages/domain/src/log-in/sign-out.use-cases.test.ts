import { aUserOfEachRole, createFixture, FakeApiKeyMint } from '@parley/testkit';
import { SignOutEverybody } from './sign-out.use-cases.js';

describe('SignOutEverybody', () => {
  it('replaces the keys of all users, and ends their sessions and access tokens', async () => {
    const fixture = await createFixture(aUserOfEachRole());
    const { uow, clock, realm } = fixture;
    const mint = new FakeApiKeyMint();
    const { id: userId } = fixture.user('member');
    const owner = { realmId: realm.id, userId };
    const session = { ...owner, userAgent: '', ip: null, method: null, serviceSession: null };
    const times = { createdAt: clock.now(), lastUsedAt: clock.now(), expiresAt: clock.now() + 60 };
    await uow.write(realm.id, async (tx) => {
      await tx.apiKeys.put({ ...owner, generation: 3, seed: null }, 'of the former key');
      await tx.sessions.add({ ...session, ...times }, 'session');
      await tx.accessTokens.add({
        ...{ ...owner, fingerprint: 'token', actions: [], conversations: [], origin: null, readers: null },
        ...{ createdAt: clock.now(), expiresAt: clock.now() + 60, lastUsedAt: null },
      });
    });
    await new SignOutEverybody(uow, mint, clock).execute();
    await uow.read(realm.id, async (reads) => {
      for (const { id } of fixture.users.values()) expect(await reads.apiKeys.find(realm.id, id)).not.toBeNull();
      const renewed = await reads.apiKeys.find(realm.id, userId);
      expect(renewed).toMatchObject({ ...owner, generation: 4 });
      expect(renewed!.seed).not.toBeNull();
      expect(await reads.sessions.listOf(realm.id, userId)).toEqual([]);
      expect(await reads.accessTokens.list(realm.id, userId)).toEqual([]);
    });
  });
});
