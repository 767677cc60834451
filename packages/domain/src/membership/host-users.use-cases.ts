import type { ApiKeyMint } from '../access/credentials.js';
import type { Role } from '../access/roles.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Clock, Randomness } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { acceptedName, changeEmail, rename } from '../users/change-email.js';
import { isHostAddress, parseFullName, SHORTEST_GIVEN_NAME, toFullName, type User } from '../users/user.js';
import { accessorsOf } from '../users/user-delivery.js';
import { SystemMessages } from '../writing/system-messages.js';
import { addUser } from './add-user.js';
import { checkExternalId, findHostUser, getHostUser, type HostUserReference, NOBODYS_DOMAIN } from './host-users.js';
import { welcomeFirstOwner } from './organization-start.js';
import { externalIdKey } from './placeholders.js';
import { changeRole } from './roles.js';

export interface HostUser {
  readonly user: User;
  /** Null if the host application has assigned no external id. */
  readonly externalId: string | null;
}

/** Finds users by the host application's ids. */
export class FindHostUsers {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns null for unknown users. */
  find(realmId: RealmId, by: HostUserReference): Promise<HostUser | null> {
    return this.uow.read(realmId, async (repositories) => {
      const user = await findHostUser(repositories, realmId, by);
      if (!user) return null;
      return { user, externalId: (await repositories.externalIds.listByUser(realmId, [user.id])).get(user.id) ?? null };
    });
  }

  /** @throws DomainError UNKNOWN_USER */
  get(realmId: RealmId, by: HostUserReference): Promise<User> {
    return this.uow.read(realmId, (repositories) => getHostUser(repositories, realmId, by));
  }

  /**
   * Returns ids in the order of the external ids. @throws DomainError UNKNOWN_USER for the first unknown external id
   */
  getIds(realmId: RealmId, externalIds: readonly string[]): Promise<readonly UserId[]> {
    return this.uow.read(realmId, async (repositories) => {
      const found = await repositories.externalIds.listUserIds(realmId, externalIds);
      const ids: UserId[] = [];
      for (const externalId of externalIds) {
        ids.push(found.get(externalId) ?? (await getHostUser(repositories, realmId, { externalId })).id);
      }
      return ids;
    });
  }

  /** Unknown ids are absent. */
  describe(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, HostUser>> {
    return this.uow.read(realmId, async ({ users, externalIds }) => {
      const found = await users.list(realmId, userIds);
      const ids = await externalIds.listByUser(realmId, userIds);
      return new Map(found.map((user) => [user.id, { user, externalId: ids.get(user.id) ?? null }]));
    });
  }

  /** Returns all users of the realm by ascending id, including bots and deactivated users. */
  async listIds(realmId: RealmId): Promise<readonly UserId[]> {
    const entries = await this.uow.read(realmId, ({ users }) => users.listEntries(realmId));
    return entries.map(({ id }) => id);
  }

  /** Users without an external id are absent. */
  externalIdsOf(realmId: RealmId, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
    return this.uow.read(realmId, ({ externalIds }) => externalIds.listByUser(realmId, userIds));
  }
}

export interface LinkHostUserInput {
  readonly realmId: RealmId;
  readonly externalId: string;
  readonly user: Extract<HostUserReference, { userId: unknown }>;
}

/** Assigns an external id to an existing user who was registered without one. */
export class LinkHostUser {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Idempotent. @throws DomainError INVALID_EXTERNAL_ID, UNKNOWN_USER, EXTERNAL_ID_TAKEN */
  async execute({ realmId, externalId, user: by }: LinkHostUserInput): Promise<User> {
    checkExternalId(externalId);
    return this.uow.write(realmId, async (tx) => {
      const user = await getHostUser(tx, realmId, by);
      await tx.externalIds.assign(realmId, user.id, externalId);
      if (user.externalId === externalId) return user;
      const event = { type: 'user.external_id_assigned', userId: user.id, externalId } as const;
      await tx.events.append(realmId, { event, audience: accessorsOf(user.id) });
      return { ...user, externalId };
    });
  }
}

export interface UpsertHostUserInput {
  readonly realmId: RealmId;
  readonly externalId: string;
  readonly fullName: string;
  /** Absent: keeps the current email; a new user gets an undeliverable one. */
  readonly email?: string;
  /** Absent: keeps the current role; a new user becomes a member. */
  readonly role?: Role;
}

/**
 * Creates a user of the host application or updates the fields that differ. The host is trusted, so any role is
 * allowed. Deactivated users stay deactivated.
 */
export class UpsertHostUser {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock', 'randomness', SystemMessages] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
    private readonly systemMessages: SystemMessages,
  ) {}

  /**
   * Writes nothing if all fields are equal. @throws DomainError INVALID_EXTERNAL_ID, INVALID_USER_NAME,
   * INVALID_EMAIL, UNKNOWN_REALM, EMAIL_TAKEN, USER_NAME_TAKEN
   */
  async execute(input: UpsertHostUserInput): Promise<User> {
    const { realmId, externalId } = input;
    checkExternalId(externalId);
    const fullName = parseFullName(toFullName(input.fullName), SHORTEST_GIVEN_NAME);
    const { email } = input;
    if (email !== undefined && !isHostAddress(email)) {
      throw new DomainError('INVALID_EMAIL', `'${email}' is not an email address.`);
    }
    const wanted = { ...input, fullName };
    const user = await this.uow.read(wanted.realmId, (repositories) => this.find(repositories, wanted));
    if (user && !differs(user, wanted)) return user;
    const newAddress = `${this.randomness.uuid()}@${NOBODYS_DOMAIN}`;
    return this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      const user = await this.find(tx, wanted);
      return user ? this.change(tx, realm, user, wanted) : this.add(tx, realm, { email: newAddress, ...wanted });
    });
  }

  private async find(
    { externalIds, users }: Pick<Repositories | Transaction, 'externalIds' | 'users'>,
    { realmId, externalId }: UpsertHostUserInput,
  ): Promise<User | null> {
    const id = await externalIds.find(realmId, externalId);
    return id === null ? null : users.find(realmId, id);
  }

  private async add(
    tx: Transaction,
    realm: Realm,
    { externalId, fullName, email, role = 'member' }: UpsertHostUserInput & { readonly email: string },
  ): Promise<User> {
    const claims = [externalIdKey('host', externalId)];
    const person = { email, fullName, role, passwordHash: null, externalId, claims };
    const user = await addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
    await welcomeFirstOwner(tx, realm, user, this.systemMessages);
    return user;
  }

  private async change(tx: Transaction, realm: Realm, user: User, wanted: UpsertHostUserInput): Promise<User> {
    const { fullName, email, role } = wanted;
    let changed = user;
    if (role !== undefined && role !== user.role) {
      changed = await changeRole(tx, realm, changed, role, this.clock.now());
    }
    if (fullName !== user.fullName) {
      changed = await rename(tx, changed, await acceptedName(tx, realm, user, fullName, SHORTEST_GIVEN_NAME));
    }
    if (email !== undefined && email !== user.email) changed = await changeEmail(tx, changed, email);
    return changed;
  }
}

const differs = (user: User, { fullName, email, role }: UpsertHostUserInput): boolean =>
  fullName !== user.fullName ||
  (email !== undefined && email !== user.email) ||
  (role !== undefined && role !== user.role);
