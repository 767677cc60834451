import { performance } from 'node:perf_hooks';
import type { ChannelId, RealmId, UserId } from '@parley/domain/kernel';
import { MarkRead } from '@parley/domain/messages';
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
  async markTopicsRead(calls: readonly MarkTopicCall[]): Promise<number> {
    const markRead = parley.useCase(MarkRead);
    const took: number[] = [];
    for (const { realmId, userId, channelId, topic } of calls) {
      const startedAt = performance.now();
      await markRead.execute(
        { realmId, userId, clientName: 'website' },
        { scope: { kind: 'topic', channelId, topic } },
      );
      took.push(performance.now() - startedAt);
    }
    return median(took);
  },
});
