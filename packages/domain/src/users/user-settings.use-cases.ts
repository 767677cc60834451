import type { Actor } from '../access/actor.js';
import { requestConfirmation } from '../access/confirmations.js';
import { changePassword, type LoginAttempts, loginAttemptKey, Passwords, SIGNED_IN } from '../access/credentials.js';
import type { EmailQuota } from '../access/email.js';
import { groupsHeldBy } from '../access/group-closure.js';
import { DomainError } from '../kernel/errors.js';
import { users as usersNamed } from '../kernel/event.js';
import type { Caller, GroupId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { type JobPartOutcome, jobPartKind, RequestParts } from '../kernel/job-parts.js';
import type { Job, JobWork } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock } from '../kernel/ports.js';
import { changed, type SettingChange, type SettingChanges, settingChanges } from '../kernel/settings.js';
import { trim } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { slicesOf } from '../kernel/work.js';
import type { Realm } from '../realms/realm.js';
import { checkUserSettings, USER_SETTINGS, type UserSettingName } from '../realms/user-settings.js';
import { acceptedName, type DisposableDomains, newEmailProblem, rename } from './change-email.js';
import { type PresencePolicy, presenceAudience, storePresence, timesAfterSwitch } from './presence.js';
import type { User } from './user.js';
import { accessorsOf, announceExportConsent } from './user-delivery.js';
import { canChangeOwnEmail, canChangeSettingsOfOthers, mayChangeOwnName } from './user-permissions.js';

export type UserSettingChange = SettingChange<typeof USER_SETTINGS>;

/** Data other than the user that affects a change. */
export interface ChangeContext {
  readonly now: UnixSeconds;
  readonly presencePolicy: PresencePolicy;
}

/** Stores changes of the user's own settings and publishes them to all affected users (users §6.4). */
export async function applySettings(
  tx: Transaction,
  user: User,
  changes: readonly UserSettingChange[],
  context: ChangeContext,
): Promise<void> {
  if (changes.length === 0) return;
  const edited = changes.map(({ name }) => name).filter((name) => !user.editedSettings.includes(name));
  const settings = changed(user.settings, changes);
  const after = { ...user, settings, editedSettings: [...user.editedSettings, ...edited] };
  const stored = await tx.users.update(after);
  await dropDrafts(tx, user, changes);
  for (const change of lastTimeZone(changes)) {
    await announceSetting(tx, user.realmId, change, [user.id]);
    await announceToOthers(tx, change, user, stored, context);
  }
}

/** Deletes the drafts of users who disabled synchronization, without an event per draft (users §6). */
export async function dropDrafts(
  tx: Transaction,
  { realmId, id }: User,
  changes: readonly UserSettingChange[],
): Promise<void> {
  const isOff = changes.some(({ name, value }) => name === 'enableDraftsSynchronization' && !value);
  if (isOff) await tx.drafts.removeAll(realmId, id);
}

/** Moves the time zone to the end (users §6.2). */
const lastTimeZone = (changes: readonly UserSettingChange[]): readonly UserSettingChange[] => [
  ...changes.filter(({ name }) => name !== 'timezone'),
  ...changes.filter(({ name }) => name === 'timezone'),
];

export function announceSetting(
  tx: Transaction,
  realmId: RealmId,
  { name, value }: UserSettingChange,
  userIds: readonly UserId[],
) {
  const event = { type: 'user.setting_changed', setting: name, value } as const;
  return tx.events.append(realmId, { event, audience: usersNamed(userIds) });
}

async function announceToOthers(
  tx: Transaction,
  { name }: UserSettingChange,
  before: User,
  user: User,
  { now: at, presencePolicy }: ChangeContext,
): Promise<void> {
  switch (USER_SETTINGS[name].othersLearn) {
    case 'timeZone':
      await tx.events.append(user.realmId, {
        event: { type: 'user.time_zone_changed', user },
        audience: accessorsOf(user.id),
      });
      break;
    case 'email': {
      const visibility = before.settings.emailAddressVisibility;
      const event = { type: 'user.email_visibility_changed', user, before: visibility } as const;
      await tx.events.append(user.realmId, { event, audience: accessorsOf(user.id) });
      break;
    }
    case 'presence':
      await storePresence(tx, user.realmId, user.id, timesAfterSwitch(user.settings.presenceEnabled, at));
      await tx.events.append(user.realmId, {
        event: { type: 'user.presence_switched', user, at },
        audience: presenceAudience(presencePolicy, user.id),
      });
      break;
    case 'exportConsent':
      await announceExportConsent(tx, user);
      break;
    case 'nothing':
  }
}

