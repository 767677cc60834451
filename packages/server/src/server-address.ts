import type { Configuration } from './configuration/configuration.js';
import type { RealmResolverOptions } from './realm-resolver.js';

/** Where the server is reached, as far as a command beside it can know. */
export function addressesOf({
  url,
  port,
  defaultRealm,
  realmAddresses,
}: Pick<Configuration, 'url' | 'port' | 'defaultRealm' | 'realmAddresses'>): RealmResolverOptions {
  return { url: url ?? `http://localhost:${port}`, defaultRealm, realmAddresses };
}
