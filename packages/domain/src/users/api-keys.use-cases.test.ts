import {
  anotherRealm,
  aUser,
  createFixture,
  currentLog,
  FakeApiKeyMint,
  type FixtureStep,
  type MemoryFixture,
} from '@parley/testkit';
import { PublishingUnitOfWork } from '../composition/publishing-unit-of-work.js';
import { type DomainEvent, nobody } from '../kernel/event.js';
import { VerifyApiKey } from './api-keys.use-cases.js';

const mint = new FakeApiKeyMint();
const keys: FixtureStep = async (fixture, tx) => {
  for (const { id: userId, realmId } of fixture.users.values()) {
    const record = { realmId, userId, generation: 1, seed: null };
    await tx.apiKeys.put(record, mint.fingerprint(mint.derive(record)));
  }
};

async function town() {
  const fixture = await createFixture(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'gone', isActive: false }),
    aUser({ name: 'hook', botOf: 'hamlet' }),
    keys,
    async (theScene, tx) => {
      const hook = theScene.user('hook');
      await tx.users.update({ ...hook, bot: { ...hook.bot!, kind: 'incomingWebhook' } });
    },
  );
  const elsewhere = await anotherRealm(fixture, keys);
  const uow = new PublishingUnitOfWork(fixture.uow, fail);
  const verify = new VerifyApiKey(uow, mint, currentLog, fixture.clock);
  uow.subscribe(verify);
  const keyOf = (name: string) =>
    mint.derive({ ...(fixture.users.has(name) ? fixture : elsewhere).viewer(name), generation: 1, seed: null });
  const ask = (
    name: string,
    email = `${name}@example.com`,
    realmId: MemoryFixture['realm']['id'] | null = fixture.realm.id,
  ) => verify.execute({ realmId }, { email, apiKey: keyOf(name) });
  /** Applies a change and appends its event in one transaction. */
  const happens = (event: DomainEvent, change: FixtureStep) =>
    uow.write(fixture.realm.id, async (tx) => {
      await change(fixture, tx);
      await tx.events.append(fixture.realm.id, { event, audience: nobody });
    });
  return { fixture, elsewhere, ask, happens };
}
const UNAUTHENTICATED = 'UNAUTHENTICATED';
const userId = (fixture: MemoryFixture) => fixture.user('hamlet').id;
const deactivation = (fixture: MemoryFixture): DomainEvent => ({
  type: 'user.activation_changed',
  userId: userId(fixture),
  isActive: false,
});
const deactivate: FixtureStep = async (fixture, tx) => {
  await tx.users.update({ ...fixture.user('hamlet'), isActive: false });
};

describe('API key verification', () => {
  it('authenticates by email and key regardless of the letter case of the email', async () => {
    const { fixture, ask } = await town();
    const hamlet = { realmId: fixture.realm.id, userId: userId(fixture), botKind: null };
    expect(await ask('hamlet')).toEqual(hamlet);
    expect(await ask('hamlet', 'HAMLET@example.com')).toEqual(hamlet);
    expect(await ask('hook')).toMatchObject({ botKind: 'incomingWebhook' });
  });

  it.each([
    ['the key of another user', 'hamlet', 'gone@example.com', 'Invalid API key'],
    ['the user id in a dummy address', 'hamlet', 'user4@chat.example', 'Invalid API key'],
    ['the key of another realm', 'otherRealmUser', undefined, 'Account is not associated with this subdomain'],
  ])('rejects %s', async (_, name, email, message) => {
    const { ask } = await town();
    // Repeats the attempt, because successful look-ups are cached.
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(ask(name, email)).rejects.toMatchObject({ code: UNAUTHENTICATED, message });
    }
  });

  it('rejects a key on a host without a realm', async () => {
    const { ask } = await town();
    await ask('hamlet');
    await expect(ask('hamlet', undefined, null)).rejects.toMatchObject({ code: UNAUTHENTICATED });
  });

  it('rejects a deactivated user and reports a deactivated realm first', async () => {
    const { fixture, ask } = await town();
    await expect(ask('gone')).rejects.toMatchObject({ code: 'USER_DEACTIVATED', message: 'Account is deactivated' });
    await fixture.uow.write(fixture.realm.id, (tx) => tx.realms.update({ ...fixture.realm, isDeactivated: true }));
    await expect(ask('gone')).rejects.toMatchObject({
      code: 'REALM_DEACTIVATED',
      message: 'This organization has been deactivated',
    });
  });

  it('evicts the cached user on deactivation, on key replacement and on realm deactivation', async () => {
    const { fixture, ask, happens } = await town();
    await ask('hamlet');
    await happens(deactivation(fixture), deactivate);
    await expect(ask('hamlet')).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });

    await fixture.uow.write(fixture.realm.id, (tx) => tx.users.update(fixture.user('hamlet')));
    await ask('hamlet');
    const record = { ...fixture.viewer('hamlet'), generation: 2, seed: null };
    await happens({ type: 'user.credentials_changed', userId: userId(fixture) }, (_, tx) =>
      tx.apiKeys.put(record, mint.fingerprint(mint.derive(record))),
    );
    await expect(ask('hamlet')).rejects.toMatchObject({ code: UNAUTHENTICATED, message: 'Invalid API key' });

    await ask('hook');
    await happens({ type: 'realm.deactivated' }, (_, tx) =>
      tx.realms.update({ ...fixture.realm, isDeactivated: true }),
    );
    await expect(ask('hook')).rejects.toMatchObject({ code: 'REALM_DEACTIVATED' });
  });

  it('does not cache a user who is deactivated during the look-up', async () => {
    const { fixture, ask, happens } = await town();
    const asked = ask('hamlet');
    await Promise.all([asked, happens(deactivation(fixture), deactivate)]);
    await expect(ask('hamlet')).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });
});

function fail(error: unknown): never {
  throw error;
}
