import { DomainError, declareErrors } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { ReportProblem } from '../kernel/ports.js';
import { foldCase } from '../kernel/text.js';
import type { StatedRole } from '../membership/stated-roles.js';
import type { Realm } from '../realms/realm.js';
import type { AuthenticationMethod } from '../realms/realm-settings.js';
import { isEmailAddress, type User } from '../users/user.js';

export const LOG_IN_METHOD_ERRORS = declareErrors({
  /** The app's pad or key is not 32 bytes in hexadecimal. */
  INVALID_ONE_TIME_PAD: 'invalid',
  /** The organization does not offer this log-in method. */
  UNKNOWN_LOG_IN_METHOD: 'unknown',
  /** The log-in took too long, was already completed, or was started in another browser or with another method. */
  LOG_IN_EXPIRED: 'conflict',
  /** The service did not confirm the identity, or the user declined. */
  LOG_IN_REFUSED: 'unauthenticated',
  /** The service cannot be reached or is misconfigured. */
  LOG_IN_SERVICE_FAILED: 'conflict',
  /** The service has not verified the email address. */
  UNVERIFIED_EMAIL: 'forbidden',
  /** The address belongs to a user linked to another account. */
  LINKED_TO_ANOTHER_ACCOUNT: 'conflict',
});

type LogInMethodErrors = typeof LOG_IN_METHOD_ERRORS;

/** Way to log in at an external service (protocol §10). */
export interface LogInMethod {
  /** Unique and stable, since links refer to it: letters, digits and hyphens. */
  readonly name: string;
  /** Authentication method by which an organization enables this one; `host`: always enabled. */
  readonly kind: AuthenticationMethod | 'host';
  readonly displayName: string;
  /** URL of an image. */
  readonly displayIcon: string | null;
  /** String ids of the organizations that may use the method; null for all. */
  readonly realms: readonly string[] | null;
  /** True if addresses count as verified unless the service says otherwise. Defaults to false. */
  readonly trustsEmails?: boolean;
  /** True to create accounts without an invitation. Defaults to the organization's open sign-up. */
  readonly createsPeople?: boolean;
}

/** A service's statement about one email address. */
export interface EmailStatement {
  /** Null if the service does not name the address. */
  readonly email: string | null;
  readonly isVerified: boolean;
}

/** Person authenticated by a service. */
export interface ExternalIdentity {
  /** Immutable account id at the service. */
  readonly subject: string;
  readonly email: string | null;
  /** All statements by the service about the person's email addresses. */
  readonly emailStatements: readonly EmailStatement[];
  readonly fullName: string | null;
  /** Null if the service does not determine the role, or sent an incomplete list of roles. */
  readonly role: StatedRole | null;
  /** URL of the person's picture; absent or null without one. */
  readonly picture?: string | null;
  /** Session id at the service; absent or null without one. */
  readonly serviceSession?: string | null;
  /** Membership by user group name. Other groups are not determined by the service. */
  readonly groups?: ReadonlyMap<string, boolean>;
  /** Missing parts of the service's response, for its administrators. */
  readonly problems?: readonly string[];
}

/** A service's notice that a user logged out there. */
export interface ServiceLogOut {
  readonly subject: string;
  /** Session that has ended; null for all sessions of the account. */
  readonly session: string | null;
  readonly at: UnixSeconds;
}

/** Secrets of one log-in, derived from `state`, which only the browser has. */
export interface LogInChallenge {
  readonly state: string;
  readonly nonce: string;
  /** Code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** URL of the organization to which the service redirects the browser. */
  readonly callbackUrl: string;
}

/** Request with which the browser returns. */
export interface LogInResponse {
  readonly url: string;
  /** Form fields; empty for a redirect. */
  readonly fields: ReadonlyMap<string, string>;
}

/** The service itself, not the browser, reports an unknown client or a wrong or expired secret. */
export class ClientRejected extends Error {}

