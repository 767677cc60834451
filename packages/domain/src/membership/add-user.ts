import { requestConfirmation } from '../access/confirmations.js';
import { type ApiKeyMint, Passwords, putNewApiKey } from '../access/credentials.js';
import type { Channel } from '../channels/channel.js';
import { subscribeToChannels } from '../channels/subscribing.js';
import { SUBSCRIPTION_PART_JOB } from '../channels/subscription-parts.js';
import { systemGroupsOf } from '../groups/system-groups.js';
import { DomainError } from '../kernel/errors.js';
import { wholeRealm } from '../kernel/event.js';
import type { Caller, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import type { UserSettings } from '../realms/user-settings.js';
import { passwordAuthDisabled } from '../users/authentication.js';
import { canJoinWith, type DisposableDomains, loadAddressPolicy } from '../users/change-email.js';
import {
  type Bot,
  isEmailAddress,
  parseFullName,
  SHORTEST_GIVEN_NAME,
  type SpecialPermission,
  toFullName,
  type UploadedAvatar,
  type User,
} from '../users/user.js';
import { announceExportConsent } from '../users/user-delivery.js';
import { canCreateUsers } from '../users/user-permissions.js';
import { SystemMessages } from '../writing/system-messages.js';
import { welcomeFirstOwner } from './organization-start.js';
import { claimPlaceholder, findPlaceholder, type NewAccount } from './placeholders.js';

export interface NewUser extends NewAccount {
  readonly bot?: Bot | null;
  /** Replaces the default avatar. */
  readonly avatar?: UploadedAvatar | null;
  /** Replaces the default channels; none may be archived. */
  readonly channels?: readonly Channel[];
  /** Keys for identities that the person has proven. A placeholder with such a key becomes the account. */
  readonly claims?: readonly string[];
}

/** Maximum number of channels that one unit of work adds to a new user; jobs add the rest. */
export const MAX_CHANNELS_OF_NEW_USER_AT_ONCE = 100;

type Reads = Pick<Repositories | Transaction, 'users'>;

/**
 * Checks the name of a new user. `placeholder`: user that becomes the account. @throws DomainError USER_NAME_TAKEN if
 * the realm requires unique names and the name is in use.
 */
export async function assertNameAvailable(
  reads: Reads,
  realm: Realm,
  fullName: string,
  placeholder: User | null = null,
): Promise<void> {
  if (!(await isNameAvailable(reads, realm, fullName, placeholder))) {
    throw new DomainError('USER_NAME_TAKEN', 'Unique names required in this organization.');
  }
}

async function isNameAvailable({ users }: Reads, realm: Realm, fullName: string, placeholder: User | null) {
  return !realm.settings.requireUniqueNames || !(await users.isNameTaken(realm.id, fullName, placeholder?.id ?? null));
}

/** Returns the first valid and available name; null if there is none. `placeholder`: user that becomes the account. */
export async function findAvailableName(
  reads: Reads,
  realm: Realm,
  candidates: readonly string[],
  placeholder: User | null,
): Promise<string | null> {
  for (const candidate of candidates) {
    const name = validName(candidate);
    if (name !== null && (await isNameAvailable(reads, realm, name, placeholder))) return name;
  }
  return null;
}

/** Removes invalid characters from a name. Returns null if the rest is too short. */
export function validName(raw: string): string | null {
  try {
    return parseFullName(toFullName(raw), SHORTEST_GIVEN_NAME);
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}

/** @throws DomainError EMAIL_TAKEN */
export async function assertEmailAvailable({ users }: Reads, realm: Realm, email: string): Promise<void> {
  if (await users.findByEmail(realm.id, email)) throw new DomainError('EMAIL_TAKEN', 'Email is already in use.');
}

/**
 * Adds a user with role groups, an API key and channel subscriptions, and publishes the event to everyone (users
 * §3.1). @throws DomainError USER_NAME_TAKEN, EMAIL_TAKEN
 */
export async function addUser(
  tx: Transaction,
  realm: Realm,
  person: NewUser,
  { now, mint }: { readonly now: UnixSeconds; readonly mint: ApiKeyMint },
): Promise<User> {
  const { email, fullName, bot = null, channels, claims = [] } = person;
  const placeholder = await findPlaceholder(tx, realm.id, claims);
  await assertNameAvailable(tx, realm, fullName, placeholder);
  await assertEmailAvailable(tx, realm, email);
  const user = placeholder
    ? await claimPlaceholder(tx, realm, placeholder, person, now)
    : await createUser(tx, realm, person, { now, mint });
  if (!bot) {
    // New users need no banners about changed features (organization §10.3).
    await tx.onboarding.markDone(realm.id, user.id, 'visibility_policy_banner');
    const subscribed = channels ?? (await tx.channels.listDefaults(realm.id));
    const [first = [], ...others] = [...slicesOf(subscribed, MAX_CHANNELS_OF_NEW_USER_AT_ONCE)];
    await subscribeToChannels(tx, { channels: first, userIds: [user.id], requestedColors: new Map() });
    for (const some of others) {
      const payload = { op: 'add', channelIds: some.map(({ id }) => id), userIds: [user.id], colors: [] } as const;
      await tx.jobs.schedule(encodeJob(SUBSCRIPTION_PART_JOB, { realmId: realm.id, dueAt: now, payload }));
    }
    if (!placeholder) await announceExportConsent(tx, user);
  }
  return user;
}

async function createUser(
  tx: Transaction,
  realm: Realm,
  { email, fullName, role, passwordHash, bot = null, avatar = null, settings = {}, externalId }: NewUser,
  { now, mint }: { readonly now: UnixSeconds; readonly mint: ApiKeyMint },
): Promise<User> {
  const user = await tx.users.add(
    {
      realmId: realm.id,
      email,
      fullName,
      role,
      isActive: true,
      isDeleted: false,
      joinedAt: now,
      bot,
      avatar: avatar ?? { source: realm.settings.defaultAvatarSource, version: 1 },
      specialPermissions: [],
      editedSettings: [],
      ...(externalId !== undefined && { externalId }),
      settings: {
        ...realm.userDefaults,
        defaultLanguage: realm.settings.defaultLanguage,
        ...settings,
        ...(bot ? { emailAddressVisibility: 'everyone' as const } : {}),
      },
    },
    passwordHash,
  );
  await putNewApiKey(tx, mint, { realmId: realm.id, userId: user.id, generation: 1 });

  await tx.events.append(realm.id, { event: { type: 'user.created', user }, audience: wholeRealm });
  const system = await tx.groups.systemGroupIds(realm.id);
  for (const name of systemGroupsOf(user, realm.settings.waitingPeriodThreshold, now)) {
    await tx.groups.addMembers(realm.id, system[name], [user.id]);
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'add', groupId: system[name], userIds: [user.id] },
      audience: wholeRealm,
    });
  }
  return user;
}

