import type { IncomingMessage } from 'node:http';
import type { UnitOfWork } from '@parley/domain/kernel';
import type { ExternalIdentity, LogInChallenge, LogInMethod, LogInProvider } from '@parley/domain/log-in';
import { findHostUser, type HostUserReference } from '@parley/domain/membership';
import { type Authenticator, type Identity, type Logger, type Request, unauthorized, warn } from '@parley/http';
import type { RealmResolver } from '../kernel/realm-resolver.js';
import { shown } from '../kernel/values.js';
import { argument, TEXT } from './argument-types.js';
import { referenceOf, type UserRef } from './references.js';

/** User whom the host application has logged in. */
export type HostIdentity = UserRef;

/** Returns the logged-in user; null if the host application knows none. The request may still carry an API key. */
export type HostAuthenticate = (request: IncomingMessage) => Promise<HostIdentity | null>;

/** Authenticates through the host application's own login, regardless of the request's host name. */
export class HostAuthenticator implements Authenticator {
  constructor(
    private readonly authenticateByHost: HostAuthenticate,
    private readonly uow: UnitOfWork,
    private readonly realmResolver: RealmResolver,
    private readonly logger: Logger,
  ) {}

  /** Rejects callers whom the application names but Parley does not know, and logs the application's mistake. */
  async authenticate(request: Request): Promise<Identity | null> {
    const response = await this.authenticateByHost(request.raw);
    if (!response) return null;
    let reference: HostUserReference;
    try {
      argument('realm', TEXT, response.realm);
      reference = referenceOf(response);
    } catch (error) {
      throw this.unknown((error as Error).message);
    }
    const { realm: stringId } = response;
    const realmId = await this.realmResolver.findByStringId(stringId);
    if (realmId === null) throw this.unknown(`there is no organization ${shown(stringId)}`);
    return this.uow.read(realmId, async (repositories) => {
      const user = await findHostUser(repositories, realmId, reference);
      if (!user) throw this.unknown(`${shown(stringId)} has no user ${shown(Object.values(reference)[0])}`);
      const realm = await repositories.realms.get(realmId);
      if (realm.isDeactivated) throw unauthorized('This organization has been deactivated');
      if (!user.isActive) throw unauthorized('Account is deactivated');
      return { realmId, userId: user.id, isHostLogin: true, botKind: user.bot?.kind ?? null };
    });
  }

  private unknown(reason: string): Error {
    warn(this.logger, { reason }, `authenticate() named an unknown caller: ${reason}`);
    return unauthorized('Account is unknown to this server');
  }
}

/** Log-in of the host application, as browsers find it. */
export interface HostLogIn {
  /** Address of the application's log-in page. `{next}` is replaced by the address to return to, else `next` is added. */
  readonly url: string;
  readonly name?: string | undefined;
  /** URL of an image. */
  readonly icon?: string | undefined;
}

/** Sends browsers to the host application's log-in; `authenticate` recognizes them when they come back. */
export class HostLogInProvider implements LogInProvider {
  readonly method: LogInMethod;
  private readonly address: string;

  constructor({ url, name, icon }: HostLogIn) {
    this.address = url;
    const displayName = name ?? new URL(url).hostname;
    this.method = { name: 'host', kind: 'host', displayName, displayIcon: icon ?? null, realms: null };
  }

  async begin({ callbackUrl, state }: LogInChallenge): Promise<string> {
    const next = `${callbackUrl}?${new URLSearchParams({ state })}`;
    if (this.address.includes(NEXT)) return this.address.replace(NEXT, encodeURIComponent(next));
    const url = new URL(this.address);
    url.searchParams.set('next', next);
    return url.href;
  }

  /** Never called, since the request itself shows who the user is. */
  async identify(): Promise<ExternalIdentity> {
    throw new Error('The host application identifies its users by their requests');
  }
}

const NEXT = '{next}';
