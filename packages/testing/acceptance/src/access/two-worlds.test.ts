import type { PersonRef, TokenToCreate } from '@parley/server';
import { fieldsOf } from '../testing/expectations.js';
import { TestServer, type TestUser } from '../testing/test-server.js';

/** Number of pairs of organizations; more in `npm run endurance`. */
const PAIRS = process.env.HOSTILE_LOAD === 'long' ? 1000 : 15;

/** Headers with times, counts of all requests, and lengths that depend on the port. */
const VARYING = ['date', 'expires', 'x-request-id', 'content-length'];

const NAMES = ['shiva', 'hamlet', 'cordelia', 'polonius'] as const;
type Name = (typeof NAMES)[number] | 'desdemona' | 'bot';
const PRIVACIES = ['webPublic', 'public', 'public', 'shared', 'shared', 'protected'] as const;

interface PlannedChannel {
  readonly privacy: (typeof PRIVACIES)[number];
  /** Desdemona writes everywhere. */
  readonly subscribers: readonly Name[];
}

interface Plan {
  readonly channels: readonly PlannedChannel[];
  /** Index of a channel, or the other participants of a direct conversation. */
  readonly destination: number | readonly Name[];
  readonly isLimited: boolean;
  /** Channels of the messages; -1 is a direct conversation without the bot. */
  readonly messages: readonly number[];
}

type Random = (below: number) => number;

