import { aChannel, aRealm, createFixture } from '@parley/testkit';
import type { ChannelPrivacy } from '../../channels/channel.js';
import { GetServerSettings } from '../organization.use-cases.js';

const realmUrls = {
  urlOf: ({ stringId }: { stringId: string }) => `https://${stringId}.example`,
  emailDomainOf: () => 'x',
};

describe('GetServerSettings', () => {
  const ask = async (webPublicEnabled = true, enableSpectatorAccess = true, privacy: ChannelPrivacy = 'webPublic') => {
    const fixture = await createFixture(
      aRealm({ stringId: 'zulip', name: 'Zulip' }),
      aChannel({ name: 'lobby', privacy }),
    );
    const { realm } = fixture;
    await fixture.uow.write(realm.id, (tx) =>
      tx.realms.update({ ...realm, settings: { ...realm.settings, enableSpectatorAccess } }),
    );
    const settings = new GetServerSettings(fixture.uow, realmUrls, { isOn: false }, { webPublicEnabled }, []);
    return { settings, realm };
  };

  it('returns the realm of the requested host', async () => {
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
  `('allows spectators with server $server, realm $realmSays, a $channel channel: $allowed', async (row) => {
    const { server, realmSays, channel, allowed } = row;
    const { settings, realm } = await ask(server, realmSays, channel);
    const { allowsSpectators } = await settings.execute({ realmId: realm.id }, { isServerAddress: false });
    expect(allowsSpectators).toBe(allowed);
  });

  it('returns no realm at the address of a server with several realms', async () => {
    const { settings } = await ask();
    expect(await settings.execute({ realmId: null }, { isServerAddress: true })).toEqual({
      realm: null,
      url: 'https://.example',
      isDevelopment: false,
      allowsSpectators: false,
      logInMethods: [],
      offersBrowserLogIn: false,
    });
  });

  it('rejects a host without a realm', async () => {
    const { settings } = await ask();
    await expect(settings.execute({ realmId: null }, { isServerAddress: false })).rejects.toMatchObject({
      code: 'UNKNOWN_REALM_ADDRESS',
      message: 'Invalid subdomain',
    });
  });
});
