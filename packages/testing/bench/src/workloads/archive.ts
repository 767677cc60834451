import { ApiUser } from '../harness/api.js';
import { interleave } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Workload } from '../workload.js';
import { type Archive, largeArchive, smallArchive } from '../worlds/worlds.js';
import { pagePath } from './pages.js';

/** Page latency by archive size, with one reader at a time. */
export const archive: Workload = {
  name: 'archive',
  async run(lab) {
    const large = await readerOf(lab, largeArchive);
    const small = await readerOf(lab, smallArchive);
    const sizes = `${formatNumber(large.messages)} messages ÷ at ${formatNumber(small.messages)}`;
    const load = lab.load();
    const answers = lab.size(1000, 20);
    const p50 = (reader: Reader, requests: readonly string[]) => async () =>
      (await load.run({ port: reader.port, requests, inFlight: 1, until: { answers } })).p50Ms;

    const figures = [];
    for (const kind of ['newest', 'anywhere', 'scattered'] as const) {
      const rounds = await interleave(lab.rounds, {
        large: p50(large, large.requests[kind]),
        small: p50(small, small.requests[kind]),
      });
      figures.push({
        label: `history page p50, ${LABELS[kind]}, at ${sizes}`,
        ...ratioOf(rounds.large, rounds.small, ' ms'),
        goal: kind === 'newest' ? { atMost: 1.3 } : null,
      });
    }
    return figures;
  },
};

const LABELS = {
  newest: 'newest 100 of a channel',
  anywhere: 'any 100 of a large channel',
  scattered: 'newest 100 of any channel',
};

interface Reader {
  readonly port: number;
  readonly messages: number;
  readonly requests: Readonly<Record<keyof typeof LABELS, readonly string[]>>;
}

async function readerOf(lab: Lab, build: WorldBuilder<Archive>): Promise<Reader> {
  const { database, contents } = await lab.copyOf(build);
  const { channelIds, messages } = contents;
  const parley = await lab.serve(database);
  const user = await ApiUser.signIn(parley, contents.reader.email);
  const page = (path: string) => user.text({ method: 'GET', path });
  // Steps coprime to the number of messages, so that pages are not adjacent.
  const anchors = Array.from({ length: 997 }, (_, n) => 200 + ((n * 15_485_863) % (messages - 200)));
  return {
    port: parley.port,
    messages,
    requests: {
      newest: [page(pagePath(channelIds[0]!, 'newest'))],
      anywhere: anchors.map((anchor) => page(pagePath(channelIds[0]!, anchor))),
      scattered: channelIds.map((id) => page(pagePath(id, 'newest'))),
    },
  };
}
