import type { Actor } from '../../access/actor.js';
import type { Role } from '../../access/role.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import { enforce } from '../../kernel/permission.js';
import type { RealmUrls } from '../../kernel/realm-urls.js';
import { trim } from '../../kernel/text.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { changeEmail, newEmailProblem } from '../../users/change-email.js';
import { acceptedName, rename } from '../../users/change-name.js';
import { type ProfileEntry, ProfileValues } from '../../users/change-profile.js';
import { findReferencedUser, type UserReference } from '../../users/find-user.js';
import type { DisposableDomains } from '../../users/joining-address.js';
import { isOnlyOwnerOf } from '../../users/owners.js';
import type { User } from '../../users/user.js';
import { canAdministerUser, canChangeEmail, canChangeRole, canUpdateUsers } from '../../users/user-permissions.js';
import { changeRole } from '../change-role.js';

export interface UpdateUserInput {
  readonly user: UserReference;
  readonly role?: Role;
  /** Blank, or the one they have: as if absent. */
  readonly fullName?: string;
  readonly email?: string;
  /** Others stay as they are; what is empty is taken away. */
  readonly profile?: readonly ProfileEntry[];
}

/** An administrator changes an account, bots and deactivated users included (users §3.2). */
export class UpdateUser {
  static readonly inject = ['unitOfWork', 'realmUrls', 'disposableDomains', 'clock', ProfileValues] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
    private readonly profiles: ProfileValues,
  ) {}

  /**
   * All or nothing.
   * @throws DomainError MUST_BE_ADMINISTRATOR, UNKNOWN_USER, MUST_BE_OWNER, LAST_OWNER, GUEST_CANNOT_ADMINISTER,
   * INVALID_USER_NAME, USER_NAME_TAKEN, SPECIAL_PERMISSION_REQUIRED, INVALID_EMAIL, EMAIL_NOT_ALLOWED, EMAIL_RESERVED,
   * EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, UNKNOWN_PROFILE_FIELD, INVALID_PROFILE_VALUE, UNRENDERABLE_CONTENT
   */
  async execute(caller: Caller, input: UpdateUserInput): Promise<void> {
    const { profile = [] } = input;
    const parsed = await this.profiles.parse(caller.realmId, profile);
    await this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      enforce(canUpdateUsers(actor));
      const realm = await tx.realms.get(caller.realmId);
      const user = await findReferencedUser(tx, actor, realm, this.realmUrls, input.user);
      enforce(canAdministerUser(actor, user, { allowBots: true, allowDeactivated: true }));
      let target = user!;
      if (input.role !== undefined) target = await this.giveRole(tx, actor, realm, target, input.role);
      if (input.fullName !== undefined) target = await this.giveName(tx, realm, target, input.fullName);
      await this.profiles.store(tx, { realm, actor, user: target }, profile, parsed, { emptyRemoves: true });
      if (input.email !== undefined) await this.giveEmail(tx, actor, realm, target, trim(input.email));
    });
  }

  private async giveRole(tx: Transaction, actor: Actor, realm: Realm, user: User, role: Role): Promise<User> {
    if (role === user.role) return user;
    const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realm.id, user.id));
    enforce(canChangeRole(actor, user, role, isOnlyOwner));
    return changeRole(tx, realm, user, role, this.clock.now());
  }

  private async giveName(tx: Transaction, realm: Realm, user: User, raw: string): Promise<User> {
    if (trim(raw) === '' || raw === user.fullName) return user;
    return rename(tx, user, await acceptedName(tx, realm, user, raw));
  }

  /** Without asking the new address, which the operator trusts the owner to know. */
  private async giveEmail(tx: Transaction, actor: Actor, realm: Realm, user: User, email: string): Promise<void> {
    const caller = await tx.users.find(realm.id, actor.id);
    enforce(canChangeEmail(actor, caller?.specialPermissions.includes('canChangeUserEmails') ?? false));
    if (email === user.email) return;
    const problem = await newEmailProblem(tx, user, realm, email, this.disposable);
    if (problem?.code === 'INVALID_EMAIL') throw new DomainError('INVALID_EMAIL', 'Invalid new email address.');
    if (problem) throw new DomainError(problem.code, `New email value error: ${problem.message}`);
    await changeEmail(tx, user, email);
  }
}
