import { CONFIRMATION_SECONDS, confirmationUrl, type LinkKeys, openConfirmation } from '../access/confirmations.js';
import { type ApiKeyMint, changePassword, Passwords } from '../access/credentials.js';
import type { Role } from '../access/roles.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Repositories, UnitOfWork } from '../kernel/unit-of-work.js';
import { issueKeyOf } from '../push/push-jobs.js';
import { accountDeactivated } from '../users/authentication.js';
import { acceptedName, changeEmail, rename } from '../users/change-email.js';
import { isEmailAddress, type User } from '../users/user.js';
import { canChangeRole, isOnlyOwnerOf } from '../users/user-permissions.js';
import { loadPasswordRealm } from './accounts.js';
import { deactivateWithBots, reactivateWithGroups, requireComplete } from './deactivation.js';
import { getHostUser, type HostUserReference } from './host-users.js';
import { changeRole } from './roles.js';

/** User of an organization, referenced by the operator or the host application. No permission is needed. */
export interface AccountReference {
  readonly realmId: RealmId;
  readonly userId: UserId;
}

/** Role under which the operator acts. The organization must still keep an owner. */
const AS_OWNER = { role: 'owner' } as const;

export class SetUserRole {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, LAST_OWNER, GUEST_CANNOT_ADMINISTER */
  execute({ realmId, userId, role }: AccountReference & { readonly role: Role }): Promise<User> {
    return this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      if (user.role === role) return user;
      const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realmId, userId));
      enforce(canChangeRole(AS_OWNER, user, role, isOnlyOwner));
      return changeRole(tx, await tx.realms.get(realmId), user, role, this.clock.now());
    });
  }
}

export class SetUserName {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER, INVALID_USER_NAME, USER_NAME_TAKEN */
  execute({ realmId, userId, fullName }: AccountReference & { readonly fullName: string }): Promise<User> {
    return this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      if (trim(fullName) === user.fullName) return user;
      return rename(tx, user, await acceptedName(tx, await tx.realms.get(realmId), user, fullName));
    });
  }
}

export class SetUserEmail {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /**
   * Rejects bots, since their address identifies their owner. @throws DomainError UNKNOWN_USER, MUST_NOT_BE_BOT,
   * INVALID_EMAIL, EMAIL_TAKEN
   */
  execute({ realmId, userId, email }: AccountReference & { readonly email: string }): Promise<User> {
    return this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      if (user.bot) throw new DomainError('MUST_NOT_BE_BOT', 'A bot keeps its address.');
      const address = trim(email);
      if (!isEmailAddress(address)) throw new DomainError('INVALID_EMAIL', `'${address}' is not an email address.`);
      return address === user.email ? user : changeEmail(tx, user, address);
    });
  }
}

interface Activation {
  readonly realmId: RealmId;
  readonly isActive: boolean;
  /** True for the host application, which can appoint another owner. Default: false. */
  readonly mayRemoveLastOwner?: boolean;
}

/** Deactivates or reactivates an account for the operator or the host application, and keeps its data (users §4). */
export class SetUserActive {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** Returns true if the state changed. @throws DomainError UNKNOWN_USER, LAST_OWNER, BOT_NAME_TAKEN, NOT_PERMITTED */
  execute(input: Activation & HostUserReference): Promise<boolean> {
    const { realmId, isActive, mayRemoveLastOwner = false } = input;
    return this.uow.write(realmId, async (tx) => {
      const user = await getHostUser(tx, realmId, input);
      if (user.isActive === isActive) return false;
      const realm = await tx.realms.get(realmId);
      if (!isActive) {
        if (!mayRemoveLastOwner && user.role === 'owner' && (await isOnlyOwnerOf(tx, realmId, user.id))) {
          throw new DomainError('LAST_OWNER', 'Cannot deactivate the only organization owner');
        }
        await deactivateWithBots(tx, realm, user, this.clock.now());
        return true;
      }
      await requireComplete(tx, user);
      await reactivateWithGroups(tx, realm, user, this.clock.now());
      return true;
    });
  }
}

/** Removes a user's link to an external account. The next account with the user's address is linked instead. */
export class UnlinkAccount {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns false if the user has no account of this method. */
  execute({ realmId, userId, method }: AccountReference & { readonly method: string }): Promise<boolean> {
    return this.uow.write(realmId, ({ logIns }) => logIns.unlink(realmId, userId, method));
  }
}

export class SetUserPassword {
  static readonly inject = ['unitOfWork', Passwords, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly passwords: Passwords,
    private readonly clock: Clock,
  ) {}

  /** A null `password` removes the password. @throws DomainError UNKNOWN_USER, MUST_NOT_BE_BOT, WEAK_PASSWORD */
  async execute({ realmId, userId, password }: AccountReference & { readonly password: string | null }): Promise<void> {
    const { email, fullName, bot } = await this.uow.read(realmId, ({ users }) => users.get(realmId, userId));
    if (bot) throw new DomainError('MUST_NOT_BE_BOT', 'A bot has no password.');
    if (password !== null) this.passwords.requireStrong(password, [email, fullName]);
    const hash = password === null ? null : await this.passwords.hash(password);
    await this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      await changePassword(tx, user, hash, { now: this.clock.now() });
    });
  }
}

/** Issues a link for setting a password, for users who cannot receive email. */
export class IssuePasswordLink {
  static readonly inject = ['unitOfWork', 'confirmationKeys', 'realmUrls', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: LinkKeys,
    private readonly realmUrls: RealmUrls,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns a link that is valid once within one day. Reuses the link of a pending email. @throws DomainError
   * UNKNOWN_USER, MUST_NOT_BE_BOT, USER_DEACTIVATED, REALM_DEACTIVATED, PASSWORD_AUTH_DISABLED
   */
  execute({ realmId, userId }: AccountReference): Promise<{ readonly url: string; readonly expiresAt: UnixSeconds }> {
    return this.uow.write(realmId, async (tx) => {
      const user = await tx.users.get(realmId, userId);
      if (user.bot) throw new DomainError('MUST_NOT_BE_BOT', 'A bot has no password.');
      if (!user.isActive) throw new DomainError('USER_DEACTIVATED', 'Account is deactivated');
      const realm = await loadPasswordRealm(tx, realmId);
      const now = this.clock.now();
      const wanted = { realmId, purpose: 'passwordReset', email: user.email, userId, invitationId: null } as const;
      const key = this.keys.derive(await openConfirmation(tx, wanted, now));
      const url = confirmationUrl(this.realmUrls.urlOf(realm), 'passwordReset', key);
      return { url, expiresAt: now + CONFIRMATION_SECONDS };
    });
  }
}

interface KeyRequest {
  readonly realmId: RealmId;
  /** Issues a new key and revokes the old one. */
  readonly rotates: boolean;
  /** True to reject deactivated users. Default: false. */
  readonly requiresActive?: boolean;
}

/** Returns a user's API key to the operator, or to the host application, which passes it to its client. */
export class IssueUserKey {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_USER, USER_DEACTIVATED */
  execute(input: KeyRequest & HostUserReference): Promise<string> {
    const { realmId, rotates, requiresActive = false } = input;
    const { uow, mint, clock } = this;
    const find = async (reads: Repositories) => {
      const user = await getHostUser(reads, realmId, input);
      if (requiresActive && !user.isActive) throw accountDeactivated();
      return user;
    };
    return issueKeyOf({ uow, mint, clock }, realmId, find, { rotates });
  }
}
