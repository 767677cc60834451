import { topicKey } from '../channels/channel.js';
import type { TopicVisibility } from '../channels/topic-policies.js';
import { type EventOf, nobody } from '../kernel/event.js';
import type { ConsumerUnit } from '../kernel/event-consumption.js';
import type { StoredEvent } from '../kernel/event-log.js';
import type { ServedQueues } from '../kernel/event-queue.js';
import { type GroupId, isId, type MessageId, type RealmId, type UnixSeconds, type UserId } from '../kernel/ids.js';
import { encodeJob, type Job, type JobHandler, jobKind } from '../kernel/jobs.js';
import type { Clock } from '../kernel/ports.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import { getOrThrow, slicesOf } from '../kernel/work.js';
import type { Message } from '../messages/message.js';
import { OFFLINE_SECONDS } from '../users/presence.js';
import { PresenceBoard } from '../users/presence-board.js';
import type { User } from '../users/user.js';
import { type Due, type DueFacts, decideDue, dueInAddition, isIdle } from './due.js';
import type { DueRecipient, NotificationMeter, NotificationTargets } from './notifications.js';

/** Name of the log consumer that stores the position of `FindDue`. */
export const NOTIFICATION_CONSUMER = 'parley.notifications';
/**
 * Maximum number of candidates evaluated at once; the rest become jobs, so that no unit of work blocks others for long.
 */
const CANDIDATES_AT_A_TIME = 100;
/** Maximum number of newest unread messages re-evaluated when a user's last queue expires. */
const MAX_MISSED = 200;

/**
 * Cause of an evaluation. `edited`: the users are newly mentioned. `missed`: they were active when the message was
 * sent, but no client received it.
 */
type Cause = 'sent' | 'edited' | 'missed';
const CAUSES: readonly Cause[] = ['sent', 'edited', 'missed'];

interface Evaluation {
  readonly messageId: MessageId;
  readonly userIds: readonly UserId[];
  readonly cause: Cause;
  /** Topic visibility before the message, where the message changed it. */
  readonly replacedTopicPolicies?: readonly (readonly [UserId, TopicVisibility])[] | undefined;
}

/** Messages for which a user no longer needs notifications. */
interface Withdrawal {
  readonly userId: UserId;
  readonly messageIds: readonly MessageId[];
}

const EVALUATION = jobKind<Evaluation>({
  name: 'push.judge',
  readPayload: (stored) => {
    const { messageId, userIds, cause } = stored as Partial<Evaluation>;
    if (!isId(messageId) || !Array.isArray(userIds) || !userIds.every(isId) || !CAUSES.includes(cause as Cause)) {
      throw new TypeError('Job payload has no message id, user ids or cause');
    }
    return stored as Evaluation;
  },
  concurrency: 1,
  yields: true,
});

/**
 * Consumes the log and decides which users a message is due to (organization §15, §16). Publishes `notification.due`
 * and passes recipients to the notification channels. Uses the current state, so messages already read or deleted are
 * not due.
 */
