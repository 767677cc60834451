import { DomainError } from '../../shared/errors.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { isEmailAddress } from '../../users/email-address.js';
import type { ApiKeyMint } from '../api-keys.js';
import {
  type AnonymousCaller,
  accountDeactivated,
  type IssuedKey,
  issueKey,
  realmDeactivated,
} from './fetch-api-key.js';

/** Whether anybody may be anybody, as on a developer's own machine. */
export interface DevelopmentMode {
  readonly isOn: boolean;
}

export const notInProduction = () => new DomainError('NOT_IN_PRODUCTION', 'Endpoint not available in production.');

/** A key for the asking (protocol §8.2); only in development. */
export class FetchDevelopmentApiKey {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly mode: DevelopmentMode,
  ) {}

  /** @throws DomainError NOT_IN_PRODUCTION, INVALID_EMAIL, UNKNOWN_REALM, USER_DEACTIVATED, REALM_DEACTIVATED, AUTHENTICATION_FAILED */
  async execute({ realmId }: AnonymousCaller, { username }: { readonly username: string }): Promise<IssuedKey> {
    if (!this.mode.isOn) throw notInProduction();
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    if (!isEmailAddress(username)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    const user = await this.uow.read(async ({ realms, users }) => {
      const found = await users.findByEmail(realmId, username);
      if (found && !found.isActive) throw accountDeactivated();
      if ((await realms.get(realmId)).isDeactivated) throw realmDeactivated();
      if (!found) throw new DomainError('AUTHENTICATION_FAILED', 'Your username or password is incorrect');
      return found;
    });
    return issueKey(this.uow, this.mint, user);
  }
}
