import { DomainError } from '../kernel/errors.js';
import type { AnonymousCaller, RealmId, SessionId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Clock, ReportProblem } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { loadOpenRealm } from '../membership/sign-up.js';
import { unknownRealm } from '../users/authentication.js';
import type { User } from '../users/user.js';
import { completeFlow, type FlowScope, logInExpired, openFlow, sealFlow } from './finish-log-in.js';
import {
  LOG_IN_SECONDS,
  type LogInMethod,
  type LogInProvider,
  type LogInTokens,
  offeredProvider,
  requireUnlinkedOrReport,
} from './log-in-methods.js';
import { SET_UP_SECONDS } from './second-factor-log-in.use-cases.js';

/** Time limit for proving an address by a log-in to its account, which may include setting up a second factor. */
export const CONNECT_SECONDS = LOG_IN_SECONDS + SET_UP_SECONDS;

/** Account at a service with an unproven address, as stored in the browser. */
interface Connection {
  readonly method: string;
  readonly subject: string;
  readonly email: string;
  readonly begunAt: UnixSeconds;
  readonly expiresAt: UnixSeconds;
}

const scopeOf = (realmId: RealmId, state: string): FlowScope => ['connection', realmId, state];

/** Seals a connection for the browser that completed the log-in at the service. */
export function sealConnection(
  tokens: LogInTokens,
  { realmId, state, now }: { readonly realmId: RealmId; readonly state: string; readonly now: UnixSeconds },
  account: Pick<Connection, 'method' | 'subject' | 'email'>,
): string {
  const connection: Connection = { ...account, begunAt: now, expiresAt: now + CONNECT_SECONDS };
  return sealFlow(tokens, scopeOf(realmId, state), connection);
}

/** Log-in with an address that the person has to prove: by the emailed link, or by a log-in to its account here. */
export interface UnprovenLogIn {
  readonly method: LogInMethod;
  readonly unproven: string;
  /** RATE_LIMITED if no link was emailed because of earlier ones; otherwise null. */
  readonly refusedEmail: DomainError | null;
  readonly state: string;
  /** Sealed connection for this browser only. */
  readonly flow: string;
}

export interface ConnectionInput {
  readonly state: string;
  /** Sealed connection sent by the browser; null if it sent none. */
  readonly sealed: string | null;
  /** User logged in to the browser; null without a session. */
  readonly visitor: { readonly userId: UserId; readonly sessionId: SessionId } | null;
}

export interface ConnectionOffer {
  readonly method: LogInMethod;
  readonly email: string;
  /** True if the owner of the address has logged in to the browser since the connection began. */
  readonly isProven: boolean;
}

interface ConnectionParts {
  readonly tokens: LogInTokens;
  readonly providers: readonly LogInProvider[];
  readonly now: UnixSeconds;
}

/** Loads a connection. `owner` is null until the owner of the address has logged in. */
async function loadConnection(
  reads: Repositories | Transaction,
  { tokens, providers, now }: ConnectionParts,
  realmId: RealmId,
  { state, sealed, visitor }: ConnectionInput,
) {
  const realm = await loadOpenRealm(reads, realmId);
  if (sealed === null) throw logInExpired();
  const connection = await openFlow<Connection>(reads, tokens, scopeOf(realmId, state), { sealed, now });
  const { method } = offeredProvider(providers, realm, connection.method);
  const found = await reads.users.findByEmail(realmId, connection.email);
  const isOwner = visitor !== null && found?.isActive === true && found.id === visitor.userId;
  const sessions = isOwner ? await reads.sessions.listOf(realmId, visitor.userId) : [];
  const session = sessions.find(({ id }) => id === visitor?.sessionId);
  // An older session may have been left open for somebody else.
  const isFresh = session !== undefined && session.createdAt >= connection.begunAt;
  return { method, connection, sealed, owner: isFresh ? found : null };
}

/** Returns the account at a service that waits to be connected. */
export class GetConnection {
  static readonly inject = ['unitOfWork', 'logInProviders', 'logInTokens', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly tokens: LogInTokens,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD, LOG_IN_EXPIRED */
  async execute({ realmId }: AnonymousCaller, input: ConnectionInput): Promise<ConnectionOffer> {
    if (realmId === null) throw unknownRealm();
    const parts = { tokens: this.tokens, providers: this.providers, now: this.clock.now() };
    const { method, connection, owner } = await this.uow.read(realmId, (reads) =>
      loadConnection(reads, parts, realmId, input),
    );
    return { method, email: connection.email, isProven: owner !== null };
  }
}

/** Links an account at a service to the user who has proven its address by logging in. */
export class ConnectAccount {
  static readonly inject = ['unitOfWork', 'logInProviders', 'logInTokens', 'clock', 'report'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly providers: readonly LogInProvider[],
    private readonly tokens: LogInTokens,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, UNKNOWN_LOG_IN_METHOD, LOG_IN_EXPIRED, UNVERIFIED_EMAIL,
   * LINKED_TO_ANOTHER_ACCOUNT
   */
  async execute(
    { realmId }: AnonymousCaller,
    input: ConnectionInput,
  ): Promise<{ readonly user: User; readonly method: LogInMethod }> {
    if (realmId === null) throw unknownRealm();
    const { tokens, providers } = this;
    const now = this.clock.now();
    return this.uow.write(realmId, async (tx) => {
      const loaded = await loadConnection(tx, { tokens, providers, now }, realmId, input);
      const { method, sealed, owner } = loaded;
      const { subject, expiresAt } = loaded.connection;
      if (!owner) throw new DomainError('UNVERIFIED_EMAIL', 'Log in to the account with this address first.');
      const account = { method: method.name, subject };
      await requireUnlinkedOrReport(tx, owner, account, this.report);
      // The address may have been proven by email in between, perhaps for another user.
      if ((await tx.logIns.findLinked(realmId, method.name, subject)) !== null) throw logInExpired();
      await completeFlow(tx, tokens, realmId, { sealed, expiresAt });
      await tx.logIns.link(realmId, { ...account, userId: owner.id, linkedAt: now, picture: null });
      return { user: owner, method };
    });
  }
}
