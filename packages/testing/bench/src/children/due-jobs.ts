import { performance } from 'node:perf_hooks';
import {
  type ChannelId,
  type Clock,
  encodeJob,
  JobRunner,
  type RealmId,
  type RealmUrls,
  type UnitOfWork,
  type UnixSeconds,
  type UserId,
} from '@parley/domain/kernel';
import {
  BotOwnerWarnings,
  DeliverScheduledMessage,
  HostReview,
  MessageSender,
  SendMessage,
  SystemMessages,
  UserTextParser,
} from '@parley/domain/writing';
import { htmlMessages, ZulipMarkdownRenderer } from '@parley/markdown';
import { openSqliteStorage } from '@parley/sqlite';
import { anyData } from '@parley/testkit';
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
  /** Number of scheduled messages due at once; 0 for none. Sending continues until they are delivered. */
  readonly jobs: number;
}

export interface SendFigures {
  /** 99th percentile of the time until a sent message is durable, in milliseconds. */
  readonly p99: number;
  /** Milliseconds between the due time and the delivery of the last scheduled message. */
  readonly lateness: number;
}

export interface PendingCall {
  /** Number of scheduled messages due in a day. */
  readonly messages: number;
}

const IN_FLIGHT = 16;
const AT_LEAST_WITH_JOBS = 100;
const ROWS_AT_A_TIME = 5000;
const LOOKS = 2000;

const clock: Clock = {
  now: () => Math.floor(Date.now() / 1000) as UnixSeconds,
  nowMs: () => Date.now(),
};
const realmUrls: RealmUrls = { urlOf: () => 'http://localhost', emailDomainOf: () => 'localhost' };

let uow: UnitOfWork;
let opened: OpenCall;
let handler: DeliverScheduledMessage;
let send: (n: number) => Promise<unknown>;

/** Schedules messages, cycling through the authors. */
async function schedule(count: number, dueAt: UnixSeconds): Promise<void> {
  const { realmId, authorIds, channelId } = opened;
  await uow.write(realmId, async (tx) => {
    for (let n = 0; n < count; n++) {
      const { id } = await tx.scheduledMessages.add({
        realmId,
        userId: authorIds[n % authorIds.length]!,
        to: { kind: 'channelId', id: channelId },
        topic: 'planned',
        content: contentOf(n),
        renderedContent: contentOf(n),
        dueAt,
        clientName: 'website',
        isReadBySender: true,
        status: 'waiting',
        failure: null,
      });
      await tx.jobs.schedule(encodeJob(handler.kind, { realmId, dueAt, payload: { id }, key: String(id) }));
    }
  });
}

answerCalls({
  open(call: OpenCall) {
    opened = call;
    const { realmId } = call;
    ({ uow } = openSqliteStorage({ path: call.database, clock, words: htmlMessages }));
    const renderer = new ZulipMarkdownRenderer();
    const systemMessages = new SystemMessages(renderer, realmUrls, clock);
    const warnings = new BotOwnerWarnings(uow, systemMessages, clock);
    const parser = new UserTextParser(uow, renderer, realmUrls);
    const sender = new MessageSender(
      uow,
      parser,
      realmUrls,
      clock,
      warnings,
      new HostReview(uow, realmUrls, anyData, (text) => text),
    );
    const useCase = new SendMessage(sender, clock);
    handler = new DeliverScheduledMessage(uow, sender, systemMessages, clock);
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

  async sendWhile({ sends, jobs }: SendCall): Promise<SendFigures> {
    await schedule(jobs, clock.now());
    let lateness = 0;
    let areDone = jobs === 0;
    const runner = new JobRunner(handler, { uow, clock, report: fail });
    const dueAt = performance.now();
    const running = areDone
      ? null
      : runner.run().then(() => {
          lateness = performance.now() - dueAt;
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
    return { p99: took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)]!, lateness };
  },

  async wait({ messages }: PendingCall): Promise<void> {
    for (let left = messages; left > 0; left -= ROWS_AT_A_TIME) {
      await schedule(Math.min(left, ROWS_AT_A_TIME), clock.now() + 86_400);
    }
  },

  /** CPU milliseconds of this process to find that nothing is due. */
  async look(): Promise<number> {
    const runner = new JobRunner(handler, { uow, clock, report: fail });
    const { user, system } = process.cpuUsage();
    for (let n = 0; n < LOOKS; n++) await runner.run();
    const used = process.cpuUsage({ user, system });
    return (used.user + used.system) / 1000 / LOOKS;
  },
});

function fail(message: string): never {
  throw new Error(message);
}
