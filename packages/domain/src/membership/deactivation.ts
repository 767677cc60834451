import { DomainError } from '../kernel/errors.js';
import { except, wholeRealm } from '../kernel/event.js';
import { isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { changeAvatar } from '../users/avatars.js';
import { rename } from '../users/change-email.js';
import { removeProfileValue } from '../users/profiles.use-cases.js';
import { announceStatus, storeStatusChange } from '../users/statuses.js';
import type { User } from '../users/user.js';
import { accessorsOf, announceExportConsent } from '../users/user-delivery.js';
import { isBotNameTaken } from '../users/user-permissions.js';
import { deactivate, reactivate } from './activation.js';
import { type MessageScope, planMessageDeletion } from './contribution-deletion.js';
import { DELETED_USER_NAME, isErased } from './erased-person.js';
import { expireInvitationsOf } from './invitation-changes.js';
import { announceValuesNaming, directGroupsOf } from './roles.js';

/** Data deleted together with an account, bots included (users §4.1). */
export interface Deletions {
  readonly byId: UserId;
  /** Deletes the name, avatar, profile field values and status. */
  readonly ofProfile: boolean;
  /** Scopes in which a job deletes the user's messages; empty if messages are kept. */
  readonly ofMessages: readonly MessageScope[];
}

interface BotsPayload {
  readonly ownerId: UserId;
  readonly deletions: Deletions | null;
  /** Time of the deactivation. Null in jobs of earlier versions: unknown. */
  readonly at: UnixSeconds | null;
}

export const DEACTIVATE_BOTS_JOB = jobKind<BotsPayload>({
  name: 'accounts.deactivate_bots',
  readPayload: (stored) => {
    const { ownerId, deletions = null, at = null } = stored as Partial<BotsPayload>;
    if (!isId(ownerId)) throw new TypeError('Job payload has no owner id');
    return { ownerId, deletions, at };
  },
  concurrency: 1,
  yields: true,
});

/** Maximum number of bots that one unit of work deactivates. */
export const MAX_BOTS_AT_ONCE = 5;

/** Deactivates the remaining bots of a user, a limited number per transaction. */
export class DeactivateBots implements JobHandler<BotsPayload> {
  static readonly inject = ['clock'] as const;

  readonly kind = DEACTIVATE_BOTS_JOB;

  constructor(private readonly clock: Clock) {}

  async prepare({ realmId, payload }: Job<BotsPayload>): Promise<JobWork> {
    return (tx) => endBots(tx, realmId, payload, this.clock.now());
  }
}

/** Deactivates some bots and schedules a job for the others. */
async function endBots(tx: Transaction, realmId: RealmId, payload: BotsPayload, now: UnixSeconds): Promise<void> {
  const { ownerId, deletions, at } = payload;
  const active = await tx.users.listActiveIds(realmId, await tx.bots.listOwnedIds(realmId, ownerId));
  const bots = await tx.users.list(realmId, active.slice(0, MAX_BOTS_AT_ONCE));
  // A reactivated user may have created others before the job runs; they have the highest ids.
  const former = at === null ? bots : bots.filter(({ joinedAt }) => joinedAt <= at);
  for (const bot of former) await end(tx, bot, now, deletions);
  if (former.length < MAX_BOTS_AT_ONCE || active.length <= MAX_BOTS_AT_ONCE) return;
  await tx.jobs.schedule(encodeJob(DEACTIVATE_BOTS_JOB, { realmId, dueAt: now, payload }));
}

/** Deactivates a user after their bots (users §4.1); a job deactivates bots beyond the limit. Checks no permission. */
export async function deactivateWithBots(
  tx: Transaction,
  realm: Realm,
  user: User,
  now: UnixSeconds,
  deletions: Deletions | null = null,
): Promise<void> {
  await endBots(tx, realm.id, { ownerId: user.id, deletions, at: now }, now);
  await end(tx, user, now, deletions);
  await expireInvitationsOf(tx, realm.id, user.id, now);
  await announceToUsersWithoutAccess(tx, realm, user.id);
}

async function end(tx: Transaction, user: User, now: UnixSeconds, deletions: Deletions | null): Promise<void> {
  // Runs first, while other users still receive events about this user.
  await deactivate(tx, deletions?.ofProfile ? await withoutProfile(tx, user) : user);
  if (!deletions || deletions.ofMessages.length === 0) return;
  const { byId, ofMessages: places } = deletions;
  await planMessageDeletion(tx, user.realmId, { userId: user.id, byId, places }, now);
}

/**
 * Deletes the profile. Removes the URL of an uploaded avatar immediately; the next sweep deletes its bytes. The returned
 * user is not stored yet.
 */
export async function withoutProfile(tx: Transaction, user: User): Promise<User> {
  const { realmId, id } = user;
  const values = (await tx.profiles.listValues(realmId, [id])).get(id) ?? [];
  for (const { fieldId } of values) await removeProfileValue(tx, user, fieldId);
  if (await tx.statuses.find(realmId, id)) await storeStatusChange(tx, user, { text: '', emoji: null });
  const renamed = await rename(tx, await tx.users.get(realmId, id), DELETED_USER_NAME);
  const { source, version } = renamed.avatar;
  const shown =
    source === 'generated'
      ? renamed
      : (await changeAvatar(tx, renamed, { source: 'generated', version: version + 1 })).user;
  return { ...shown, isDeleted: true };
}

/**
 * Publishes group removals to guests who cannot access the user. Other clients remove a deactivated user from all
 * groups without events.
 */
async function announceToUsersWithoutAccess(tx: Transaction, realm: Realm, userId: UserId): Promise<void> {
  const { everyone } = await tx.groups.systemGroupIds(realm.id);
  if (realm.permissions.canAccessAllUsers === everyone) return;
  const withoutAccess = except(wholeRealm, accessorsOf(userId));
  const { named, anonymousGroups } = await directGroupsOf(tx, realm, userId);
  for (const groupId of named) {
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'remove', groupId, userIds: [userId] },
      audience: withoutAccess,
    });
  }
  await announceValuesNaming(tx, realm, anonymousGroups, withoutAccess);
}

/**
 * Reactivates a user and restores their group memberships (users §4.3). Checks no permission.
 * @throws DomainError USER_ERASED
 */
export async function reactivateWithGroups(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<User> {
  if (isErased(user)) throw new DomainError('USER_ERASED', 'The user was erased.');
  const back = await reactivate(tx, realm, user, now);
  const { named, anonymousGroups } = await directGroupsOf(tx, realm, user.id);
  for (const groupId of named) {
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'add', groupId, userIds: [user.id] },
      audience: wholeRealm,
    });
  }
  await announceValuesNaming(tx, realm, anonymousGroups, wholeRealm);
  await announceExportConsent(tx, back);
  await announceStatus(tx, back);
  return back;
}

/**
 * Requires a unique name and an active owner for a bot, when the caller cannot become its owner.
 * @throws DomainError BOT_NAME_TAKEN, NOT_PERMITTED
 */
export async function requireComplete(tx: Transaction, user: User): Promise<void> {
  if (!user.bot) return;
  if (isBotNameTaken(user, await tx.users.listByName(user.realmId, [user.fullName]))) {
    throw new DomainError('BOT_NAME_TAKEN', 'Name is already in use.');
  }
  const { ownerId } = user.bot;
  const owner = ownerId === null ? null : await tx.users.find(user.realmId, ownerId);
  if (!owner?.isActive) {
    throw new DomainError('NOT_PERMITTED', "The bot's owner is deactivated; reactivate them first.");
  }
}
