import { removeSessions } from '../access/credentials.js';
import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller } from '../kernel/ids.js';
import type { RealmUrls, ReportProblem } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { unknownRealm } from '../users/authentication.js';
import type { User } from '../users/user.js';
import { type LogInProvider, offeredProvider } from './log-in-methods.js';
import { serviceFailed } from './log-in-service-failures.js';

/** Finds the log-out URL of the service at which a browser logged in. */
export class FindServiceLogOut {
  static readonly inject = ['unitOfWork', 'logInProviders', 'realmUrls', 'report'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly realmUrls: RealmUrls,
    private readonly report: ReportProblem,
  ) {}

  /** `method`: log-in method of the ended session. Returns null if it is not a service with a log-out URL. */
  async execute({ realmId }: AnonymousCaller, method: string | null): Promise<string | null> {
    const provider = this.providers.find((it) => it.method.name === method);
    if (realmId === null || !provider?.logOutUrl) return null;
    const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    try {
      return await provider.logOutUrl(`${this.realmUrls.urlOf(realm)}/login/`);
    } catch (err) {
      // The user is logged out here even if the service fails.
      this.report('a log-in service failed', { err, method }, 'warn');
      return null;
    }
  }
}

/** Ends the sessions of a user who logged out of a service, reported by Back-Channel Logout (OpenID Connect). */
export class EndServiceSessions {
  static readonly inject = ['unitOfWork', 'logInProviders', 'report'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly report: ReportProblem,
  ) {}

  /**
   * Returns the user; null if the account is not linked. @throws DomainError UNKNOWN_REALM, UNKNOWN_LOG_IN_METHOD,
   * LOG_IN_REFUSED, LOG_IN_SERVICE_FAILED
   */
  async execute(
    { realmId }: AnonymousCaller,
    { method, token }: { readonly method: string; readonly token: string },
  ): Promise<User | null> {
    if (realmId === null) throw unknownRealm();
    const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    const provider = offeredProvider(this.providers, realm, method);
    if (!provider.readLogOut) throw new DomainError('UNKNOWN_LOG_IN_METHOD', 'There is no such way to log in.');
    const { subject, session, at } = await provider.readLogOut(token).catch((err) => {
      if (err instanceof DomainError) throw err;
      this.report('a log-in service failed', { err, method }, 'warn');
      throw serviceFailed();
    });
    return this.uow.write(realmId, async (tx) => {
      const userId = await tx.logIns.findLinked(realmId, method, subject);
      const user = userId && (await tx.users.find(realmId, userId));
      if (!user) return null;
      // A repeated notice does not end later sessions.
      const ended = (await tx.sessions.listOf(realmId, user.id)).filter(
        (it) => it.method === method && it.createdAt <= at && (session === null || it.serviceSession === session),
      );
      await removeSessions(
        tx,
        user,
        ended.map(({ id }) => id),
      );
      return user;
    });
  }
}
