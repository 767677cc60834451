import type { ApiKeyMint } from '../access/credentials.js';
import type { Caller, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { removeDevice } from '../push/push.js';
import { replaceApiKey } from '../push/push-jobs.js';
import { loadSessionOwner } from '../users/sessions.use-cases.js';
import type { User } from '../users/user.js';
import { endToken } from './access-tokens.use-cases.js';

/**
 * Ends everything that acts for a user or is notified: API key, event queues, browser sessions except `except`, tokens,
 * phones, browsers, and email addresses of channels that send as the user.
 */
export async function signOutEverywhere(
  tx: Transaction,
  mint: ApiKeyMint,
  user: Pick<User, 'realmId' | 'id'>,
  now: UnixSeconds,
  except?: SessionId,
): Promise<void> {
  const { realmId, id } = user;
  for (const token of await tx.accessTokens.list(realmId, id)) await endToken(tx, token);
  for (const device of await tx.devices.list(realmId, id)) await removeDevice(tx, device);
  for (const { endpoint, sessionId } of await tx.webPush.list(realmId, [id])) {
    // The session ends the others.
    if (sessionId === null) await tx.webPush.remove(realmId, id, endpoint);
  }
  await tx.channelAddresses.removeOfSender(realmId, id);
  await replaceApiKey(tx, mint, user, { now, except });
}

/** Signs a user out everywhere on behalf of an administrator. */
export class SignOutUser {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, NOT_PERMITTED */
  async execute(caller: Caller, userId: UserId): Promise<void> {
    await this.uow.write(caller.realmId, async (tx) => {
      const user = await loadSessionOwner(tx, caller, userId);
      await signOutEverywhere(tx, this.mint, user, this.clock.now(), caller.sessionId);
    });
  }
}

/** Signs everybody in all organizations out everywhere, also bots. */
export class SignOutEverybody {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  async execute(): Promise<void> {
    for (const { id: realmId } of await this.uow.readAcross(({ realms }) => realms.list())) {
      for (const { id } of await this.uow.read(realmId, ({ users }) => users.listEntries(realmId))) {
        await this.uow.write(realmId, (tx) => signOutEverywhere(tx, this.mint, { realmId, id }, this.clock.now()));
      }
    }
  }
}