export class FindDue {
  static readonly inject = [
    'unitOfWork',
    'clock',
    'servedQueues',
    PresenceBoard,
    'notificationTargets',
    'notificationMeter',
  ] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
    private readonly queues: ServedQueues,
    private readonly presence: Pick<PresenceBoard, 'find'>,
    private readonly targets: NotificationTargets,
    private readonly meter: NotificationMeter,
  ) {}

  /** True for events that `consume` handles; none without a target. */
  readonly isWanted = ({ event }: Pick<StoredEvent, 'event'>): boolean => {
    if (this.targets.channels.length === 0 && !this.targets.hasHost) return false;
    switch (event.type) {
      case 'message.sent':
      case 'message.deleted':
      case 'queue.last_expired':
        return true;
      case 'message.flag_changed':
        return event.op === 'add' && event.flag === 'read';
      case 'message.updated':
        return event.text !== null;
      default:
        return false;
    }
  };

  /** Returns null if the events have no consequences. */
  readonly consume = async (realmId: RealmId, events: readonly StoredEvent[]): Promise<ConsumerUnit | null> => {
    const { evaluations, withdrawals } = await this.read(realmId, events);
    const slices = evaluations.flatMap((evaluation) =>
      [...slicesOf(evaluation.userIds, CANDIDATES_AT_A_TIME)].map((userIds) => sliceOf(evaluation, userIds)),
    );
    let room = CANDIDATES_AT_A_TIME;
    const now: Evaluation[] = [];
    const later: Evaluation[] = [];
    for (const slice of slices) {
      room -= slice.userIds.length;
      (room >= 0 ? now : later).push(slice);
    }
    const due = await this.evaluate(realmId, now);
    if (due.size === 0 && later.length === 0 && withdrawals.length === 0) return null;
    return async (tx) => {
      for (const [messageId, recipients] of due) await this.publish(tx, realmId, messageId, recipients);
      for (const payload of later) {
        await tx.jobs.schedule(encodeJob(EVALUATION, { realmId, dueAt: this.clock.now(), payload }));
      }
      for (const { userId, messageIds } of withdrawals) await this.withdraw(tx, realmId, userId, messageIds);
    };
  };

  /** Evaluates some recipients and returns the work that notifies them. */
  async prepare(realmId: RealmId, evaluation: Evaluation): Promise<ConsumerUnit> {
    const due = await this.evaluate(realmId, [evaluation]);
    return async (tx) => {
      for (const [messageId, recipients] of due) await this.publish(tx, realmId, messageId, recipients);
    };
  }

  private async publish(
    tx: Transaction,
    realmId: RealmId,
    messageId: MessageId,
    recipients: readonly DueRecipient[],
  ): Promise<void> {
    const due = { messageId, recipients };
    this.meter.due += recipients.length;
    await tx.events.append(realmId, { event: { type: 'notification.due', ...due }, audience: nobody });
    for (const channel of this.targets.channels) await channel.schedule(tx, realmId, due);
  }

  private async withdraw(tx: Transaction, realmId: RealmId, userId: UserId, ids: readonly MessageId[]): Promise<void> {
    for (const channel of this.targets.channels) await channel.withdraw(tx, realmId, userId, ids);
  }

  /** Loads candidates without evaluating them. */
  private async read(realmId: RealmId, events: readonly StoredEvent[]) {
    const activeUntil = await this.lastActivityOf(realmId, events);
    return this.uow.read(realmId, async (reads) => {
      const evaluations: Evaluation[] = [];
      const withdrawals: Withdrawal[] = [];
      const notifiable: NotifiableUsers = new Map();
      for (const { event, audience } of events) {
        switch (event.type) {
          case 'message.sent':
            evaluations.push(await candidatesOf(reads, realmId, event, notifiable));
            break;
          case 'message.updated': {
            const { added, removed } = await changedMentions(reads, realmId, event.text!);
            evaluations.push({ messageId: event.messageId, userIds: added, cause: 'edited' });
            withdrawals.push(...removed.map((userId) => ({ userId, messageIds: [event.messageId] })));
            break;
          }
          case 'message.flag_changed': {
            const [userId] = audience.kind === 'users' ? audience.ids : [];
            if (userId) withdrawals.push(await pushedTo(reads, realmId, userId, event.all ? null : event.messageIds));
            break;
          }
          case 'message.deleted':
            for (const { userId, messageId } of await reads.notifications.listPushedTo(realmId, event.messageIds)) {
              withdrawals.push({ userId, messageIds: [messageId] });
            }
            break;
          case 'queue.last_expired':
            for (const messageId of await missedBy(reads, realmId, event, getOrThrow(activeUntil, event.userId))) {
              evaluations.push({ messageId, userIds: [event.userId], cause: 'missed' });
            }
            break;
        }
      }
      return {
        evaluations: evaluations.filter(({ userIds }) => userIds.length > 0),
        withdrawals: withdrawals.filter(({ messageIds }) => messageIds.length > 0),
      };
    });
  }

  /** Returns the time until which each user with an expired last queue counted as active. */
  private async lastActivityOf(realmId: RealmId, events: readonly StoredEvent[]) {
    const until = new Map<UserId, UnixSeconds>();
    for (const { event } of events) {
      if (event.type !== 'queue.last_expired') continue;
      const presence = await this.presence.find(realmId, event.userId);
      until.set(event.userId, (presence?.lastActive ?? 0) + OFFLINE_SECONDS);
    }
    return until;
  }

  private async evaluate(
    realmId: RealmId,
    evaluations: readonly Evaluation[],
  ): Promise<ReadonlyMap<MessageId, readonly DueRecipient[]>> {
    const due = new Map<MessageId, readonly DueRecipient[]>();
    if (evaluations.length === 0) return due;
    const loaded = await this.uow.read(realmId, (reads) => loadAll(reads, realmId, evaluations));
    const now = this.clock.now();
    for (const one of loaded) {
      const recipients: DueRecipient[] = [];
      for (const user of one.users) {
        const presence = await this.presence.find(realmId, user.id);
        // Queue rows are read only for active users.
        const idle = isIdle(true, presence, now) || !(await this.queues.receivesMessages(realmId, user.id));
        const decision = decide(one, user, idle);
        if (decision) recipients.push({ userId: user.id, ...decision, groupId: groupOf(one, user.id, decision) });
      }
      const others = due.get(one.message.id) ?? [];
      if (recipients.length > 0) due.set(one.message.id, [...others, ...recipients]);
    }
    return due;
  }
}

