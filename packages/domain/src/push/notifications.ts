import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Due } from './due.js';
import type { PushTokenKind } from './push.js';

/** User to whom a message is due, and why. */
export interface DueRecipient extends Due {
  readonly userId: UserId;
  /** Smallest mentioned group of the user if no mention names them. */
  readonly groupId: GroupId | null;
}

/** Message that is due to somebody. */
export interface DueMessage {
  readonly messageId: MessageId;
  /** Not empty. */
  readonly recipients: readonly DueRecipient[];
}

/**
 * Way to reach people who are away. Both methods run in the unit that publishes `notification.due`, so they only store
 * rows and jobs; delivery follows in a job.
 */
export interface NotificationChannel {
  /** Queues deliveries to recipients for whom `push` or `email` is due and whom this channel reaches. */
  schedule(tx: Transaction, realmId: RealmId, due: DueMessage): Promise<void>;
  /** The messages were read or deleted, or no longer mention the user. */
  withdraw(tx: Transaction, realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void>;
}

export interface NotificationReads {
  /**
   * Returns subscribers whom messages of the topic may notify without mentioning them: by a setting of theirs, of their
   * subscription, or because they follow the topic. Ascending. The cost does not depend on other subscribers.
   */
  listNotifiable(realmId: RealmId, channelId: ChannelId, topicKey: string): Promise<readonly UserId[]>;
  /** Returns messages on the user's phones: those of `among`, or all for null; newest first. */
  listPushed(realmId: RealmId, userId: UserId, among: readonly MessageId[] | null): Promise<readonly MessageId[]>;
  /** Returns users with one of the messages on a phone, with these messages; ascending user, then message. */
  listPushedTo(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly PushedMessage[]>;
}

/** Message that was pushed to a user and not removed since: the flag "active mobile push" of organization §15. */
export interface PushedMessage {
  readonly userId: UserId;
  readonly messageId: MessageId;
}

/** Every implementation passes notification-repository.contract.ts. */
export interface NotificationRepository extends NotificationReads {
  /** Marks the message as pushed. Returns the users for whom it was not marked before, in the given order. */
  addPushed(realmId: RealmId, messageId: MessageId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Idempotent. */
  removePushed(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void>;
}

declare module '../kernel/unit-of-work.js' {
  interface RepositoryMap {
    notifications: [reads: NotificationReads, repository: NotificationRepository];
  }
}

export interface NotificationEventTypes {
  /** Sent to nobody; the host application may listen. */
  'notification.due': DueMessage;
}

declare module '../kernel/event.js' {
  interface DomainEventTypes extends NotificationEventTypes {}
}

export const NOTIFICATION_FEATURE = {
  eventFormats: { 'notification.due': 1 },
  notExported: {
    notifications: 'Apps show what they have received.',
    missedEmails: 'The server that collected missed messages emails them.',
  },
} satisfies FeatureParts<NotificationEventTypes>;

/** Ways of delivery in metrics; a push service has the makers of phones instead. */
export type MeteredChannel = 'push' | 'push_legacy' | 'web_push' | 'email' | PushTokenKind;

/** Result of receiving an email, in metrics. */
export type IncomingResult = 'posted' | 'ignored' | 'refused' | 'bounce' | 'failed';

/** Counters of one way of delivery since the start. */
export interface ChannelCounts {
  sent: number;
  /** Attempts that failed and are repeated. */
  failed: number;
  /** Notifications given up because they were refused, or because the phone no longer has the app. */
  refused: number;
  /** Notifications given up after a day of failures. */
  expired: number;
  /** Total duration of successful attempts, for averages. */
  seconds: number;
}

/** Counts notifications of this process for metrics. */
export class NotificationMeter {
  static readonly inject = [] as const;
  /** Number of recipients to whom a message was due. */
  due = 0;
  private readonly channels = new Map<MeteredChannel, ChannelCounts>();
  private readonly emails = new Map<IncomingResult, number>();

  get counts(): ReadonlyMap<MeteredChannel, Readonly<ChannelCounts>> {
    return this.channels;
  }

  /** Received emails. */
  get incoming(): ReadonlyMap<IncomingResult, number> {
    return this.emails;
  }

  received(result: IncomingResult): void {
    this.emails.set(result, (this.emails.get(result) ?? 0) + 1);
  }

  sent(channel: MeteredChannel, seconds: number): void {
    const counts = this.of(channel);
    counts.sent++;
    counts.seconds += seconds;
  }

  /** Counts a failure of the attempt and passes it on. */
  async measure<T>(channel: MeteredChannel, attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      this.failed(channel);
      throw error;
    }
  }

  failed(channel: MeteredChannel): void {
    this.of(channel).failed++;
  }

  dropped(channel: MeteredChannel, why: 'refused' | 'expired'): void {
    this.of(channel)[why]++;
  }

  private of(channel: MeteredChannel): ChannelCounts {
    let counts = this.channels.get(channel);
    if (!counts) {
      counts = { sent: 0, failed: 0, refused: 0, expired: 0, seconds: 0 };
      this.channels.set(channel, counts);
    }
    return counts;
  }
}
