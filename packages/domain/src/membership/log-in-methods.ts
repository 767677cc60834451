import { DomainError, declareErrors } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { foldCase } from '../kernel/text.js';
import type { Realm } from '../realms/realm.js';
import type { AuthenticationMethod } from '../realms/realm-settings.js';
import { isEmailAddress, type User } from '../users/user.js';
import type { StatedRole } from './stated-roles.js';

export const LOG_IN_METHOD_ERRORS = declareErrors({
  /** The app's pad or key is not 32 bytes in hexadecimal. */
  INVALID_ONE_TIME_PAD: 'invalid',
  /** The organization offers no such method. */
  UNKNOWN_LOG_IN_METHOD: 'unknown',
  /** The log-in took too long, was completed before, or was begun in another browser or with another method. */
  LOG_IN_EXPIRED: 'conflict',
  /** The service did not confirm the identity, or the person declined. */
  LOG_IN_REFUSED: 'unauthenticated',
  /** The service cannot be reached or is misconfigured. */
  LOG_IN_SERVICE_FAILED: 'conflict',
  /** The service does not vouch for the email address, which could belong to somebody else. */
  UNVERIFIED_EMAIL: 'forbidden',
  /** The user with the email address is linked to another account of the service. */
  LINKED_TO_ANOTHER_ACCOUNT: 'conflict',
});

type LogInMethodErrors = typeof LOG_IN_METHOD_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends LogInMethodErrors {}
}

/** Way to log in at another service (protocol §10). */
export interface LogInMethod {
  /** Unique and stable, since links name it: letters, digits and hyphens. */
  readonly name: string;
  /** Setting by which an organization enables the method; `host`: always enabled. */
  readonly kind: AuthenticationMethod | 'host';
  readonly displayName: string;
  /** URL of an image. */
  readonly displayIcon: string | null;
  /** String ids of the organizations that may use the method; null for all. */
  readonly realms: readonly string[] | null;
  /** True if an address without a statement of the service counts as verified. Defaults to false. */
  readonly trustsEmails?: boolean;
  /** True if people get an account without an invitation. Defaults to the open sign-up of the organization. */
  readonly createsPeople?: boolean;
}

/** Statement of a service about one address. */
export interface EmailStatement {
  /** Null if the service does not name the address. */
  readonly email: string | null;
  readonly isVerified: boolean;
}

/** Person whom a service has authenticated. */
export interface ExternalIdentity {
  /** Id of the account at the service, which never changes. */
  readonly subject: string;
  readonly email: string | null;
  /** All statements of the service about addresses of the person. */
  readonly emailStatements: readonly EmailStatement[];
  readonly fullName: string | null;
  /** Null if the service does not determine the role, or sent no complete list of roles. */
  readonly role: StatedRole | null;
  /** Address of a picture of the person; absent or null without one. */
  readonly picture?: string | null;
  /** Id of the session at the service; absent or null without one. */
  readonly serviceSession?: string | null;
  /** Membership by name of a group of the organization. The service does not determine other groups. */
  readonly groups?: ReadonlyMap<string, boolean>;
  /** Parts that the service should have sent, for its administrators. */
  readonly problems?: readonly string[];
}

/** Notice of a service that somebody logged out there. */
export interface ServiceLogOut {
  readonly subject: string;
  /** Session that has ended; null for all sessions of the account. */
  readonly session: string | null;
  readonly at: UnixSeconds;
}

/** Secrets of one log-in. They derive from `state`, which only the browser has. */
export interface LogInChallenge {
  readonly state: string;
  readonly nonce: string;
  /** Code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Address of the organization to which the service sends the browser back. */
  readonly callbackUrl: string;
}

