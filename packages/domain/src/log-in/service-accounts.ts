import { endConfirmation } from '../access/confirmations.js';
import { storeMembers } from '../groups/change-members.use-cases.js';
import { MAX_MEMBERSHIPS } from '../groups/group.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, ReportProblem } from '../kernel/ports.js';
import { foldCase, isLongerThan } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { firstOf } from '../kernel/work.js';
import { findAvailableName } from '../membership/add-user.js';
import { Admission, type Newcomer } from '../membership/admission.js';
import type { Invitation } from '../membership/invitations.js';
import { emailKey, externalIdKey, findPlaceholder } from '../membership/placeholders.js';
import { changeRole } from '../membership/roles.js';
import { invitationRequired, loadOpenRealm } from '../membership/sign-up.js';
import { roleChange } from '../membership/stated-roles.js';
import type { Realm } from '../realms/realm.js';
import { accountDeactivated } from '../users/authentication.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../users/change-email.js';
import type { User } from '../users/user.js';
import { isOnlyOwnerOf } from '../users/user-permissions.js';
import { type LogInEvidence, proofFor } from './log-in-evidence.js';
import {
  addressStanding,
  admitsStrangers,
  type ExternalIdentity,
  type LogInMethod,
  requireUnlinkedOrReport,
} from './log-in-methods.js';
import { planPicture } from './log-in-pictures.js';
import { serviceFailed } from './log-in-service-failures.js';

/** Person authenticated by a service, with the link that led there. */
export interface ServicePerson {
  readonly method: LogInMethod;
  readonly identity: ExternalIdentity;
  readonly evidence: LogInEvidence;
}

export interface RecognizedUser {
  readonly user: User;
  /** Account change made by the log-in. */
  readonly change: 'created' | 'linked' | null;
}

/** Maximum in code points; OpenID Connect ids have at most 255 characters. */
const MAX_SUBJECT_LENGTH = 255;

/** Accounts of people who log in at external services. */
export class ServiceAccounts {
  static readonly inject = ['unitOfWork', 'disposableDomains', Admission, 'clock', 'report'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly disposable: DisposableDomains,
    private readonly admission: Admission,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
  ) {}

  /** Returns the user authenticated by the host application. @throws DomainError LOG_IN_REFUSED */
  async ofHost(realmId: RealmId, userId: UserId | null): Promise<User> {
    const user = userId && (await this.uow.read(realmId, ({ users }) => users.find(realmId, userId)));
    if (!user) throw new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');
    return user;
  }

  /**
   * Finds the user by linked account, else by a proven email address; creates one for admitted people. Returns null if
   * the address is unproven.
   */
  async recognize(before: Realm, authenticated: ServicePerson): Promise<RecognizedUser | null> {
    const { method, identity, evidence } = authenticated;
    if (identity.subject === '' || isLongerThan(identity.subject, MAX_SUBJECT_LENGTH)) throw serviceFailed();
    const { id: realmId } = before;
    const words = await this.parseWelcome(before, authenticated);
    return this.uow.write(realmId, async (tx) => {
      const realm = await loadOpenRealm(tx, realmId);
      const linkedId = await tx.logIns.findLinked(realmId, method.name, identity.subject);
      if (linkedId !== null) {
        const user = await tx.users.get(realmId, linkedId);
        if (!user.isActive) throw accountDeactivated();
        await placeInGroups(tx, user, identity);
        await this.planPicture(tx, user, method.name, identity);
        return { user: await this.withRole(tx, realm, user, identity), change: null };
      }
      const now = this.clock.now();
      const standing = addressStanding(identity, method);
      if (standing === 'missing')
        throw new DomainError('UNVERIFIED_EMAIL', 'The service does not vouch for your email address.');
      const email = identity.email!;
      const { isAddressProven, invitation, confirmation } = await proofFor(tx, realm, { email, evidence }, now);
      if (standing === 'unproven' && !isAddressProven) return null;
      const owner = await tx.users.findByEmail(realmId, email);
      const { subject } = identity;
      if (owner) await requireUnlinkedOrReport(tx, owner, { method: method.name, subject }, this.report);
      if (owner && !owner.isActive) throw accountDeactivated();
      if (owner?.bot) throw new DomainError('LOG_IN_REFUSED', 'The service did not confirm who you are.');
      const user = owner
        ? await this.withRole(tx, realm, owner, identity)
        : await this.join(tx, realm, authenticated, { email, invitation, words });
      if (confirmation) await endConfirmation(tx, confirmation, now);
      if (isAddressProven) await tx.bouncedAddresses.remove(email);
      await placeInGroups(tx, user, identity);
      const account = { method: method.name, subject, userId: user.id, linkedAt: now, picture: null };
      await tx.logIns.link(realmId, account);
      await this.planPicture(tx, user, method.name, identity);
      return { user, change: owner ? ('linked' as const) : ('created' as const) };
    });
  }

