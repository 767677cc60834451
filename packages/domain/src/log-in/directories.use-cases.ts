import type { Role } from '../access/roles.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UserId } from '../kernel/ids.js';
import type { Clock, ReportProblem } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE, firstOf, slicesOf } from '../kernel/work.js';
import { findAvailableName, validName } from '../membership/add-user.js';
import { Admission, findEmailInvitation } from '../membership/admission.js';
import { deactivateWithBots, reactivateWithGroups } from '../membership/deactivation.js';
import { emailKey, externalIdKey, findPlaceholder } from '../membership/placeholders.js';
import { changeRole } from '../membership/roles.js';
import { loadOpenRealm } from '../membership/sign-up.js';
import { type RoleChange, roleChange } from '../membership/stated-roles.js';
import type { Realm } from '../realms/realm.js';
import { accountDeactivated, type DirectoryPasswords } from '../users/authentication.js';
import { changeEmail, rename } from '../users/change-email.js';
import { isEmailAddress, type User } from '../users/user.js';
import { isOnlyOwnerOf } from '../users/user-permissions.js';
import {
  type DirectoryChange,
  type DirectoryPerson,
  type DirectoryReport,
  directoryMethod,
  MAX_REPORTED,
  objectionTo,
  PEOPLE_AT_A_TIME,
  type PeopleDirectory,
} from './directories.js';
import { requireUnlinked } from './log-in-methods.js';
import { planPicture } from './log-in-pictures.js';

type Reads = Repositories | Transaction;

/** Changes that synchronize a user with the directory. */
type Plan = (
  | { readonly kind: 'create' }
  /** No change: nothing differs, or the user was deactivated outside the directory. */
  | { readonly kind: 'keep'; readonly user: User }
  | {
      readonly kind: 'change';
      readonly user: User;
      readonly links: boolean;
      readonly reactivates: boolean;
      readonly role: Role | null;
      readonly fullName: string | null;
      readonly email: string | null;
    }
) & {
  /** Reasons why the role differs from the directory's. */
  readonly problems: readonly string[];
};

/** Finds the user by linked entry, else by email address. Returns null if the person gets no account. */
async function planFor(
  reads: Reads,
  realm: Realm,
  directory: PeopleDirectory,
  person: DirectoryPerson,
): Promise<Plan | null> {
  if (!isEmailAddress(person.email))
    throw new DomainError('INVALID_EMAIL', `'${person.email}' is not an email address.`);
  const method = directoryMethod(directory);
  const linkedId = await reads.logIns.findLinked(realm.id, method, person.subject);
  const holder = await reads.users.findByEmail(realm.id, person.email);
  const user = linkedId === null ? holder : await reads.users.find(realm.id, linkedId);
  const problems = person.problem === undefined ? [] : [person.problem];
  if (!user) return directory.createsPeople ? { kind: 'create', problems } : null;
  if (user.bot || (holder && holder.id !== user.id)) {
    throw new DomainError('EMAIL_TAKEN', `Email '${person.email}' already in use`);
  }
  const links = linkedId === null;
  if (links) await requireUnlinked(reads, user, method);
  const isBack = !links && !user.isActive && (await reads.provisioning.isUserRemoved(realm.id, user.id));
  if (!user.isActive && !isBack) return { kind: 'keep', user, problems };
  const fullName = await newName(reads, realm, user, person);
  const { role, problem } = await newRole(reads, user, person);
  if (problem !== null) problems.push(problem);
  const email = person.email === user.email ? null : person.email;
  if (!links && !isBack && role === null && fullName === null && email === null)
    return { kind: 'keep', user, problems };
  return { kind: 'change', user, links, reactivates: isBack, role, fullName, email, problems };
}

async function newName(reads: Reads, realm: Realm, user: User, { fullName }: DirectoryPerson): Promise<string | null> {
  const name = validName(fullName);
  if (name === null || name === user.fullName) return null;
  const isTaken = realm.settings.requireUniqueNames && (await reads.users.isNameTaken(realm.id, name, user.id));
  return isTaken ? null : name;
}

async function newRole(reads: Reads, user: User, { role }: DirectoryPerson): Promise<RoleChange> {
  const isOnlyOwner = user.role === 'owner' && (await isOnlyOwnerOf(reads, user.realmId, user.id));
  return roleChange(user, role, isOnlyOwner);
}