/** Evaluates recipients of a message with many recipients, in batches. */
export class EvaluateRecipients implements JobHandler<Evaluation> {
  static readonly inject = [FindDue] as const;
  readonly kind = EVALUATION;

  constructor(private readonly findDue: Pick<FindDue, 'prepare'>) {}

  prepare({ realmId, payload }: Job<Evaluation>) {
    return this.findDue.prepare(realmId, payload);
  }
}

function sliceOf(evaluation: Evaluation, userIds: readonly UserId[]): Evaluation {
  const { replacedTopicPolicies: replaced } = evaluation;
  if (!replaced) return { ...evaluation, userIds };
  const some = new Set(userIds);
  return { ...evaluation, userIds, replacedTopicPolicies: replaced.filter(([id]) => some.has(id)) };
}

/** Users who may be notified without a mention, by channel and topic. */
type NotifiableUsers = Map<string, readonly UserId[]>;

async function candidatesOf(
  reads: Repositories,
  realmId: RealmId,
  { view, exceptions, replacedTopicPolicies }: EventOf<'message.sent'>,
  notifiable: NotifiableUsers,
): Promise<Evaluation> {
  const { message, conversation, sender } = view;
  const candidates = new Set<UserId>();
  if (conversation.kind === 'direct') {
    for (const { id } of conversation.participants) candidates.add(id);
  } else {
    const { channelId } = conversation;
    for (const [id, flags] of exceptions) {
      if (flags.mentioned || flags.topicWildcardMentioned || flags.hasAlertWord) candidates.add(id);
    }
    if (message.mentionsChannel) {
      const subscribers = await reads.channels.listSubscribers(realmId, [channelId]);
      for (const id of subscribers.get(channelId) ?? []) candidates.add(id);
    }
    const key = topicKey(message.topic);
    const place = `${channelId} ${key}`;
    const users = notifiable.get(place) ?? (await reads.notifications.listNotifiable(realmId, channelId, key));
    notifiable.set(place, users);
    for (const id of users) candidates.add(id);
  }
  candidates.delete(sender.id);
  return { messageId: message.id, userIds: [...candidates], cause: 'sent', replacedTopicPolicies };
}

/** Returns unread messages from the period in which the user no longer polled but still counted as active. */
async function missedBy(
  { personal, messages }: Repositories,
  realmId: RealmId,
  { userId, since }: EventOf<'queue.last_expired'>,
  activeUntil: UnixSeconds,
): Promise<readonly MessageId[]> {
  if (activeUntil < since) return [];
  const unread = await personal.listUnread({ realmId, userId }, MAX_MISSED);
  const times = await messages.listTimes(
    realmId,
    unread.map(({ id }) => id),
  );
  return times.filter(({ sentAt }) => sentAt >= since && sentAt <= activeUntil).map(({ id }) => id);
}

