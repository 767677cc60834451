import type { FeatureParts } from '../kernel/event.js';
import type { ChannelId, GroupId, MessageId, RealmId, UserId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import type { Due } from './due.js';
import type { PushTokenKind } from './push.js';

/** User with a due message, and the reasons. */
export interface DueRecipient extends Due {
  readonly userId: UserId;
  /** User's smallest mentioned group; null if a mention names the user. */
  readonly groupId: GroupId | null;
}

/** Message that is due to at least one user. */
export interface DueMessage {
  readonly messageId: MessageId;
  /** Never empty. */
  readonly recipients: readonly DueRecipient[];
}

/**
 * Way to reach absent users. Both methods run in the unit of work that publishes `notification.due`, so they only store
 * rows and jobs; a job delivers later.
 */
export interface NotificationChannel {
  /** Schedules `push` or `email` deliveries to the due recipients that this channel reaches. */
  schedule(tx: Transaction, realmId: RealmId, due: DueMessage): Promise<void>;
  /** Called when the messages were read or deleted, or no longer mention the user. */
  withdraw(tx: Transaction, realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void>;
}

/** Receivers of due notifications, known since the start of the server. */
export interface NotificationTargets {
  readonly channels: readonly NotificationChannel[];
  /** True if a host application may receive `notification.due`. */
  readonly hasHost: boolean;
}

export interface NotificationReads {
  /**
   * Returns subscribers whom the topic may notify without a mention, because of their own setting, a subscription
   * setting or a followed topic. Ascending. The cost does not depend on other subscribers.
   */
  listNotifiable(realmId: RealmId, channelId: ChannelId, topicKey: string): Promise<readonly UserId[]>;
  /** Returns messages shown on the user's phones, newest first: those in `among`, or all if null. */
  listPushed(realmId: RealmId, userId: UserId, among: readonly MessageId[] | null): Promise<readonly MessageId[]>;
  /** Returns users with any of the messages shown on a phone, by ascending user, then message. */
  listPushedTo(realmId: RealmId, messageIds: readonly MessageId[]): Promise<readonly PushedMessage[]>;
}

/** Message that was pushed to a user and not removed since: the "active mobile push" flag of organization §15. */
export interface PushedMessage {
  readonly userId: UserId;
  readonly messageId: MessageId;
}

/** Every implementation passes notification-repository.contract.ts. */
export interface NotificationRepository extends NotificationReads {
  /** Marks the message as pushed. Returns the newly marked users in the given order. */
  addPushed(realmId: RealmId, messageId: MessageId, userIds: readonly UserId[]): Promise<readonly UserId[]>;
  /** Idempotent. */
  removePushed(realmId: RealmId, userId: UserId, messageIds: readonly MessageId[]): Promise<void>;
}

export interface NotificationEventTypes {
  /** Sent to nobody; the host application may subscribe. */
  'notification.due': DueMessage;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    notifications: [reads: NotificationReads, repository: NotificationRepository];
  }
  interface DomainEventTypes extends NotificationEventTypes {}
}

export const NOTIFICATION_FEATURE = {
  eventFormats: { 'notification.due': 1 },
  notExported: {
    notifications: 'Apps show what they have received.',
    missedEmails: 'The original server emails missed messages.',
  },
} satisfies FeatureParts<NotificationEventTypes>;

/** Delivery channels in metrics; a push service counts by phone vendor instead. */
export type MeteredChannel = 'push' | 'push_legacy' | 'web_push' | 'email' | PushTokenKind;

/** Outcome of an incoming email, in metrics. */
export type IncomingResult = 'posted' | 'ignored' | 'refused' | 'bounce' | 'failed';

/** Counters of one delivery channel since startup. */
export interface ChannelCounts {
  sent: number;
  /** Failed attempts that will be retried. */
  failed: number;
  /** Notifications given up because they were rejected or the phone no longer has the app. */
  refused: number;
  /** Notifications given up after a day of failures. */
  expired: number;
  /** Total duration of successful attempts, for averages. */
  seconds: number;
}

/** Counts notifications of this process for metrics. */
export class NotificationMeter {
  static readonly inject = [] as const;
  /** Number of recipients with a due message. */
  due = 0;
  private readonly channels = new Map<MeteredChannel, ChannelCounts>();
  private readonly emails = new Map<IncomingResult, number>();

  get counts(): ReadonlyMap<MeteredChannel, Readonly<ChannelCounts>> {
    return this.channels;
  }

  /** Incoming emails by outcome. */
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

  /** Runs and measures an attempt. Counts and rethrows its failure. */
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
