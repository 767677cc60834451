import { DELIVERY_FEATURES, PublishingUnitOfWork, QUEUE_FILTERS } from '@parley/domain/composition';
import {
  type Audience,
  type Bus,
  type ClockWatch,
  DEFAULT_HUB_OPTIONS,
  DEFAULT_SWEEP_OPTIONS,
  type Delivery,
  type DeliveryOutcome,
  type DomainEvent,
  type EphemeralAnnouncement,
  type EventCatalogue,
  EventHub,
  type EventHubOptions,
  type EventSeq,
  type LiveQueue,
  LocalBus,
  LogFollower,
  type QueueFilter,
  QueueSweep,
  type QueueSweepOptions,
  RegisterQueue,
  type RegisterQueueInput,
  type ReportProblem,
} from '@parley/domain/kernel';
import type { MemoryFixture } from './builders.js';
import { appendEvent } from './events-with-receivers.js';
import { fakeEventLoop, immediateTimers } from './fake-ports.js';
import { SeededRandomness } from './seeded-randomness.js';

/**
 * Catalogue without lookups. The `features` of a presentation list the requested events: `message.sent` belongs to
 * `message`.
 */
export const fakeCatalogue: EventCatalogue = {
  wants: ({ features }, type) => !Array.isArray(features) || features.includes(type.split('.')[0]!),
  needsOf: () => null,
  isWhole: () => true,
};

export interface LiveEventsOptions extends Partial<EventHubOptions>, Partial<QueueSweepOptions> {
  readonly catalogue?: Partial<EventCatalogue>;
  /** Default: the clock is steady. */
  readonly clockWatch?: Pick<ClockWatch, 'steadySince'>;
  /** Buses to the other servers; by default there are none. */
  readonly buses?: { connect(): Bus };
}

/** Event without a specific receiver. */
export const flagChange = {
  type: 'message.flag_changed',
  op: 'add',
  flag: 'read',
  messageIds: [],
  all: true,
  details: [],
} satisfies DomainEvent;

/** Event delivery from commits to queues on the fixture's storage. */
export class LiveEvents {
  readonly uow: PublishingUnitOfWork;
  /** Reported problems: message and fields. */
  readonly problems: [message: string, fields: Readonly<Record<string, unknown>>][] = [];
  follower!: LogFollower;
  hub!: EventHub;
  sweep!: QueueSweep;
  private readonly randomness = new SeededRandomness(7);
  private readonly queueIds = { make: () => this.randomness.uuid(), startOf: () => -1 };

  private constructor(
    readonly fixture: MemoryFixture,
    private readonly options: LiveEventsOptions,
  ) {
    this.uow = new PublishingUnitOfWork(fixture.uow, this.onListenerFailure, {
      open: (realmId) => this.follower.open(realmId),
    });
    this.uow.subscribe({ onEvents: (events) => this.follower.onEvents(events) });
  }

  static async start(fixture: MemoryFixture, options: LiveEventsOptions = {}): Promise<LiveEvents> {
    const events = new LiveEvents(fixture, options);
    await events.restart();
    return events;
  }

  /** Simulates a crash: only stored data remains. */
  async restart(): Promise<void> {
    const { uow, report } = this;
    const { clock } = this.fixture;
    const bus = (this.options.buses ?? new LocalBus()).connect();
    const { onListenerFailure } = this;
    this.follower = new LogFollower({ uow: this.fixture.uow, bus, clock, timers: immediateTimers, onListenerFailure });
    const catalogue = { ...fakeCatalogue, ...this.options.catalogue };
    const parts = { uow, clock, eventLoop: fakeEventLoop, report };
    this.hub = new EventHub(
      { ...parts, follower: this.follower, bus, catalogue, features: DELIVERY_FEATURES },
      { ...DEFAULT_HUB_OPTIONS, ...this.options },
    );
    this.sweep = new QueueSweep(
      { ...parts, ...this.options, storage: parts.uow, hub: this.hub },
      { ...DEFAULT_SWEEP_OPTIONS, ...this.options },
    );
    this.follower.subscribe(this.hub);
    await this.follower.open(this.fixture.realm.id);
  }

  /** Creates a queue that exists only in storage, as all queues do when a server starts. */
  async register(name: string, filter: Partial<QueueFilter> = {}, more: Partial<RegisterQueueInput> = {}) {
    const id = await this.registerLive(name, filter, more);
    for (const live of this.hub.liveQueues) if (live.queue.id === id) this.hub.deactivateQueue(live);
    return id;
  }

  /** Registers a queue and opens it, as after a register response. */
  async registerLive(name: string, filter: Partial<QueueFilter> = {}, more: Partial<RegisterQueueInput> = {}) {
    const useCase = new RegisterQueue(this.uow, this.fixture.clock, this.queueIds, this.hub, QUEUE_FILTERS);
    const input: RegisterQueueInput = {
      loaders: {},
      filter: { allPublicChannels: false, narrow: [], ...filter },
      presentation: {},
      idleTimeoutSeconds: 600,
      ...more,
    };
    const { queue } = await useCase.execute(this.fixture.caller(name), input);
    return queue.id;
  }

  /** Opens the queue and loads missed events. */
  async open(name: string, id: string, cursor?: number): Promise<LiveQueue> {
    const live = await this.hub.open(this.fixture.realm.id, this.fixture.user(name).id, id, cursor);
    await this.read(live);
    return live;
  }

  /** Returns pending deliveries of a queue with at most `room` events; repeatable. */
  async read(live: LiveQueue, room = Number.POSITIVE_INFINITY): Promise<readonly Delivery[]> {
    const deliveries: Delivery[] = [];
    const take = (delivery: Delivery): DeliveryOutcome => {
      if (deliveries.length >= room) return 'left';
      deliveries.push(delivery);
      return 'shown';
    };
    if (!this.hub.readNow(live, take)) await this.hub.read(live, take);
    return deliveries;
  }

  announce(audience: Audience, event: DomainEvent = flagChange): Promise<EventSeq> {
    return this.uow.write(this.fixture.realm.id, (tx) => appendEvent(tx, this.fixture.realm.id, { event, audience }));
  }

  announceEphemeral(announcement: EphemeralAnnouncement): void {
    this.hub.publishEphemeral(this.fixture.realm.id, announcement);
  }

  private readonly report: ReportProblem = (message, fields) => {
    this.problems.push([message, fields]);
  };
  private readonly onListenerFailure = (err: unknown) => this.report('a listener failed', { err });
}

/** Sequence numbers of deliveries; null for events outside the log. */
export const seqsOf = (deliveries: readonly Delivery[]): (number | null)[] =>
  deliveries.map((delivery) => ('stored' in delivery ? delivery.stored.seq : null));