async function pushedTo(
  { notifications }: Repositories,
  realmId: RealmId,
  userId: UserId,
  among: readonly MessageId[] | null,
): Promise<Withdrawal> {
  return { userId, messageIds: await notifications.listPushed(realmId, userId, among) };
}

/** Non-silent mentions, as elements produced by the renderer. */
const MENTIONS = /<span class="user(?:-group)?-mention" data-user(-group)?-id="(\d+)"/g;

/** Returns the users and groups mentioned by name in a rendered text. */
export function mentionsIn(html: string): { readonly userIds: Set<UserId>; readonly groupIds: Set<GroupId> } {
  const mentions = { userIds: new Set<UserId>(), groupIds: new Set<GroupId>() };
  for (const [, group, id] of html.matchAll(MENTIONS)) {
    if (group) mentions.groupIds.add(Number(id) as GroupId);
    else mentions.userIds.add(Number(id) as UserId);
  }
  return mentions;
}

async function mentionedIn({ groups }: Repositories, realmId: RealmId, html: string): Promise<Set<UserId>> {
  const { userIds, groupIds } = mentionsIn(html);
  if (groupIds.size > 0) {
    for (const id of await groups.listMembersRecursively(realmId, [...groupIds])) userIds.add(id);
  }
  return userIds;
}

async function changedMentions(
  reads: Repositories,
  realmId: RealmId,
  { previous, present }: NonNullable<EventOf<'message.updated'>['text']>,
): Promise<{ readonly added: readonly UserId[]; readonly removed: readonly UserId[] }> {
  const before = await mentionedIn(reads, realmId, previous.rendered);
  const after = await mentionedIn(reads, realmId, present.rendered);
  return {
    added: [...after].filter((id) => !before.has(id)),
    removed: [...before].filter((id) => !after.has(id)),
  };
}

/** Data about a message and some of its recipients. */
interface Loaded {
  readonly message: Message;
  readonly cause: Cause;
  readonly isSilent: boolean;
  readonly users: readonly User[];
  readonly flags: Awaited<ReturnType<Repositories['personal']['listFlagsOf']>>;
  readonly subscriptions: ReadonlyMap<UserId, NonNullable<DueFacts['subscription']>>;
  readonly topics: ReadonlyMap<UserId, TopicVisibility>;
  /** Users mentioned by name in the text. */
  readonly named: ReadonlySet<UserId>;
  /** Members of the mentioned groups, smallest group first. */
  readonly groups: readonly (readonly [GroupId, ReadonlySet<UserId>])[];
}

/** Loads the evaluations in their order, omitting messages that no longer exist. */
async function loadAll(
  reads: Repositories,
  realmId: RealmId,
  evaluations: readonly Evaluation[],
): Promise<readonly Loaded[]> {
  const ids = [...new Set(evaluations.map(({ messageId }) => messageId))];
  const userIds = usersOf(evaluations);
  const messages = new Map((await reads.messages.list(realmId, ids)).map((message) => [message.id, message]));
  const users = new Map((await reads.users.list(realmId, userIds)).map((user) => [user.id, user]));
  const flags = await reads.personal.listFlagsOf(realmId, userIds, ids);
  const placed = evaluations.flatMap((evaluation) => {
    const message = messages.get(evaluation.messageId);
    return message ? [{ ...evaluation, message }] : [];
  });
  const places = new Map<string, Awaited<ReturnType<typeof loadPlace>>>();
  const loaded: Loaded[] = [];
  for (const { message, cause, userIds: recipients, replacedTopicPolicies } of placed) {
    const key = placeOf(message);
    let place = places.get(key);
    if (!place) {
      place = await loadPlace(reads, message, usersOf(placed.filter((other) => placeOf(other.message) === key)));
      places.set(key, place);
    }
    const { userIds: named, groupIds } = mentionsIn(message.renderedContent);
    const isMentioned = (id: UserId) => flags.get(id)?.get(message.id)?.mentioned === true;
    const replaced =
      cause === 'missed'
        ? await policiesBefore(reads, message, recipients.filter(isMentioned))
        : (replacedTopicPolicies ?? []);
    loaded.push({
      ...{ message, cause, flags, named, ...place },
      topics: new Map([...place.topics, ...replaced]),
      users: recipients.flatMap((id) => users.get(id) ?? []),
      isSilent:
        message.channelId === null && (await reads.users.findSystemBot(realmId, 'welcome')).id === message.senderId,
      groups: await membersOf(reads, realmId, groupIds),
    });
  }
  return loaded;
}

