import { aChannel, aRealm, given } from '@parley/testkit';
import type { ChannelPrivacy } from '../../channels/channel.js';
import { GetServerSettings } from './get-server-settings.js';

const addresses = {
  urlOf: ({ stringId }: { stringId: string }) => `https://${stringId}.example`,
  mailHostOf: () => 'x',
};

describe('what anybody may know of the server', () => {
  const ask = async (webPublicEnabled = true, enableSpectatorAccess = true, privacy: ChannelPrivacy = 'webPublic') => {
    const scene = await given(aRealm({ stringId: 'zulip', name: 'Zulip' }), aChannel({ name: 'lobby', privacy }));
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
    server   | realmSays | channel        | allowed
    ${true}  | ${true}   | ${'webPublic'} | ${true}
    ${true}  | ${true}   | ${'public'}    | ${false}
    ${false} | ${true}   | ${'webPublic'} | ${false}
    ${true}  | ${false}  | ${'webPublic'} | ${false}
  `('spectators: server $server, realm $realmSays, a $channel channel: $allowed', async (row) => {
    const { server, realmSays, channel, allowed } = row;
    const { settings, realm } = await ask(server, realmSays, channel);
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