/** Service that authenticates users in the browser. Called outside transactions. */
export interface LogInProvider {
  readonly method: LogInMethod;
  /** Returns the URL to which the browser is redirected. */
  begin(challenge: LogInChallenge): Promise<string>;
  /** @throws DomainError LOG_IN_REFUSED, ClientRejected; any other error counts as a service failure */
  identify(challenge: LogInChallenge, response: LogInResponse): Promise<ExternalIdentity>;
  /** Returns the URL that logs a browser out of the service and redirects it to `returnUrl`; null without one. */
  logOutUrl?(returnUrl: string): Promise<string | null>;
  /** @throws DomainError LOG_IN_REFUSED if the service did not send the notice */
  readLogOut?(token: string): Promise<ServiceLogOut>;
  /** Returns metadata that describes this server, if the service supports it. */
  metadata?(callbackUrl: string): string;
  /** Tests the configuration with the organizations' callback URLs. @throws Error describing the problem */
  check?(callbackUrls: readonly string[]): Promise<void>;
}

/** Requested result of a log-in. */
export type LogInPurpose =
  | { readonly kind: 'session'; readonly next: string }
  /** API key for a phone app, encrypted with the app's one-time pad (protocol §8.2). */
  | { readonly kind: 'phone'; readonly otp: string }
  /** Session token for the desktop app, encrypted with the app's key. */
  | { readonly kind: 'desktop'; readonly otp: string };

/** True for one-time pads and keys of apps: 32 bytes in hexadecimal. */
export const isOneTimePad = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

/** Time limit for completing a log-in. */
export const LOG_IN_SECONDS = 300;
/** Account picture that became the user's avatar. */
export interface LinkedPicture {
  /** URL, or digest of a picture without a URL. */
  readonly source: string;
  /** Avatar version; if it differs, the user has since chosen another avatar. */
  readonly version: number;
}

/** External account linked to a user. */
export interface LinkedAccount {
  readonly method: string;
  readonly subject: string;
  readonly userId: UserId;
  readonly linkedAt: UnixSeconds;
  /** Null if the avatar was never made from the account's picture. */
  readonly picture: LinkedPicture | null;
}

export interface LogInReads {
  /** True after `use`, until the record is removed. */
  isUsed(realmId: RealmId, fingerprint: string): Promise<boolean>;
  /** Returns null if no user is linked to the account. */
  findLinked(realmId: RealmId, method: string, subject: string): Promise<UserId | null>;
  /** Returns users linked to an account of this method; ascending. */
  listUserIdsOf(realmId: RealmId, method: string): Promise<readonly UserId[]>;
  /** Ascending method. */
  listLinked(realmId: RealmId, userId: UserId): Promise<readonly LinkedAccount[]>;
}

/** Every implementation passes log-in-repository.contract.ts. */
export interface LogInRepository extends LogInReads {
  /** Records until expiry that a log-in was completed. Returns false if it was already recorded. */
  use(realmId: RealmId, fingerprint: string, expiresAt: UnixSeconds): Promise<boolean>;
  /** Removes at most `limit` records in all realms that expire at `now` or earlier. Returns the number removed. */
  removeExpiredUses(now: UnixSeconds, limit: number): Promise<number>;
  /**
   * Adds a link. Each user has at most one account per method, and each account one user: existing links of either are
   * replaced.
   */
  link(realmId: RealmId, account: LinkedAccount): Promise<void>;
  /** Removes the user's link of the method. Returns false if there is none. */
  unlink(realmId: RealmId, userId: UserId, method: string): Promise<boolean>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends LogInMethodErrors {}
  interface RepositoryMap {
    logIns: [reads: LogInReads, repository: LogInRepository];
  }
}

export const LOG_IN_METHOD_FEATURE = {
  notExported: {
    logIns: 'Accounts at services belong to the server that is registered there.',
  },
};

/** Creates the secrets of log-ins in progress. Synchronous and fast enough for transactions. */
export interface LogInTokens {
  /** Returns a new unguessable token. */
  make(): string;
  /** Returns a keyed hash of the token for look-ups. */
  fingerprint(token: string): string;
  /** Returns 32 bytes in hexadecimal that only this server can derive from the token. */
  derive(token: string, use: 'nonce' | 'verifier'): string;
  /** Encrypts a text so that only this server can open it, with the same context. Returns base64url. */
  seal(text: string, context: string): string;
  /** Returns null unless `seal` returned exactly this text for the context. */
  open(sealed: string, context: string): string | null;
  /** Encrypts a text for an app with its key (32 bytes in hexadecimal). Returns hexadecimal. */
  encryptFor(key: string, text: string): string;
}

