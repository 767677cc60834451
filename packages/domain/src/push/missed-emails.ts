import type { LinkKeys } from '../access/confirmations.js';
import {
  deliveryIdOf,
  type Email,
  emailJobKind,
  emailWords,
  type NoticeTexts,
  type NoticeWords,
} from '../access/email.js';
import { topicKey } from '../channels/channel.js';
import { DomainError } from '../kernel/errors.js';
import { type GroupId, isId, type MessageId, type RealmId, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, type JobWork } from '../kernel/jobs.js';
import type { Clock, RealmUrls, Seed } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow, lastOf } from '../kernel/work.js';
import type { RenderedMessages } from '../markdown/markdown.js';
import { loadMessages } from '../messages/load-access.js';
import { canReadMessage } from '../messages/message-permissions.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { PresencePolicy } from '../users/presence.js';
import type { User } from '../users/user.js';
import { applySettings, type UserSettingChange } from '../users/user-settings.use-cases.js';
import type { ContentDigest } from '../writing/update-message.use-cases.js';
import type { DueReason } from './due.js';
import { type MailGateway, REPLY_ADDRESS_SECONDS, replyAddress } from './incoming-email.js';
import { composeMissedEmail, type MissedMessage } from './missed-email-text.js';
import { NotificationEmails } from './notification-emails.js';
import type { DueMessage, NotificationChannel } from './notifications.js';

/** Message waiting to be emailed to a user. */
export interface MissedEmail {
  readonly userId: UserId;
  /** Conversation of the message when it was sent; emails are batched by it. */
  readonly conversation: string;
  readonly messageId: MessageId;
  readonly reason: DueReason;
  readonly groupId: GroupId | null;
}

/** Limit per user and conversation; the email mentions that there are more messages. */
export const MAX_MISSED_MESSAGES = 50;

export interface MissedEmailReads {
  /** Returns messages by ascending id. */
  list(realmId: RealmId, userId: UserId, conversation: string): Promise<readonly MissedEmail[]>;
}

/** Every implementation passes missed-email-repository.contract.ts. */
export interface MissedEmailRepository extends MissedEmailReads {
  /** Does nothing if the message is already waiting for the user. */
  add(realmId: RealmId, missed: MissedEmail): Promise<void>;
  /** Idempotent. */
  remove(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    missedEmails: [reads: MissedEmailReads, repository: MissedEmailRepository];
  }
}

interface MissedEmailJob {
  readonly userId: UserId;
  readonly conversation: string;
}

/** The email is dropped after about a day of failures. */
const MISSED_EMAIL = emailJobKind<MissedEmailJob>({
  name: 'push.missed_email',
  readPayload: (stored) => {
    const { userId, conversation } = stored as Partial<MissedEmailJob>;
    if (!isId(userId) || typeof conversation !== 'string')
      throw new TypeError('Job payload has no user id or conversation');
    return { userId, conversation };
  },
});

const keyOf = ({ userId, conversation }: MissedEmailJob): string => `${userId} ${conversation}`;

async function scheduleEmail(
  tx: Transaction,
  realmId: RealmId,
  { id: userId, settings }: User,
  conversation: string,
  clock: Clock,
): Promise<void> {
  const payload = { userId, conversation };
  const key = keyOf(payload);
  if (await tx.jobs.isScheduled(realmId, MISSED_EMAIL.name, key)) return;
  const dueAt = clock.now() + settings.emailNotificationsBatchingPeriodSeconds;
  await tx.jobs.schedule(encodeJob(MISSED_EMAIL, { realmId, dueAt, key, payload }));
}

/** Collects missed messages by conversation for the delay chosen by the user (users §6). */
export class MissedEmails implements NotificationChannel {
  static readonly inject = ['clock'] as const;
  constructor(private readonly clock: Clock) {}

