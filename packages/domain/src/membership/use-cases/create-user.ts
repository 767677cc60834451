import type { ApiKeyMint, PasswordHasher } from '../../access/api-keys.js';
import { checkPassword, type PasswordStrength } from '../../access/password-rules.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { SystemMessages } from '../../messages/system-messages.js';
import type { Realm } from '../../realms/realm.js';
import { isEmailAddress } from '../../users/email-address.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../../users/joining-address.js';
import { parseFullName } from '../../users/user-name.js';
import { canCreateUsers } from '../../users/user-permissions.js';
import { addUser, assertEmailAvailable, assertNameAvailable } from '../add-user.js';

export interface CreateUserInput {
  readonly email: string;
  readonly password: string;
  readonly fullName: string;
}

/** An administrator with the operator's leave adds a member (users §3.1). */
export class CreateUser {
  static readonly inject = [
    'unitOfWork',
    'passwordHasher',
    'passwordStrength',
    'disposableDomains',
    'apiKeyMint',
    SystemMessages,
    'clock',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly hasher: PasswordHasher,
    private readonly strength: PasswordStrength,
    private readonly disposable: DisposableDomains,
    private readonly mint: ApiKeyMint,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws DomainError MUST_BE_ADMINISTRATOR, SPECIAL_PERMISSION_REQUIRED, INVALID_USER_NAME, INVALID_EMAIL,
   * EMAIL_NOT_ALLOWED, EMAIL_TAKEN, USER_NAME_TAKEN, WEAK_PASSWORD, SERVER_BUSY
   */
  async execute(caller: Caller, { email, password, fullName: raw }: CreateUserInput): Promise<UserId> {
    // Everything is checked before the slow hash is made, and what may have changed meanwhile once more after it.
    const { fullName, realm } = await this.uow.read(async (repositories) => {
      await enforceMayCreate(repositories, caller);
      const realm = await repositories.realms.get(caller.realmId);
      const name = parseFullName(raw);
      await assertNameAvailable(repositories, realm, name);
      if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Bad name or username');
      await this.enforceMayJoin(repositories, realm, email);
      await assertEmailAvailable(repositories, realm, email);
      checkPassword(this.strength, password, [email, name]);
      return { fullName: name, realm };
    });
    const welcome = await this.systemMessages.parseWelcome(realm);
    const passwordHash = await this.hasher.hash(password, { client: `user ${caller.userId}` });
    return this.uow.write(async (tx) => {
      await enforceMayCreate(tx, caller);
      const realm = await tx.realms.get(caller.realmId);
      await this.enforceMayJoin(tx, realm, email);
      const person = { email, fullName, role: 'member', passwordHash } as const;
      const user = await addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
      await this.systemMessages.announceSignup(tx, realm, user);
      await this.systemMessages.sendWelcome(tx, realm, user, welcome);
      return user.id;
    });
  }

  private async enforceMayJoin(repositories: Repositories | Transaction, realm: Realm, email: string): Promise<void> {
    enforce(canJoinWith(email, await loadAddressPolicy(repositories, realm, this.disposable), 'createUser'));
  }
}

async function enforceMayCreate(
  { actors, users }: Pick<Repositories | Transaction, 'actors' | 'users'>,
  caller: Caller,
): Promise<void> {
  const actor = await actors.get(caller);
  const user = await users.find(caller.realmId, caller.userId);
  enforce(canCreateUsers(actor, user?.specialPermissions.includes('canCreateUsers') ?? false));
}
