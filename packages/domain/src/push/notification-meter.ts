/** Ways of delivery in metrics. */
export type MeteredChannel = 'push' | 'push_legacy' | 'web_push' | 'email';

/** Counters of one way of delivery since the start. */
export interface ChannelCounts {
  sent: number;
  /** Attempts that failed and are repeated. */
  failed: number;
  /** Notifications given up because they were refused. */
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

  get counts(): ReadonlyMap<MeteredChannel, Readonly<ChannelCounts>> {
    return this.channels;
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
      this.of(channel).failed++;
      throw error;
    }
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
