import type { VerifyApiKey } from '@parley/domain/users';
import type { Credentials, Identity, RealmDirectory } from '@parley/http';

/** Addresses and API keys, on the realm at the address of the request. */
export class ApiKeyCredentials implements Credentials {
  constructor(
    private readonly verifyApiKey: VerifyApiKey,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, ...claim }: Parameters<Credentials['verify']>[0]): Promise<Identity> {
    return this.verifyApiKey.execute({ realmId: await this.realms.findRealm(realmAddress) }, claim);
  }
}
