import { ForgetConfirmations, SendConfirmationEmails } from '@parley/domain/access';
import { ChangeSubscriptionParts, CloseIdleChannels } from '@parley/domain/channels';
import type { CommitListener } from '@parley/domain/composition';
import { ExpireExports } from '@parley/domain/exports';
import { ChangeMemberParts, FullMemberParts } from '@parley/domain/groups';
import {
  type Clock,
  type JobHandler,
  JobRunner,
  type JobRunnerParts,
  type ScheduledJob,
  type Timers,
  type UnixSeconds,
} from '@parley/domain/kernel';
import { EndAccessToken, EndVisit, FetchLogInPictures, SendSecondFactorEmails } from '@parley/domain/log-in';
import {
  AddressChangedEmails,
  DeactivateBots,
  DeactivationEmails,
  DeleteContributions,
  DeliverWebhooks,
  ErasePerson,
  ExpireInvitations,
  ForgetInvitations,
  SendInvitationEmails,
  SendWelcomeEmails,
} from '@parley/domain/membership';
import { ChangeFlagParts, MakeThumbnails, MarkAllReadParts, MuteUserParts } from '@parley/domain/messages';
import {
  EvaluateRecipients,
  RegisterDevices,
  ScheduleDigests,
  SendDigests,
  SendEncryptedPush,
  SendLegacyPush,
  SendMissedEmails,
  SendWebPush,
  UnregisterTokens,
} from '@parley/domain/push';
import { DeleteRealmData } from '@parley/domain/realms';
import { ChangeSettingParts, SendLoginEmails } from '@parley/domain/users';
import {
  DeliverReminder,
  DeliverScheduledMessage,
  MoveParts,
  PreviewLinks,
  RemoveQuotesFromDrafts,
  RemoveTextFromReminders,
  SendGroupMembershipNotices,
} from '@parley/domain/writing';
import { ExpirePersonExports, WritePersonExport, WriteRealmExport } from '@parley/transfer/exports';
import { UndoRequestedImports } from '@parley/transfer/imports';
import type { Resolve } from '../kernel/resolve.js';
import { RecurringWorker, together, type Worker } from './recurring-worker.js';

/** Maximum delay in detecting a clock change, a wake-up from sleep, or a job of another process. */
const SAFETY_CHECK_MS = 30_000;
/** Delay for collecting ended jobs, so that one commit stores several and leases the next ones. */
const ROOM_MS = 20;
/** Maximum time for leased jobs to end at shutdown; unfinished ones are retried later. */
const PATIENCE_MS = 5000;

export interface JobWorkersParts extends JobRunnerParts {
  readonly timers: Timers;
}

/**
 * Runs one worker per job kind, which sleeps until its next job is due. Kinds do not block each other. Commits of this
 * process wake the workers; a check of all kinds finds other due jobs.
 */
export class JobWorkers implements Worker, CommitListener {
  readonly name = 'running jobs';
  private readonly runners: readonly JobRunner[];
  private readonly workers = new Map<string, RecurringWorker>();
  private readonly safetyCheck: RecurringWorker;

  constructor(
    handlers: readonly JobHandler[],
    private readonly parts: JobWorkersParts,
  ) {
    this.runners = handlers.map((handler) => this.add(handler));
    const { timers, report } = parts;
    const run = async () => {
      for (const [kind, dueAt] of await this.dueTimes()) this.wake(kind, dueAt);
      return together(timers, SAFETY_CHECK_MS);
    };
    const recurrence = { name: 'looking for due jobs', firstDelayMs: SAFETY_CHECK_MS, run };
    this.safetyCheck = new RecurringWorker(recurrence, timers, report);
  }

  start(): void {
    for (const worker of [...this.workers.values(), this.safetyCheck]) worker.start();
  }

  /** Wakes workers for jobs that this process has committed. */
  onJobsScheduled(jobs: readonly ScheduledJob[]): void {
    for (const { kind, dueAt } of jobs) this.wake(kind, dueAt);
  }

  private wake(kind: string, dueAt: UnixSeconds): void {
    this.workers.get(kind)?.wakeIn(msUntil(dueAt, this.parts.clock));
  }

