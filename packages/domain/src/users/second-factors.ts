import type { Role } from '../access/roles.js';
import { isAtLeast } from '../access/roles.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { RealmSettings } from '../realms/realm-settings.js';

export const SECOND_FACTOR_ERRORS = declareErrors({
  /** The code or passkey is wrong, or the code was used before. */
  WRONG_SECOND_FACTOR: 'forbidden',
  /** The account has no password for a second factor to protect. */
  NO_PASSWORD: 'conflict',
  /** The organization requires a second factor of the user's role. */
  SECOND_FACTOR_REQUIRED: 'conflict',
  /** The account has 20 passkeys. */
  TOO_MANY_PASSKEYS: 'conflict',
  /** The account has no such second factor. */
  UNKNOWN_SECOND_FACTOR: 'unknown',
});

type SecondFactorErrors = typeof SECOND_FACTOR_ERRORS;

/** Authenticator app that generates codes (RFC 6238). */
export interface AuthenticatorApp {
  /** Secret shared with the app, encrypted by `SecondFactorSecrets`. */
  readonly secret: string;
  /** Time step of the last used code; codes up to this step are no longer valid. */
  readonly lastStep: number;
}

/** Key pair of a device or password manager (WebAuthn); the server stores its public key. */
export interface Passkey {
  /** Base64url, unique in the organization. */
  readonly id: string;
  readonly userId: UserId;
  /** COSE key in base64url. */
  readonly publicKey: string;
  /** Number of signatures reported by the device. */
  readonly counter: number;
  /** Connection types of the device, such as `usb`. */
  readonly transports: readonly string[];
  readonly name: string;
  readonly createdAt: UnixSeconds;
}

export interface SecondFactors {
  readonly app: AuthenticatorApp | null;
  /** Oldest first. */
  readonly passkeys: readonly Passkey[];
  /** Number of unused recovery codes. */
  readonly recoveryCodes: number;
}

export const MAX_PASSKEYS = 20;
/** Length in code points. */
export const MAX_PASSKEY_NAME_LENGTH = 60;
export const RECOVERY_CODES = 10;

/** Recovery codes alone are not a second factor. */
export const hasSecondFactor = ({ app, passkeys }: SecondFactors): boolean => app !== null || passkeys.length > 0;

const LEAST_ROLE = {
  nobody: null,
  owners: 'owner',
  administrators: 'administrator',
  moderators: 'moderator',
  members: 'member',
  everyone: 'guest',
} as const satisfies Readonly<Record<RealmSettings['secondFactorRequiredFor'], Role | null>>;

/** True if the organization requires a second factor for password logins with this role. */
export function requiresSecondFactor({ secondFactorRequiredFor }: RealmSettings, role: Role): boolean {
  const least = LEAST_ROLE[secondFactorRequiredFor];
  return least !== null && isAtLeast(role, least);
}

/** Next step after a correct password: none, a second factor, or setting one up. */
export type SecondStep = 'verify' | 'setUp' | null;

export function secondStepOf(factors: SecondFactors, settings: RealmSettings, role: Role): SecondStep {
  if (hasSecondFactor(factors)) return 'verify';
  return requiresSecondFactor(settings, role) ? 'setUp' : null;
}

export interface SecondFactorReads {
  find(realmId: RealmId, userId: UserId): Promise<SecondFactors>;
  findPasskey(realmId: RealmId, id: string): Promise<Passkey | null>;
  /** True if any user of the organization has an app or a passkey. */
  areUsed(realmId: RealmId): Promise<boolean>;
  hasPasskeys(realmId: RealmId): Promise<boolean>;
}

/** Every implementation passes second-factor-repository.contract.ts. */
export interface SecondFactorRepository extends SecondFactorReads {
  /** Replaces the user's app; null removes it. */
  putApp(realmId: RealmId, userId: UserId, app: AuthenticatorApp | null): Promise<void>;
  /** Adds a passkey or replaces the one with the same id. */
  putPasskey(realmId: RealmId, passkey: Passkey): Promise<void>;
  /** Ignores unknown passkeys and passkeys of other users. */
  removePasskey(realmId: RealmId, userId: UserId, id: string): Promise<void>;
  /** Replaces all recovery codes of the user with these fingerprints. */
  putRecoveryCodes(realmId: RealmId, userId: UserId, fingerprints: readonly string[]): Promise<void>;
  /** Removes the code and returns true, or returns false if the user has no such code. */
  takeRecoveryCode(realmId: RealmId, userId: UserId, fingerprint: string): Promise<boolean>;
}

