import type { ApiKeyMint } from '../../access/credentials.js';
import { storeMembers } from '../../groups/change-members.use-cases.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId, UserId } from '../../kernel/ids.js';
import { enforce } from '../../kernel/permission.js';
import type { Clock } from '../../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { ROWS_PER_PAGE, slicesOf } from '../../kernel/work.js';
import { addUser } from '../../membership/add-user.js';
import { deactivateWithBots, reactivateWithGroups } from '../../membership/deactivation.js';
import { checkExternalId } from '../../membership/host-users.js';
import { externalIdKey } from '../../membership/placeholders.js';
import { changeRole } from '../../membership/roles.js';
import type { Realm } from '../../realms/realm.js';
import {
  acceptedName,
  canJoinWith,
  changeEmail,
  type DisposableDomains,
  loadAddressPolicy,
  rename,
} from '../../users/change-email.js';
import { isEmailAddress, parseFullName, SHORTEST_GIVEN_NAME, type User } from '../../users/user.js';
import { accessorsOf } from '../../users/user-delivery.js';
import { canChangeRole, isOnlyOwnerOf } from '../../users/user-permissions.js';
import type { ExpectedVersion, ProvisionedUser, ProvisionedUserChange } from './provisioning.js';

type Reads = Pick<Repositories | Transaction, 'users' | 'provisioning'>;

const describe = (user: User): ProvisionedUser => ({
  id: user.id,
  externalId: user.externalId ?? null,
  email: user.email,
  fullName: user.fullName,
  role: user.role,
  isActive: user.isActive,
  createdAt: user.joinedAt,
  version: String(user.version),
});

/** Returns null for bots and for users deleted by the directory. */
async function findPerson({ users, provisioning }: Reads, realmId: RealmId, id: UserId): Promise<User | null> {
  const user = await users.find(realmId, id);
  if (!user || user.bot) return null;
  return !user.isActive && (await provisioning.isUserRemoved(realmId, id)) ? null : user;
}

async function getPerson(reads: Reads, realmId: RealmId, id: UserId): Promise<User> {
  const user = await findPerson(reads, realmId, id);
  if (user) return user;
  throw new DomainError('UNKNOWN_USER', `There is no user ${id}.`);
}

/** @throws DomainError STALE_RESOURCE */
export function requireVersion(version: string, isExpected: ExpectedVersion): void {
  if (isExpected && !isExpected(version)) {
    throw new DomainError('STALE_RESOURCE', 'The resource has changed in the meantime.');
  }
}

/** @throws DomainError LAST_OWNER */
async function requireOtherOwner(tx: Transaction, user: User): Promise<void> {
  if (user.role === 'owner' && (await isOnlyOwnerOf(tx, user.realmId, user.id))) {
    throw new DomainError('LAST_OWNER', 'The only organization owner cannot be deactivated.');
  }
}

/** Criterion by which a directory looks up a user. */
export type UserLookup = { readonly id: UserId } | { readonly email: string } | { readonly externalId: string };

export interface ResourceSelection<Lookup, View> {
  /** Narrows the search; null for no restriction. */
  readonly lookup: Lookup | null;
  /** Null accepts all. */
  readonly isWanted: ((view: View) => boolean) | null;
  /** Number of results to skip. */
  readonly offset: number;
  readonly count: number;
}

export interface ResourcePage<View> {
  /** Total number of results on all pages. */
  readonly total: number;
  /** Ascending id. */
  readonly views: readonly View[];
}