interface Tools {
  readonly admission: Admission;
  readonly clock: Clock;
  /** True if an invitation admits users for whom the directory creates no accounts. */
  readonly acceptsInvitations: boolean;
}

interface Placed {
  readonly user: User;
  readonly change: DirectoryChange | null;
  readonly problems: readonly string[];
}

/** Synchronizes a user, including the picture. Returns null if the person gets no account. */
async function place(...given: Parameters<typeof placePerson>): Promise<Placed | null> {
  const [tx, , directory, , { clock }] = given;
  const placed = await placePerson(...given);
  if (placed && directory.hasPictures) {
    await planPicture(tx, placed.user, { method: directoryMethod(directory), url: null, now: clock.now() });
  }
  return placed;
}

async function placePerson(
  tx: Transaction,
  realm: Realm,
  directory: PeopleDirectory,
  person: DirectoryPerson,
  { admission, clock, acceptsInvitations }: Tools,
): Promise<Placed | null> {
  const planned = await planFor(tx, realm, directory, person);
  if (!planned && !acceptsInvitations) return null;
  const plan = planned ?? { kind: 'create', problems: [] };
  const { problems } = plan;
  if (plan.kind === 'keep') return { user: plan.user, change: null, problems };
  const now = clock.now();
  const link = (userId: UserId) =>
    tx.logIns.link(realm.id, {
      method: directoryMethod(directory),
      subject: person.subject,
      userId,
      linkedAt: now,
      picture: null,
    });
  if (plan.kind === 'create') {
    const { email, role } = person;
    const invitation = await findEmailInvitation(tx, realm, email, now);
    if (!planned && !invitation) return null;
    const claims = [externalIdKey(directoryMethod(directory), person.subject), emailKey(email)];
    const placeholder = await findPlaceholder(tx, realm.id, claims);
    const names = [person.fullName, firstOf(email.split('@'))];
    const fullName = (await findAvailableName(tx, realm, names, placeholder)) ?? email;
    const newcomer = { email, fullName, passwordHash: null, claims };
    const user = invitation
      ? await admission.admit(tx, realm, { ...newcomer, role, invitation, words: null })
      : await admission.add(tx, realm, { ...newcomer, role: role?.role ?? 'member' });
    await link(user.id);
    return { user, change: 'created', problems };
  }
  const { links, reactivates, role, fullName, email } = plan;
  let { user } = plan;
  if (links) await link(user.id);
  if (reactivates) user = await reactivateWithGroups(tx, realm, user, now);
  if (role !== null) user = await changeRole(tx, realm, user, role, now);
  if (fullName !== null) user = await rename(tx, user, fullName);
  if (email !== null) user = await changeEmail(tx, user, email);
  return { user, change: reactivates ? 'reactivated' : links ? 'linked' : 'changed', problems };
}

/** Verifies passwords with the organization's directory and synchronizes the user at log-in. */
export class VerifyDirectoryPassword implements DirectoryPasswords {
  static readonly inject = ['unitOfWork', 'peopleDirectories', Admission, 'clock', 'report'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly directories: readonly PeopleDirectory[],
    private readonly admission: Admission,
    private readonly clock: Clock,
    private readonly report: ReportProblem,
  ) {}

  isUsedBy({ stringId, settings }: Pick<Realm, 'stringId' | 'settings'>): boolean {
    return settings.ldapAuthentication && this.directories.some(({ realm }) => realm === stringId);
  }

  /** @throws DomainError LOG_IN_SERVICE_FAILED, USER_DEACTIVATED, EMAIL_TAKEN, LINKED_TO_ANOTHER_ACCOUNT */
  async verify(before: Realm, email: string, password: string): Promise<User | null> {
    let failed = false;
    for (const directory of this.directories.filter(({ realm }) => realm === before.stringId)) {
      let person: DirectoryPerson | null;
      try {
        person = await directory.authenticate(email, password);
      } catch (err) {
        this.report('a directory failed', { err, directory: directory.name }, 'warn');
        failed = true;
        continue;
      }
      if (!person) continue;
      const placed = await this.place(before.id, directory, person);
      if (placed && !placed.user.isActive) throw accountDeactivated();
      if (placed) return placed.user;
    }
    if (failed) throw new DomainError('LOG_IN_SERVICE_FAILED', 'The directory does not respond. Try again later.');
    return null;
  }

