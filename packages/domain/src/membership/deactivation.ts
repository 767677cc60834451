import { endSessions } from '../access/credentials.js';
import { composeEmail, type Email, EmailJobs, emailJobKind, type Mailer } from '../access/email.js';
import { loadEmailWords } from '../access/email-texts.js';
import type { Channel, ChannelPrivacy } from '../channels/channel.js';
import { subscribersOf } from '../channels/channel-delivery.js';
import { publishSubscriberChanges } from '../channels/channel-events.js';
import { DomainError } from '../kernel/errors.js';
import { except, wholeRealm } from '../kernel/event.js';
import { type ChannelId, isId, type MessageId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { trim } from '../kernel/text.js';
import type { Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { deleteMessages, MAX_DELETED_AT_ONCE } from '../messages/deletion.js';
import type { Message } from '../messages/message.js';
import type { MessageCondition, MessageFilter } from '../messages/message-condition.js';
import type { Realm } from '../realms/realm.js';
import { changeAvatar } from '../users/avatars.js';
import { rename } from '../users/change-email.js';
import { removeProfileValue } from '../users/profiles.use-cases.js';
import { storeStatusChange } from '../users/statuses.js';
import type { User } from '../users/user.js';
import { accessorsOf, announceExportConsent } from '../users/user-delivery.js';
import { type AccessAnnouncer, accessAnnouncer } from '../users/user-events.js';
import { isBotNameTaken } from '../users/user-permissions.js';
import { expireInvitationsOf } from './invitation-changes.js';
import { announceValuesNaming, directGroupsOf, moveToRoleGroups } from './roles.js';

/**
 * Deactivates an active user: blocks log-in, closes event queues, and stops delivery and subscriber counting. Keeps
 * data and subscriptions for reactivation (users §4.1), and sessions to report the deactivation. `user` contains all
 * other changes to store. Checks no permissions.
 */
export async function deactivate(tx: Transaction, user: User): Promise<void> {
  const { realmId, id } = user;
  const access = await accessAnnouncer(tx, await tx.realms.get(realmId));
  const channels = await subscribedChannels(tx, user);
  await tx.users.update({ ...user, isActive: false });
  await tx.queues.removeOfUser(realmId, id);
  await tx.personal.closeSpans(realmId, recipientsOf(channels), [id]);
  // Published before the deactivation (channels §6.2).
  if (channels.length > 0) await publishSubscriberChanges(tx, 'remove', channels, allOf(channels, id));
  await announce(tx, user, false);
  await announceAccess(tx, user, channels, access);
}

/** Reactivates a user in the groups of their current role (users §4.3). Checks no permissions. */
export async function reactivate(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<User> {
  const access = await accessAnnouncer(tx, realm);
  const channels = await subscribedChannels(tx, user);
  await endSessions(tx, user);
  const back = await tx.users.update({ ...user, isActive: true, isDeleted: false });
  await tx.personal.openSpans(realm.id, recipientsOf(channels), [user.id]);
  // Published first, so that users who regain access through a channel know the subject of later events.
  await announceAccess(tx, user, channels, access);
  await announce(tx, user, true);
  await moveToRoleGroups(tx, realm, back, now);
  if (channels.length > 0) await publishSubscriberChanges(tx, 'add', channels, allOf(channels, user.id));
  return back;
}

const recipientsOf = (channels: readonly Channel[]) => channels.map(({ recipientId }) => recipientId);

/** Includes archived channels. */
const subscribedChannels = async ({ channels }: Transaction, { realmId, id }: User): Promise<readonly Channel[]> =>
  channels.list(realmId, await channels.listSubscribedIds(realmId, id));

const allOf = (channels: readonly Channel[], userId: UserId): ReadonlyMap<ChannelId, readonly UserId[]> =>
  new Map(channels.map(({ id }) => [id, [userId]]));

function announce(tx: Transaction, { realmId, id: userId }: User, isActive: boolean) {
  return tx.events.append(realmId, {
    event: { type: 'user.activation_changed', userId, isActive },
    audience: accessorsOf(userId),
  });
}

async function announceAccess(
  tx: Transaction,
  { realmId, id }: User,
  channels: readonly Channel[],
  access: AccessAnnouncer | null,
): Promise<void> {
  await access?.announceChannels(
    channels.map((channel) => ({
      subscribers: subscribersOf(channel.id),
      changed: [id],
      others: async () => (await tx.channels.listSubscribers(realmId, [channel.id])).get(channel.id) ?? [],
    })),
  );
}

/** In code points (users §4.1). */
export const MAX_DEACTIVATION_COMMENT_LENGTH = 2000;

interface DeactivationNotice {
  readonly userId: UserId;
  /** Administrator who deactivated the account. */
  readonly byId: UserId;
  /** Comment by the administrator; empty if there is none. */
  readonly comment: string;
}

export const DEACTIVATION_EMAIL = emailJobKind<DeactivationNotice>({
  name: 'accounts.deactivation_letter',
  readPayload: (stored) => {
    const { userId, byId, comment } = stored as Partial<DeactivationNotice>;
    if (!isId(userId) || !isId(byId) || typeof comment !== 'string') throw new Error('It names nobody');
    return { userId, byId, comment };
  },
});

export const planDeactivationEmail = async (
  tx: Transaction,
  { id: realmId }: Realm,
  notice: DeactivationNotice,
  now: UnixSeconds,
): Promise<void> => {
  // Other control characters would take six characters each in the job payload.
  const comment = trim(notice.comment.replace(/[^\P{Cc}\n\t]/gu, ' '));
  const payload = { ...notice, comment };
  await tx.jobs.schedule(encodeJob(DEACTIVATION_EMAIL, { realmId, dueAt: now, payload }));
};

/** Emails users after an administrator deactivated their account with notification (users §4.1). */
export class DeactivationEmails extends EmailJobs<DeactivationNotice> {
  static readonly inject = ['mailer', 'unitOfWork', 'realmUrls'] as const;

  readonly kind = DEACTIVATION_EMAIL;

  constructor(
    mailer: Mailer,
    private readonly uow: UnitOfWork,
    private readonly realmUrls: RealmUrls,
  ) {
    super(mailer);
  }

  protected async compose({ realmId, payload }: Job<DeactivationNotice>): Promise<Email | null> {
    const { realm, user, by } = await this.uow.read(realmId, async ({ realms, users }) => ({
      realm: await realms.get(realmId),
      user: await users.find(realmId, payload.userId),
      by: await users.find(realmId, payload.byId),
    }));
    // A reactivated user does not need the email, since the deactivation was probably a mistake.
    if (!user || user.isActive) return null;
    const { name } = realm;
    const { language, t } = await loadEmailWords(user, realm);
    const person = by?.fullName ?? t('An administrator');
    return composeEmail({
      to: user.email,
      senderName: name,
      language,
      subject: t('Your account at {name} has been deactivated', { name }),
      paragraphs: [
        t('{person} has deactivated your account at {organization}. You can no longer log in.', {
          person,
          organization: `${name} (${this.realmUrls.urlOf(realm)})`,
        }),
        ...(payload.comment === '' ? [] : [t('Comment by {person}:', { person }), payload.comment]),
      ],
    });
  }
}

/** Scopes in which messages of a deactivated user can be deleted. */
export const MESSAGE_SCOPES = ['publicChannels', 'privateChannels', 'direct'] as const;
export type MessageScope = (typeof MESSAGE_SCOPES)[number];

interface DeletionPayload {
  readonly userId: UserId;
  /** Administrator who requested the deletion. */
  readonly byId: UserId;
  readonly places: readonly MessageScope[];
  /** Highest message id that may remain; null before the first deletion. */
  readonly upTo: number | null;
}

const PRIVACIES: Readonly<Record<MessageScope, readonly ChannelPrivacy[]>> = {
  publicChannels: ['public', 'webPublic'],
  privateChannels: ['privateSharedHistory', 'privateProtectedHistory'],
  direct: [],
};

export const DELETE_MESSAGES_JOB = jobKind<DeletionPayload>({
  name: 'accounts.delete_messages',
  readPayload: (stored) => {
    const { userId, byId, places, upTo = null } = stored as Partial<DeletionPayload>;
    if (!isId(userId) || !isId(byId) || !places?.every((scope) => MESSAGE_SCOPES.includes(scope))) {
      throw new Error('It names no messages');
    }
    return { userId, byId, places, upTo };
  },
  concurrency: 1,
});

export const planMessageDeletion = (
  tx: Transaction,
  realmId: RealmId,
  deletion: Omit<DeletionPayload, 'upTo'>,
  now: UnixSeconds,
) => tx.jobs.schedule(encodeJob(DELETE_MESSAGES_JOB, { realmId, dueAt: now, payload: { ...deletion, upTo: null } }));

/**
 * Deletes a user's messages, newest first and a limited number per transaction, even in channels to which the user
 * never subscribed (users §4.1).
 */
export class DeleteContributions implements JobHandler<DeletionPayload> {
  static readonly inject = ['clock'] as const;

  readonly kind = DELETE_MESSAGES_JOB;

  constructor(private readonly clock: Clock) {}

  async prepare({ realmId, payload }: Job<DeletionPayload>): Promise<JobWork> {
    return async (tx) => {
      const { userId, byId, places, upTo } = payload;
      const ids: MessageId[] = [];
      for (const filter of filtersOf(userId, places)) {
        const entries = await tx.pages.listEntriesUpTo({ realmId, userId }, filter, upTo, MAX_DELETED_AT_ONCE);
        ids.push(...entries.map(({ id }) => id));
      }
      ids.sort((a, b) => a - b).splice(0, Math.max(0, ids.length - MAX_DELETED_AT_ONCE));
      const deletedAt = this.clock.now();
      for (const [channelId, messages] of byConversation(await tx.messages.list(realmId, ids))) {
        const channel = channelId === null ? null : await tx.channels.find(realmId, channelId);
        await deleteMessages(tx, { realmId, deletedBy: byId, deletedAt, channel, messages });
      }
      if (ids.length < MAX_DELETED_AT_ONCE) return;
      const rest = { ...payload, upTo: ids[0]! - 1 };
      await tx.jobs.schedule(encodeJob(this.kind, { realmId, dueAt: deletedAt, payload: rest }));
    };
  }
}

/** Messages sent by the user. Senders always hold their own direct messages. */
function filtersOf(userId: UserId, places: readonly MessageScope[]): readonly MessageFilter[] {
  const bySender: MessageCondition = { kind: 'sender', userId };
  const privacies = places.flatMap((scope) => PRIVACIES[scope]);
  const inChannels: MessageCondition = { kind: 'channelPrivacy', privacies };
  return [
    ...(privacies.length > 0 ? [{ conditions: [bySender, inChannels], scope: 'shared' } as const] : []),
    ...(places.includes('direct') ? [{ conditions: [bySender, { kind: 'direct' }], scope: 'own' } as const] : []),
  ];
}

/** Groups messages by channel; direct messages stay separate. */
function byConversation(messages: readonly Message[]): readonly (readonly [ChannelId | null, readonly Message[]])[] {
  const conversations = new Map<ChannelId | MessageId, [ChannelId | null, Message[]]>();
  for (const message of messages) {
    const key = message.channelId === null ? (-message.id as MessageId) : message.channelId;
    const existing = conversations.get(key);
    if (existing) existing[1].push(message);
    else conversations.set(key, [message.channelId, [message]]);
  }
  return [...conversations.values()];
}

/** Data deleted together with an account, bots included (users §4.1). */
export interface Deletions {
  readonly byId: UserId;
  /** Deletes the name, avatar, profile field values and status. */
  readonly ofProfile: boolean;
  /** Scopes in which a job deletes the user's messages; empty if messages are kept. */
  readonly ofMessages: readonly MessageScope[];
}

/** Name shown for a user whose profile was deleted. */
const DELETED_USER_NAME = 'Deleted user';

interface BotsPayload {
  readonly ownerId: UserId;
  readonly deletions: Deletions | null;
}

export const DEACTIVATE_BOTS_JOB = jobKind<BotsPayload>({
  name: 'accounts.deactivate_bots',
  readPayload: (stored) => {
    const { ownerId, deletions = null } = stored as Partial<BotsPayload>;
    if (!isId(ownerId)) throw new Error('It names nobody');
    return { ownerId, deletions };
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
  const { ownerId, deletions } = payload;
  const active = await tx.users.listActiveIds(realmId, await tx.bots.listOwnedIds(realmId, ownerId));
  for (const bot of await tx.users.list(realmId, active.slice(0, MAX_BOTS_AT_ONCE))) {
    await end(tx, bot, now, deletions);
  }
  if (active.length <= MAX_BOTS_AT_ONCE) return;
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
  await endBots(tx, realm.id, { ownerId: user.id, deletions }, now);
  await end(tx, user, now, deletions);
  await expireInvitationsOf(tx, realm.id, user.id, now);
  await announceToThoseApart(tx, realm, user.id);
}

async function end(tx: Transaction, user: User, now: UnixSeconds, deletions: Deletions | null): Promise<void> {
  // Runs first, while other users still receive events about this user.
  await deactivate(tx, deletions?.ofProfile ? await withoutProfile(tx, user) : user);
  if (!deletions || deletions.ofMessages.length === 0) return;
  const { byId, ofMessages: places } = deletions;
  await planMessageDeletion(tx, user.realmId, { userId: user.id, byId, places }, now);
}

/** Removes the URL of an uploaded avatar immediately; the next sweep deletes its bytes. */
async function withoutProfile(tx: Transaction, user: User): Promise<User> {
  const { realmId, id } = user;
  const values = (await tx.profiles.listValues(realmId, [id])).get(id) ?? [];
  for (const { fieldId } of values) await removeProfileValue(tx, user, fieldId);
  if (await tx.statuses.find(realmId, id)) await storeStatusChange(tx, user, { text: '', emoji: null });
  const renamed = await rename(tx, (await tx.users.find(realmId, id))!, DELETED_USER_NAME);
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
async function announceToThoseApart(tx: Transaction, realm: Realm, userId: UserId): Promise<void> {
  const { everyone } = await tx.groups.systemGroupIds(realm.id);
  if (realm.permissions.canAccessAllUsers === everyone) return;
  const apart = except(wholeRealm, accessorsOf(userId));
  const { named, spelt } = await directGroupsOf(tx, realm, userId);
  for (const groupId of named) {
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'remove', groupId, userIds: [userId] },
      audience: apart,
    });
  }
  await announceValuesNaming(tx, realm, spelt, apart);
}

/** Reactivates a user and restores their group memberships (users §4.3). Checks no permission. */
export async function reactivateWithGroups(tx: Transaction, realm: Realm, user: User, now: UnixSeconds): Promise<User> {
  const back = await reactivate(tx, realm, user, now);
  const { named, spelt } = await directGroupsOf(tx, realm, user.id);
  for (const groupId of named) {
    await tx.events.append(realm.id, {
      event: { type: 'group.members_changed', op: 'add', groupId, userIds: [user.id] },
      audience: wholeRealm,
    });
  }
  await announceValuesNaming(tx, realm, spelt, wholeRealm);
  await announceExportConsent(tx, back);
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
