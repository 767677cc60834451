/** Moment of a poll, with the time by the clock of the server and `Model.accessChanges`. */
export interface Moment {
  readonly atMs: number;
  readonly at: number;
  readonly crashes: number;
  readonly accessChanges: number;
}

/** Polls of an event queue. */
export class Polls {
  private moments: readonly [registered: Moment, acknowledged: Moment, last: Moment];

  /** @param idleSeconds time without polls after which the queue ends */
  constructor(
    now: Moment,
    private readonly idleSeconds: number,
  ) {
    this.moments = [now, now, now];
  }

  add(now: Moment): void {
    this.moments = [this.moments[0], this.moments[2], now];
  }

  /** True if the access of people has changed since the last poll, of which events tell everybody. */
  isBefore({ accessChanges }: Moment): boolean {
    return this.moments[2].accessChanges < accessChanges;
  }

  /** True if the queue may have ended (events §6.1). A crash takes it back to its last stored position. */
  mayHaveEnded(now: Moment): boolean {
    const [registered, acknowledged, last] = this.moments;
    const { idleSeconds } = this;
    if (now.atMs - last.atMs >= idleSeconds * 1000 || now.at - last.at >= idleSeconds) return true;
    return (now.crashes > last.crashes ? registered : acknowledged).accessChanges < now.accessChanges;
  }
}
