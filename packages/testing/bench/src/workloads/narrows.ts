import type { ChannelId } from '@parley/domain/kernel';
import { ApiUser } from '../harness/api.js';
import { interleave } from '../harness/interleave.js';
import { formatNumber, ratioOf } from '../harness/table.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { type Archive, largeArchive, smallArchive } from '../worlds/worlds.js';

/** Latency of narrow pages and searches with one reader at a time. */
export const narrows: Workload = {
  name: 'narrows',
  async run(lab) {
    const large = await readerOf(lab, largeArchive);
    const small = await readerOf(lab, smallArchive);
    const load = lab.load();
    const answers = lab.size(300, 5);
    const p50 = (port: number, request: string) => async () =>
      (await load.run({ port, requests: [request], inFlight: 1, until: { answers } })).p50Ms;
    const figures: Figure[] = [];
    const compare = async (label: string, ours: () => Promise<number>, limit: () => Promise<number>, goal: number) => {
      const rounds = await interleave(lab.rounds, { ours, limit });
      figures.push({
        label,
        ...ratioOf(rounds.ours, rounds.limit, ' ms'),
        goal: { atMost: goal },
      });
    };

    const sizes = `at ${formatNumber(large.messages)} messages ÷ at ${formatNumber(small.messages)}`;
    for (const [label, narrow] of Object.entries(NARROWS)) {
      const of = (reader: Reader) => p50(reader.port, reader.page(narrow(reader)));
      await compare(`page p50, newest 100 of ${label}, ${sizes}`, of(large), of(small), 1.3);
    }
    const at = `at ${formatNumber(large.messages)} messages`;
    for (const [label, { search, narrow, found }] of Object.entries(SEARCHES)) {
      const terms = narrow(large);
      await compare(
        `search p50, ${label}, ${at} ÷ the page without`,
        p50(large.port, large.page([...terms, ['search', search]])),
        p50(large.port, large.page(terms, found)),
        5,
      );
    }
    await compare(
      `matches_narrow of 100 messages, ${at} ÷ GET /messages/{id}`,
      p50(large.port, large.matches),
      p50(large.port, large.one),
      3,
    );
    return figures;
  },
};

type Narrow = readonly unknown[];

const inChannel = (channelId: ChannelId | undefined) => ({ operator: 'channel', operand: channelId });

const NARROWS: Readonly<Record<string, (reader: Reader) => Narrow>> = {
  everything: () => [],
  'direct messages': () => [['is', 'dm']],
  'starred messages': () => [['is', 'starred']],
  'unread messages': () => [['is', 'unread']],
  mentions: () => [['is', 'mentioned']],
  links: () => [['has', 'link']],
  'a sender': ({ sender }) => [['sender', sender]],
  'a topic': ({ channelIds }) => [inChannel(channelIds[0]), ['topic', 'topic 8']],
};

interface Search {
  readonly search: string;
  readonly narrow: (reader: Reader) => Narrow;
  /** Maximum number of messages to find. */
  readonly found: number;
}

const SEARCHES: Readonly<Record<string, Search>> = {
  'a word of one message': { search: '31415', narrow: () => [], found: 1 },
  'a word of every message': { search: 'lunch', narrow: () => [], found: 100 },
  'a word of every 40th message in a channel with every hundredth': {
    search: '17',
    narrow: ({ channelIds }) => [inChannel(channelIds[5])],
    found: 100,
  },
  'two words, one of every message and one of every 40th': { search: 'lunch 17', narrow: () => [], found: 100 },
};

interface Reader {
  readonly port: number;
  readonly messages: number;
  readonly channelIds: readonly ChannelId[];
  readonly sender: string;
  readonly page: (narrow: Narrow, count?: number) => string;
  readonly matches: string;
  readonly one: string;
}

async function readerOf(lab: Lab, build: WorldBuilder<Archive>): Promise<Reader> {
  const { database, contents } = await lab.copyOf(build);
  const { channelIds, messages, newcomer, reader } = contents;
  const parley = await lab.serve(database);
  const user = await ApiUser.signIn(parley, newcomer.email);
  const get = (path: string, params: Readonly<Record<string, string>> = {}) =>
    user.text({ method: 'GET', path: `/api/v1${path}?${new URLSearchParams(params)}` });
  const newest = Array.from({ length: 100 }, (_, n) => messages - n);
  return {
    port: parley.port,
    messages,
    channelIds,
    sender: reader.email,
    page: (narrow, count = 100) =>
      get('/messages', { anchor: 'newest', num_before: String(count), num_after: '0', narrow: JSON.stringify(narrow) }),
    matches: get('/messages/matches_narrow', {
      msg_ids: JSON.stringify(newest),
      narrow: JSON.stringify([['search', 'lunch 17']]),
    }),
    one: get(`/messages/${messages}`),
  };
}