/** Request with which the browser comes back. */
export interface LogInResponse {
  readonly url: string;
  /** Fields of a form; empty for a link. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Service that authenticates people in the browser. Called outside transactions. */
export interface LogInProvider {
  readonly method: LogInMethod;
  /** Returns the address to which the browser goes. */
  begin(challenge: LogInChallenge): Promise<string>;
  /** @throws DomainError LOG_IN_REFUSED; any other error counts as failure of the service */
  identify(challenge: LogInChallenge, response: LogInResponse): Promise<ExternalIdentity>;
  /** Returns the address at which a browser also logs out of the service, which then sends it back; null without one. */
  logOutUrl?(returnUrl: string): Promise<string | null>;
  /** @throws DomainError LOG_IN_REFUSED if the notice is not one of the service */
  readLogOut?(token: string): Promise<ServiceLogOut>;
  /** Describes this server to the service, as far as the service reads descriptions. */
  metadata?(callbackUrl: string): string;
  /** Tries the configuration with the addresses of organizations. @throws Error that says what is wrong */
  check?(callbackUrls: readonly string[]): Promise<void>;
}

/** Result for which somebody logs in. */
export type LogInPurpose =
  | { readonly kind: 'session'; readonly next: string }
  /** API key for an app of a phone, encrypted with the app's one-time pad (protocol §8.2). */
  | { readonly kind: 'phone'; readonly otp: string }
  /** Token for a session of the desktop app, encrypted with the app's key. */
  | { readonly kind: 'desktop'; readonly otp: string };

/** One-time pads and keys of apps: 32 bytes in hexadecimal. */
export const isOneTimePad = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

/** Time in which a log-in must be completed. */
export const LOG_IN_SECONDS = 300;
/** Picture of an account that became the user's avatar. */
export interface LinkedPicture {
  /** Address, or digest of a picture without one. */
  readonly source: string;
  /** Version of the avatar; the user has chosen another one since if it differs. */
  readonly version: number;
}

/** Account at a service that belongs to a user. */
export interface LinkedAccount {
  readonly method: string;
  readonly subject: string;
  readonly userId: UserId;
  readonly linkedAt: UnixSeconds;
  /** Null if the avatar was never made of the account's picture. */
  readonly picture: LinkedPicture | null;
}

export interface LogInReads {
  /** True after `use`, until the use is removed. */
  isUsed(realmId: RealmId, fingerprint: string): Promise<boolean>;
  /** Returns null if no user is linked to the account. */
  findLinked(realmId: RealmId, method: string, subject: string): Promise<UserId | null>;
  /** Returns the users who have an account of the method; ascending. */
  listUserIdsOf(realmId: RealmId, method: string): Promise<readonly UserId[]>;
  /** Ascending method. */
  listLinked(realmId: RealmId, userId: UserId): Promise<readonly LinkedAccount[]>;
}

/** Every implementation passes log-in-repository.contract.ts. */
export interface LogInRepository extends LogInReads {
  /** Records that a log-in was completed, until it expires. Returns false if it was before. */
  use(realmId: RealmId, fingerprint: string, expiresAt: UnixSeconds): Promise<boolean>;
  /** Removes uses of all realms that expire at `now` or earlier, at most `limit`. Returns the number removed. */
  removeExpiredUses(now: UnixSeconds, limit: number): Promise<number>;
  /** Adds a link. A user's account at a service and a service's account are linked at most once: replaces either. */
  link(realmId: RealmId, account: LinkedAccount): Promise<void>;
  /** Removes the user's link of the method. Returns false if there is none. */
  unlink(realmId: RealmId, userId: UserId, method: string): Promise<boolean>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    logIns: [reads: LogInReads, repository: LogInRepository];
  }
}

export const LOG_IN_METHOD_FEATURE = {
  notExported: {
    logIns: 'Accounts at services belong to the server that is registered there.',
  },
};

/** Creates secrets of log-ins in progress. Synchronous and fast enough for transactions. */
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
  /** Encrypts a text for the app that made the key (32 bytes in hexadecimal). Returns hexadecimal. */
  encryptFor(key: string, text: string): string;
}

/** `vouched`: belongs to the person. `unproven`: the person has to prove it. `missing`: no valid address. */
export type AddressStanding = 'vouched' | 'unproven' | 'missing';

/** Decides if an identity may log in to the account with its address, or join with it. */
export function addressStanding(
  { email, emailStatements }: Pick<ExternalIdentity, 'email' | 'emailStatements'>,
  { trustsEmails = false }: Pick<LogInMethod, 'trustsEmails'>,
): AddressStanding {
  if (email === null || !isEmailAddress(email)) return 'missing';
  if (emailStatements.some(({ isVerified }) => !isVerified)) return 'unproven';
  const isVerified = emailStatements.some((it) => it.email !== null && foldCase(it.email) === foldCase(email));
  return isVerified || trustsEmails ? 'vouched' : 'unproven';
}

/** True if people without an invitation get an account by the method. */
export const admitsStrangers = (
  { createsPeople }: Pick<LogInMethod, 'createsPeople'>,
  { settings }: Pick<Realm, 'settings'>,
): boolean => createsPeople ?? !settings.inviteRequired;

/**
 * Checks that the user has no account of the method yet. A linked account follows its id alone, since services give
 * addresses of former people to others. @throws DomainError LINKED_TO_ANOTHER_ACCOUNT
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

/** True if the operator configured the method for the organization. */
export const isMeantFor = ({ realms }: LogInMethod, { stringId }: Pick<Realm, 'stringId'>): boolean =>
  realms === null || realms.includes(stringId);

/** True if people of the organization may log in with the method. */
export const isOffered = (method: LogInMethod, realm: Realm): boolean =>
  isMeantFor(method, realm) && (method.kind === 'host' || realm.settings[method.kind]);

/** Methods that the organization offers, in order of their configuration. */
export const offeredMethods = (providers: readonly LogInProvider[], realm: Realm): readonly LogInMethod[] =>
  providers.map(({ method }) => method).filter((method) => isOffered(method, realm));

/** @throws DomainError UNKNOWN_LOG_IN_METHOD */
export function offeredProvider(providers: readonly LogInProvider[], realm: Realm, name: string): LogInProvider {
  const found = providers.find(({ method }) => method.name === name && isOffered(method, realm));
  if (found) return found;
  throw new DomainError('UNKNOWN_LOG_IN_METHOD', 'There is no such way to log in.');
}

/** Bytes of two texts in hexadecimal, combined by exclusive or. */
export const xorHex = (one: string, other: string): string =>
  [...one]
    .map((digit, index) => (Number.parseInt(digit, 16) ^ Number.parseInt(other[index]!, 16)).toString(16))
    .join('');

/** API key as an app of a phone decrypts it: its characters in hexadecimal, combined with the app's pad. */
export const encryptKey = (apiKey: string, otp: string): string =>
  xorHex([...apiKey].map((letter) => letter.charCodeAt(0).toString(16).padStart(2, '0')).join(''), otp);
