import type { Actor } from '../access/actor.js';
import type { LinkKeys } from '../access/confirmations.js';
import {
  composeEmail,
  EMAIL_PORTS,
  type Email,
  EmailJobs,
  emailJobKind,
  type Mailer,
  type NoticeTexts,
} from '../access/email.js';
import { anyOf, users } from '../kernel/event.js';
import { isId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import { enforce } from '../kernel/permission.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { Realm } from '../realms/realm.js';
import { isEmailPublic } from '../users/accessible-users.js';
import { atLeast } from '../users/user-delivery.js';
import {
  canInviteIntoChannels,
  canInviteIntoGroups,
  effectiveWelcomeText,
  type Invitation,
  type InvitationEntry,
  type InvitationOffer,
  isOpen,
  KEEP_ENDED_SECONDS,
  type NewInvitations,
  type Offered,
  presentOffer,
  reminderAt,
} from './invitations.js';

/**
 * Returns the offer with duplicate channels and groups removed, if the actor may make it (organization §9.1 rows
 * 7–10).
 * @throws DomainError UNKNOWN_CHANNEL, CANNOT_SUBSCRIBE_OTHERS, UNKNOWN_GROUP, GROUP_DEACTIVATED, NOT_PERMITTED
 */
export async function checkOffer(
  tx: Transaction,
  actor: Actor,
  realm: Realm,
  offer: InvitationOffer,
): Promise<InvitationOffer> {
  const channelIds = [...new Set(offer.channelIds)];
  const groupIds = [...new Set(offer.groupIds)];
  const { channels, groups } = await loadOffered(tx, actor, { channelIds, groupIds });
  enforce(canInviteIntoChannels(actor, realm, channels));
  enforce(canInviteIntoGroups(actor, realm, groups));
  return { ...offer, channelIds, groupIds, welcomeText: effectiveWelcomeText(actor, offer.welcomeText) };
}

type OfferReads = Pick<Repositories | Transaction, 'actors' | 'channels' | 'groups'>;

async function loadOffered(
  { channels, groups }: OfferReads,
  { realmId, id: inviterId }: Actor,
  { channelIds, groupIds }: Pick<InvitationOffer, 'channelIds' | 'groupIds'>,
): Promise<Offered> {
  const found = new Map((await channels.list(realmId, channelIds)).map((channel) => [channel.id, channel]));
  const subscribed = new Set(channelIds.length > 0 ? await channels.listSubscribedIds(realmId, inviterId) : []);
  const groupsById = new Map((await groups.list(realmId, groupIds)).map((group) => [group.id, group]));
  return {
    channels: channelIds.map((id) => ({ id, channel: found.get(id) ?? null, isSubscribed: subscribed.has(id) })),
    groups: groupIds.map((id) => groupsById.get(id) ?? null),
  };
}

/** Returns the invitation, limited to what the inviter may still offer; null if the invitation is void. */
export async function withPresentOffer(
  reads: OfferReads,
  realm: Realm,
  invitation: Invitation,
): Promise<Invitation | null> {
  const { inviterId } = invitation;
  const inviter = (await reads.actors.list(realm.id, [inviterId])).get(inviterId);
  if (!inviter) return null;
  const offer = presentOffer(inviter, realm, invitation, await loadOffered(reads, inviter, invitation));
  return offer && { ...invitation, ...offer };
}

interface InvitationEmailPayload {
  readonly invitationId: number;
  readonly isReminder: boolean;
}

export const INVITATION_EMAIL = emailJobKind<InvitationEmailPayload>({
  name: 'invitations.letter',
  readPayload: (stored) => {
    const { invitationId, isReminder } = stored as Partial<InvitationEmailPayload>;
    if (!isId(invitationId)) throw new TypeError('no invitation');
    return { invitationId, isReminder: isReminder === true };
  },
});

export const FORGET_INVITATION = jobKind<{ readonly invitationId: number }>({
  name: 'invitations.forget',
  isFixed: true,
  deletes: true,
  readPayload: idPayload('invitationId'),
});

/** Sends invitation emails and reminders (organization §9.3). */
export class SendInvitationEmails extends EmailJobs<InvitationEmailPayload> {
  static readonly inject = [...EMAIL_PORTS, 'invitationKeys', 'clock'] as const;

  readonly kind = INVITATION_EMAIL;

  constructor(
    mailer: Mailer,
    texts: NoticeTexts,
    uow: UnitOfWork,
    realmUrls: RealmUrls,
    private readonly keys: LinkKeys,
    private readonly clock: Clock,
  ) {
    super(mailer, texts, uow, realmUrls);
  }

  protected async compose({ realmId, payload }: Job<InvitationEmailPayload>): Promise<Email | null> {
    const { realm, invitation, inviter } = await this.uow.read(realmId, async (repositories) => {
      const realm = await repositories.realms.get(realmId);
      const stored = await repositories.invitations.find(realmId, payload.invitationId);
      const found = stored && (await withPresentOffer(repositories, realm, stored));
      return {
        realm,
        invitation: found,
        inviter: found && (await repositories.users.find(realmId, found.inviterId)),
      };
    });
    const isWanted = invitation && !realm.isDeactivated && isOpen(invitation, this.clock.now());
    if (!isWanted || invitation.email === null || !inviter) return null;
    const { isReminder } = payload;
    const { name } = realm;
    const { language, t } = this.wordsFor(null, realm);
    const subject = t('{person} has invited you to join {name}', { person: inviter.fullName, name });
    return composeEmail({
      to: invitation.email,
      isRequested: !isReminder,
      senderName: name,
      language,
      subject: isReminder ? t('Reminder: {subject}', { subject }) : subject,
      paragraphs: [
        t('Hello,'),
        t('{person} invites you to join {name}, where teams talk in channels and topics.', {
          person: isEmailPublic(inviter) ? `${inviter.fullName} (${inviter.email})` : inviter.fullName,
          name,
        }),
        ...(isReminder ? [t('This is a reminder: the invitation expires soon.')] : []),
      ],
      link: {
        label: t('Complete registration'),
        url: `${this.realmUrls.urlOf(realm)}/accounts/do_confirm/${this.keys.derive(invitation)}`,
      },
      footer: t('If you do not want to join, ignore this email.'),
    });
  }
}

/** Deletes invitations that ended long ago. */
export class ForgetInvitations implements JobHandler<{ readonly invitationId: number }> {
  static readonly inject = [] as const;

  readonly kind = FORGET_INVITATION;

  async prepare({ realmId, payload }: Job<{ readonly invitationId: number }>): Promise<JobWork> {
    return (tx) => tx.invitations.remove(realmId, payload.invitationId);
  }
}

/** Publishes `invitations.changed` (organization §9.6). */
export const publishInvitations = (tx: Transaction, realmId: RealmId, inviterId: UserId): Promise<unknown> =>
  tx.events.append(realmId, {
    event: { type: 'invitations.changed' },
    audience: anyOf(atLeast('administrator'), users([inviterId])),
  });

/** Stores invitations and schedules their jobs. Publishes nothing. */
export async function addInvitations(
  tx: Transaction,
  given: NewInvitations,
  emails: readonly (string | null)[],
): Promise<readonly Invitation[]> {
  const added = await tx.invitations.add(given, emails);
  const reminded = reminderAt(given);
  for (const invitation of added) {
    if (given.expiresAt !== null) await forgetAt(tx, invitation, given.expiresAt + KEEP_ENDED_SECONDS);
    if (given.kind === 'link') continue;
    await sendEmail(tx, invitation, given.invitedAt);
    if (reminded !== null) await sendEmail(tx, invitation, reminded, true);
  }
  return added;
}

/** Marks an invitation as used or revoked. The record is kept for a while. */
export async function endInvitation(
  tx: Transaction,
  invitation: InvitationEntry,
  status: 'used' | 'revoked',
  now: UnixSeconds,
): Promise<void> {
  await tx.invitations.update({ ...invitation, status });
  await forgetAt(tx, invitation, now + KEEP_ENDED_SECONDS);
}

export async function sendEmail(
  tx: Transaction,
  { id, realmId }: InvitationEntry,
  dueAt: UnixSeconds,
  isReminder = false,
): Promise<void> {
  const payload = { invitationId: id, isReminder };
  const key = `${id}${isReminder ? ' reminder' : ''}`;
  await tx.jobs.schedule(encodeJob(INVITATION_EMAIL, { realmId, dueAt, payload, key }));
}

async function forgetAt(tx: Transaction, { id, realmId }: InvitationEntry, dueAt: UnixSeconds): Promise<void> {
  await tx.jobs.schedule(encodeJob(FORGET_INVITATION, { realmId, dueAt, payload: { invitationId: id }, key: `${id}` }));
}

/** Maximum number of invitations that one unit of work expires. */
export const MAX_EXPIRED_AT_ONCE = 500;

interface ExpiryPayload {
  readonly inviterId: UserId;
  readonly at: UnixSeconds;
}

export const EXPIRE_INVITATIONS_JOB = jobKind<ExpiryPayload>({
  name: 'invitations.expire',
  readPayload: (stored) => {
    const { inviterId, at } = stored as Partial<ExpiryPayload>;
    if (!isId(inviterId) || !Number.isInteger(at)) throw new TypeError('Job payload has no inviter or time');
    return { inviterId, at: at! };
  },
  concurrency: 1,
  yields: true,
});

/** Expires the remaining invitations of a user who left, a limited number per transaction. */
export class ExpireInvitations implements JobHandler<ExpiryPayload> {
  static readonly inject = [] as const;

  readonly kind = EXPIRE_INVITATIONS_JOB;

  async prepare({ realmId, payload: { inviterId, at } }: Job<ExpiryPayload>): Promise<JobWork> {
    return (tx) => expireInvitationsOf(tx, realmId, inviterId, at);
  }
}

/**
 * Expires the invitations of a user who leaves (organization §9.4), some now and the others by a job. Invitations of a
 * deactivated user are void until then.
 */
export async function expireInvitationsOf(
  tx: Transaction,
  realmId: RealmId,
  inviterId: UserId,
  now: UnixSeconds,
): Promise<void> {
  const all = await tx.invitations.listOpen(realmId, now, inviterId);
  // A reactivated user may have sent others before the job runs.
  const open = all.filter((each) => isOpen(each, now) && each.invitedAt <= now);
  for (const invitation of open.slice(0, MAX_EXPIRED_AT_ONCE)) {
    await tx.invitations.update({ ...invitation, expiresAt: now });
    await forgetAt(tx, invitation, now + KEEP_ENDED_SECONDS);
  }
  if (open.length > 0) await publishInvitations(tx, realmId, inviterId);
  if (open.length <= MAX_EXPIRED_AT_ONCE) return;
  await tx.jobs.schedule(encodeJob(EXPIRE_INVITATIONS_JOB, { realmId, dueAt: now, payload: { inviterId, at: now } }));
}
