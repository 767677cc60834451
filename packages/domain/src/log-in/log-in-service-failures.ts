import { hasPassed } from '../kernel/clock-watch.js';
import { DomainError } from '../kernel/errors.js';
import type { RealmId, UnixSeconds } from '../kernel/ids.js';
import type { Clock, ReportProblem } from '../kernel/ports.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import { NOTICES_AT_A_TIME, SystemMessages } from '../writing/system-messages.js';
import { ClientRejected, type LogInMethod } from './log-in-methods.js';

/** Minimum number of seconds between two notices about a service. */
const PAUSE = 3600;

export const serviceFailed = () =>
  new DomainError('LOG_IN_SERVICE_FAILED', 'The service for logging in does not respond as expected. Try again later.');

/**
 * Reports failures of log-in services. Notifies administrators once when a service rejects its client secret, and again
 * only if it accepted the secret in the meantime. State is kept in memory, so a restart or another server may cause an
 * extra notice.
 */
export class LogInServiceFailures {
  static readonly inject = ['unitOfWork', SystemMessages, 'clock', 'report'] as const;

  /** Times of notices by realm and method; anonymous callers can invent neither. */
  private readonly notifiedAt = new Map<string, UnixSeconds>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly systemMessages: SystemMessages,
    private readonly clock: Clock,
    private readonly reportProblem: ReportProblem,
  ) {}

  report(err: unknown, method: string): void {
    this.reportProblem('a log-in service failed', { err, method }, 'warn');
  }

  /** Runs after the failed log-in. Notices are sent in a separate unit of work. */
  async onFailed(realmId: RealmId, method: LogInMethod, err: unknown): Promise<void> {
    this.report(err, method.name);
    if (err instanceof ClientRejected) await this.onRejected(realmId, method);
  }

  private async onRejected(realmId: RealmId, { name, displayName }: LogInMethod): Promise<void> {
    const key = keyOf(realmId, name);
    if (this.notifiedAt.has(key)) return;
    await this.uow.write(realmId, async (tx) => {
      if (this.notifiedAt.has(key)) return;
      this.notifiedAt.set(key, this.clock.now());
      tx.onRollback(() => this.notifiedAt.delete(key));
      const { administrators } = await tx.groups.systemGroupIds(realmId);
      const ids = await tx.groups.listMembersRecursively(realmId, [administrators]);
      const people = (await tx.users.list(realmId, ids)).filter(({ isActive, bot }) => isActive && !bot);
      const realm = await tx.realms.get(realmId);
      const content = `Nobody can log in with ${displayName}: it rejects the client secret of this server, which may have expired. The operator of the server has to renew it.`;
      await this.systemMessages.sendDirectToAll(tx, realm, people.slice(0, NOTICES_AT_A_TIME), content, {
        actor: null,
      });
    });
  }

  onAccepted(realmId: RealmId, { name }: LogInMethod): void {
    const key = keyOf(realmId, name);
    const notifiedAt = this.notifiedAt.get(key);
    if (notifiedAt !== undefined && hasPassed(notifiedAt, PAUSE, this.clock.now())) this.notifiedAt.delete(key);
  }
}

const keyOf = (realmId: RealmId, method: string): string => `${realmId} ${method}`;
