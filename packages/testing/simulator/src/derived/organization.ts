import { isDeepStrictEqual } from 'node:util';
import type { Role } from '@parley/domain/access';
import type { RealmId, UserId } from '@parley/domain/kernel';
import { CreateRealm } from '@parley/domain/log-in';
import { RegisterUser } from '@parley/domain/membership';
import { GrantSpecialPermission, SPECIAL_PERMISSIONS } from '@parley/domain/users';
import type { ComposedParley } from '@parley/server/testing';
import { ALL_CAPABILITIES, type Capabilities, SyncedState, withoutOne } from '@parley/testkit/synced-state';
import type { Company } from '../company.js';
import { accountOf } from '../engine.js';
import { Violation } from '../violation.js';
import { PASSWORD } from './draw.js';
import { SeenValues } from './seen-values.js';

// biome-ignore lint/suspicious/noExplicitAny: wire data
type Wire = any;

/** Somebody who calls, possibly a bot. */
export interface Person {
  readonly id: UserId;
  readonly name: string;
  /** Bots have the rights of their owners. */
  readonly role: Role | 'bot' | 'webhook';
  email: string;
  authorization: string;
  /** Values that this person has seen. */
  readonly values: SeenValues;
  /** Cookies of the person's browser. */
  readonly cookies: Map<string, string>;
  client: Client | null;
}

/** Client with the state of a registration and all events since. */
interface Client {
  readonly capabilities: Capabilities;
  readonly queueId: string;
  lastEventId: number;
  readonly synced: SyncedState;
}

/** Request for the sake of a check. */
type Request = (person: Person, method: string, path: string, params: object) => Promise<Wire>;

const ROLES: readonly Role[] = ['owner', 'owner', 'administrator', 'moderator', 'member', 'member', 'guest'];
/** People with clients. */
const CLIENTS = [0, 3, 4, 6];
const IDLE_SECONDS = 7 * 86_400;
/** Field of register that changes with each start of the server, without an event. */
const START_OF_SERVER = 'server_generation';

/** Organization apart from the company, of which nothing is modelled. */
export class Organization {
  private constructor(
    readonly host: string,
    readonly realmId: RealmId,
    readonly people: Person[],
    readonly scimToken: string,
  ) {}

  /** Creates an organization with somebody of each role. Undefined if the process ends before. */
  static async open({ engine }: Company, stringId: string): Promise<Organization | undefined> {
    return engine.administer(async (parley) => {
      const { id: realmId } = await parley.useCase(CreateRealm).execute({ stringId, name: 'Derived' });
      const people: Person[] = [];
      for (const [index, role] of ROLES.entries()) {
        const newcomer = { email: `d${index}@derived.test`, fullName: `Derived ${index}`, role, password: PASSWORD };
        const { id, email, fullName } = await parley.useCase(RegisterUser).execute({ realmId, ...newcomer });
        people.push(await personOf(parley, realmId, id, email, fullName, role));
      }
      const [{ email }] = people as [Person];
      for (const permission of SPECIAL_PERMISSIONS)
        await parley.useCase(GrantSpecialPermission).execute({ realmId, email, permission });
      const scimToken = await parley.scimTokens.create({ realm: stringId, name: 'directory' });
      return new Organization(`${stringId}.localhost`, realmId, people, scimToken);
    });
  }

  /** Knows a bot, which calls from now on. */
  async addBot({ engine }: Company, id: UserId): Promise<void> {
    const bot = await engine.administer(async (parley) => {
      const { realmId } = this;
      const user = await parley.ports.unitOfWork.read(realmId, ({ users }) => users.find(realmId, id));
      return (
        user &&
        personOf(
          parley,
          realmId,
          id,
          user.email,
          user.fullName,
          user.bot?.kind === 'incomingWebhook' ? 'webhook' : 'bot',
        )
      );
    });
    if (bot) this.people.push(bot);
  }

