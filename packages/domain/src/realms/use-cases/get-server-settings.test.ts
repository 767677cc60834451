import { aRealm, given } from '@parley/testkit';
import { GetServerSettings } from './get-server-settings.js';

const addresses = { urlOf: ({ stringId }: { stringId: string }) => `https://${stringId}.example`, mailHost: 'x' };

describe('what anybody may know of the server', () => {
  const ask = async (webPublicEnabled = true, enableSpectatorAccess = true) => {
    const scene = await given(aRealm({ stringId: 'zulip', name: 'Zulip' }));
    const { realm } = scene;
    await scene.uow.write((tx) =>
      tx.realms.update({ ...realm, settings: { ...realm.settings, enableSpectatorAccess } }),
    );
    const settings = new GetServerSettings(scene.uow, addresses, { isOn: false }, { webPublicEnabled });
    return { settings, realm };
  };

  it('is about the realm whose host was asked', async () => {
    const { settings, realm } = await ask();
    expect(await settings.execute({ realmId: realm.id }, { isServerAddress: true })).toMatchObject({
      realm: { id: realm.id, name: 'Zulip' },
      url: 'https://zulip.example',
      isDevelopment: false,
    });
  });

  it.each`
    server   | realmSays | allowed
    ${true}  | ${true}   | ${true}
    ${false} | ${true}   | ${false}
    ${true}  | ${false}  | ${false}
  `('spectators: server $server, realm $realmSays: $allowed', async ({ server, realmSays, allowed }) => {
    const { settings, realm } = await ask(server, realmSays);
    const { allowsSpectators } = await settings.execute({ realmId: realm.id }, { isServerAddress: false });
    expect(allowsSpectators).toBe(allowed);
  });

  it('names no realm at the address of a server with several', async () => {
    const { settings } = await ask();
    expect(await settings.execute({ realmId: null }, { isServerAddress: true })).toEqual({
      realm: null,
      url: 'https://.example',
      isDevelopment: false,
      allowsSpectators: false,
    });
  });

  it('refuses the host of no realm', async () => {
    const { settings } = await ask();
    await expect(settings.execute({ realmId: null }, { isServerAddress: false })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'Invalid subdomain',
    });
  });
});
