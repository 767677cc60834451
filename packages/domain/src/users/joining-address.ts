import { allowed, type Decision, denied } from '../kernel/permission.js';
import { foldCase } from '../kernel/text.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import type { AllowedDomain } from '../realms/allowed-domains/allowed-domain.js';
import type { Realm } from '../realms/realm.js';

/** The domains of services that hand out addresses to be thrown away. */
export interface DisposableDomains {
  /** `domain` is in lower case. */
  has(domain: string): boolean;
}

/** What an organization decides addresses by. */
export interface AddressPolicy {
  readonly realm: Pick<Realm, 'settings'>;
  /** Those that it lists; asked only where addresses are restricted to them. */
  readonly domains: readonly AllowedDomain[];
  readonly disposable: DisposableDomains;
}

/** Domains are looked up only where they decide. */
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
 * What keeps an address out of the organization; null: nothing (organization §5). Where addresses are restricted to some
 * domains, the list of these decides alone, and an empty one keeps out every address. `email` is one by `isEmailAddress`.
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

/** Who says so: each operation in words of its own (organization §5, users §6.2). */
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

/** Asked when an account is made and when its address changes, by whomever (organization §5). */
export function canJoinWith(email: string, policy: AddressPolicy, step: JoiningStep): Decision {
  const fault = addressFault(email, policy);
  return fault === null ? allowed : denied('EMAIL_NOT_ALLOWED', addressFaultText(step, email, fault));
}