export interface ChangeSettingsInput {
  readonly settings: SettingChanges<typeof USER_SETTINGS>;
  readonly fullName?: string;
  readonly email?: string;
  /** Ignored without a new password. */
  readonly oldPassword?: string;
  /** Empty counts as absent. */
  readonly newPassword?: string;
  /** Absent: changes the caller's own settings. */
  readonly targets?: SettingTargets;
}

/** Users with settings changed by an administrator (users §6.3). */
export interface SettingTargets {
  readonly userIds: readonly UserId[];
  readonly groupIds: readonly GroupId[];
  /** True to skip settings that a user has ever changed. */
  readonly skipsEdited: boolean;
}

/** Changes of people's own email addresses, which take effect after confirmation (users §6.2). */
export class EmailChanges {
  static readonly inject = ['emailQuota', 'disposableDomains'] as const;
  constructor(
    private readonly quota: EmailQuota,
    private readonly disposable: DisposableDomains,
  ) {}

  /** Counts a confirmation email, outside the unit of work. @throws DomainError RATE_LIMITED */
  count({ userId }: Caller): void {
    this.quota.take('emailChangeByUser', String(userId));
  }

  withdraw({ userId }: Caller): void {
    this.quota.withdraw('emailChangeByUser', String(userId));
  }

  /** @throws DomainError EMAIL_CHANGES_DISABLED, and the codes of `newEmailProblem` */
  async check(
    repositories: Repositories | Transaction,
    actor: Actor,
    user: User,
    realm: Realm,
    email: string,
  ): Promise<void> {
    enforce(canChangeOwnEmail(actor, realm));
    const problem = await newEmailProblem(repositories, user, realm, email, this.disposable);
    if (problem) throw problem;
  }

  /** Sends a confirmation email to the new address. */
  async request(tx: Transaction, { realmId, id: userId }: User, email: string, now: UnixSeconds): Promise<void> {
    await requestConfirmation(tx, { realmId, purpose: 'emailChange', email, userId, invitationId: null }, now);
  }
}

/** Maximum number of users with settings changed in one unit of work. */
export const MAX_SETTINGS_AT_ONCE = 500;

/** Part of a request that changes the settings of many users. */
interface SettingPart extends Pick<SettingTargets, 'userIds' | 'skipsEdited'> {
  readonly caller: Caller;
  readonly settings: ChangeSettingsInput['settings'];
}

/** Performs the parts of requests that change the settings of other users (contract decision 10). */
export class ChangeSettingParts extends RequestParts<SettingPart> {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  readonly kind = jobPartKind<SettingPart>('users.change_settings');

  async change(
    caller: Caller,
    { settings, email, newPassword = '' }: ChangeSettingsInput,
    targets: SettingTargets,
  ): Promise<void> {
    const { userIds, groupIds, skipsEdited } = targets;
    const isSmall = groupIds.length === 0 && userIds.length <= MAX_SETTINGS_AT_ONCE;
    await this.perform(caller.realmId, isSmall, async (reads) => {
      enforce(
        canChangeSettingsOfOthers(await reads.actors.get(caller), {
          namesSomebody: userIds.length > 0 || groupIds.length > 0,
          settings: Object.keys(settings) as UserSettingName[],
          changesAccount: email !== undefined || newPassword !== '',
        }),
      );
      const ids = await targetsOf(reads, caller, targets);
      checkUserSettings(settings);
      return [...slicesOf(ids, MAX_SETTINGS_AT_ONCE)].map((some) => ({ caller, userIds: some, settings, skipsEdited }));
    });
  }

  async prepare({ payload }: Job<SettingPart>): Promise<JobWork<JobPartOutcome<void>>> {
    return async (tx) => ({ result: await changeSettings(tx, payload) });
  }
}

