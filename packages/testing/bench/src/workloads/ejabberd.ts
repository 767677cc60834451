import type { ConversationResult, OpenChat } from '../children/chat-client.js';
import { CONTENT, type ParleyPerson } from '../children/chat-sessions.js';
import { ApiUser, inTurns } from '../harness/api.js';
import { median } from '../harness/interleave.js';
import { formatNumber } from '../harness/table.js';
import { waitingRequest } from '../harness/waiting-clients.js';
import type { Lab, WorldBuilder } from '../lab.js';
import type { Figure, Workload } from '../workload.js';
import { World } from '../worlds/world.js';
import type { Team } from '../worlds/worlds.js';

const IN_FLIGHT = 4;
const CROWD = 100;
/** Messages to the crowd per round. */
const FIRES = 20;
const ROUNDS = 3;

/** A hundred people in one channel. */
const hundred: WorldBuilder<Team> = async function hundred(database) {
  const world = await World.found(database);
  const people = await world.addPeople(CROWD);
  const channelId = await world.addChannel('general', people);
  await world.close();
  return { realmId: world.realmId, people, channelId };
};

type Kind = 'polls' | 'streams' | 'ejabberd';

/** One round of a server. */
interface Round extends ConversationResult {
  /** Milliseconds of CPU per message of the conversation. */
  readonly cpuMs: number;
  /** Milliseconds until the last of one hundred clients has a message. */
  readonly lastMs: number;
}

/**
 * Chat compared with ejabberd, an XMPP server, at the same durability: both sync a message to disk before they acknowledge
 * or deliver it. Each text has a new word, and one person waits for it. XMPP delivers messages to their senders, too.
 */
export const ejabberd: Workload = {
  name: 'ejabberd',
  isOnRequest: true,
  async run(lab) {
    const contenders: Readonly<Record<Kind, () => Promise<Round>>> = {
      polls: await onParley(lab, false),
      streams: await onParley(lab, true),
      ejabberd: await onEjabberd(lab),
    };
    const rounds: Record<Kind, Round[]> = { polls: [], streams: [], ejabberd: [] };
    for (let n = 0; n <= lab.size(ROUNDS, 1); n++) {
      for (const [kind, measure] of Object.entries(contenders)) {
        const round = await measure();
        // The first one warms caches and compilers.
        if (n > 0) rounds[kind as Kind].push(round);
      }
    }
    const figure = (label: string, key: keyof Round, kind: Kind, goal: Figure['goal'] = null): Figure => {
      const [ours, theirs] = [kind, 'ejabberd' as const].map((each) => median(rounds[each].map((round) => round[key])));
      return {
        label: `${label} ÷ ejabberd`,
        ours: formatNumber(ours!),
        limit: formatNumber(theirs!),
        value: ours! / theirs!,
        goal,
      };
    };
    return [
      figure('sends per second, 4 in flight', 'perSecond', 'polls', { atLeast: 1.5 }),
      figure('ms of CPU per send with a new word, 4 in flight', 'cpuMs', 'polls', { atMost: 0.3 }),
      figure('the same while a stream waits instead of a poll', 'cpuMs', 'streams'),
      figure('p50 of these sends, ms', 'sendP50Ms', 'polls'),
      figure('p50 of their delivery to a poll, ms', 'deliveryP50Ms', 'polls', { atMost: 1.2 }),
      figure('p50 of their delivery to a stream, ms', 'deliveryP50Ms', 'streams'),
      figure('last of 100 waiting polls receives a message, ms', 'lastMs', 'polls', { atMost: 1 }),
      figure('last of 100 streams receives a message, ms', 'lastMs', 'streams'),
    ];
  },
};

async function onParley(lab: Lab, isStreamed: boolean): Promise<() => Promise<Round>> {
  const { database, contents } = await lab.copyOf(hundred);
  const server = await lab.serve(database);
  const users = await ApiUser.signInAll(server, contents.people);
  const open = async (all: readonly ApiUser[], senders: number): Promise<OpenChat> => {
    const people = await inTurns(all, async (user): Promise<ParleyPerson> => {
      const send = user.sends(contents.channelId, CONTENT);
      const wait = all.indexOf(user) < senders ? null : await waitingRequest(user, isStreamed ? 'streams' : 'polls');
      return { send, wait, isStreamed };
    });
    return { protocol: 'parley', port: server.port, people };
  };
  return async () => measure(lab, server, await open(users.slice(0, IN_FLIGHT + 1), IN_FLIGHT), await open(users, 0));
}

async function onEjabberd(lab: Lab): Promise<() => Promise<Round>> {
  const server = await lab.ejabberd();
  const call = (room: string, count: number): OpenChat => ({
    protocol: 'xmpp',
    port: server.port,
    room: `${room}@conference.localhost`,
    names: Array.from({ length: count }, (_, n) => `person${n}`),
  });
  return () => measure(lab, server, call('few', IN_FLIGHT + 1), call('all', CROWD));
}

async function measure(
  lab: Lab,
  server: { usage(): Promise<{ readonly cpuMs: number }> },
  few: OpenChat,
  all: OpenChat,
): Promise<Round> {
  const conversation = lab.start('chat-client', { seat: 'client' });
  await conversation.call('open', few);
  const messages = lab.size(1000, 20);
  const before = await server.usage();
  const result = await conversation.call<ConversationResult>('converse', { inFlight: IN_FLIGHT, messages });
  const cpuMs = ((await server.usage()).cpuMs - before.cpuMs) / messages;
  await conversation.stop();
  const crowd = lab.start('chat-client', { seat: 'client' });
  await crowd.call('open', all);
  const times: number[] = [];
  for (let n = 0; n < lab.size(FIRES, 1); n++) times.push(await crowd.call<number>('fire'));
  await crowd.stop();
  return { ...result, cpuMs, lastMs: median(times) };
}