declare module '../kernel/feature-types.js' {
  interface ErrorCodes extends SecondFactorErrors {}
  interface RepositoryMap {
    secondFactors: [reads: SecondFactorReads, repository: SecondFactorRepository];
  }
}

export const SECOND_FACTOR_FEATURE = {
  notExported: {
    secondFactors: 'They depend on the secret and the address of the original server.',
  },
};

/** Secrets for second factors. Synchronous and fast enough for transactions. */
export interface SecondFactorSecrets {
  /** Returns an app secret in base32, which only this server can derive from the token. */
  appSecret(token: string): string;
  /** Encrypts a text for storage; `open` needs the same `owner`. */
  seal(text: string, owner: string): string;
  /** Returns null for a text of another owner or one sealed with another server secret. */
  open(sealed: string, owner: string): string | null;
  /** Returns a new unguessable code that is easy to type. */
  makeRecoveryCode(): string;
  /** Returns a keyed hash that ignores letter case and separators in the code. */
  fingerprint(recoveryCode: string, owner: string): string;
}

/** One-time codes of authenticator apps. Called outside transactions. */
export interface OneTimeCodes {
  /** Returns the time step of a code, or null if the code is wrong or its step is not after `lastStep`. */
  stepOf(
    secret: string,
    code: string,
    at: { readonly now: UnixSeconds; readonly lastStep: number },
  ): Promise<number | null>;
  /** Returns the rows of a QR code for an app to scan; true marks a dark square. */
  picture(
    secret: string,
    app: { readonly issuer: string; readonly account: string },
  ): Promise<readonly (readonly boolean[])[]>;
}

/** Site to which passkeys are bound. */
export interface PasskeySite {
  /** Base64url. */
  readonly challenge: string;
  /** URL of the organization. */
  readonly url: string;
}

export interface NewPasskeyOptions extends PasskeySite {
  readonly siteName: string;
  /** Identifies the account on the device; at most 64 bytes. */
  readonly userHandle: string;
  readonly userName: string;
  readonly displayName: string;
  readonly existing: readonly Passkey[];
}

export interface PasskeyChecks extends PasskeySite {
  /** True if the device must verify the user, because no password was entered. */
  readonly verifiesPerson: boolean;
}

/** WebAuthn. Called outside transactions. Options and responses are the browser's JSON. */
export interface PasskeyProtocol {
  creationOptions(options: NewPasskeyOptions): Promise<object>;
  /** Returns null if the response is invalid. */
  verifyNew(
    response: string,
    site: PasskeySite,
  ): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports'> | null>;
  /** `passkeys` are the accepted ones; null accepts any that the browser knows. */
  requestOptions(checks: PasskeyChecks & { readonly passkeys: readonly Passkey[] | null }): Promise<object>;
  /** Returns the id of the passkey in a response, or null. */
  idIn(response: string): string | null;
  /** Returns the new counter, or null if the response is invalid. */
  verify(response: string, passkey: Passkey, checks: PasskeyChecks): Promise<number | null>;
}

/** Name that identifies the account in sealed secrets. */
export const ownerOf = ({ realmId, id }: { readonly realmId: RealmId; readonly id: UserId }): string =>
  `${realmId}:${id}`;

/** Removes all second factors of a user. Returns false if there were none. */
export async function clearSecondFactors(
  tx: Transaction,
  { realmId, id }: { readonly realmId: RealmId; readonly id: UserId },
): Promise<boolean> {
  const factors = await tx.secondFactors.find(realmId, id);
  if (!hasSecondFactor(factors)) return false;
  await tx.secondFactors.putApp(realmId, id, null);
  for (const passkey of factors.passkeys) await tx.secondFactors.removePasskey(realmId, id, passkey.id);
  await tx.secondFactors.putRecoveryCodes(realmId, id, []);
  return true;
}

export const wrongSecondFactor = () =>
  new DomainError('WRONG_SECOND_FACTOR', 'That did not match. Try again with a new code.');
