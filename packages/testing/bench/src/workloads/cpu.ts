import { RARE_WORDS, randomWords, rareWordsText } from '@parley/testkit';
import { ApiUser } from '../harness/api.js';
import { interleave, median } from '../harness/interleave.js';
import type { ParleyServer } from '../harness/parley-server.js';
import { requestText } from '../harness/requests.js';
import { formatNumber } from '../harness/table.js';
import { bareClients, clientsOf, type WaitingClients } from '../harness/waiting-clients.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { contentOf } from '../worlds/history.js';
import { SENTENCES, withNewWords } from '../worlds/sentences.js';
import { type LargeOrganization, largeOrganization, smallArchive, team } from '../worlds/worlds.js';
import { growthOfOrders, growthOfRegistrations, growthOfStaffRegistrations } from './orders.js';
import { pagePath, searchPath } from './pages.js';
import { REGISTRATION } from './register.js';

/** Runs a number of requests once and returns the CPU time per request, in microseconds. */
type Contender = () => Promise<number>;

/** One line: a kind of request, and the yardstick for its CPU time. */
interface Contest {
  readonly label: string;
  /** Figure on the last commit that changed it on purpose. Raising it needs a reason in docs/performance.md. */
  readonly record: number;
  readonly goal: number | null;
  readonly world: WorldBuilder<unknown>;
  readonly database: string;
  readonly prepare: (server: ParleyServer) => Promise<Contender>;
  readonly yardstick: Contender;
}

/** Rounds of a measurement. */
const ROUNDS = 3;
/** Factor between a record and the figure that fails. */
const TOLERANCE = 1.15;
/** Maximum number of measurements of a figure above the tolerance; the smallest counts. */
const MEASUREMENTS = 3;

/**
 * Guard of the CPU time of all server threads per request, divided by that of a yardstick in the same run. Figures above
 * the tolerance are measured again before they fail.
 */
export const cpu: Workload = {
  name: 'cpu',
  async run(lab) {
    const lines = [
      send,
      ...SENDS.map(sendsOfTeam),
      sendOfRareWords,
      page,
      delivery,
      streamed,
      pollRequest,
      register,
      smallGet,
    ];
    const figures: Figure[] = [];
    const growths = [growthOfOrders, growthOfRegistrations, growthOfStaffRegistrations];
    for (const run of [...lines.map((begin) => () => measure(lab, begin)), ...growths.map((grow) => () => grow(lab))]) {
      let best = await run();
      for (let more = MEASUREMENTS - 1; best.failure !== undefined && more > 0; more--) {
        const again = await run();
        if (again.value < best.value) best = again;
      }
      figures.push(best);
    }
    return figures;
  },
};

async function measure(lab: Lab, begin: (lab: Lab) => Promise<Contest>): Promise<Figure> {
  const { label, record, goal, world, database, prepare, yardstick } = await begin(lab);
  const ours = await prepare(await lab.serve(database));
  const other = await lab.serveOtherBuild(world);
  const theirs = other && (await prepare(other));
  const rounds = await interleave(lab.size(ROUNDS, 1), { ours, yardstick, theirs: theirs ?? (async () => 0) });
  await lab.stopAll();
  const [present, limit] = [median(rounds.ours), median(rounds.yardstick)];
  const value = present / limit;
  const failure = `${label}: ${formatNumber(value)} is more than ${TOLERANCE} × the record, ${formatNumber(record)}`;
  return {
    label: `CPU of ${label} (record: ${formatNumber(record)})`,
    ours: `${formatNumber(present)} µs${theirs ? `; other build ${formatNumber(median(rounds.theirs))} µs` : ''}`,
    limit: `${formatNumber(limit)} µs`,
    value,
    goal: goal === null ? null : { atMost: goal },
    ...(!lab.isQuick && value > record * TOLERANCE && { failure }),
  };
}

async function send(lab: Lab): Promise<Contest> {
  const { database, contents } = await lab.copyOf(team);
  const form = { type: 'stream', to: String(contents.channelId), topic: 'beginning', content: contentOf(1) };
  const load = loadOf(lab, { inFlight: 64, answers: lab.size(3000, 50) });
  const express = lab.start('express-limit', { seat: 'server' });
  const port = await express.call<number>('listen');
  return {
    label: 'a send ÷ empty Express POST handler, same body',
    record: 3.6,
    goal: 0.85,
    world: team,
    database,
    prepare: async (server) => {
      const authors = await ApiUser.signInAll(server, contents.people);
      const requests = authors.map((author) => author.text({ method: 'POST', path: '/api/v1/messages', form }));
      return () => load(server, server.port, requests);
    },
    yardstick: () => load(express, port, [requestText({ method: 'POST', path: '/api/v1/messages', form })]),
  };
}

/** Messages of a team, and others to compare with. */
interface Sends {
  /** Content of the nth message. */
  readonly textOf: (n: number) => string;
  readonly inFlight: number;
}