  /** Reads addresses and keys, which calls change. Returns the people whose role or account has changed. */
  async refresh({ engine }: Company): Promise<readonly { readonly person: Person; readonly isActive: boolean }[]> {
    const { realmId, people } = this;
    const changed = await engine.administer(async ({ ports, ...parley }) => {
      const found: { person: Person; isActive: boolean }[] = [];
      for (const person of [...people]) {
        const user = await ports.unitOfWork.read(realmId, ({ users }) => users.find(realmId, person.id));
        const isBot = person.role === 'bot' || person.role === 'webhook';
        const isGone = !user || user.isDeleted || (isBot && !user.isActive);
        if (isGone) people.splice(people.indexOf(person), 1);
        if (isGone) continue;
        person.email = user.email;
        const account = await accountOf({ ...parley, ports } as ComposedParley, realmId, person.id, user.email);
        person.authorization = account.authorization;
        if (!isBot && (!user.isActive || user.role !== person.role)) found.push({ person, isActive: user.isActive });
      }
      return found;
    });
    return changed ?? [];
  }

  /** Registers clients of some people. */
  async connect(request: Request, count: number): Promise<void> {
    for (const index of CLIENTS) {
      const person = this.people[index];
      if (!person || person.client) continue;
      const capabilities = index === 0 ? ALL_CAPABILITIES : withoutOne(count + index);
      const state = await request(person, 'POST', '/register', registration(capabilities));
      if (!state?.queue_id) continue;
      person.values.read(state, '/register');
      const newestChannel = Math.max(
        0,
        ...[...state.subscriptions, ...state.unsubscribed, ...state.never_subscribed].map(({ stream_id }) => stream_id),
      );
      person.client = {
        ...{ capabilities, queueId: state.queue_id, lastEventId: state.last_event_id },
        synced: new SyncedState(capabilities, state, newestChannel),
      };
    }
  }

  /** Applies all waiting events of a person's client. Returns false if there is no queue any more. */
  async follow(person: Person, request: Request): Promise<boolean> {
    const { client } = person;
    for (;;) {
      if (!client) return false;
      const params = { queue_id: client.queueId, last_event_id: client.lastEventId, dont_block: true };
      const { events } = (await request(person, 'GET', '/events', params)) ?? {};
      if (!events) {
        person.client = null;
        return false;
      }
      if (events.length === 0) return true;
      for (const event of events) {
        if (event.id <= client.lastEventId) throw new Violation('event ids increase', `${person.name}: ${event.id}`);
        client.synced.apply(event);
        client.lastEventId = event.id;
      }
    }
  }

  /** The state of a client equals that of a new one. */
  async check(person: Person, request: Request): Promise<void> {
    if (!(await this.follow(person, request)) || !person.client) return;
    const { capabilities, synced } = person.client;
    const response = await request(person, 'POST', '/register', registration(capabilities));
    if (!response?.queue_id) return;
    const queue = { queue_id: response.queue_id };
    const [state, fresh] = [synced.state, synced.comparableOf(response)];
    const wrong = Object.keys(fresh).filter(
      (key) => key !== START_OF_SERVER && !isDeepStrictEqual(state[key], fresh[key]),
    );
    if (wrong.length > 0) {
      const details = wrong.map(
        (key) => `${key}: has ${JSON.stringify(state[key])}, server has ${JSON.stringify(fresh[key])}`,
      );
      throw new Violation('sync law', `${person.name} of ${this.host} ${details.join('; ')}`);
    }
    await request(person, 'DELETE', '/events', queue);
  }
}

const registration = (capabilities: Capabilities) => ({
  ...{ client_capabilities: capabilities, client_gravatar: false, include_subscribers: 'true' },
  idle_queue_timeout: IDLE_SECONDS,
});

async function personOf(
  parley: ComposedParley,
  realmId: RealmId,
  id: UserId,
  email: string,
  name: string,
  role: Person['role'],
): Promise<Person> {
  const { authorization } = await accountOf(parley, realmId, id, email);
  return { id, name, role, email, authorization, values: new SeenValues(), cookies: new Map(), client: null };
}
