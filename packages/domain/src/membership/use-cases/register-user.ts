import type { ApiKeyMint, PasswordHasher } from '../../access/api-keys.js';
import { checkPassword, type PasswordStrength } from '../../access/password-rules.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { UserSettings } from '../../realms/user-settings.js';
import { isEmailAddress } from '../../users/email-address.js';
import type { SpecialPermission, User } from '../../users/user.js';
import { parseFullName, SHORTEST_GIVEN_NAME } from '../../users/user-name.js';
import { addUser, type NewUser } from '../add-user.js';

export interface RegisterUserInput extends Omit<NewUser, 'passwordHash' | 'fullName' | 'settings'> {
  readonly realmId: RealmId;
  readonly fullName: string;
  /** Null: they cannot sign in with a password; the host application knows them otherwise. */
  readonly password: string | null;
  /** For organizations whose passwords are published or made up, such as demos; default: the rule of the API holds. */
  readonly allowsWeakPassword?: boolean;
  readonly settings?: Partial<UserSettings>;
  readonly specialPermissions?: readonly SpecialPermission[];
}

/** For the operator and the host application, which answer for whom they add: no role is too high. */
export class RegisterUser {
  static readonly inject = ['unitOfWork', 'passwordHasher', 'passwordStrength', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly strength: PasswordStrength,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, EMAIL_TAKEN, INVALID_USER_NAME, USER_NAME_TAKEN, WEAK_PASSWORD */
  async execute(input: RegisterUserInput): Promise<User> {
    const { realmId, password, specialPermissions = [], allowsWeakPassword, ...person } = input;
    const fullName = this.check(input);
    const passwordHash = password === null ? null : await this.hasher.hash(password);
    return this.uow.write(async (tx) => {
      const realm = await tx.realms.get(realmId);
      const user = await addUser(
        tx,
        realm,
        { ...person, fullName, passwordHash },
        { now: this.clock.now(), mint: this.mint },
      );
      return specialPermissions.length === 0 ? user : tx.users.update({ ...user, specialPermissions });
    });
  }

  /** What can be said before anybody is looked up. Answers the name trimmed. @throws DomainError INVALID_USER_NAME, INVALID_EMAIL, WEAK_PASSWORD */
  check(input: Pick<RegisterUserInput, 'email' | 'fullName' | 'password' | 'allowsWeakPassword'>): string {
    const { email, password, allowsWeakPassword = false } = input;
    const fullName = parseFullName(input.fullName, SHORTEST_GIVEN_NAME);
    if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    if (password !== null && !allowsWeakPassword) checkPassword(this.strength, password, [email, fullName]);
    return fullName;
  }
}
