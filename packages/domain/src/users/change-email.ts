import { DomainError } from '../kernel/errors.js';
import { nobody } from '../kernel/event.js';
import { allowed, type Decision, denied } from '../kernel/permission.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { AllowedDomain } from '../realms/allowed-domains.js';
import type { Realm } from '../realms/realm.js';
import { isEmailAddress, parseFullName, type User } from './user.js';
import { accessorsOf } from './user-delivery.js';

/** Domains of disposable email services. */
export interface DisposableDomains {
  /** `domain` is in lower case. */
  has(domain: string): boolean;
}

/** Realm policy for emails. */
export interface AddressPolicy {
  readonly realm: Pick<Realm, 'settings'>;
  /** Allowed domains; loaded only if the realm restricts emails. */
  readonly domains: readonly AllowedDomain[];
  readonly disposable: DisposableDomains;
}

/** Loads the allowed domains only if needed. */
export async function loadAddressPolicy(
  { allowedDomains }: Pick<Repositories | Transaction, 'allowedDomains'>,
  realm: Realm,
  disposable: DisposableDomains,
): Promise<AddressPolicy> {
  const domains = realm.settings.emailsRestrictedToDomains ? await allowedDomains.list(realm.id) : [];
  return { realm, domains, disposable };
}

export type AddressFault = 'outsideDomain' | 'disposable' | 'containsPlus';

/**
 * Returns the reason why the email may not join the realm, or null (organization §5). With restricted domains, only the
 * domain list counts, and an empty list rejects every email. `email` must satisfy `isEmailAddress`.
 */
export function addressFault(email: string, { realm, domains, disposable }: AddressPolicy): AddressFault | null {
  const { emailsRestrictedToDomains, disallowDisposableEmailAddresses } = realm.settings;
  const at = email.lastIndexOf('@');
  const domain = foldCase(email.slice(at + 1));
  if (!emailsRestrictedToDomains) {
    return disallowDisposableEmailAddresses && disposable.has(domain) ? 'disposable' : null;
  }
  const isListed = domains.some(
    (listed) => domain === listed.domain || (listed.allowsSubdomains && domain.endsWith(`.${listed.domain}`)),
  );
  if (!isListed) return 'outsideDomain';
  return email.slice(0, at).includes('+') ? 'containsPlus' : null;
}

/** Operation with its own error texts (organization §5, users §6.2). */
export type JoiningStep = 'createUser' | 'joinForm' | 'emailChange' | 'invitation';

const PLUS = 'Email addresses containing + are not allowed';
const SHORT_TEXTS: Readonly<Record<AddressFault, string>> = {
  outsideDomain: 'Outside your domain.',
  disposable: 'Please use your real email address.',
  containsPlus: `${PLUS}.`,
};

const TEXTS: Readonly<Record<JoiningStep, (email: string) => Readonly<Record<AddressFault, string>>>> = {
  createUser: (email) => ({
    outsideDomain: `Email '${email}' not allowed in this organization`,
    disposable: 'Disposable email addresses are not allowed in this organization',
    containsPlus: `${PLUS}.`,
  }),
  joinForm: (email) => ({
    outsideDomain: `Your email address, ${email}, is not in one of the domains that are allowed to register for accounts in this organization.`,
    disposable: 'Please use your real email address.',
    containsPlus: `${PLUS} in this organization.`,
  }),
  emailChange: () => SHORT_TEXTS,
  invitation: () => SHORT_TEXTS,
};

export const addressFaultText = (step: JoiningStep, email: string, fault: AddressFault): string =>
  TEXTS[step](email)[fault];

/** Checks the email on account creation and email changes by any caller (organization §5). */
export function canJoinWith(email: string, policy: AddressPolicy, step: JoiningStep): Decision {
  const fault = addressFault(email, policy);
  return fault === null ? allowed : denied('EMAIL_NOT_ALLOWED', addressFaultText(step, email, fault));
}

/** Returns the reason why the user cannot have this email, or null (users §6.2). */
export async function newEmailProblem(
  repositories: Pick<Repositories | Transaction, 'users' | 'allowedDomains'>,
  user: User,
  realm: Realm,
  email: string,
  disposable: DisposableDomains,
): Promise<DomainError | null> {
  if (!isEmailAddress(email)) return new DomainError('INVALID_EMAIL', 'Invalid address.');
  const fault = addressFault(email, await loadAddressPolicy(repositories, realm, disposable));
  if (fault !== null) return new DomainError('EMAIL_NOT_ALLOWED', addressFaultText('emailChange', email, fault));
  // A different spelling of the user's own email is allowed.
  if (foldCase(email) === foldCase(user.email)) return null;
  const [owner] = await repositories.users.listByEmail(realm.id, [email]);
  if (owner?.bot?.isSystem) return new DomainError('EMAIL_RESERVED', 'Reserved for system bots.');
  if (owner?.isActive) return new DomainError('EMAIL_TAKEN', 'Already has an account.');
  return owner ? new DomainError('EMAIL_OF_DEACTIVATED_USER', 'Account has been deactivated.') : null;
}

/** Changes a user's email and notifies users who can see it (users §3.2). @throws DomainError EMAIL_TAKEN */
export async function changeEmail(tx: Transaction, user: User, email: string): Promise<User> {
  const changed = await tx.users.update({ ...user, email });
  // API keys are looked up by email.
  await tx.events.append(user.realmId, {
    event: { type: 'user.credentials_changed', userId: user.id },
    audience: nobody,
  });
  await tx.events.append(user.realmId, {
    event: { type: 'user.email_changed', user: changed },
    audience: accessorsOf(user.id),
  });
  return changed;
}

/** Returns the trimmed name if it is valid (users §3.3). @throws DomainError INVALID_USER_NAME, USER_NAME_TAKEN */
export async function acceptedName(
  { users }: Pick<Repositories | Transaction, 'users'>,
  realm: Realm,
  user: Pick<User, 'id'>,
  raw: string,
  shortest?: number,
): Promise<string> {
  const fullName = parseFullName(raw, shortest);
  if (realm.settings.requireUniqueNames && (await users.isNameTaken(realm.id, fullName, user.id))) {
    throw new DomainError('USER_NAME_TAKEN', 'Unique names required in this organization.');
  }
  return fullName;
}

/** `fullName`: result of `acceptedName`. Does nothing if the name is unchanged. */
export async function rename(tx: Transaction, user: User, fullName: string): Promise<User> {
  if (fullName === user.fullName) return user;
  const changed = await tx.users.update({ ...user, fullName });
  const event = { type: 'user.name_changed', userId: user.id, fullName } as const;
  await tx.events.append(user.realmId, { event, audience: accessorsOf(user.id) });
  return changed;
}
