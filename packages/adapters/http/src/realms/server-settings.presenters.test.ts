import { presentServerSettings } from './server-settings.js';

const realmUrls = { urlOf: () => 'https://chat.example', emailDomainOf: () => 'chat.example' };

it('presentServerSettings omits realm fields if the address belongs to no realm', () => {
  const wire = presentServerSettings(
    {
      realm: null,
      url: 'https://chat.example',
      isDevelopment: false,
      allowsSpectators: false,
      logInMethods: [],
      offersBrowserLogIn: false,
    },
    { realmUrls, serverInfo: { sendsPushes: false, directoryRealms: new Set(), isQuiet: false } },
  );
  expect(wire).toMatchObject({ realm_url: 'https://chat.example', realm_uri: 'https://chat.example' });
  for (const name of ['realm_name', 'realm_icon', 'realm_description', 'is_quiet'])
    expect(wire).not.toHaveProperty(name);
});