const ORDINARY: Sends = { textOf: (n) => SENTENCES[n % SENTENCES.length]!, inFlight: 64 };
const ONE_SENTENCE: Sends = { textOf: () => contentOf(1), inFlight: 64 };

const SENDS: readonly (Pick<Contest, 'label' | 'record' | 'goal'> & {
  readonly measured: Sends;
  readonly to: Sends;
})[] = [
  {
    label: 'a send with one in flight ÷ with 64',
    record: 3.4,
    goal: 1.8,
    measured: { ...ORDINARY, inFlight: 1 },
    to: ORDINARY,
  },
  {
    label: 'a send with four in flight ÷ with 64',
    record: 1.7,
    goal: 1.4,
    measured: { ...ORDINARY, inFlight: 4 },
    to: ORDINARY,
  },
  {
    label: 'a send of sentences of a team ÷ of one sentence',
    record: 1.5,
    goal: 1.05,
    measured: ORDINARY,
    to: ONE_SENTENCE,
  },
  {
    label: 'a send with ten new words ÷ of one sentence',
    record: 2,
    goal: 1.2,
    measured: { ...ORDINARY, textOf: (n) => withNewWords(contentOf(1), n, 10) },
    to: ONE_SENTENCE,
  },
];

const sendsOfTeam =
  ({ measured, to, ...line }: (typeof SENDS)[number]) =>
  async (lab: Lab): Promise<Contest> => {
    const { database, contents } = await lab.copyOf(team);
    let yardstick: Contender;
    return {
      ...line,
      world: team,
      database,
      prepare: async (server) => {
        const authors = await ApiUser.signInAll(server, contents.people);
        const sending = ({ textOf, inFlight }: Sends): Contender => {
          const answers = lab.size(inFlight < 64 ? 500 : 1500, 50);
          const load = loadOf(lab, { inFlight, answers });
          let sent = 0;
          return () => {
            const requests = Array.from({ length: answers }, () => {
              return authors[sent++ % authors.length]!.sends(contents.channelId, textOf(sent));
            });
            return load(server, server.port, requests, indexed(authors[0]!));
          };
        };
        yardstick ??= sending(to);
        return sending(measured);
      },
      yardstick: () => yardstick(),
    };
  };

/** Messages of one length, whose words occur once or in many messages. */
async function sendOfRareWords(lab: Lab): Promise<Contest> {
  const { database, contents } = await lab.copyOf(team);
  const answers = lab.size(40, 5);
  const load = loadOf(lab, { inFlight: 4, answers });
  const vocabulary = randomWords(RARE_WORDS.Latin!.letters, 500);
  const ordinary = Array.from({ length: answers }, (_, n) =>
    Array.from({ length: 2000 }, (_, index) => vocabulary[(index * index + n) % 500])
      .join(' ')
      .slice(0, 10_000),
  );
  const rare = Array.from({ length: answers }, (_, n) => rareWordsText(RARE_WORDS.Turkish!, n + 1));
  let frequent: Contender;
  return {
    label: 'a send of 10 000 characters in rare words of three languages ÷ in frequent words',
    record: 7.5,
    goal: 10,
    world: team,
    database,
    prepare: async (server) => {
      const author = await ApiUser.signIn(server, contents.people[0]!.email);
      const sending = (texts: readonly string[]): Contender => {
        const requests = texts.map((content) => {
          return author.sends(contents.channelId, content);
        });
        return () => load(server, server.port, requests, indexed(author));
      };
      frequent ??= sending(ordinary);
      return sending(rare);
    },
    yardstick: () => frequent(),
  };
}

async function page(lab: Lab): Promise<Contest> {
  const { database, contents } = await lab.copyOf(smallArchive);
  const path = pagePath(contents.channelIds[0]!, 'newest');
  const get = await getting(lab, { path, reader: contents.reader.email, database, answers: lab.size(1500, 50) });
  return {
    label: 'a page of 100 messages ÷ Express send of the same bytes',
    record: 5,
    goal: 1.2,
    world: smallArchive,
    ...get,
  };
}

async function smallGet(lab: Lab): Promise<Contest> {
  const { database, contents } = await lab.copyOf(team);
  const reader = contents.people[0]!.email;
  const get = await getting(lab, { path: '/api/v1/users/me', reader, database, answers: lab.size(3000, 50) });
  return { label: 'GET /users/me ÷ Express send of the same bytes', record: 4.5, goal: null, world: team, ...get };
}