/** Publishes one event per setting for all affected users. */
async function changeSettings(
  tx: Transaction,
  { caller: { realmId }, userIds, settings, skipsEdited }: SettingPart,
): Promise<void> {
  const announced = new Map<UserSettingName, { readonly change: UserSettingChange; readonly userIds: UserId[] }>();
  for (const user of await tx.users.list(realmId, userIds)) {
    const changes = settingChanges(USER_SETTINGS, user.settings, settings).filter(
      ({ name }) => !skipsEdited || !user.editedSettings.includes(name),
    );
    if (changes.length === 0) continue;
    await tx.users.update({ ...user, settings: changed(user.settings, changes) });
    await dropDrafts(tx, user, changes);
    for (const change of changes) {
      const others = announced.get(change.name);
      if (others) others.userIds.push(user.id);
      else announced.set(change.name, { change, userIds: [user.id] });
    }
  }
  for (const { change, userIds: affected } of announced.values()) await announceSetting(tx, realmId, change, affected);
}

/** Changes the caller's settings, name, email and password, or settings of many other users (users §6.1–6.4). */
export class ChangeSettings {
  static readonly inject = ['unitOfWork', Passwords, 'loginAttempts', EmailChanges, 'clock', 'presencePolicy'] as const;
  private readonly parts: ChangeSettingParts;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly passwords: Passwords,
    private readonly attempts: LoginAttempts,
    private readonly emails: EmailChanges,
    private readonly clock: Clock,
    private readonly presencePolicy: PresencePolicy,
  ) {
    this.parts = new ChangeSettingParts(uow, clock);
  }

  /**
   * Applies all changes or none, to many others in several units of work (contract decision 10). A new email takes
   * effect only after confirmation (`ConfirmEmailChange`).
   * @throws DomainError BAD_SETTING_VALUE, SERVER_BUSY; for the caller WRONG_PASSWORD, WEAK_PASSWORD,
   * TOO_MANY_PASSWORD_ATTEMPTS, INVALID_USER_NAME, USER_NAME_TAKEN, EMAIL_CHANGES_DISABLED, INVALID_EMAIL,
   * EMAIL_NOT_ALLOWED, EMAIL_RESERVED, EMAIL_TAKEN, EMAIL_OF_DEACTIVATED_USER, RATE_LIMITED, MUST_NOT_BE_BOT; for
   * others NO_TARGET_USERS, MUST_BE_ADMINISTRATOR, SETTING_NOT_FOR_OTHERS, UNKNOWN_USER, UNKNOWN_GROUP
   */
  async execute(caller: Caller, input: ChangeSettingsInput): Promise<void> {
    if (input.targets) return this.parts.change(caller, input, input.targets);
    checkUserSettings(input.settings);
    const password = await this.preparePassword(caller, input);
    const email = await this.prepareEmail(caller, input);
    try {
      await this.uow.write(caller.realmId, async (tx) => {
        const actor = await tx.actors.get(caller);
        const realm = await tx.realms.get(caller.realmId);
        const user = await tx.users.get(caller.realmId, caller.userId);
        const changes = settingChanges(USER_SETTINGS, user.settings, input.settings);
        const now = this.clock.now();
        if (password) await storePassword(tx, caller, user, password, now);
        if (email !== null) {
          await this.emails.check(tx, actor, user, realm, email);
          await this.emails.request(tx, user, email, now);
        }
        const asks = input.fullName !== undefined && input.fullName !== user.fullName && mayChangeOwnName(actor, realm);
        const fullName = asks ? await acceptedName(tx, realm, user, input.fullName!) : user.fullName;
        await applySettings(tx, await rename(tx, user, fullName), changes, {
          now,
          presencePolicy: this.presencePolicy,
        });
      });
    } catch (error) {
      if (email !== null) this.emails.withdraw(caller);
      throw error;
    }
  }

  /**
   * Returns the validated new email after counting the confirmation email, outside the unit of work; null if
   * unchanged (users §6.2).
   */
  private async prepareEmail(caller: Caller, { email: raw }: ChangeSettingsInput): Promise<string | null> {
    if (raw === undefined) return null;
    const email = trim(raw);
    const isNew = await this.uow.read(caller.realmId, async (repositories) => {
      const actor = await repositories.actors.get(caller);
      const user = await repositories.users.get(caller.realmId, caller.userId);
      if (email === user.email) return false;
      await this.emails.check(repositories, actor, user, await repositories.realms.get(caller.realmId), email);
      return true;
    });
    if (!isNew) return null;
    this.emails.count(caller);
    return email;
  }

  /** Hashes the password before the unit of work, since it is slow, and after all earlier checks. */
  private async preparePassword(caller: Caller, { oldPassword = '', newPassword = '' }: ChangeSettingsInput) {
    if (newPassword === '') return null;
    const { user, hash } = await this.uow.read(caller.realmId, async ({ actors, users }) => {
      await actors.get(caller);
      const found = await users.get(caller.realmId, caller.userId);
      return { user: found, hash: await users.findPasswordHash(caller.realmId, caller.userId) };
    });
    const client = `user ${caller.userId}`;
    const key = loginAttemptKey(caller.realmId, user.email);
    await this.countAttempt(key);
    let isRight: boolean;
    try {
      isRight = await this.passwords.verify(oldPassword, hash, { client });
    } catch (error) {
      this.attempts.withdraw(key, SIGNED_IN);
      throw error;
    }
    if (!isRight) throw wrongPassword();
    this.attempts.succeed(key, SIGNED_IN);
    this.passwords.requireStrong(newPassword, [user.email, user.fullName], 'New password is too weak!');
    return { before: hash, after: await this.passwords.hash(newPassword, { client }) };
  }

  private async countAttempt(key: string): Promise<void> {
    try {
      await this.attempts.attempt(key, SIGNED_IN);
    } catch (error) {
      if (!(error instanceof DomainError) || !error.is('RATE_LIMITED')) throw error;
      const seconds = Math.ceil(error.details.retryAfter);
      throw new DomainError(
        'TOO_MANY_PASSWORD_ATTEMPTS',
        `You're making too many attempts! Try again in ${seconds} seconds.`,
      );
    }
  }
}

