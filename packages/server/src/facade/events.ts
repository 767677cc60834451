import type {
  DomainEventType,
  EventListener,
  EventOf,
  RealmId,
  ReportProblem,
  StoredEvent,
} from '@parley/domain/kernel';
import { RealmResolver } from '../realm-resolver.js';
import {
  type ChatMessage,
  type ChatUser,
  type ExternalIds,
  peopleBy,
  peopleIn,
  presentMessage,
  presentUser,
} from './chat-messages.js';
import { Addresses } from './references.js';

interface EventHead<T extends DomainEventType> {
  readonly type: T;
  /** String id of the organization. */
  readonly realm: string;
  /** Sequence number within the organization: 1, 2, 3 … */
  readonly seq: number;
  readonly at: Date;
  /** Event data in the domain's names. */
  readonly data: Omit<EventOf<T>, 'type'>;
}

/** Properties of events in addition to their data, by type. */
interface EventDetails {
  'message.sent': { readonly message: ChatMessage };
  'user.created': { readonly user: ChatUser };
}

export type ParleyEventType = Exclude<DomainEventType, 'blank'>;

/** Committed event. */
export type ParleyEvent<T extends ParleyEventType = ParleyEventType> = {
  readonly [K in T]: EventHead<K> & (K extends keyof EventDetails ? EventDetails[K] : unknown);
}[T];

/** Converts events to the host application's terms. */
export class EventPresenter {
  static readonly inject = [RealmResolver, Addresses] as const;
  constructor(
    private readonly realms: RealmResolver,
    private readonly addresses: Addresses,
  ) {}

  /** Converts events of one realm; omits events whose content was deleted. */
  async present(realmId: RealmId, events: readonly StoredEvent[]): Promise<readonly ParleyEvent[]> {
    const realm = await this.realms.stringIdOf(realmId);
    if (realm === null) return [];
    const people = events.flatMap(({ event }) => {
      if (event.type === 'message.sent') return peopleIn([event.view]);
      return event.type === 'user.created' ? [event.user.id] : [];
    });
    const externalIds = await this.addresses.externalIdsOf(realmId, people);
    return events.flatMap((stored) =>
      stored.event.type === 'blank' ? [] : [presentEvent(stored, realm, externalIds)],
    );
  }
}

function presentEvent({ event, seq, at }: StoredEvent, realm: string, externalIds: ExternalIds): ParleyEvent {
  const { type, ...data } = event;
  const head = { type, realm, seq, at: new Date(at * 1000), data };
  switch (event.type) {
    case 'message.sent':
      return { ...head, message: presentMessage(event.view, realm, peopleBy(externalIds)) } as ParleyEvent;
    case 'user.created': {
      const { user } = event;
      return {
        ...head,
        user: presentUser({ user, externalId: externalIds.get(user.id) ?? null }, realm),
      } as ParleyEvent;
    }
    default:
      return head as ParleyEvent;
  }
}

type Listener = (event: ParleyEvent) => unknown;

/** Publishes live events to listeners: in order within an organization, at most once. */
export class FacadeEvents implements EventListener {
  static readonly inject = [EventPresenter, 'report'] as const;

  private readonly listeners = new Map<ParleyEventType, Set<Listener>>();
  /** Chains deliveries to preserve their order. */
  private delivered: Promise<void> = Promise.resolve();

  constructor(
    private readonly presenter: EventPresenter,
    private readonly report: ReportProblem,
  ) {}

  /** Returns a function that removes the listener. */
  on<T extends ParleyEventType>(type: T, listener: (event: ParleyEvent<T>) => unknown): () => void {
    const listeners = this.listeners.get(type) ?? new Set();
    this.listeners.set(type, listeners);
    // Wrapped, since the same function may be registered twice.
    const added: Listener = (event) => listener(event as ParleyEvent<T>);
    listeners.add(added);
    return () => {
      listeners.delete(added);
      if (listeners.size === 0 && this.listeners.get(type) === listeners) this.listeners.delete(type);
    };
  }

  onEvents(events: readonly StoredEvent[]): void {
    if (this.listeners.size === 0) return;
    const wanted = events.filter(({ event }) => this.listeners.has(event.type as ParleyEventType));
    if (wanted.length === 0) return;
    this.delivered = this.delivered.then(() => this.deliver(wanted));
  }

  private async deliver(events: readonly StoredEvent[]): Promise<void> {
    try {
      for (const [realmId, ofRealm] of byRealm(events)) {
        for (const event of await this.presenter.present(realmId, ofRealm)) this.emit(event);
      }
    } catch (err) {
      this.report('notifying the host application of events failed', { err });
    }
  }

  private emit(event: ParleyEvent): void {
    for (const listener of [...(this.listeners.get(event.type) ?? [])]) {
      const failed = (err: unknown) => this.report(`a listener of '${event.type}' failed`, { err, seq: event.seq });
      try {
        // Asynchronous work of listeners is not awaited.
        Promise.resolve(listener(event)).catch(failed);
      } catch (err) {
        failed(err);
      }
    }
  }
}

function byRealm(events: readonly StoredEvent[]): ReadonlyMap<RealmId, readonly StoredEvent[]> {
  const realms = new Map<RealmId, StoredEvent[]>();
  for (const event of events) {
    const others = realms.get(event.realmId);
    if (others) others.push(event);
    else realms.set(event.realmId, [event]);
  }
  return realms;
}