export interface CreateUserInput {
  readonly email: string;
  readonly password: string;
  readonly fullName: string;
}

/** Adds a member on behalf of an administrator with the operator's special permission (users §3.1). */
export class CreateUser {
  static readonly inject = [
    'unitOfWork',
    Passwords,
    'disposableDomains',
    'apiKeyMint',
    SystemMessages,
    'clock',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly passwords: Passwords,
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
    // Runs every check before the slow hash, and repeats those whose result may have changed afterwards.
    const { fullName, realm } = await this.uow.read(caller.realmId, async (repositories) => {
      await enforceMayCreate(repositories, caller);
      const realm = await repositories.realms.get(caller.realmId);
      const name = parseFullName(raw);
      await assertNameAvailable(repositories, realm, name);
      if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Bad name or username');
      await this.enforceMayJoin(repositories, realm, email);
      await assertEmailAvailable(repositories, realm, email);
      this.passwords.requireStrong(password, [email, name]);
      return { fullName: name, realm };
    });
    const welcome = await this.systemMessages.parseWelcome(realm);
    const passwordHash = await this.passwords.hash(password, { client: `user ${caller.userId}` });
    return this.uow.write(caller.realmId, async (tx) => {
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

/** @throws DomainError PASSWORD_AUTH_DISABLED */
async function sendPasswordLink(
  tx: Transaction,
  { realmId, id: userId, email }: User,
  now: UnixSeconds,
): Promise<void> {
  if (!(await tx.realms.get(realmId)).settings.emailAuthentication) throw passwordAuthDisabled();
  await requestConfirmation(tx, { realmId, purpose: 'passwordReset', email, userId, invitationId: null }, now);
}

export interface RegisterUserInput extends Omit<NewUser, 'passwordHash' | 'fullName' | 'settings'> {
  readonly realmId: RealmId;
  readonly fullName: string;
  /** Null if the user cannot sign in with a password and the host application authenticates them. */
  readonly password: string | null;
  /**
   * Skips the password strength check, for organizations with published or generated passwords such as demos.
   * Defaults to false.
   */
  readonly allowsWeakPassword?: boolean;
  readonly settings?: Partial<UserSettings>;
  readonly specialPermissions?: readonly SpecialPermission[];
  /** Emails a link for setting a password, scheduled in the same unit. */
  readonly sendsPasswordLink?: boolean;
}

/** Adds a user with any role, on behalf of the operator or the host application. */
export class RegisterUser {
  static readonly inject = ['unitOfWork', Passwords, 'apiKeyMint', 'clock', SystemMessages] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly passwords: Passwords,
    private readonly mint: ApiKeyMint,
    private readonly clock: Clock,
    private readonly systemMessages: SystemMessages,
  ) {}

  /**
   * @throws DomainError UNKNOWN_REALM, INVALID_EMAIL, EMAIL_TAKEN, INVALID_USER_NAME, USER_NAME_TAKEN, WEAK_PASSWORD,
   * PASSWORD_AUTH_DISABLED
   */
  async execute(input: RegisterUserInput): Promise<User> {
    const { realmId, password, specialPermissions = [], allowsWeakPassword, sendsPasswordLink, ...person } = input;
    const fullName = this.check(input);
    const passwordHash = password === null ? null : await this.passwords.hash(password);
    return this.uow.write(realmId, async (tx) => {
      const realm = await tx.realms.get(realmId);
      const user = await addUser(
        tx,
        realm,
        { ...person, fullName, passwordHash },
        { now: this.clock.now(), mint: this.mint },
      );
      await welcomeFirstOwner(tx, realm, user, this.systemMessages);
      if (sendsPasswordLink) await sendPasswordLink(tx, user, this.clock.now());
      return specialPermissions.length === 0 ? user : tx.users.update({ ...user, specialPermissions });
    });
  }

  /**
   * Validates everything that requires no lookup and returns the trimmed name. @throws DomainError INVALID_USER_NAME,
   * INVALID_EMAIL, WEAK_PASSWORD
   */
  check(input: Pick<RegisterUserInput, 'email' | 'fullName' | 'password' | 'allowsWeakPassword'>): string {
    const { email, password, allowsWeakPassword = false } = input;
    const fullName = parseFullName(input.fullName, SHORTEST_GIVEN_NAME);
    if (!isEmailAddress(email)) throw new DomainError('INVALID_EMAIL', 'Enter a valid email address.');
    if (password !== null && !allowsWeakPassword) this.passwords.requireStrong(password, [email, fullName]);
    return fullName;
  }
}
