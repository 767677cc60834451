import { isBounced } from '../access/bounces.js';
import type { Email, Mailer } from '../access/email.js';
import type { Clock } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { NotificationMeter } from './notifications.js';

/** Sends notification emails and counts them. */
export class NotificationEmails {
  static readonly inject = ['unitOfWork', 'mailer', 'notificationMeter', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly mailer: Mailer,
    private readonly meter: NotificationMeter,
    private readonly clock: Clock,
  ) {}

  async send(email: Email): Promise<void> {
    const startedAt = this.clock.nowMs();
    await this.meter.measure('email', () => this.mailer.send(email));
    if (await isBounced(this.uow, email.to)) this.meter.dropped('email', 'refused');
    else this.meter.sent('email', (this.clock.nowMs() - startedAt) / 1000);
  }

  /** Counts an email that could not be sent for a day. */
  drop(): void {
    this.meter.dropped('email', 'expired');
  }
}