  async schedule(tx: Transaction, realmId: RealmId, { messageId, recipients }: DueMessage): Promise<void> {
    const due = recipients.filter(({ email }) => email !== null);
    const message = due.length === 0 ? null : await tx.messages.find(realmId, messageId);
    if (!message) return;
    const { channelId, recipientId, topic } = message;
    const conversation = channelId === null ? `direct ${recipientId}` : `channel ${channelId} ${topicKey(topic)}`;
    const ids = due.map(({ userId }) => userId);
    const people = new Map((await tx.users.list(realmId, ids)).map((user) => [user.id, user]));
    for (const { userId, email, groupId } of due) {
      const user = people.get(userId);
      if (!user) continue;
      await scheduleEmail(tx, realmId, user, conversation, this.clock);
      if ((await tx.missedEmails.list(realmId, userId, conversation)).length > MAX_MISSED_MESSAGES) continue;
      await tx.missedEmails.add(realmId, { userId, conversation, messageId, reason: email!, groupId });
    }
  }

  withdraw(tx: Transaction, realmId: RealmId, userId: UserId, ids: readonly MessageId[]): Promise<void> {
    return tx.missedEmails.remove(realmId, userId, ids);
  }
}

interface LoadedEmail {
  readonly realm: Realm;
  readonly user: User;
  readonly words: NoticeWords;
  /** At least one message, oldest first. */
  readonly messages: readonly MissedMessage[];
  /** True if more messages are waiting than an email shows. */
  readonly hasMore: boolean;
  /** Seed of the user's links. */
  readonly seed: Seed;
}

/** Addresses that post replies to emails about missed messages. */
export class ReplyAddressBook {
  static readonly inject = ['unitOfWork', 'mailGateway', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly gateway: MailGateway | null,
    private readonly clock: Clock,
  ) {}

  /** Returns the address that posts replies; null if the server receives no email. */
  async replyTo(
    { realmId, id: userId }: User,
    conversation: string,
    messages: readonly MissedMessage[],
  ): Promise<string | null> {
    const { gateway } = this;
    if (!gateway) return null;
    const messageId = lastOf(messages).view.message.id;
    const expiresAt = this.clock.now() + REPLY_ADDRESS_SECONDS;
    const address = await this.uow.write(realmId, (tx) =>
      tx.replyAddresses.open({ realmId, userId, conversation, messageId, expiresAt }),
    );
    return replyAddress(gateway.pattern, gateway.replyKeys.derive(address));
  }
}

/** Writes emails about missed messages, according to the rights and settings of their users at that time. */
export class MissedEmailWriter {
  static readonly inject = [
    'unitOfWork',
    'renderedMessages',
    'realmUrls',
    'contentDigest',
    'unsubscribeKeys',
    ReplyAddressBook,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderedMessages: RenderedMessages,
    private readonly realmUrls: RealmUrls,
    private readonly digest: ContentDigest,
    private readonly keys: Pick<LinkKeys, 'derive'>,
    private readonly replyAddresses: ReplyAddressBook,
  ) {}