/** Lists users for a directory, including deactivated ones. */
export class ListProvisionedUsers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute(
    realmId: RealmId,
    selection: ResourceSelection<UserLookup, ProvisionedUser>,
  ): Promise<ResourcePage<ProvisionedUser>> {
    const { lookup, isWanted, offset, count } = selection;
    return this.uow.read(realmId, async (repositories) => {
      const { users } = repositories;
      const ids = await this.candidates(repositories, realmId, lookup);
      if (!isWanted) {
        const views = (await users.list(realmId, ids.slice(offset, offset + count))).map(describe);
        return { total: ids.length, views };
      }
      const views: ProvisionedUser[] = [];
      let total = 0;
      for (const some of slicesOf(ids, ROWS_PER_PAGE)) {
        for (const view of (await users.list(realmId, some)).map(describe)) {
          if (!isWanted(view)) continue;
          if (total >= offset && views.length < count) views.push(view);
          total++;
        }
      }
      return { total, views };
    });
  }

  private async candidates(
    repositories: Repositories,
    realmId: RealmId,
    lookup: UserLookup | null,
  ): Promise<readonly UserId[]> {
    const { users, externalIds, provisioning } = repositories;
    if (!lookup) {
      const hidden = new Set(await users.listBotIds(realmId));
      const removed = new Set(await provisioning.listRemovedUserIds(realmId));
      return (await users.listEntries(realmId))
        .filter(({ id, isActive }) => !hidden.has(id) && (isActive || !removed.has(id)))
        .map(({ id }) => id);
    }
    const id =
      'id' in lookup
        ? lookup.id
        : 'email' in lookup
          ? (await users.findByEmail(realmId, lookup.email))?.id
          : await externalIds.find(realmId, lookup.externalId);
    const user = id ? await findPerson(repositories, realmId, id) : null;
    return user ? [user.id] : [];
  }
}

/** Returns one user for a directory. */
export class GetProvisionedUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_USER */
  execute(realmId: RealmId, id: UserId): Promise<ProvisionedUser> {
    return this.uow.read(realmId, async (repositories) => describe(await getPerson(repositories, realmId, id)));
  }
}

export interface NewProvisionedUser extends ProvisionedUserChange {
  readonly email: string;
  readonly fullName: string;
}

