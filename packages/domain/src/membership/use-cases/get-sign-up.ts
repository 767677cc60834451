import { type DefaultChannelGroupView, listDefaultChannelGroups } from '../../channels/default-channel-group-views.js';
import type { AnonymousCaller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { EmailVisibility } from '../../realms/user-settings.js';
import type { InvitationConfig } from '../invitation-defaults.js';
import { loadSignUp, type SignUpKeys } from '../sign-up.js';

export interface GetSignUpInput {
  readonly key: string;
}

/** What somebody fills in who signs up. */
export interface SignUpForm {
  /** Theirs already; null: they say it. */
  readonly email: string | null;
  /** Whether they are to show by mail that the address is theirs, before anything else. */
  readonly needsConfirmation: boolean;
  /** What newcomers have who choose nothing. */
  readonly emailAddressVisibility: EmailVisibility;
  readonly defaultChannelGroups: readonly DefaultChannelGroupView[];
}

/** What a key opens, for whoever has it. Looking at it uses nothing up. */
export class GetSignUp {
  static readonly inject = ['unitOfWork', 'signUpKeys', 'clock', 'invitationConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: SignUpKeys,
    private readonly clock: Clock,
    private readonly config: InvitationConfig,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, REALM_DEACTIVATED, INVALID_INVITATION_KEY, UNKNOWN_INVITATION, INVITATION_EXPIRED,
   * UNKNOWN_CONFIRMATION, CONFIRMATION_EXPIRED, INVITATION_REQUIRED
   */
  execute({ realmId }: AnonymousCaller, { key }: GetSignUpInput): Promise<SignUpForm> {
    if (realmId === null) throw new DomainError('UNKNOWN_REALM', 'Invalid subdomain');
    return this.uow.read(async (repositories) => {
      const { realm, email } = await loadSignUp(repositories, this.keys, realmId, key, this.clock.now());
      return {
        email,
        needsConfirmation: email === null && this.config.confirmsAddresses,
        emailAddressVisibility: realm.userDefaults.emailAddressVisibility,
        defaultChannelGroups: await listDefaultChannelGroups(repositories, realmId),
      };
    });
  }
}