  /** Returns null if there is nothing left to send: messages were read or deleted, or the user turned emails off. */
  async load(
    reads: Repositories,
    realmId: RealmId,
    { userId }: MissedEmailJob,
    waiting: readonly MissedEmail[],
    texts: NoticeTexts,
  ): Promise<LoadedEmail | null> {
    const realm = await reads.realms.get(realmId);
    const user = await reads.users.find(realmId, userId);
    if (!user?.isActive || realm.isDeactivated) return null;
    const actor = await reads.actors.get({ realmId, userId });
    const reasons = new Map(waiting.map((each) => [each.messageId, each]));
    const loaded = await loadMessages(reads, actor, [...reasons.keys()]);
    const channelIds = [...new Set(loaded.flatMap(({ message }) => message.channelId ?? []))];
    const subscriptions = await reads.channels.listSubscriptionsOf(realmId, [userId], channelIds);
    const emails = new Map(
      (subscriptions.get(userId) ?? []).map(({ channelId, notifications }) => [channelId, notifications.email]),
    );
    const readable = loaded.filter((one) => {
      const { reason } = getOrThrow(reasons, one.message.id);
      return (
        one.flags?.read === false &&
        isWanted(user, reason, one.flags.mentioned, emails.get(one.message.channelId!) ?? null) &&
        canReadMessage(actor, one).allowed
      );
    });
    const ids = readable.map(({ message }) => message.id);
    if (ids.length === 0) return null;
    const views = [...(await reads.pages.listViews(realmId, ids.slice(0, MAX_MISSED_MESSAGES)))];
    views.sort((a, b) => a.message.id - b.message.id);
    const hidden = await inaccessibleUserIds(
      reads,
      actor,
      realm,
      views.map(({ sender }) => sender.id),
    );
    const words = emailWords(texts, user, realm);
    const unknownName = words.t('Unknown user');
    const messages: MissedMessage[] = [];
    for (const view of views) {
      const { reason, groupId } = getOrThrow(reasons, view.message.id);
      const group = groupId === null ? null : await reads.groups.find(realmId, groupId);
      messages.push({
        view,
        reason,
        groupName: group?.name ?? null,
        senderName: hidden.has(view.sender.id) ? unknownName : view.sender.fullName,
        text: this.renderedMessages.plainText(view.message.renderedContent),
      });
    }
    const seed = await reads.users.findSeed(realmId, userId);
    return { realm, user, words, messages, hasMore: ids.length > MAX_MISSED_MESSAGES, seed };
  }

  async compose({ realm, user, seed, ...rest }: LoadedEmail, { conversation }: MissedEmailJob): Promise<Email> {
    const url = this.realmUrls.urlOf(realm);
    const id = this.digest(`${realm.id} ${user.id} ${conversation}`).slice(0, 32);
    return composeMissedEmail({
      ...rest,
      user,
      realm,
      url,
      showsContent:
        user.settings.messageContentInEmailNotifications && realm.settings.messageContentAllowedInEmailNotifications,
      showsRealm: await this.showsRealm(realm, user),
      replyTo: await this.replyAddresses.replyTo(user, conversation, rest.messages),
      threadId: `<${id}@${this.realmUrls.emailDomainOf(realm)}>`,
      unsubscribeUrl: `${url}/accounts/unsubscribe/missed_messages/${this.keys.derive({ id: user.id, seed })}/`,
    });
  }

  /** By default, the organization is named if the user has accounts in several. */
  private async showsRealm(realm: Realm, { email, settings }: User): Promise<boolean> {
    const policy = settings.realmNameInEmailNotificationsPolicy;
    if (policy !== 'automatic') return policy === 'always';
    return this.uow.readAcross(async (reads) => {
      const others = (await reads.realms.list()).filter((other) => other.id !== realm.id && !other.isDeactivated);
      // Searching all organizations of a large server costs more than an unneeded name in a subject.
      if (others.length > MAX_REALMS_SEARCHED) return true;
      for (const other of others) {
        if ((await reads.users.findByEmail(other.id, email))?.isActive) return true;
      }
      return false;
    });
  }
}

/** Sends the missed messages of one conversation to one user. */
export class SendMissedEmails implements JobHandler<MissedEmailJob> {
  static readonly inject = ['unitOfWork', MissedEmailWriter, 'noticeTexts', NotificationEmails, 'clock'] as const;

