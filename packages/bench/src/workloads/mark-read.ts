import { ApiUser } from '../harness/api.js';
import type { HttpLoad } from '../harness/http-load.js';
import { interleave, median, medianRatio } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import type { Workload } from '../workload.js';
import { interleavedTopics } from '../worlds/worlds.js';
import { topicPath } from './pages.js';

/** Somebody who was away reads one of many conversations that went on at the same time. */
export const markRead: Workload = {
  name: 'mark-read',
  async run(lab) {
    const { database, contents } = await lab.copyOf(interleavedTopics);
    const { readers, channelId, topics, messagesPerTopic } = contents;
    const parley = await lab.serve(database);
    const users = await ApiUser.signInAll(
      parley,
      readers.map(({ email }) => email),
    );
    const idsOfTopic = await listIds(users[0]!, topics, (topic) => topicPath(channelId, topic, messagesPerTopic));
    const byTopic = (user: ApiUser, topic: string) =>
      user.text({
        method: 'POST',
        path: '/api/v1/mark_topic_as_read',
        form: { stream_id: String(channelId), topic_name: topic },
      });
    const byIds = (user: ApiUser, topic: string) =>
      user.text({
        method: 'POST',
        path: '/api/v1/messages/flags',
        form: { messages: JSON.stringify(idsOfTopic.get(topic)), op: 'add', flag: 'read' },
      });
    // Each request finds its thousand messages unread: half of the readers go one way, half the other.
    const half = readers.length / 2;
    const topicMarks = new Marks(users.slice(0, half), topics, byTopic);
    const idMarks = new Marks(users.slice(half), topics, byIds);

    const sqlite = lab.start('raw-sqlite', { seat: 'server' });
    await sqlite.call('makeOneRow', lab.newFile());
    const load = lab.load();
    const marksARound = lab.size(25, 3);
    const p50 = (marks: Marks) => async () => p50Of(load, parley.port, marks.take(marksARound));
    const rounds = await interleave(lab.rounds, {
      topic: p50(topicMarks),
      ids: p50(idMarks),
      commit: () => sqlite.call<number>('commitOneRow', lab.size(500, 20)),
    });
    const limit = `${formatNumber(median(rounds.commit))} ms`;
    const what = `mark ${formatNumber(messagesPerTopic)} messages of one of 20 interleaved topics read`;
    return [
      {
        label: `${what}, by topic ÷ one-row durable commit`,
        ours: `${formatNumber(median(rounds.topic))} ms`,
        limit,
        value: medianRatio(rounds.topic, rounds.commit),
        goal: { atMost: 3 },
      },
      {
        label: `${what}, by ids ÷ one-row durable commit`,
        ours: `${formatNumber(median(rounds.ids))} ms`,
        limit,
        value: medianRatio(rounds.ids, rounds.commit),
        goal: null,
      },
    ];
  },
};

/** Every pair of reader and topic once: first one topic of everybody's, then the next one. */
class Marks {
  private taken = 0;

  constructor(
    private readonly users: readonly ApiUser[],
    private readonly topics: readonly string[],
    private readonly request: (user: ApiUser, topic: string) => string,
  ) {}

  /** @throws Error when everything has been read. */
  take(count: number): readonly string[] {
    return Array.from({ length: count }, () => {
      const user = this.users[this.taken % this.users.length]!;
      const topic = this.topics[Math.floor(this.taken++ / this.users.length)];
      if (topic === undefined) throw new Error('There is nothing unread left');
      return this.request(user, topic);
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