const wrongPassword = () => new DomainError('WRONG_PASSWORD', 'Wrong password!');

async function storePassword(
  tx: Transaction,
  { sessionId }: Caller,
  user: User,
  { before, after }: { readonly before: string | null; readonly after: string },
  now: UnixSeconds,
): Promise<void> {
  // The password may have changed while the hash was computed.
  if ((await tx.users.findPasswordHash(user.realmId, user.id)) !== before) throw wrongPassword();
  await changePassword(tx, user, after, { now, except: sessionId });
}

/**
 * Returns the named users and recursive group members, including deactivated ones but no bots. @throws DomainError
 * UNKNOWN_USER, UNKNOWN_GROUP
 */
async function targetsOf(
  reads: Repositories | Transaction,
  { realmId }: Caller,
  targets: SettingTargets,
): Promise<readonly UserId[]> {
  const ids = new Set<UserId>();
  for (const groupId of await withSubgroups(reads, realmId, targets.groupIds)) {
    for (const id of await reads.groups.listDirectMembers(realmId, groupId)) ids.add(id);
  }
  const members = await reads.users.list(realmId, [...ids]);
  const named = await reads.users.list(realmId, [...new Set(targets.userIds)]);
  const userIds = new Set<UserId>(named.filter((user) => !user.bot).map(({ id }) => id));
  const unknown = targets.userIds.find((id) => !userIds.has(id));
  if (unknown !== undefined) throw new DomainError('UNKNOWN_USER', `Invalid user ID: ${unknown}`);
  const everybody = new Map([...members, ...named].map((user) => [user.id, user]));
  return [...everybody.values()]
    .filter((user) => !user.bot)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}

async function withSubgroups(
  reads: Repositories | Transaction,
  realmId: Realm['id'],
  groupIds: readonly GroupId[],
): Promise<ReadonlySet<GroupId>> {
  for (const id of groupIds) {
    const group = await reads.groups.find(realmId, id);
    if (group === null || group.name === null) throw new DomainError('UNKNOWN_GROUP', `Invalid user group ID: ${id}`);
  }
  return groupsHeldBy(groupIds.length === 0 ? [] : await reads.groups.listEdges(realmId), groupIds);
}

/** Effect of one slash command. */
export type DisplaySwitch = { readonly colorScheme: 'dark' | 'light' } | { readonly fluidLayoutWidth: boolean };

/** Changes the caller's display settings with a slash command (messages §15.2). */
export class SwitchDisplay {
  static readonly inject = ['unitOfWork', 'clock', 'presencePolicy'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly presencePolicy: PresencePolicy,
  ) {}

  /** Returns true if the setting changed. */
  execute(caller: Caller, settings: DisplaySwitch): Promise<boolean> {
    return this.uow.write(caller.realmId, async (tx) => {
      const { realmId, id } = await tx.actors.get(caller);
      const user = await tx.users.get(realmId, id);
      const changes = settingChanges(USER_SETTINGS, user.settings, settings);
      await applySettings(tx, user, changes, { now: this.clock.now(), presencePolicy: this.presencePolicy });
      return changes.length > 0;
    });
  }
}