  private async place(realmId: RealmId, directory: PeopleDirectory, person: DirectoryPerson): Promise<Placed | null> {
    const { admission, clock } = this;
    const tools = { admission, clock, acceptsInvitations: true };
    const reportProblem = (problem: string) =>
      this.report('a user is not as the directory describes them', {
        problem,
        directory: directory.name,
        realmId,
        subject: person.subject,
      });
    try {
      const placed = await this.uow.write(realmId, async (tx) =>
        place(tx, await loadOpenRealm(tx, realmId), directory, person, tools),
      );
      placed?.problems.forEach(reportProblem);
      return placed;
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'conflict') reportProblem(error.message);
      throw error;
    }
  }
}

export interface SyncDirectoryInput {
  readonly directory: PeopleDirectory;
  /** True to report changes without making them. */
  readonly isDryRun: boolean;
  /** True to deactivate any number of users who left, except the last owner. */
  readonly acceptsDeactivations?: boolean;
}

/** Synchronizes the users of an organization with its directory, and deactivates those who have left. */
export class SyncDirectory {
  static readonly inject = ['unitOfWork', Admission, 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly admission: Admission,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError UNKNOWN_REALM */
  async execute({ directory, isDryRun, acceptsDeactivations = false }: SyncDirectoryInput): Promise<DirectoryReport> {
    const realm = await this.uow.readAcross(({ realms }) => realms.findByStringId(directory.realm));
    if (!realm || realm.isDeactivated) {
      throw new DomainError('UNKNOWN_REALM', `There is no organization '${directory.realm}'.`);
    }
    const report = new Report();
    let listed: readonly DirectoryPerson[];
    try {
      listed = await directory.listPeople();
    } catch (error) {
      return report.stopped(0, `The directory failed: ${(error as Error).message}.`);
    }
    const people = report.distinct(listed);
    const waiting = await this.plan(realm, directory, people, report);
    const leaving = await this.leaving(realm, directory, report.seen);
    const objection = await this.objection(realm, directory, leaving);
    const isAccepted = acceptsDeactivations && objection?.isFinal !== true;
    if (objection && !isAccepted) return report.stopped(people.length, objection.reason, !objection.isFinal);
    for (const user of leaving) report.count(user.email, 'deactivated');
    if (isDryRun) return report.done(people.length);
    for (const some of slicesOf(waiting, PEOPLE_AT_A_TIME)) await this.placeAll(realm, directory, some, report);
    for (const some of slicesOf(leaving, PEOPLE_AT_A_TIME)) await this.deactivateAll(realm, some);
    return report.done(people.length);
  }

  /** Returns the users who need changes. */
  private async plan(
    realm: Realm,
    directory: PeopleDirectory,
    people: readonly DirectoryPerson[],
    report: Report,
  ): Promise<readonly DirectoryPerson[]> {
    const waiting: DirectoryPerson[] = [];
    for (const some of slicesOf(people, ENTITIES_PER_PAGE)) {
      await this.uow.read(realm.id, async (repositories) => {
        for (const person of some) {
          const plan = await report.attempt(person, () => planFor(repositories, realm, directory, person));
          if (plan?.kind === 'create') report.count(person.email, 'created');
          else if (plan) report.seen.add(plan.user.id);
          for (const problem of plan?.problems ?? []) report.note(person, problem);
          if (plan?.kind === 'change') {
            report.count(person.email, plan.reactivates ? 'reactivated' : plan.links ? 'linked' : 'changed');
          }
          if (plan && plan.kind !== 'keep') waiting.push(person);
        }
      });
    }
    // Entries that could not be applied keep their existing account.
    const refused = report.problems.flatMap(({ subject }) => subject ?? []);
    await this.uow.read(realm.id, async ({ logIns }) => {
      for (const subject of refused) {
        const id = await logIns.findLinked(realm.id, directoryMethod(directory), subject);
        if (id !== null) report.seen.add(id);
      }
    });
    return waiting;
  }

  /** Returns the directory's active users who are no longer in it. */
  private leaving(realm: Realm, directory: PeopleDirectory, seen: ReadonlySet<UserId>): Promise<readonly User[]> {
    return this.uow.read(realm.id, async ({ logIns, users }) => {
      const linked = await logIns.listUserIdsOf(realm.id, directoryMethod(directory));
      const gone = linked.filter((id) => !seen.has(id));
      return (await users.list(realm.id, gone)).filter(({ isActive }) => isActive);
    });
  }

  private objection(
    realm: Realm,
    directory: PeopleDirectory,
    leaving: readonly User[],
  ): Promise<{ readonly reason: string; readonly isFinal: boolean } | null> {
    if (leaving.length === 0) return Promise.resolve(null);
    return this.uow.read(realm.id, async ({ logIns, users, groups }) => {
      const linked = await logIns.listUserIdsOf(realm.id, directoryMethod(directory));
      const present = (await users.listActiveIds(realm.id, linked)).length;
      const { owners } = await groups.systemGroupIds(realm.id);
      const ownerIds = await users.listActiveIds(realm.id, await groups.listDirectMembers(realm.id, owners));
      const reason = objectionTo(leaving, { present, owners: ownerIds });
      const isFinal = objectionTo(leaving, { present: Number.POSITIVE_INFINITY, owners: ownerIds }) !== null;
      return reason === null ? null : { reason, isFinal };
    });
  }

  /** Retries each user separately if one of them cannot be changed. */
  private async placeAll(
    realm: Realm,
    directory: PeopleDirectory,
    people: readonly DirectoryPerson[],
    report: Report,
  ): Promise<void> {
    const { admission, clock } = this;
    const tools = { admission, clock, acceptsInvitations: false };
    const write = (some: readonly DirectoryPerson[]) =>
      this.uow.write(
        realm.id,
        async (tx) => {
          for (const person of some) await place(tx, realm, directory, person, tools);
        },
        { yields: true },
      );
    try {
      await write(people);
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error;
      for (const person of people) await report.attempt(person, () => write([person]));
    }
  }

  private deactivateAll(realm: Realm, people: readonly User[]): Promise<void> {
    const now = this.clock.now();
    return this.uow.write(
      realm.id,
      async (tx) => {
        for (const { id } of people) {
          const user = await tx.users.get(realm.id, id);
          const isLastOwner = user.role === 'owner' && (await isOnlyOwnerOf(tx, realm.id, id));
          if (!user.isActive || isLastOwner) continue;
          await deactivateWithBots(tx, realm, user, now);
          await tx.provisioning.setUserRemoved(realm.id, id, true);
        }
      },
      { yields: true },
    );
  }
}

/** Report of a running synchronization. */
class Report {
  /** Users with an entry in the directory. */
  readonly seen = new Set<UserId>();
  readonly problems: { email: string; reason: string; subject: string | null }[] = [];
  private readonly changes: { email: string; change: DirectoryChange }[] = [];
  private readonly counts = { created: 0, linked: 0, changed: 0, reactivated: 0, deactivated: 0 };

