import type { VerifySession } from '@parley/domain/authentication';
import type { BrowserSessions, Identity, RealmDirectory } from '@parley/http';

/** Tokens of sessions, on the realm that the host name stands for. */
export class StoredSessions implements BrowserSessions {
  constructor(
    private readonly verifySession: VerifySession,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ host, token }: { readonly host: string; readonly token: string }): Promise<Identity | null> {
    const found = await this.verifySession.execute({ realmId: await this.realms.findRealm(host) }, token);
    if (!found) return null;
    const { realmId, userId, sessionId, csrfToken } = found;
    return { realmId, userId, session: { id: sessionId, csrfToken } };
  }
}
