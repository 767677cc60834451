import type { VerifyApiKey } from '@parley/domain/authentication';
import type { Credentials, Identity, RealmDirectory } from '@parley/http';

/** Addresses and API keys, on the realm that the host name stands for. */
export class ApiKeyCredentials implements Credentials {
  constructor(
    private readonly verifyApiKey: VerifyApiKey,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ host, ...claim }: Parameters<Credentials['verify']>[0]): Promise<Identity> {
    return this.verifyApiKey.execute({ realmId: await this.realms.findRealm(host) }, claim);
  }
}