  count(email: string, change: DirectoryChange): void {
    this.counts[change]++;
    if (this.changes.length < MAX_REPORTED) this.changes.push({ email, change });
  }

  /** Omits entries with a shared email address. */
  distinct(people: readonly DirectoryPerson[]): readonly DirectoryPerson[] {
    const entries = new Map<string, number>();
    const keyOf = ({ email }: DirectoryPerson) => email.toLowerCase();
    for (const person of people) entries.set(keyOf(person), (entries.get(keyOf(person)) ?? 0) + 1);
    return people.filter((person) => {
      if (entries.get(keyOf(person)) === 1) return true;
      this.note(person, 'Several people in the directory have this address.');
      return false;
    });
  }

  /** Records errors that concern one person. Returns null after an error. */
  async attempt<T>(person: DirectoryPerson, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DomainError) || error.kind === 'unavailable') throw error;
      this.note(person, error.message);
      return null;
    }
  }

  done(people: number): DirectoryReport {
    const { counts, changes } = this;
    const problems = this.problems.slice(0, MAX_REPORTED).map(({ email, reason }) => ({ email, reason }));
    return { stopped: null, isAcceptable: false, people, counts, changes, problems };
  }

  stopped(people: number, reason: string, isAcceptable = false): DirectoryReport {
    return { ...this.done(people), stopped: reason, isAcceptable };
  }

  note({ email, subject }: DirectoryPerson, reason: string): void {
    this.problems.push({ email, reason, subject });
  }
}