/** Linear congruential generator. */
function randomFrom(seed: number): Random {
  let state = seed + 1;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

function planFrom(random: Random): Plan {
  const some = (chance: number) => NAMES.filter(() => random(10) < chance);
  const channels = Array.from({ length: 5 }, (): PlannedChannel => {
    const privacy = PRIVACIES[random(PRIVACIES.length)]!;
    const bot: readonly Name[] = random(10) < 8 ? ['bot'] : [];
    return { privacy, subscribers: ['desdemona', ...some(random(2) === 0 ? 5 : 8), ...bot] };
  });
  const direct: readonly (readonly Name[])[] = [['hamlet'], ['polonius'], ['hamlet', 'polonius']];
  return {
    channels,
    destination: random(4) === 0 ? direct[random(direct.length)]! : random(channels.length),
    isLimited: random(3) === 0,
    messages: Array.from({ length: 9 }, () => random(channels.length + 1) - 1),
  };
}

const isReadBy = (name: Name, { privacy, subscribers }: PlannedChannel): boolean =>
  privacy === 'webPublic' || subscribers.includes(name) || (privacy === 'public' && name !== 'polonius');

/** Returns the readers of the destination; null if they include anonymous callers. */
function readersOf({ channels, destination }: Plan): readonly Name[] | null {
  if (typeof destination === 'object') return destination;
  const channel = channels[destination]!;
  if (channel.privacy === 'webPublic') return null;
  return (['desdemona', ...NAMES] as const).filter((name) => isReadBy(name, channel));
}

/** True if somebody in the audience, or the bot, cannot read everything in the channel. */
function isHidden(plan: Plan, channel: PlannedChannel): boolean {
  const readers = readersOf(plan);
  if (channel.privacy === 'protected' || !isReadBy('bot', channel)) return true;
  return readers === null ? channel.privacy !== 'webPublic' : readers.some((name) => !isReadBy(name, channel));
}

/** One of two organizations with equal ids. */
class World {
  people!: Record<Name, TestUser>;
  readonly channelIds: number[] = [];
  readonly messageIds: number[] = [];
  private organization!: TestServer;
  private token!: string;
  private number = 0;
  /** Context of the last read. */
  private context = 'new';
  /** Random names of contexts, in the order of their appearance. */
  private contexts: unknown[] = [];

  constructor(
    private readonly server: TestServer,
    readonly side: 'left' | 'right',
  ) {}

  async build(plan: Plan): Promise<void> {
    this.number++;
    this.organization = await this.server.withNewOrganization();
    const { people } = this.organization;
    this.people = { ...people, bot: await this.organization.addBot(people.desdemona, 'helper') };
    await this.organization.changeRealm({ settings: { enableSpectatorAccess: true } });
    if (plan.isLimited) await this.organization.limitGuests();
    // Guests may not see the stranger, who shares no conversation with them.
    const fullName = plan.isLimited && !this.isSeen(plan) ? `Stranger of the ${this.side}` : 'Stranger';
    const email = `${fullName.replaceAll(' ', '-').toLowerCase()}@zulip.com`;
    const stranger = await this.organization.addUser({ email, fullName });
    this.channelIds.length = 0;
    this.messageIds.length = 0;
    this.contexts = [];
    this.context = 'new';
    for (const [index, channel] of plan.channels.entries()) await this.addChannel(plan, channel, index);
    for (const [number, index] of plan.messages.entries()) await this.addMessage(plan, number, index, stranger);
    const { destination } = plan;
    const refs: readonly PersonRef[] =
      typeof destination === 'object' ? destination.map((name) => this.people[name].id) : [];
    const conversation: TokenToCreate['conversations'][number] =
      typeof destination === 'number' ? { channel: this.channelIds[destination]! } : { to: refs };
    const user = { realm: `zulip${this.number}`, userId: this.people.bot.id };
    const terms = { user, conversations: [conversation], actions: ['read', 'write'], readers: 'all' } as const;
    this.token = (await this.server.parley.tokens.create(terms)).token;
  }

  /** True if every reader sees all people. */
  private isSeen(plan: Plan): boolean {
    const readers = readersOf(plan);
    return readers !== null && !readers.includes('polonius');
  }

  private async addChannel(plan: Plan, channel: PlannedChannel, index: number): Promise<void> {
    const { privacy, subscribers } = channel;
    const hidden = isHidden(plan, channel);
    const params = {
      description: hidden ? `description of the ${this.side}` : 'shared',
      invite_only: privacy === 'shared' || privacy === 'protected',
      is_web_public: privacy === 'webPublic',
      history_public_to_subscribers: privacy !== 'protected',
    };
    const name = hidden ? `${this.side} ${index}` : `shared ${index}`;
    const members = subscribers.map((one) => this.people[one]);
    this.channelIds.push(await this.organization.createChannel(name, members, params));
  }

  private async addMessage(plan: Plan, number: number, index: number, stranger: TestUser): Promise<void> {
    const { desdemona, cordelia, shiva } = this.people;
    const channel = plan.channels[index];
    const isSecret = !channel || isHidden(plan, channel);
    const content = isSecret
      ? `alpha ${this.side === 'left' ? 'secret' : '**other** words @**all**'}`
      : `alpha ${number}`;
    const topic = isSecret ? `${this.side} topic` : `topic ${number % 2}`;
    const isOpen = channel?.privacy === 'public' || channel?.privacy === 'webPublic';
    const from = isOpen && number % 3 === 0 ? stranger : desdemona;
    const to = channel ? this.channelIds[index]! : [shiva];
    const id = await this.organization.sendMessage(channel ? from : cordelia, to, { topic, content });
    this.messageIds.push(id);
    const change = (params: Readonly<Record<string, unknown>>) =>
      this.organization.patch(`/messages/${id}`, desdemona, params);
    if (isSecret && this.side === 'right' && number % 4 === 0)
      await this.organization.request('DELETE', `/messages/${id}`, { as: desdemona });
    // A message from a hidden topic, which its history names.
    const target = plan.channels.findIndex((one) => !isHidden(plan, one));
    if (channel && !isSecret && number % 2 === 0)
      await change({ topic: 'moved', send_notification_to_new_thread: false });
    if (channel && isSecret && target >= 0 && number % 3 === 1) {
      const shared = await this.organization.sendMessage(desdemona, to, { topic, content: 'alpha shared' });
      const place = { stream_id: this.channelIds[target], topic: 'arrived', propagate_mode: 'change_one' };
      const notices = { send_notification_to_old_thread: false, send_notification_to_new_thread: false };
      fieldsOf(await this.organization.patch(`/messages/${shared}`, desdemona, { ...place, ...notices }));
      this.messageIds.push(shared);
    }
  }

  private numberOf(context: unknown): number {
    if (!this.contexts.includes(context)) this.contexts.push(context);
    return this.contexts.indexOf(context);
  }

  /** Returns all that the agent receives for a request. */
  async ask(method: string, path: string, params: Readonly<Record<string, unknown>>) {
    const headers = {
      Authorization: `Bearer ${this.token}`,
      ...(method !== 'GET' && { 'X-Parley-Context': this.context }),
    };
    const reply = await this.organization.request(method, path, { params, headers });
    const { status, body } = reply;
    const { 'x-parley-context': given, ...shown } = reply.headers;
    if (given !== undefined) this.context = String(given);
    for (const name of VARYING) delete shown[name];
    return {
      path,
      params,
      status,
      context: this.numberOf(given),
      headers: JSON.stringify(shown).replaceAll(String(this.server.port), 'port'),
      text: JSON.stringify(body).replaceAll(String(this.server.port), 'port'),
    };
  }
}

/** Requests of the agent. Ids are equal in both worlds. */
function questionsOf(plan: Plan, { channelIds, messageIds, people }: World, random: Random) {
  const narrow = (...terms: readonly (readonly [string, unknown, boolean?])[]) => ({
    narrow: terms.map(([operator, operand, negated = false]) => ({ operator, operand, negated })),
  });
  const newest = { anchor: 'newest', num_before: 3 + random(20), num_after: 0 };
  const page = (params: object, range: object = newest) => ['GET', '/messages', { ...range, ...params }] as const;
  const channelId = channelIds[random(channelIds.length)]!;
  const messageId = messageIds[random(messageIds.length)]!;
  const { destination } = plan;
  const place =
    typeof destination === 'number'
      ? { type: 'stream', to: channelIds[destination], topic: 'answers' }
      : { type: 'direct', to: destination.map((name) => people[name].id) };
  const links = ['left 0', 'right 1', 'left 2', 'right 3', 'shared 4'].map(
    (name) => `#**${name}** #**${name}>left topic**`,
  );
  const content = `${links.join(' ')} @**Stranger of the left** @**Stranger of the right** @_**Polonius**`;
  return [
    page({}),
    page({}, { anchor: 'oldest', num_before: 0, num_after: 4 }),
    page({}, { anchor: 'first_unread', num_before: 2, num_after: 2 }),
    page({}, { anchor: messageId, num_before: 2, num_after: 2 }),
    page({ message_ids: messageIds }, {}),
    page(narrow(['search', 'alpha'])),
    page(narrow(['search', 'secret'])),
    page(narrow(['search', 'alpah'])),
    page(narrow(['channel', channelId])),
    page(narrow(['channel', channelId], ['topic', 'left topic'])),
    page(narrow(['topic', 'left topic', true], ['has', 'link'])),
    page(narrow(['channel', `left ${random(5)}`])),
    page(narrow(['sender', people.desdemona.id])),
    page(narrow(['dm', [people.hamlet.id]])),
    page(narrow(['is', 'unread'])),
    page(narrow(['id', messageId])),
    page(narrow(['near', String(messageId)], ['channels', 'public'])),
    ['GET', `/messages/${messageId}`, {}],
    ['GET', '/messages/matches_narrow', { msg_ids: messageIds, ...narrow(['search', 'alpha']) }],
    ['GET', `/users/me/${channelId}/topics`, {}],
    ['GET', '/streams', { include_all: true, exclude_archived: false }],
    ['POST', '/messages', { ...place, content }],
    page({}),
    ['PATCH', `/messages/${messageId}`, { content: 'changed' }],
    ['GET', `/messages/${messageId}/history`, {}],
    ['GET', '/users', {}],
    ['GET', '/users/me', {}],
    ['POST', '/messages', { type: 'stream', to: channelId, topic: 'elsewhere', content: 'x' }],
  ] as const;
}

describe('two worlds', () => {
  it('an agent receives the same from organizations that differ in what a reader cannot read', async () => {
    const worlds = [new World(await TestServer.start(), 'left'), new World(await TestServer.start(), 'right')] as const;
    const [left, right] = worlds;
    const seen = { hidden: 0, elsewhere: 0, sent: 0 };
    for (let pair = 0; pair < PAIRS; pair++) {
      const plan = planFrom(randomFrom(pair));
      for (const world of worlds) await world.build(plan);
      expect(right.messageIds).toEqual(left.messageIds);
      seen.hidden += plan.channels.filter((channel) => isHidden(plan, channel)).length;
      for (const [method, path, params] of questionsOf(plan, left, randomFrom(pair + 7))) {
        const [one, two] = [await left.ask(method, path, params), await right.ask(method, path, params)];
        expect({ pair, plan, ...two }).toEqual({ pair, plan, ...one });
        if (path === '/messages' && one.status === 200) {
          if (method === 'POST') seen.sent++;
          for (const { stream_id } of JSON.parse(one.text).messages ?? []) {
            if (stream_id !== undefined && stream_id !== left.channelIds[Number(plan.destination)]) seen.elsewhere++;
          }
        }
      }
    }
    expect(seen.hidden).toBeGreaterThan(PAIRS);
    expect(seen.elsewhere).toBeGreaterThan(PAIRS);
    expect(seen.sent).toBeGreaterThan(PAIRS / 3);
  }, 3_600_000);
});
