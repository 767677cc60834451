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

/** Parley as embedded in a host application: sequential use cases without HTTP. */
let parley: Parley;

answerCalls({
  async open(database: string) {
    parley = await createParley({ database: `sqlite:${database}`, url: 'http://localhost', secret: SECRET });
  },

  /** Median time until each change is durable, in milliseconds. */
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
