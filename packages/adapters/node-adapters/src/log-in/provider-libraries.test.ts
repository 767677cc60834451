import { type LdapAccount, ldapDirectories } from './ldap/ldap.js';
import { type OpenIdConnectAccount, openIdConnectProviders } from './openid-connect/openid-connect.js';
import { type SamlAccount, samlProviders } from './saml/saml.js';

const method = { name: 'company', displayName: 'Company', displayIcon: null, realms: null };
const attributes = { id: 'id', email: 'mail', name: 'cn', role: null, picture: null };

const MAKERS: readonly [library: string, make: (isConfigured: boolean) => Promise<readonly unknown[]>][] = [
  [
    'openid-client',
    (isConfigured) => {
      const account = { ...method, kind: 'openIdConnectAuthentication' } as OpenIdConnectAccount;
      return openIdConnectProviders(isConfigured ? [account] : []);
    },
  ],
  ['@node-saml/node-saml', (isConfigured) => samlProviders(isConfigured ? [{ ...method } as SamlAccount] : [])],
  [
    'ldapts',
    (isConfigured) => ldapDirectories(isConfigured ? [{ ...method, attributes } as unknown as LdapAccount] : []),
  ],
];

it.each(MAKERS)('loads %s only if the configuration needs it', async (library, make) => {
  let isLoaded = false;
  jest.doMock(library, () => {
    isLoaded = true;
    return {};
  });
  expect(await make(false)).toEqual([]);
  expect(isLoaded).toBe(false);
  expect(await make(true)).toHaveLength(1);
  expect(isLoaded).toBe(true);
});