/** Creates, changes and removes users on behalf of a directory, which has the organization's own rights. */
export class ProvisionUser {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'disposableDomains', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly disposable: DisposableDomains,
    private readonly clock: Clock,
  ) {}

  /**
   * Restores a user whom the directory deleted. @throws DomainError INVALID_EMAIL, EMAIL_NOT_ALLOWED,
   * INVALID_USER_NAME, INVALID_EXTERNAL_ID, EMAIL_TAKEN, USER_NAME_TAKEN, EXTERNAL_ID_TAKEN, IMMUTABLE_VALUE,
   * LAST_OWNER
   */
  create(realmId: RealmId, wanted: NewProvisionedUser): Promise<ProvisionedUser> {
    const { email, externalId, role = 'member', isActive = true } = checked(wanted) as NewProvisionedUser;
    const fullName = parseFullName(wanted.fullName, SHORTEST_GIVEN_NAME);
    return this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      const former = await tx.users.findByEmail(realmId, email);
      if (former && (await findPerson(tx, realmId, former.id)) === null && !former.bot) {
        const back = await this.apply(tx, realm, former, { ...wanted, fullName, isActive });
        await tx.provisioning.setUserRemoved(realmId, former.id, false);
        return describe(back);
      }
      if (externalId !== undefined && (await tx.externalIds.find(realmId, externalId)) !== null) {
        throw new DomainError('EXTERNAL_ID_TAKEN', `The external id '${externalId}' is taken.`);
      }
      await this.requireAllowed(tx, realm, email);
      const identity = externalId === undefined ? {} : { externalId, claims: [externalIdKey('scim', externalId)] };
      const person = { email, fullName, role, passwordHash: null, ...identity };
      const user = await addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
      return describe(isActive ? user : await this.apply(tx, realm, user, { isActive }));
    });
  }

  /**
   * @throws DomainError UNKNOWN_USER, STALE_RESOURCE, INVALID_EMAIL, EMAIL_NOT_ALLOWED, INVALID_USER_NAME,
   * INVALID_EXTERNAL_ID, EMAIL_TAKEN, USER_NAME_TAKEN, EXTERNAL_ID_TAKEN, IMMUTABLE_VALUE, LAST_OWNER, GUEST_CANNOT_ADMINISTER
   */
  change(
    realmId: RealmId,
    id: UserId,
    changeOf: (current: ProvisionedUser) => ProvisionedUserChange,
    isExpected: ExpectedVersion,
  ): Promise<ProvisionedUser> {
    return this.uow.write(realmId, async (tx) => {
      const user = await getPerson(tx, realmId, id);
      const current = describe(user);
      requireVersion(current.version, isExpected);
      return describe(await this.apply(tx, await tx.realms.get(realmId), user, checked(changeOf(current))));
    });
  }

  /**
   * Deactivates the user and hides them from directories. @throws DomainError UNKNOWN_USER, STALE_RESOURCE, LAST_OWNER
   */
  remove(realmId: RealmId, id: UserId, isExpected: ExpectedVersion): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      const user = await getPerson(tx, realmId, id);
      requireVersion(String(user.version), isExpected);
      for (const groupId of await tx.groups.listDirectIds(realmId, id)) {
        if (!(await tx.provisioning.findGroup(realmId, groupId))) continue;
        const activeIds = new Set(user.isActive ? [id] : []);
        await storeMembers(tx, realmId, { groupId, op: 'remove', userIds: [id] }, activeIds);
      }
      await this.apply(tx, await tx.realms.get(realmId), user, { isActive: false });
      await tx.provisioning.setUserRemoved(realmId, id, true);
    });
  }

  private async apply(tx: Transaction, realm: Realm, user: User, wanted: ProvisionedUserChange): Promise<User> {
    const { externalId, email, fullName, role, isActive = user.isActive } = wanted;
    const now = this.clock.now();
    let changed = user;
    if (isActive && !user.isActive) changed = await reactivateWithGroups(tx, realm, changed, now);
    if (externalId !== undefined && externalId !== user.externalId) {
      changed = await this.assign(tx, changed, externalId);
    }
    if (role !== undefined && role !== user.role) {
      const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realm.id, user.id));
      enforce(canChangeRole(AS_OWNER, changed, role, isOnlyOwner));
      changed = await changeRole(tx, realm, changed, role, now);
    }
    if (fullName !== undefined && fullName !== user.fullName) {
      changed = await rename(tx, changed, await acceptedName(tx, realm, user, fullName, SHORTEST_GIVEN_NAME));
    }
    if (email !== undefined && email !== user.email) {
      await this.requireAllowed(tx, realm, email);
      changed = await changeEmail(tx, changed, email);
    }
    if (!isActive && user.isActive) {
      await requireOtherOwner(tx, changed);
      await deactivateWithBots(tx, realm, changed, now);
    }
    return await tx.users.get(realm.id, user.id);
  }

  /**
   * The organization's allowed domains also apply to its directory (organization §5). @throws DomainError
   * EMAIL_NOT_ALLOWED
   */
  private async requireAllowed(tx: Transaction, realm: Realm, email: string): Promise<void> {
    enforce(canJoinWith(email, await loadAddressPolicy(tx, realm, this.disposable), 'createUser'));
  }

  private async assign(tx: Transaction, user: User, externalId: string): Promise<User> {
    if (user.externalId !== undefined)
      throw new DomainError('IMMUTABLE_VALUE', 'The external id of a user is permanent.');
    await tx.externalIds.assign(user.realmId, user.id, externalId);
    const event = { type: 'user.external_id_assigned', userId: user.id, externalId } as const;
    await tx.events.append(user.realmId, { event, audience: accessorsOf(user.id) });
    return await tx.users.get(user.realmId, user.id);
  }
}

/** The organization has every right but must keep an owner. */
const AS_OWNER = { role: 'owner' } as const;

/** @throws DomainError INVALID_EMAIL, INVALID_EXTERNAL_ID */
function checked(change: ProvisionedUserChange): ProvisionedUserChange {
  const { email, externalId } = change;
  if (email !== undefined && !isEmailAddress(email)) {
    throw new DomainError('INVALID_EMAIL', 'The name of a user must be an email address.');
  }
  if (externalId !== undefined) checkExternalId(externalId);
  return change;
}
