import type { ApiKeyMint, PasswordHasher } from '../../authentication/api-keys.js';
import type { Clock } from '../../shared/clock.js';
import { DomainError } from '../../shared/errors.js';
import type { RealmId } from '../../shared/ids.js';
import type { UnitOfWork } from '../../shared/unit-of-work.js';
import { addUser, type NewUser } from '../add-user.js';
import { isEmailAddress } from '../email-address.js';
import type { SpecialPermission, User } from '../user.js';
import { parseFullName, SHORTEST_GIVEN_NAME } from '../user-name.js';
import type { UserSettings } from '../user-settings.js';

export interface RegisterUserInput extends Omit<NewUser, 'passwordHash' | 'fullName' | 'settings'> {
  readonly realmId: RealmId;
  readonly fullName: string;
  /** Null: they cannot sign in with a password; the host application knows them otherwise. */
  readonly password: string | null;
  readonly settings?: Partial<UserSettings>;
  readonly specialPermissions?: readonly SpecialPermission[];
}

/** For the operator and the host application, which answer for whom they add: no role is too high. */
export class RegisterUser {
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, EMAIL_TAKEN, INVALID_USER_NAME, USER_NAME_TAKEN */
  async execute({ realmId, password, specialPermissions = [], ...person }: RegisterUserInput): Promise<User> {
    const fullName = parseFullName(person.fullName, SHORTEST_GIVEN_NAME);
    if (!isEmailAddress(person.email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
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
}
