import type { Actor } from '../access/actor.js';
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
import { hasContentAccess, hasMetadataAccess } from '../channels/channel-access.js';
import type { MessageId, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { encodeJob, idPayload, type Job, type JobHandler, type JobWork, jobKind } from '../kernel/jobs.js';
import type { Clock, RealmUrls } from '../kernel/ports.js';
import { takeCodePoints } from '../kernel/text.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE, lastOf } from '../kernel/work.js';
import type { RenderedMessages } from '../markdown/markdown.js';
import type { UnreadMessage } from '../messages/flags.js';
import { loadMessages } from '../messages/load-access.js';
import { not } from '../messages/message-condition.js';
import { canReadMessage } from '../messages/message-permissions.js';
import { channelUrl, messageUrl, topicUrl } from '../messages/narrow.js';
import { mutedMessages } from '../messages/narrow-operators.js';
import type { Realm } from '../realms/realm.js';
import { inaccessibleUserIds } from '../users/accessible-users.js';
import type { PresenceTimes } from '../users/presence.js';
import { PresenceBoard } from '../users/presence-board.js';
import type { User } from '../users/user.js';
import { composeDigest, type DigestConversation, type DigestFacts } from './digest-text.js';
import { NotificationEmails } from './notification-emails.js';

export interface DigestConfig {
  /** False if the operator turned notification emails off or there is no mail server. */
  readonly sendsDigests: boolean;
}

const DAY_SECONDS = 86_400;
/** Time of day (UTC) at which digests start. */
const START_SECONDS = 9 * 3600;
const WEEK_SECONDS = 7 * DAY_SECONDS;
/** Absence after which a user gets digests. */
const AWAY_SECONDS = 5 * DAY_SECONDS;
/** Minimum number of days between two digests after a change of weekday. */
const MIN_DISTANCE_DAYS = 5;
/** Maximum number of a user's newest unread messages to consider. */
export const MAX_DIGEST_UNREAD = 1000;
export const MAX_DIGEST_CONVERSATIONS = 4;
/** Number of conversations chosen by number of senders; the others are chosen by number of messages. */
const BY_SENDERS = 2;
const FIRST_MESSAGES = 3;
/** Length in code points. */
const MAX_TEXT_LENGTH = 300;
export const MAX_NEW_CHANNELS = 10;

/** Returns the day number since 1970; a day begins at `START_SECONDS`. */
const digestDay = (time: UnixSeconds): number => Math.floor((time - START_SECONDS) / DAY_SECONDS);
const startOf = (day: number): UnixSeconds => day * DAY_SECONDS + START_SECONDS;
/** Returns the weekday, with 0 for Monday. 1970 began on a Thursday. */
const weekdayOf = (day: number): number => (day + 3) % 7;

/** Daily job of an organization, which reschedules itself for the next day. */
interface DigestPlan {
  readonly day: number;
  /** Last user of the previous batch; 0 before the first one. */
  readonly after: number;
  /** Day of the last digests; null if there were none. */
  readonly sentDay: number | null;
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

const PLAN = jobKind<DigestPlan>({
  name: 'push.plan_digests',
  readPayload: (stored) => {
    const { day, after, sentDay } = stored as Partial<DigestPlan>;
    if (!isInteger(day) || !isInteger(after) || !(sentDay === null || isInteger(sentDay))) {
      throw new TypeError('Job payload has no digest plan');
    }
    return { day, after, sentDay };
  },
  concurrency: 1,
  yields: true,
});
const PLAN_KEY = 'weekly';

const DIGEST = emailJobKind<{ readonly userId: UserId }>({
  name: 'push.digest',
  readPayload: idPayload('userId'),
});

/** True if digests are sent on the planned day. After an outage, days too far in the past are skipped. */
export function isDigestDay(
  { settings }: Pick<Realm, 'settings'>,
  { day, sentDay }: Omit<DigestPlan, 'after'>,
  now: UnixSeconds,
): boolean {
  return (
    settings.digestEmailsEnabled &&
    weekdayOf(day) === settings.digestWeekday &&
    digestDay(now) - day <= 1 &&
    (sentDay === null || sentDay === day || day - sentDay > MIN_DISTANCE_DAYS)
  );
}

/** True if the user has been away for some days. Excludes users who hide their presence, because they may be active. */
export function wantsDigest(
  { settings: ofRealm }: Pick<Realm, 'settings'>,
  { isActive, bot, joinedAt, settings }: User,
  presence: Pick<PresenceTimes, 'lastActive'> | null,
  now: UnixSeconds,
): boolean {
  const isKnown = settings.presenceEnabled && !ofRealm.presenceDisabled;
  const lastActive = Math.max(joinedAt, presence?.lastActive ?? 0);
  return isActive && bot === null && settings.enableDigestEmails && isKnown && now - lastActive > AWAY_SECONDS;
}

/** Starts the daily job for organizations with digests. */
export class PlanDigests {
  static readonly inject = ['unitOfWork', 'clock', 'digestConfig'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly config: DigestConfig,
  ) {}

  async execute(): Promise<void> {
    if (!this.config.sendsDigests) return;
    const realms = await this.uow.readAcross(({ realms }) => realms.list());
    for (const { id, isDeactivated, settings } of realms) {
      if (isDeactivated || !settings.digestEmailsEnabled) continue;
      if (await this.uow.read(id, ({ jobs }) => jobs.isScheduled(id, PLAN.name, PLAN_KEY))) continue;
      const day = digestDay(this.clock.now()) + 1;
      await this.uow.write(id, (tx) => schedulePlan(tx, id, { day, after: 0, sentDay: null }));
    }
  }
}

async function schedulePlan(tx: Transaction, realmId: RealmId, payload: DigestPlan): Promise<void> {
  if (await tx.jobs.isScheduled(realmId, PLAN.name, PLAN_KEY)) return;
  const dueAt = startOf(payload.day);
  await tx.jobs.schedule(encodeJob(PLAN, { realmId, dueAt, key: PLAN_KEY, payload }));
}

/** Schedules digests for absent users, in batches. The unit of work that removes a plan stores the next one. */
export class ScheduleDigests implements JobHandler<DigestPlan> {
  static readonly inject = ['unitOfWork', 'clock', 'digestConfig', PresenceBoard] as const;
  readonly kind = PLAN;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly config: DigestConfig,
    private readonly presence: Pick<PresenceBoard, 'find'>,
  ) {}

  async prepare({ realmId, payload }: Job<DigestPlan>): Promise<JobWork> {
    const realm = await this.uow.read(realmId, ({ realms }) => realms.get(realmId));
    if (realm.isDeactivated || !this.config.sendsDigests) return async () => {};
    const now = this.clock.now();
    const { day, sentDay } = payload;
    const nextDay = { day: Math.max(day + 1, digestDay(now)), after: 0, sentDay };
    if (!isDigestDay(realm, payload, now)) return (tx) => schedulePlan(tx, realmId, nextDay);
    const { users, last } = await this.nextUsers(realmId, payload.after);
    const recipients: UserId[] = [];
    for (const user of users) {
      if (wantsDigest(realm, user, await this.presence.find(realmId, user.id), now)) recipients.push(user.id);
    }
    return async (tx) => {
      for (const userId of recipients) {
        const job = { realmId, dueAt: now, key: String(userId), payload: { userId } };
        await tx.jobs.schedule(encodeJob(DIGEST, job));
      }
      const next = last === null ? { ...nextDay, sentDay: day } : { day, after: last, sentDay: day };
      await schedulePlan(tx, realmId, next);
    };
  }

  private nextUsers(realmId: RealmId, after: number) {
    return this.uow.read(realmId, async (reads) => {
      const entries = await reads.users.listEntries(realmId);
      const ids = entries.filter(({ id, isActive }) => isActive && id > after).map(({ id }) => id);
      const some = ids.slice(0, ENTITIES_PER_PAGE);
      const last = ids.length > some.length ? lastOf(some) : null;
      return { users: await reads.users.list(realmId, some), last };
    });
  }
}

type Unread = Pick<UnreadMessage, 'id' | 'senderId' | 'recipientId' | 'topic'>;

export interface HotConversation<Message extends Unread = Unread> {
  /** At least one message, oldest first. */
  readonly messages: readonly Message[];
  readonly senderCount: number;
}

/** Returns the conversations with the most senders, then those with the most messages. */
export function hottestConversations<Message extends Unread>(
  unread: readonly Message[],
): readonly HotConversation<Message>[] {
  const grouped = new Map<string, Message[]>();
  for (const message of unread) {
    const key = `${message.recipientId} ${topicKey(message.topic)}`;
    const others = grouped.get(key);
    if (others) others.push(message);
    else grouped.set(key, [message]);
  }
  const all = [...grouped.values()].map((messages) => ({
    messages,
    senderCount: new Set(messages.map(({ senderId }) => senderId)).size,
  }));
  const bySenders = [...all]
    .sort((a, b) => b.senderCount - a.senderCount || b.messages.length - a.messages.length)
    .slice(0, BY_SENDERS);
  const byLength = all
    .filter((each) => !bySenders.includes(each))
    .sort((a, b) => b.messages.length - a.messages.length || b.senderCount - a.senderCount);
  return [...bySenders, ...byLength].slice(0, MAX_DIGEST_CONVERSATIONS);
}

/** Writes digests, according to the rights, settings and unread messages of their users at that time. */
export class DigestWriter {
  static readonly inject = [
    'unitOfWork',
    'renderedMessages',
    'realmUrls',
    'unsubscribeKeys',
    'clock',
    PresenceBoard,
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly renderedMessages: RenderedMessages,
    private readonly realmUrls: RealmUrls,
    private readonly keys: Pick<LinkKeys, 'derive'>,
    private readonly clock: Clock,
    private readonly presence: Pick<PresenceBoard, 'find'>,
  ) {}

  /** Returns null if there is no content, or if the user came back or turned digests off. */
  async compose(realmId: RealmId, userId: UserId, texts: NoticeTexts): Promise<Email | null> {
    const presence = await this.presence.find(realmId, userId);
    const found = await this.uow.read(realmId, async (reads) => {
      const realm = await reads.realms.get(realmId);
      const user = await reads.users.find(realmId, userId);
      const now = this.clock.now();
      if (realm.isDeactivated || !realm.settings.digestEmailsEnabled) return null;
      if (user === null || !wantsDigest(realm, user, presence, now)) return null;
      const seed = await reads.users.findSeed(realmId, userId);
      const words = emailWords(texts, user, realm);
      return { realm, user, words, seed, ...(await this.newsFor(reads, realm, user, words, now - WEEK_SECONDS)) };
    });
    if (found === null || (found.conversations.length === 0 && found.newChannels.length === 0)) return null;
    const { realm, user, seed } = found;
    const url = this.realmUrls.urlOf(realm);
    return composeDigest({
      ...found,
      url,
      showsContent:
        user.settings.messageContentInEmailNotifications && realm.settings.messageContentAllowedInEmailNotifications,
      unsubscribeUrl: `${url}/accounts/unsubscribe/digest/${this.keys.derive({ id: user.id, seed })}/`,
    });
  }

  private async newsFor(
    reads: Repositories,
    realm: Realm,
    user: User,
    { t }: NoticeWords,
    since: UnixSeconds,
  ): Promise<Pick<DigestFacts, 'conversations' | 'newChannels'>> {
    const userId = user.id;
    const actor = await reads.actors.get({ realmId: realm.id, userId });
    const unknownName = t('Unknown user');
    const url = this.realmUrls.urlOf(realm);
    const subscribed = new Set(await reads.channels.listSubscribedIds(realm.id, userId));
    const channels = (await reads.channels.listAll(realm.id)).filter(({ isArchived }) => !isArchived);
    const recipientIds = channels
      .filter((channel) => subscribed.has(channel.id) && hasContentAccess(actor, channel, true))
      .map(({ recipientId }) => recipientId);
    const unread = await unreadSince(reads, actor, recipientIds, since);
    const conversations = [];
    for (const hot of hottestConversations(unread)) {
      const conversation = await this.load(reads, actor, realm, hot, unknownName);
      if (conversation) conversations.push(conversation);
    }
    const newChannels = channels
      .filter(({ createdAt }) => createdAt >= since)
      .filter((channel) => hasMetadataAccess(actor, channel, subscribed.has(channel.id)))
      .reverse()
      .slice(0, MAX_NEW_CHANNELS)
      .map((channel) => ({ name: channel.name, url: url + channelUrl(channel) }));
    return { conversations, newChannels };
  }

  private async load(
    reads: Repositories,
    actor: Actor,
    realm: Realm,
    { messages, senderCount }: HotConversation,
    unknownName: string,
  ): Promise<DigestConversation | null> {
    const first = messages.slice(0, FIRST_MESSAGES).map(({ id }) => id);
    const readable = (await loadMessages(reads, actor, first)).filter((it) => canReadMessage(actor, it).allowed);
    const [{ message, channel } = {}] = readable;
    if (!message || !channel) return null;
    const ids: readonly MessageId[] = readable.map((loaded) => loaded.message.id);
    const views = [...(await reads.pages.listViews(realm.id, ids))];
    const senders = views.map(({ sender }) => sender.id);
    const hidden = await inaccessibleUserIds(reads, actor, realm, senders);
    return {
      channelName: channel.name,
      topic: message.topic,
      url: this.realmUrls.urlOf(realm) + messageUrl(topicUrl(channel, message.topic), message.id),
      messageCount: messages.length,
      senderCount,
      messages: views.map((view) => ({
        senderName: hidden.has(view.sender.id) ? unknownName : view.sender.fullName,
        text: shortened(this.renderedMessages.plainText(view.message.renderedContent)),
      })),
    };
  }
}

/** Sends the digest to one user. */
export class SendDigests implements JobHandler<{ readonly userId: UserId }> {
  static readonly inject = [DigestWriter, 'noticeTexts', NotificationEmails, 'digestConfig'] as const;
  readonly kind = DIGEST;

  constructor(
    private readonly writer: DigestWriter,
    private readonly texts: NoticeTexts,
    private readonly emails: NotificationEmails,
    private readonly config: DigestConfig,
  ) {}

  async prepare(job: Job<{ readonly userId: UserId }>): Promise<JobWork> {
    const { realmId, payload } = job;
    const email = this.config.sendsDigests ? await this.writer.compose(realmId, payload.userId, this.texts) : null;
    if (email !== null) await this.emails.send({ ...email, deliveryId: deliveryIdOf(this.kind, job) });
    return async () => {};
  }

  /** Drops a digest that could not be sent for a day. */
  async giveUp(): Promise<void> {
    this.emails.drop();
  }
}

/** Returns unread messages from humans in these unmuted channels, oldest first. */
async function unreadSince(
  reads: Repositories,
  actor: Actor,
  recipientIds: UnreadMessage['recipientId'][],
  since: UnixSeconds,
): Promise<readonly UnreadMessage[]> {
  const { realmId, id: userId } = actor;
  if (recipientIds.length === 0) return [];
  const ranges = await reads.pages.listIdsSince(realmId, since);
  const muted = await mutedMessages({ reads, actor }, 'topicsAndChannels');
  const filter = { scope: 'own', conditions: [{ kind: 'recipient', recipientIds }, not(muted)] } as const;
  const found = await reads.personal.listUnread({ realmId, userId }, MAX_DIGEST_UNREAD, filter);
  const unread = found.filter(({ id }) => ranges.some(({ first, last }) => first <= id && id <= last));
  const senders = await reads.users.list(realmId, [...new Set(unread.map(({ senderId }) => senderId))]);
  const people = new Set(senders.filter(({ bot }) => bot === null).map(({ id }) => id));
  return unread.filter(({ senderId }) => people.has(senderId));
}

function shortened(text: string): string {
  const cut = takeCodePoints(text.trim(), MAX_TEXT_LENGTH);
  return cut === text.trim() ? cut : `${cut}…`;
}
