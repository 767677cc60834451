import { isDeepStrictEqual } from 'node:util';
import { GrantSpecialPermission } from '@parley/domain/users';
import { SeededRandomness, TroubledBus } from '@parley/testkit';
import { fieldsOf } from './expectations.js';
import { TestPushService } from './test-push-service.js';
import { dealtTo, type ServerSnapshot, type TestPerson, TestServer, type TestUser } from './test-server.js';
import { ALL_CAPABILITIES, type Capabilities, NO_CAPABILITIES, WireClient } from './wire-client.js';

/** `lonelyGuest` subscribes to no channel; `helper` is Hamlet's bot. */
export type WorldPerson = TestPerson | 'lonelyGuest' | 'helper';

/**
 * Users with tested clients, with all capabilities and with none. Hamlet subscribes to every channel, the owner and
 * Cordelia to none. Guests can access only users with whom they share a channel or a message.
 */
const OBSERVERS: readonly (readonly [name: string, WorldPerson, Capabilities])[] = [
  ['the owner outside', 'desdemona', ALL_CAPABILITIES],
  ['an administrator', 'iago', ALL_CAPABILITIES],
  ['a subscriber', 'hamlet', ALL_CAPABILITIES],
  ['a member', 'cordelia', ALL_CAPABILITIES],
  ['a limited guest', 'polonius', ALL_CAPABILITIES],
  ['a limited guest who follows nothing', 'lonelyGuest', ALL_CAPABILITIES],
  ['a subscriber without capabilities', 'hamlet', NO_CAPABILITIES],
  ['a limited guest without capabilities', 'polonius', NO_CAPABILITIES],
];

const CHANNELS = {
  town: { subscribers: ['hamlet', 'iago', 'polonius'], params: {} },
  garden: { subscribers: ['iago'], params: { is_default_stream: true } },
  closet: { subscribers: ['hamlet', 'iago'], params: { invite_only: true } },
  archive: {
    subscribers: ['hamlet', 'shiva'],
    params: { invite_only: true, history_public_to_subscribers: true },
  },
  museum: { subscribers: ['hamlet'], params: { is_web_public: true } },
} as const satisfies Record<string, { readonly subscribers: readonly WorldPerson[]; readonly params: object }>;

export type WorldChannel = keyof typeof CHANNELS;
export type WorldGroup = 'players' | 'troupe' | 'everyone' | 'members';

interface WorldContents {
  readonly people: Readonly<Record<WorldPerson, TestUser>>;
  readonly channels: Readonly<Record<WorldChannel, number>>;
  /** The players are a subgroup of the troupe. */
  readonly groups: Readonly<Record<WorldGroup, number>>;
  /** Message ids in `town`, oldest first. */
  readonly messages: readonly number[];
}

/** Created once per test file. */
let initialWorld: Promise<WorldContents & { readonly snapshot: ServerSnapshot }> | undefined;

async function makeWorld() {
  const server = await TestServer.start();
  const contents = await fill(server);
  return { ...contents, snapshot: await server.closeAsSnapshot() };
}

async function fill(server: TestServer): Promise<WorldContents> {
  const { storage, realmId } = server;
  await storage.uow.write(realmId, async (tx) => {
    const realm = await tx.realms.get(realmId);
    const { members } = await tx.groups.systemGroupIds(realmId);
    await tx.realms.update({
      ...realm,
      settings: { ...realm.settings, enableSpectatorAccess: true },
      permissions: { ...realm.permissions, canAccessAllUsers: members },
    });
  });
  const { email } = server.people.desdemona;
  await server.parley.useCase(GrantSpecialPermission).execute({ realmId, email, permission: 'canCreateUsers' });
  const lonelyGuest = await server.addUser({
    email: 'lonely-guest@zulip.com',
    fullName: 'Lonely guest',
    role: 'guest',
  });
  const helper = await server.addBot(server.people.hamlet, 'helper');
  const people = { ...server.people, lonelyGuest, helper };
  const channels = {} as Record<WorldChannel, number>;
  for (const [name, { subscribers, params }] of Object.entries(CHANNELS)) {
    const users = subscribers.map((person) => people[person]);
    channels[name as WorldChannel] = await server.createChannel(name, users, params);
  }
  const { iago, hamlet, polonius } = people;
  const group = async (name: WorldGroup, members: readonly TestUser[], subgroups: readonly number[]) => {
    const made = { name, description: '', members: members.map(({ id }) => id), subgroups };
    return fieldsOf(await server.post('/user_groups/create', people.desdemona, made)).group_id as number;
  };
  const players = await group('players', [hamlet, people.cordelia], []);
  const { everyone, members } = await server.systemGroups();
  const groups = { everyone, members, players, troupe: await group('troupe', [], [players]) };
  const messages = [
    await server.sendMessage(iago, channels.town, { topic: 'news', content: 'first' }),
    await server.sendMessage(iago, channels.town, { topic: 'news', content: 'for @**King Hamlet**' }),
    await server.sendMessage(iago, channels.town, { topic: '', content: 'without a topic' }),
    await server.sendMessage(iago, [hamlet, polonius], { content: 'psst' }),
  ];
  const starred = { messages: messages.slice(0, 1), op: 'add', flag: 'starred' };
  fieldsOf(await server.post('/messages/flags', hamlet, starred));
  fieldsOf(await server.post('/messages/flags', polonius, { ...starred, flag: 'read' }));
  return { people, channels, groups, messages };
}

