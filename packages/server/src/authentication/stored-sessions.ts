import type { VerifySession } from '@parley/domain/users';
import type { BrowserSessions, Identity, RealmDirectory } from '@parley/http';

/** Tokens of sessions, at the realm that the address stands for. */
export class StoredSessions implements BrowserSessions {
  constructor(
    private readonly verifySession: VerifySession,
    private readonly realms: RealmDirectory,
  ) {}

  async verify({ realmAddress, token }: Parameters<BrowserSessions['verify']>[0]): Promise<Identity | null> {
    const realmId = await this.realms.findRealm(realmAddress);
    const found = await this.verifySession.execute({ realmId }, token);
    if (!found) return null;
    const { userId, botKind, sessionId, csrfToken } = found;
    return { realmId: found.realmId, userId, botKind, session: { id: sessionId, csrfToken } };
  }
}
