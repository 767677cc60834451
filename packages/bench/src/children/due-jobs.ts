import { performance } from 'node:perf_hooks';
import { encodeJob, type JobHandler, JobRunner, jobKind } from '@parley/domain/jobs';
import { BotOwnerWarnings, SendMessage, SystemMessages } from '@parley/domain/messages';
import type { ChannelId, Clock, RealmId, RealmUrls, UnitOfWork, UnixSeconds, UserId } from '@parley/domain/shared';
import { htmlMessages, ZulipMarkdownRenderer } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { contentOf } from '../worlds/history.js';
import { answerCalls } from './answer-calls.js';

export interface OpenCall {
  readonly database: string;
  readonly realmId: RealmId;
  readonly authorIds: readonly UserId[];
  readonly channelId: ChannelId;
}

export interface SendCall {
  readonly sends: number;
  /** All due at once; 0: none. Sending goes on until they are done. */
  readonly jobs: number;
}

const IN_FLIGHT = 16;
const AT_LEAST_WITH_JOBS = 100;

const clock: Clock = {
  now: () => Math.floor(Date.now() / 1000) as UnixSeconds,
  nowMs: () => Date.now(),
};
const realmUrls: RealmUrls = { urlOf: () => 'http://localhost', emailDomainOf: () => 'localhost' };

/** One row each, by the unit that removes the job: the least that a job does. */
const NOTE = jobKind<null>({ name: 'bench.note', readPayload: () => null });
const handler: JobHandler = {
  kind: NOTE,
  prepare: async ({ realmId }) => {
    return async (tx) => {
      await tx.events.append(realmId, { event: { type: 'blank' }, audience: { kind: 'nobody' } });
    };
  },
};

let uow: UnitOfWork;
let realmId: RealmId;
let send: (n: number) => Promise<unknown>;

answerCalls({
  open(call: OpenCall) {
    ({ realmId } = call);
    ({ uow } = openSqliteStorage({ path: call.database, clock, words: htmlMessages }));
    const renderer = new ZulipMarkdownRenderer();
    const warnings = new BotOwnerWarnings(uow, new SystemMessages(renderer, realmUrls, clock), clock);
    const useCase = new SendMessage(uow, renderer, realmUrls, clock, warnings);
    send = (n) =>
      useCase.execute(
        { realmId, userId: call.authorIds[n % call.authorIds.length]!, clientName: 'website' },
        {
          to: { kind: 'channelId', id: call.channelId },
          topic: 'beginning',
          content: contentOf(n),
          isReadBySender: true,
          echo: null,
        },
      );
  },

  /** How long a send takes until it is durable, in milliseconds: the 99th percentile. */
  async sendWhile({ sends, jobs }: SendCall): Promise<number> {
    await uow.write(async (tx) => {
      const job = encodeJob(NOTE, { realmId, dueAt: clock.now(), payload: null });
      for (let n = 0; n < jobs; n++) await tx.jobs.schedule(job);
    });
    let areDone = jobs === 0;
    const runner = new JobRunner(handler, { uow, clock, report: fail });
    const running = areDone
      ? null
      : runner.run().then(() => {
          areDone = true;
        });
    const took: number[] = [];
    let begun = 0;
    const isOver = () => (jobs === 0 ? begun >= sends : areDone && begun >= AT_LEAST_WITH_JOBS);
    const author = async () => {
      while (!isOver()) {
        const startedAt = performance.now();
        await send(begun++);
        took.push(performance.now() - startedAt);
      }
    };
    await Promise.all([running, ...Array.from({ length: IN_FLIGHT }, author)]);
    return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)]!;
  },
});

function fail(message: string): never {
  throw new Error(message);
}