/** Register responses of the observers in an unchanged world, which differ only in the server's port. */
const initialResponses = new Map<string, string>();
const SERVER_URL = '<server>';

/** Organization with users, channels and messages, some of them read or starred. */
export class WireWorld implements WorldContents {
  private readonly commits: number;

  private constructor(
    readonly server: TestServer,
    /** Push service in the server's configuration. */
    readonly pushService: TestPushService,
    readonly people: Readonly<Record<WorldPerson, TestUser>>,
    readonly channels: Readonly<Record<WorldChannel, number>>,
    readonly groups: Readonly<Record<WorldGroup, number>>,
    readonly messages: number[],
    /** The last server was started first. */
    readonly servers: readonly TestServer[],
  ) {
    this.commits = server.storage.commits;
  }

  /** With several servers, each request goes to one of them by seed, and their bus is unreliable. */
  static async open({ servers = 1, dealingSeed = 1 } = {}): Promise<WireWorld> {
    initialWorld ??= makeWorld();
    const { snapshot, people, channels, groups, messages } = await initialWorld;
    const pushService = await TestPushService.start();
    const buses = new TroubledBus(dealingSeed);
    const first = await TestServer.start({
      ...{ push: pushService.account, webPush: 'mailto:ops@example.com', snapshot, buses },
    });
    const all = [first];
    while (all.length < servers) all.unshift(await first.startAnother());
    const randomness = new SeededRandomness(dealingSeed);
    const next = () => all[Math.floor(randomness.fraction() * all.length)]!;
    const server = all.length === 1 ? first : dealtTo(first, next);
    return new WireWorld(server, pushService, people, channels, groups, [...messages], all);
  }

  /** Lets each server read the commits of the others. */
  async catchUp(): Promise<void> {
    for (const server of this.servers) await server.catchUp();
  }

  /** Puts all queues to sleep, so that they read the log at the next poll. */
  sleepQueues(): void {
    for (const server of this.servers) server.sleepQueues();
  }

  async observe(): Promise<ReadonlyMap<string, WireClient>> {
    const isUnchanged = this.server.storage.commits === this.commits;
    const clients = new Map<string, WireClient>();
    for (const [name, person, capabilities] of OBSERVERS) {
      const initial = isUnchanged ? initialResponses.get(name)?.replaceAll(SERVER_URL, this.server.url) : undefined;
      const client = await WireClient.open(
        this.server,
        this.people[person],
        capabilities,
        initial && JSON.parse(initial),
      );
      if (isUnchanged && !initial) {
        initialResponses.set(name, JSON.stringify(client.response).replaceAll(this.server.url, SERVER_URL));
      }
      clients.set(name, client);
    }
    return clients;
  }

  async close(): Promise<void> {
    this.pushService.release();
    for (const server of this.servers) await server.close();
    await this.pushService.close();
  }
}

/** Expects each client's state to equal a fresh register response, for all fields or selected ones. */
export async function expectInStep(
  clients: ReadonlyMap<string, WireClient>,
  isEqual: (field: string) => boolean = () => true,
): Promise<void> {
  for (const [name, client] of clients) {
    await client.catchUp();
    const held = ofFields(client.state, isEqual);
    const fresh = ofFields(await client.fresh(), isEqual);
    // Much faster than Jest's comparison, which is needed only to report differences.
    if (isDeepStrictEqual(held, fresh)) continue;
    try {
      expect(held).toEqual(fresh);
    } catch (difference) {
      throw new Error(`The client of ${name} is out of step: ${(difference as Error).message}`);
    }
  }
}

const ofFields = (state: object, isWanted: (field: string) => boolean): object =>
  Object.fromEntries(Object.entries(state).filter(([field]) => isWanted(field)));
