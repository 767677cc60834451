import type { MarkTopicCall } from '../children/use-cases.js';
import { ApiUser } from '../harness/api.js';
import type { HttpLoad } from '../harness/http-load.js';
import { interleave } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Figure, Goal, Workload } from '../workload.js';
import { interleavedTopics } from '../worlds/worlds.js';
import { topicPath } from './pages.js';

/** Marking one of many interleaved conversations as read after an absence. */
export const markRead: Workload = {
  name: 'mark-read',
  async run(lab) {
    const { database, contents } = await lab.copyOf(interleavedTopics);
    const { realmId, readers, channelId, topics, messagesPerTopic } = contents;
    const parley = await lab.serve(database);
    const users = await ApiUser.signInAll(parley, readers);
    const idsOfTopic = await listIds(users[0]!, topics, (topic) => topicPath(channelId, topic, messagesPerTopic));
    const byTopic = ([user, topic]: readonly [ApiUser, string]) =>
      user.text({
        method: 'POST',
        path: '/api/v1/mark_topic_as_read',
        form: { stream_id: String(channelId), topic_name: topic },
      });
    const byIds = ([user, topic]: readonly [ApiUser, string]) =>
      user.text({
        method: 'POST',
        path: '/api/v1/messages/flags',
        form: { messages: JSON.stringify(idsOfTopic.get(topic)), op: 'add', flag: 'read' },
      });
    // Each call finds a thousand unread messages: half of the readers use one method, half the other.
    const half = readers.length / 2;
    const pairsByTopic = new Pairs(users.slice(0, half), topics);
    const pairsByIds = new Pairs(users.slice(half), topics);
    const pairsInProcess = new Pairs(readers, topics);

    const inProcess = lab.start('use-cases', { seat: 'server' });
    await inProcess.call('open', (await lab.copyOf(interleavedTopics)).database);
    const sqlite = lab.start('raw-sqlite', { seat: 'server' });
    await sqlite.call('makeOneRow', lab.newFile());
    const load = lab.load();
    const marksARound = lab.size(150, 3);
    const callsInProcess = () =>
      pairsInProcess
        .take(marksARound)
        .map(([{ id }, topic]): MarkTopicCall => ({ realmId, userId: id, channelId, topic }));
    const rounds = await interleave(lab.rounds, {
      inProcess: () => inProcess.call<number>('markTopicsRead', callsInProcess()),
      topic: () => p50Of(load, parley.port, pairsByTopic.take(marksARound).map(byTopic)),
      ids: () => p50Of(load, parley.port, pairsByIds.take(marksARound).map(byIds)),
      commit: () => sqlite.call<number>('commitOneRow', lab.size(500, 20)),
    });
    const what = `mark ${formatNumber(messagesPerTopic)} messages of one of 20 interleaved topics read`;
    const figure = (how: string, took: readonly number[], goal: Goal | null): Figure => ({
      label: `${what}, ${how} ÷ one-row durable commit`,
      ...ratioOf(took, rounds.commit, ' ms'),
      goal,
    });
    return [
      figure('by topic, in process', rounds.inProcess, { atMost: 4.5 }),
      figure('by topic, over HTTP', rounds.topic, null),
      figure('by ids, over HTTP', rounds.ids, null),
    ];
  },
};

/** Every combination of reader and topic once: all readers of one topic, then the next topic. */
class Pairs<Reader> {
  private taken = 0;

  constructor(
    private readonly readers: readonly Reader[],
    private readonly topics: readonly string[],
  ) {}

  /** @throws Error if everything is read */
  take(count: number): readonly (readonly [Reader, string])[] {
    return Array.from({ length: count }, () => {
      const reader = this.readers[this.taken % this.readers.length]!;
      const topic = this.topics[Math.floor(this.taken++ / this.readers.length)];
      if (topic === undefined) throw new Error('There is nothing unread left');
      return [reader, topic];
    });
  }
}

async function p50Of(load: HttpLoad, port: number, requests: readonly string[]): Promise<number> {
  return (await load.run({ port, requests, inFlight: 1, until: { answers: requests.length } })).p50Ms;
}

async function listIds(
  reader: ApiUser,
  topics: readonly string[],
  path: (topic: string) => string,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const ids = new Map<string, readonly number[]>();
  for (const topic of topics) {
    const { messages } = (await reader.get(path(topic))) as { messages: readonly { readonly id: number }[] };
    ids.set(
      topic,
      messages.map(({ id }) => id),
    );
  }
  return ids;
}