  /** Time by job kind for which its oldest due job has been waiting, in seconds; 0 if none is due. */
  async lagSeconds(): Promise<ReadonlyMap<string, number>> {
    const dueTimes = await this.dueTimes();
    const now = this.parts.clock.now();
    const lagOf = (kind: string) => Math.max(0, now - (dueTimes.get(kind) ?? now));
    return new Map(this.runners.map(({ selection: { kind } }) => [kind, lagOf(kind)]));
  }

  /** Earliest due time of each kind with waiting jobs, from one read. */
  private dueTimes(): Promise<ReadonlyMap<string, UnixSeconds>> {
    return this.parts.uow.readAcross(async ({ jobs }) => {
      const times = new Map<string, UnixSeconds>();
      for (const { selection } of this.runners) {
        const dueAt = await jobs.nextDueAt(selection);
        if (dueAt !== null) times.set(selection.kind, dueAt);
      }
      return times;
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.workers.values(), this.safetyCheck].map((worker) => worker.stop()));
    await new Promise<void>((resolve) => {
      const cancel = this.parts.timers.after(PATIENCE_MS, resolve);
      void Promise.all(this.runners.map((runner) => runner.settle())).then(() => {
        cancel();
        resolve();
      });
    });
  }

  private add(handler: JobHandler): JobRunner {
    const { name } = handler.kind;
    if (this.workers.has(name)) throw new Error(`Jobs of kind ${name} have two handlers`);
    const { clock, timers, report } = this.parts;
    const runner = new JobRunner(handler, this.parts, () => worker.wakeIn(ROOM_MS));
    const worker = new RecurringWorker(
      {
        name: `running jobs (${name})`,
        firstDelayMs: 0,
        run: async () => {
          const next = await runner.run();
          return next === null ? null : msUntil(next, clock);
        },
      },
      timers,
      report,
    );
    this.workers.set(name, worker);
    return runner;
  }
}

const msUntil = (time: number, clock: Clock): number => Math.max(0, time * 1000 - clock.nowMs());

/** One handler per job kind. */
export const jobHandlersOf = (resolve: Resolve): readonly JobHandler[] => [
  resolve(SendLoginEmails),
  resolve(SendSecondFactorEmails),
  resolve(DeactivateBots),
  resolve(DeactivationEmails),
  resolve(DeleteContributions),
  resolve(ErasePerson),
  resolve(EndVisit),
  resolve(EndAccessToken),
  resolve(SendConfirmationEmails),
  resolve(ForgetConfirmations),
  resolve(AddressChangedEmails),
  resolve(ExpireExports),
  resolve(WriteRealmExport),
  resolve(ExpirePersonExports),
  resolve(WritePersonExport),
  resolve(UndoRequestedImports),
  resolve(MakeThumbnails),
  resolve(SendGroupMembershipNotices),
  resolve(SendInvitationEmails),
  resolve(SendWelcomeEmails),
  resolve(ForgetInvitations),
  resolve(ExpireInvitations),
  resolve(EvaluateRecipients),
  resolve(SendEncryptedPush),
  resolve(SendLegacyPush),
  resolve(SendWebPush),
  resolve(RegisterDevices),
  resolve(UnregisterTokens),
  resolve(ChangeSubscriptionParts),
  resolve(CloseIdleChannels),
  resolve(ChangeMemberParts),
  resolve(FullMemberParts),
  resolve(MoveParts),
  resolve(ChangeFlagParts),
  resolve(MarkAllReadParts),
  resolve(MuteUserParts),
  resolve(ChangeSettingParts),
  resolve(DeliverScheduledMessage),
  resolve(DeliverReminder),
  resolve(RemoveTextFromReminders),
  resolve(RemoveQuotesFromDrafts),
  resolve(PreviewLinks),
  resolve(DeliverWebhooks),
  resolve(FetchLogInPictures),
  resolve(SendMissedEmails),
  resolve(ScheduleDigests),
  resolve(SendDigests),
  resolve(DeleteRealmData),
];