const usersOf = (evaluations: readonly Evaluation[]): readonly UserId[] => [
  ...new Set(evaluations.flatMap(({ userIds }) => userIds)),
];

/** Returns a key shared by all messages of a topic, and by all direct messages. */
const placeOf = ({ channelId, topic }: Message): string =>
  channelId === null ? '' : `${channelId} ${topicKey(topic)}`;

async function loadPlace(
  reads: Repositories,
  { realmId, channelId, topic }: Message,
  userIds: readonly UserId[],
): Promise<Pick<Loaded, 'subscriptions' | 'topics'>> {
  const subscriptions = new Map<UserId, NonNullable<DueFacts['subscription']>>();
  if (channelId === null) return { subscriptions, topics: new Map() };
  for (const [userId, rows] of await reads.channels.listSubscriptionsOf(realmId, userIds, [channelId])) {
    if (rows[0]?.isActive) subscriptions.set(userId, rows[0]);
  }
  return { subscriptions, topics: await reads.topicPolicies.listOf(realmId, channelId, topicKey(topic), userIds) };
}

/**
 * Returns the mentioned users who follow the topic only since the message. The event of a missed message may be gone, so
 * their visibility before counts as `inherit`.
 */
async function policiesBefore(
  reads: Repositories,
  { realmId, channelId, topic, sentAt }: Message,
  userIds: readonly UserId[],
): Promise<NonNullable<Evaluation['replacedTopicPolicies']>> {
  const before: (readonly [UserId, TopicVisibility])[] = [];
  if (channelId === null) return before;
  for (const userId of userIds) {
    const policy = await reads.topicPolicies.find(realmId, userId, channelId, topicKey(topic));
    if (policy?.visibility === 'followed' && policy.changedAt >= sentAt) before.push([userId, 'inherit']);
  }
  return before;
}

async function membersOf(
  { groups }: Repositories,
  realmId: RealmId,
  groupIds: ReadonlySet<GroupId>,
): Promise<Loaded['groups']> {
  const members: (readonly [GroupId, ReadonlySet<UserId>])[] = [];
  for (const id of groupIds) members.push([id, new Set(await groups.listMembersRecursively(realmId, [id]))]);
  return members.sort(([, one], [, other]) => one.size - other.size);
}

function decide(loaded: Loaded, user: User, idle: boolean): Due | null {
  const { message, cause } = loaded;
  const facts: DueFacts = {
    recipient: { isBot: user.bot !== null, isActive: user.isActive, settings: user.settings },
    message: {
      isFromRecipient: message.senderId === user.id,
      isSilent: loaded.isSilent,
      isDirect: message.channelId === null,
    },
    flags: loaded.flags.get(user.id)?.get(message.id) ?? null,
    isIdle: idle,
    subscription: loaded.subscriptions.get(user.id) ?? null,
    topic: loaded.topics.get(user.id) ?? 'inherit',
  };
  switch (cause) {
    case 'sent':
      return decideDue(facts);
    case 'edited':
      // Direct messages are not re-evaluated, and neither are users who were notified without the mention.
      if (message.channelId === null) return null;
      return dueInAddition(
        decideDue({ ...facts, flags: facts.flags && { ...facts.flags, mentioned: false } }),
        decideDue(facts),
      );
    case 'missed':
      return dueInAddition(decideDue({ ...facts, isIdle: false }), decideDue({ ...facts, isIdle: true }));
  }
}

function groupOf({ named, groups }: Loaded, userId: UserId, { reason }: Due): GroupId | null {
  if (reason !== 'mentioned' || named.has(userId)) return null;
  return groups.find(([, members]) => members.has(userId))?.[0] ?? null;
}
