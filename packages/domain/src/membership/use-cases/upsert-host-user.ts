import type { ApiKeyMint } from '../../access/api-keys.js';
import type { Role } from '../../access/role.js';
import type { Clock, Randomness } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { Realm } from '../../realms/realm.js';
import { changeEmail } from '../../users/change-email.js';
import { acceptedName, rename } from '../../users/change-name.js';
import { isEmailAddress } from '../../users/email-address.js';
import type { User } from '../../users/user.js';
import { parseFullName, SHORTEST_GIVEN_NAME } from '../../users/user-name.js';
import { addUser } from '../add-user.js';
import { changeRole } from '../change-role.js';
import { checkExternalId } from '../external-id.js';

export interface UpsertHostUserInput {
  readonly realmId: RealmId;
  readonly externalId: string;
  readonly fullName: string;
  /** Absent: the one they have; a newcomer gets one that no mail goes to. */
  readonly email?: string;
  /** Absent: the one they have; a newcomer becomes a member. */
  readonly role?: Role;
}

/** No mail server is ever found for it (RFC 6761). */
const NOBODYS_DOMAIN = 'users.parley.invalid';

/**
 * A user of the host application as the host knows them now: made when there is none, else changed where they differ. For the
 * host, which answers for whom it names: no role is too high. Who was deactivated stays so.
 */
export class UpsertHostUser {
  static readonly inject = ['unitOfWork', 'apiKeyMint', 'clock', 'randomness'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
    private readonly randomness: Randomness,
  ) {}

  /**
   * Writes nothing where nothing differs. @throws DomainError INVALID_EXTERNAL_ID, INVALID_USER_NAME, INVALID_EMAIL,
   * UNKNOWN_REALM, EMAIL_TAKEN, USER_NAME_TAKEN
   */
  async execute(input: UpsertHostUserInput): Promise<User> {
    const { realmId, externalId } = input;
    checkExternalId(externalId);
    const fullName = parseFullName(input.fullName, SHORTEST_GIVEN_NAME);
    const { email } = input;
    if (email !== undefined && !isEmailAddress(email)) {
      throw new DomainError('INVALID_EMAIL', `'${email}' is no email address.`);
    }
    const wanted = { ...input, fullName };
    const known = await this.uow.read((repositories) => this.find(repositories, wanted));
    if (known && !differs(known, wanted)) return known;
    const newAddress = `${this.randomness.uuid()}@${NOBODYS_DOMAIN}`;
    return this.uow.write(async (tx) => {
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
    const person = { email, fullName, role, passwordHash: null };
    const user = await addUser(tx, realm, person, { now: this.clock.now(), mint: this.mint });
    await tx.externalIds.assign(realm.id, user.id, externalId);
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