/** `vouched`: belongs to the user. `unproven`: the user has to prove it. `missing`: no valid address. */
export type AddressStanding = 'vouched' | 'unproven' | 'missing';

/** Determines whether an identity may log in to, or join with, the account with its address. */
export function addressStanding(
  { email, emailStatements }: Pick<ExternalIdentity, 'email' | 'emailStatements'>,
  { trustsEmails = false }: Pick<LogInMethod, 'trustsEmails'>,
): AddressStanding {
  if (email === null || !isEmailAddress(email)) return 'missing';
  if (emailStatements.some(({ isVerified }) => !isVerified)) return 'unproven';
  const isVerified = emailStatements.some((it) => it.email !== null && foldCase(it.email) === foldCase(email));
  return isVerified || trustsEmails ? 'vouched' : 'unproven';
}

/** True if users without an invitation get an account through this method. */
export const admitsStrangers = (
  { createsPeople }: Pick<LogInMethod, 'createsPeople'>,
  { settings }: Pick<Realm, 'settings'>,
): boolean => createsPeople ?? !settings.inviteRequired;

/**
 * Checks that the user has no account of this method yet. A linked account is identified by its id alone, since
 * services reassign addresses of former users. @throws DomainError LINKED_TO_ANOTHER_ACCOUNT
 */
export async function requireUnlinked(
  { logIns }: { readonly logIns: LogInReads },
  { realmId, id }: Pick<User, 'realmId' | 'id'>,
  method: string,
): Promise<void> {
  const accounts = await logIns.listLinked(realmId, id);
  if (!accounts.some((account) => account.method === method)) return;
  throw new DomainError(
    'LINKED_TO_ANOTHER_ACCOUNT',
    'Your email address belongs to a user who logs in with another account of this service. Ask an administrator to release the address.',
  );
}

/** Reports conflicts to the operator. @throws DomainError LINKED_TO_ANOTHER_ACCOUNT */
export async function requireUnlinkedOrReport(
  reads: { readonly logIns: LogInReads },
  user: Pick<User, 'realmId' | 'id'>,
  { method, subject }: Pick<LinkedAccount, 'method' | 'subject'>,
  report: ReportProblem,
): Promise<void> {
  try {
    await requireUnlinked(reads, user, method);
  } catch (err) {
    const { realmId, id: userId } = user;
    const fields = { method, subject, realmId, userId };
    report('a log-in was refused because the user is linked to another account of the service', fields);
    throw err;
  }
}

/** True if the operator configured the method for the organization. */
export const isMeantFor = ({ realms }: LogInMethod, { stringId }: Pick<Realm, 'stringId'>): boolean =>
  realms === null || realms.includes(stringId);

/** True if the organization's users may log in with this method. */
export const isOffered = (method: LogInMethod, realm: Realm): boolean =>
  isMeantFor(method, realm) && (method.kind === 'host' || realm.settings[method.kind]);

/** Returns the organization's methods in configuration order. */
export const offeredMethods = (providers: readonly LogInProvider[], realm: Realm): readonly LogInMethod[] =>
  providers.map(({ method }) => method).filter((method) => isOffered(method, realm));

/** @throws DomainError UNKNOWN_LOG_IN_METHOD */
export function offeredProvider(providers: readonly LogInProvider[], realm: Realm, name: string): LogInProvider {
  const found = providers.find(({ method }) => method.name === name && isOffered(method, realm));
  if (found) return found;
  throw new DomainError('UNKNOWN_LOG_IN_METHOD', 'There is no such way to log in.');
}

/** XORs two texts in hexadecimal. */
export const xorHex = (one: string, other: string): string =>
  [...one]
    .map((digit, index) => (Number.parseInt(digit, 16) ^ Number.parseInt(other[index]!, 16)).toString(16))
    .join('');

/** Encodes an API key for phone apps: its characters in hexadecimal, XORed with the app's pad. */
export const encryptKey = (apiKey: string, otp: string): string =>
  xorHex([...apiKey].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join(''), otp);
