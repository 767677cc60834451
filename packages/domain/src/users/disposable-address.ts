import type { Realm } from '../realms/realm.js';
import { invalidInput } from '../shared/errors.js';

/** The domains of services that hand out addresses to be thrown away. */
export interface DisposableDomains {
  /** `domain` is in lower case. */
  has(domain: string): boolean;
}

/**
 * Where addresses are restricted to some domains, the list of these decides alone (organization §5).
 * @throws DomainError INVALID_INPUT
 */
export function refuseDisposableAddress(disposable: DisposableDomains, { settings }: Realm, email: string): void {
  if (settings.emailsRestrictedToDomains || !settings.disallowDisposableEmailAddresses) return;
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (disposable.has(domain)) throw invalidInput('Disposable email addresses are not allowed in this organization');
}
