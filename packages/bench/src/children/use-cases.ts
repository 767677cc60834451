import { performance } from 'node:perf_hooks';
import { DeleteMessage, MarkRead, SendMessage } from '@parley/domain/messages';
import type { Caller, ChannelId, RealmId, UserId } from '@parley/domain/shared';
import { createParley, type Parley } from '@parley/server';
import { median } from '../harness/interleave.js';
import { SECRET } from '../harness/parley-server.js';
import { answerCalls } from './answer-calls.js';

export interface MarkTopicCall {
  readonly realmId: RealmId;
  readonly userId: UserId;
  readonly channelId: ChannelId;
  readonly topic: string;
}

/** Parley as a host application has it: use cases called one after the other, and no HTTP. */
let parley: Parley;

answerCalls({
  async open(database: string) {
    parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost', secret: SECRET });
  },

  /** How long each takes until it is durable, in milliseconds: the median. */
  markTopicsRead: (calls: readonly MarkTopicCall[]) => markTopics(calls),

  /** The same with nothing in memory of where messages are: one has been deleted each time. */
  markTopicsReadFirst: (calls: readonly MarkTopicCall[]) => markTopics(calls, deleteSomething),
});

async function markTopics(
  calls: readonly MarkTopicCall[],
  before: (caller: Caller) => Promise<unknown> = async () => {},
): Promise<number> {
  const markRead = parley.useCase(MarkRead);
  const took: number[] = [];
  for (const { realmId, userId, channelId, topic } of calls) {
    const caller = { realmId, userId, clientName: 'website' };
    await before(caller);
    const startedAt = performance.now();
    await markRead.execute(caller, { scope: { kind: 'topic', channelId, topic } });
    took.push(performance.now() - startedAt);
  }
  return median(took);
}

async function deleteSomething(caller: Caller): Promise<void> {
  const { id } = await parley.useCase(SendMessage).execute(caller, {
    to: { kind: 'userIds', ids: [caller.userId] },
    topic: null,
    content: 'never mind',
    isReadBySender: true,
    echo: null,
  });
  await parley.useCase(DeleteMessage).execute(caller, { messageId: id });
}
