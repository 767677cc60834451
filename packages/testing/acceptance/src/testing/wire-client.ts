import { ALL_CAPABILITIES, type Capabilities, NO_CAPABILITIES, SyncedState } from '@parley/testkit/synced-state';
import { fieldsOf, type Wire } from './expectations.js';
import { TestEventStream } from './test-event-stream.js';
import type { TestServer, TestUser } from './test-server.js';

export { ALL_CAPABILITIES, type Capabilities, NO_CAPABILITIES };

/**
 * Web client that registers once and then updates its state only by events (events §7, §9). Its `state` must always
 * equal a fresh register response.
 */
export class WireClient {
  private synced: SyncedState;
  private queueId: string;
  private lastEventId: number;
  /** True if the queue may end. */
  registersAgain = false;

  private constructor(
    private readonly server: TestServer,
    private readonly as: TestUser,
    private readonly capabilities: Capabilities,
    /** Register response from which the client began. */
    readonly response: Wire,
    newestChannelId: number,
  ) {
    this.queueId = response.queue_id;
    this.lastEventId = response.last_event_id;
    this.synced = new SyncedState(capabilities, response, newestChannelId);
  }

  /** `type/op` of received events without duplicates, in order of arrival. */
  get heard(): ReadonlySet<string> {
    return this.synced.heard;
  }

  static async open(
    server: TestServer,
    as: TestUser,
    capabilities: Capabilities,
    initial: Wire | null = null,
  ): Promise<WireClient> {
    const registered = await register(server, as, capabilities, initial ? { fetch_event_types: [] } : {});
    const { queue_id, last_event_id } = registered;
    const response = initial ? { ...initial, queue_id, last_event_id } : registered;
    return new WireClient(server, as, capabilities, response, await newestChannelIn(server));
  }

  /** Applies all pending events, after comparing those of a poll with those of a stream. */
  async catchUp(): Promise<void> {
    for (;;) {
      const params = { queue_id: this.queueId, last_event_id: this.lastEventId };
      const poll = await this.server.get('/events', this.as, { ...params, dont_block: true });
      if (this.registersAgain && poll.body.code === 'BAD_EVENT_QUEUE_ID') return this.registerAgain();
      const events: Wire[] = fieldsOf(poll).events as Wire;
      if (events.length === 0) return;
      const logged = events.filter(isLogged);
      const received = streamed(this.server, params, this.as, logged.length);
      // The queue may end at another server, which reads the events from the log.
      if (this.registersAgain && (await received.catch(() => null)) === null) return this.registerAgain();
      expect(await received).toEqual(logged);
      for (const event of events) {
        this.synced.apply(event);
        this.lastEventId = event.id;
      }
    }
  }

  private async registerAgain(): Promise<void> {
    const { queue_id, last_event_id, ...state } = await register(this.server, this.as, this.capabilities);
    this.queueId = queue_id;
    this.lastEventId = last_event_id;
    this.synced = new SyncedState(this.capabilities, state, await newestChannelIn(this.server));
  }

  /** State in the format of a register response. */
  get state(): Wire {
    return this.synced.state;
  }

  /** State of a newly registered client. */
  async fresh(): Promise<Wire> {
    return this.synced.comparableOf(await register(this.server, this.as, this.capabilities));
  }
}

/** Event types that are delivered once. */
const EPHEMERAL: ReadonlySet<string> = new Set(['typing', 'typing_edit_message', 'presence']);

async function newestChannelIn({ storage, realmId }: TestServer): Promise<number> {
  const channels = await storage.uow.read(realmId, (repositories) => repositories.channels.listAll(realmId));
  return Math.max(0, ...channels.map(({ id }) => id));
}

const isLogged = ({ type }: Wire): boolean => !EPHEMERAL.has(type);

/** Returns the next logged events of the queue by a stream. */
async function streamed(server: TestServer, params: object, as: TestUser, count: number): Promise<readonly Wire[]> {
  const stream = await TestEventStream.open(server, params, { as });
  // Another server, which may be ahead or behind, may have answered the poll.
  await server.catchUp();
  const received = () => stream.events.filter(isLogged);
  await stream.until(() => received().length >= count);
  stream.close();
  return received().slice(0, count);
}

async function register(
  server: TestServer,
  as: TestUser,
  capabilities: Capabilities,
  more: object = {},
): Promise<Wire> {
  const params = { client_capabilities: capabilities, client_gravatar: false, include_subscribers: 'true', ...more };
  return fieldsOf(await server.post('/register', as, params));
}