  /** Parses the welcome message of the invitation before the transaction. */
  private async parseWelcome(realm: Realm, { method, identity, evidence }: ServicePerson): Promise<Newcomer['words']> {
    const { subject, email } = identity;
    const proof = await this.uow.read(realm.id, async (reads) => {
      if (email === null || (await reads.logIns.findLinked(realm.id, method.name, subject)) !== null) return null;
      return proofFor(reads, realm, { email, evidence }, this.clock.now());
    });
    return proof && this.admission.parseWelcome(realm, proof.invitation);
  }

  private async planPicture(tx: Transaction, user: User, method: string, { picture }: ExternalIdentity): Promise<void> {
    if (picture) await planPicture(tx, user, { method, url: picture, now: this.clock.now() });
  }

  private async withRole(tx: Transaction, realm: Realm, user: User, { role: stated }: ExternalIdentity): Promise<User> {
    const { realmId, id: userId } = user;
    const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realmId, userId));
    const { role, problem } = roleChange(user, stated, isOnlyOwner);
    if (problem !== null) this.report('a user keeps another role than a service states', { problem, realmId, userId });
    return role === null ? user : changeRole(tx, realm, user, role, this.clock.now());
  }

  private async join(
    tx: Transaction,
    realm: Realm,
    { method, identity: { subject, fullName, role } }: ServicePerson,
    {
      email,
      invitation,
      words,
    }: { readonly email: string; readonly invitation: Invitation | null; readonly words: Newcomer['words'] },
  ): Promise<User> {
    if (!invitation && !admitsStrangers(method, realm)) throw invitationRequired(email);
    enforce(canJoinWith(email, await loadAddressPolicy(tx, realm, this.disposable), 'joinForm'));
    const claims = [externalIdKey(method.name, subject), emailKey(email)];
    const placeholder = await findPlaceholder(tx, realm.id, claims);
    const names = [fullName ?? '', firstOf(email.split('@')), email];
    const name = (await findAvailableName(tx, realm, names, placeholder)) ?? email;
    const newcomer = { email, fullName: name, role, passwordHash: null, invitation, words, claims };
    return this.admission.admit(tx, realm, newcomer);
  }
}

/** Updates the user's membership in groups determined by the service. Full groups stay unchanged. */
async function placeInGroups(
  tx: Transaction,
  { realmId, id: userId }: User,
  { groups = new Map() }: ExternalIdentity,
): Promise<void> {
  for (const { id: groupId, name, systemName, isDeactivated } of await tx.groups.listByName(realmId, [
    ...groups.keys(),
  ])) {
    const isMember = (await tx.groups.filterDirectMembers(realmId, groupId, [userId])).length > 0;
    const belongs = [...groups].some(([it, belongsTo]) => belongsTo && foldCase(it) === foldCase(name!));
    if (systemName !== null || isDeactivated || isMember === belongs) continue;
    if (belongs && (await tx.groups.countMemberships(realmId)) >= MAX_MEMBERSHIPS) continue;
    await storeMembers(tx, realmId, { groupId, op: belongs ? 'add' : 'remove', userIds: [userId] });
  }
}