/** A response of ours and the same bytes by Express. */
async function getting(
  lab: Lab,
  given: { readonly path: string; readonly reader: string; readonly database: string; readonly answers: number },
): Promise<Pick<Contest, 'database' | 'prepare' | 'yardstick'>> {
  const { path, database, answers } = given;
  const load = loadOf(lab, { inFlight: 32, answers });
  const express = lab.start('express-limit', { seat: 'server' });
  const port = await express.call<number>('listen');
  return {
    database,
    prepare: async (server) => {
      const reader = await ApiUser.signIn(server, given.reader);
      await express.call('serve', await reader.bytesOf(path));
      return () => load(server, server.port, [reader.text({ method: 'GET', path })]);
    },
    yardstick: () => load(express, port, [requestText({ method: 'GET', path: '/api/v1/messages' })]),
  };
}

const delivery = (lab: Lab): Promise<Contest> =>
  waiting(lab, {
    label: 'a message delivered to one of 1 000 waiting polls ÷ bare node:http, same bytes',
    record: 2.9,
    goal: 1.1,
    kind: 'polls',
    measured: 'fire',
  });

const streamed = (lab: Lab): Promise<Contest> =>
  waiting(lab, {
    label: 'a message delivered to one of 1 000 streams ÷ the response to a poll by bare node:http',
    record: 1.15,
    goal: null,
    kind: 'streams',
    measured: 'fire',
  });

const pollRequest = (lab: Lab): Promise<Contest> =>
  waiting(lab, {
    label: 'a poll that begins to wait ÷ bare node:http',
    record: 12,
    goal: null,
    kind: 'polls',
    measured: 'park',
  });

const CYCLES = 5;

interface Waiting extends Pick<Contest, 'label' | 'record' | 'goal'> {
  readonly kind: 'polls' | 'streams';
  /** Measured half of a cycle: `park` sends all polls, `fire` one message that they wait for. */
  readonly measured: 'park' | 'fire';
}

async function waiting(lab: Lab, { kind, measured, ...line }: Waiting): Promise<Contest> {
  const { database, contents } = await lab.copyOf(largeOrganization);
  const people = contents.people.slice(0, lab.size(1000, 20));
  let bare: WaitingClients;
  const cyclesOf = async (clients: WaitingClients) => {
    let total = 0;
    for (let n = 0; n < CYCLES; n++) {
      const park = await cpuPer(clients.server, clients.count, () => clients.park());
      const fire = await cpuPer(clients.server, clients.count, () => clients.fire());
      total += measured === 'park' ? park : fire;
    }
    return total / CYCLES;
  };
  return {
    ...line,
    world: largeOrganization,
    database,
    prepare: async (server) => {
      const clients = await clientsOf(lab, server, { ...contents, people }, kind);
      await clients.park();
      await clients.fire();
      bare ??= await bareClients(lab, clients.count, await pollAnswer(lab, server, contents));
      return () => cyclesOf(clients);
    },
    yardstick: () => cyclesOf(bare),
  };
}

/** Response to a poll that gets one message. */
async function pollAnswer(lab: Lab, server: ParleyServer, { people, everybody }: LargeOrganization) {
  const one = await clientsOf(lab, server, { people: people.slice(-1), everybody });
  await one.park();
  await one.fire();
  return one.sample();
}

async function register(lab: Lab): Promise<Contest> {
  const { database, contents } = await lab.copyOf(largeOrganization);
  const stringify = lab.start('stringify', { seat: 'server' });
  const answers = lab.size(20, 2);
  const load = loadOf(lab, { inFlight: 1, answers });
  return {
    label: 'register among 10 000 users ÷ JSON.stringify of the same object',
    record: 2,
    goal: 1.6,
    world: largeOrganization,
    database,
    prepare: async (server) => {
      const newcomer = await ApiUser.signIn(server, contents.people[5]!.email);
      await stringify.call('load', JSON.stringify(await newcomer.post('/api/v1/register', REGISTRATION)));
      const requests = [newcomer.text({ method: 'POST', path: '/api/v1/register', form: REGISTRATION })];
      return () => load(server, server.port, requests);
    },
    yardstick: () => cpuPer(stringify, answers, () => stringify.call('stringify', answers)),
  };
}

function loadOf(lab: Lab, { inFlight, answers }: { readonly inFlight: number; readonly answers: number }) {
  const load = lab.load();
  return (server: Measured, port: number, requests: readonly string[], after?: () => Promise<unknown>) =>
    cpuPer(server, answers, async () => {
      await load.run({ port, requests, inFlight, until: { answers } });
      await after?.();
    });
}

/** Waits until all messages are in the search index, so that their sends pay for it and not the next contender. */
const indexed = (reader: ApiUser) => () => reader.get(searchPath('afterwards'));

/** Process that reports its CPU time. */
interface Measured {
  usage(): Promise<{ readonly cpuMs: number }>;
}

/** CPU time per request, in microseconds. */
async function cpuPer(server: Measured, requests: number, run: () => Promise<unknown>): Promise<number> {
  const before = await server.usage();
  await run();
  const after = await server.usage();
  return ((after.cpuMs - before.cpuMs) * 1000) / requests;
}