  readonly kind = MISSED_EMAIL;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly writer: MissedEmailWriter,
    private readonly texts: NoticeTexts,
    private readonly emails: NotificationEmails,
    private readonly clock: Clock,
  ) {}

  async prepare(job: Job<MissedEmailJob>): Promise<JobWork> {
    const { realmId, payload } = job;
    const { userId, conversation } = payload;
    const waiting = await this.uow.read(realmId, ({ missedEmails }) =>
      missedEmails.list(realmId, userId, conversation),
    );
    const loaded = await this.uow.read(realmId, (reads) =>
      this.writer.load(reads, realmId, payload, waiting, this.texts),
    );
    if (loaded) {
      const email = await this.writer.compose(loaded, payload);
      await this.emails.send({ ...email, deliveryId: deliveryIdOf(this.kind, job) });
    }
    const sent = waiting.map(({ messageId }) => messageId);
    return async (tx) => {
      await tx.missedEmails.remove(realmId, userId, sent);
      await this.scheduleRest(tx, realmId, payload);
    };
  }

  /** Drops messages that could not be sent for a day. */
  async giveUp(tx: Transaction, { realmId, payload }: Job<MissedEmailJob>): Promise<void> {
    this.emails.drop();
    const waiting = await tx.missedEmails.list(realmId, payload.userId, payload.conversation);
    const ids = waiting.map(({ messageId }) => messageId);
    await tx.missedEmails.remove(realmId, payload.userId, ids);
  }

  /** Messages may have been added while the email was being sent. */
  private async scheduleRest(tx: Transaction, realmId: RealmId, payload: MissedEmailJob): Promise<void> {
    if ((await tx.missedEmails.list(realmId, payload.userId, payload.conversation)).length === 0) return;
    const user = await tx.users.find(realmId, payload.userId);
    if (user) await scheduleEmail(tx, realmId, user, payload.conversation, this.clock);
  }
}

const MAX_REALMS_SEARCHED = 100;

/**
 * True if the user still wants emails for the reason. An edit may have removed a mention.
 * @param ofChannel setting of the user for the channel
 */
function isWanted({ settings }: User, reason: DueReason, isMentioned: boolean, ofChannel: boolean | null): boolean {
  switch (reason) {
    case 'followedTopic':
      return settings.enableFollowedTopicEmailNotifications;
    case 'channel':
      return ofChannel ?? settings.enableChannelEmailNotifications;
    case 'mentioned':
      return isMentioned && settings.enableOfflineEmailNotifications;
    default:
      return settings.enableOfflineEmailNotifications;
  }
}

/** Kinds of email that a link in the email can turn off. */
export const UNSUBSCRIBABLE = ['missed_messages', 'login', 'digest'] as const;
export type Unsubscribable = (typeof UNSUBSCRIBABLE)[number];

const TURNED_OFF: Readonly<Record<Unsubscribable, readonly UserSettingChange['name'][]>> = {
  missed_messages: [
    'enableOfflineEmailNotifications',
    'enableChannelEmailNotifications',
    'enableFollowedTopicEmailNotifications',
  ],
  login: ['enableLoginEmails'],
  digest: ['enableDigestEmails'],
};

/** Turns off one kind of email for the user identified by the key. */
export class TurnOffEmails {
  static readonly inject = ['unitOfWork', 'unsubscribeKeys', 'clock', 'presencePolicy'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly keys: Pick<LinkKeys, 'find'>,
    private readonly clock: Clock,
    private readonly presencePolicy: PresencePolicy,
  ) {}

  /** Idempotent. @throws DomainError UNKNOWN_CONFIRMATION */
  execute(realmId: RealmId, { kind, key }: { readonly kind: Unsubscribable; readonly key: string }): Promise<void> {
    return this.uow.write(realmId, async (tx) => {
      const link = await this.keys.find(key, async (id) => ({
        id,
        seed: await tx.users.findSeed(realmId, id as UserId),
      }));
      const user = link && (await tx.users.find(realmId, link.id as UserId));
      if (!user?.isActive) throw new DomainError('UNKNOWN_CONFIRMATION', 'This link is not valid.');
      const changes = TURNED_OFF[kind]
        .filter((name) => user.settings[name] !== false)
        .map((name) => ({ name, value: false }) as UserSettingChange);
      await applySettings(tx, user, changes, { now: this.clock.now(), presencePolicy: this.presencePolicy });
    });
  }
}
