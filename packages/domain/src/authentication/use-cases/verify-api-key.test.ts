import { anotherRealm, aUser, given, type MemoryScene, type Piece, PlainApiKeyMint } from '@parley/testkit';
import { nobody } from '../../events/audience.js';
import type { DomainEvent } from '../../events/event.js';
import { PublishingUnitOfWork } from '../../events/publishing-unit-of-work.js';
import { VerifyApiKey } from './verify-api-key.js';

const mint = new PlainApiKeyMint();
const keys: Piece = async (scene, tx) => {
  for (const { id: userId, realmId } of scene.users.values()) {
    const record = { realmId, userId, generation: 1 };
    await tx.apiKeys.put(record, mint.fingerprint(mint.derive(record)));
  }
};

async function town() {
  const scene = await given(
    aUser({ name: 'hamlet' }),
    aUser({ name: 'gone', isActive: false }),
    aUser({ name: 'hook', botOf: 'hamlet' }),
    keys,
    async (theScene, tx) => {
      const hook = theScene.user('hook');
      await tx.users.update({ ...hook, bot: { ...hook.bot!, kind: 'incomingWebhook' } });
    },
  );
  const elsewhere = await anotherRealm(scene, keys);
  const uow = new PublishingUnitOfWork(scene.uow, scene.clock, fail);
  const verify = new VerifyApiKey(uow, mint);
  uow.subscribe(verify);
  const keyOf = (name: string) =>
    mint.derive({ ...(scene.users.has(name) ? scene : elsewhere).viewer(name), generation: 1 });
  const ask = (
    name: string,
    email = `${name}@example.com`,
    realmId: MemoryScene['realm']['id'] | null = scene.realm.id,
  ) => verify.execute({ realmId }, { email, apiKey: keyOf(name) });
  /** What happened, and that it did. */
  const happens = (event: DomainEvent, change: Piece) =>
    uow.write(async (tx) => {
      await change(scene, tx);
      await tx.events.append(scene.realm.id, { event, audience: nobody });
    });
  return { scene, elsewhere, ask, happens };
}
const UNAUTHENTICATED = 'UNAUTHENTICATED';
const userId = (scene: MemoryScene) => scene.user('hamlet').id;
const deactivation = (scene: MemoryScene): DomainEvent => ({
  type: 'user.activation_changed',
  userId: userId(scene),
  isActive: false,
});
const deactivate: Piece = async (scene, tx) => {
  await tx.users.update({ ...scene.user('hamlet'), isActive: false });
};

describe('whoever calls', () => {
  it('is known by address and key, whatever the letter case of the address', async () => {
    const { scene, ask } = await town();
    const hamlet = { realmId: scene.realm.id, userId: userId(scene), isIncomingWebhook: false };
    expect(await ask('hamlet')).toEqual(hamlet);
    expect(await ask('hamlet', 'HAMLET@example.com')).toEqual(hamlet);
    expect(await ask('hook')).toMatchObject({ isIncomingWebhook: true });
  });

  it.each([
    ['the key of another', 'hamlet', 'gone@example.com', 'Invalid API key'],
    ['a dummy address', 'hamlet', 'user4@chat.example', 'Invalid API key'],
    ['the key of another realm', 'stranger', undefined, 'Account is not associated with this subdomain'],
  ])('is refused by %s', async (_, name, email, message) => {
    const { ask } = await town();
    // Twice, because those who passed are kept at hand.
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(ask(name, email)).rejects.toMatchObject({ code: UNAUTHENTICATED, message });
    }
  });

  it('is refused on the host of no realm', async () => {
    const { ask } = await town();
    await ask('hamlet');
    await expect(ask('hamlet', undefined, null)).rejects.toMatchObject({ code: UNAUTHENTICATED });
  });

  it('is refused when gone, and first when the realm is', async () => {
    const { scene, ask } = await town();
    await expect(ask('gone')).rejects.toMatchObject({ code: 'USER_DEACTIVATED', message: 'Account is deactivated' });
    await scene.uow.write((tx) => tx.realms.update({ ...scene.realm, isDeactivated: true }));
    await expect(ask('gone')).rejects.toMatchObject({
      code: 'REALM_DEACTIVATED',
      message: 'This organization has been deactivated',
    });
  });

  it('is forgotten when he is deactivated, gets another key, or his realm ends', async () => {
    const { scene, ask, happens } = await town();
    await ask('hamlet');
    await happens(deactivation(scene), deactivate);
    await expect(ask('hamlet')).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });

    await scene.uow.write((tx) => tx.users.update(scene.user('hamlet')));
    await ask('hamlet');
    const record = { ...scene.viewer('hamlet'), generation: 2 };
    await happens({ type: 'user.credentials_changed', userId: userId(scene) }, (_, tx) =>
      tx.apiKeys.put(record, mint.fingerprint(mint.derive(record))),
    );
    await expect(ask('hamlet')).rejects.toMatchObject({ code: UNAUTHENTICATED, message: 'Invalid API key' });

    await ask('hook');
    await happens({ type: 'realm.deactivated' }, (_, tx) => tx.realms.update({ ...scene.realm, isDeactivated: true }));
    await expect(ask('hook')).rejects.toMatchObject({ code: 'REALM_DEACTIVATED' });
  });

  it('is not kept when he is deactivated while he is looked up', async () => {
    const { scene, ask, happens } = await town();
    const asked = ask('hamlet');
    await Promise.all([asked, happens(deactivation(scene), deactivate)]);
    await expect(ask('hamlet')).rejects.toMatchObject({ code: 'USER_DEACTIVATED' });
  });
});

function fail(error: unknown): never {
  throw error;
}
