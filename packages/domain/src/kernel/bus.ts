import type { EphemeralAnnouncement } from './event.js';
import type { RealmId, UnixSeconds } from './ids.js';

/** Messages between the servers of one database, as plain JSON values. Features add kinds by declaration merging. */
export interface BusHintTypes {
  ephemeral: { readonly announcement: EphemeralAnnouncement; readonly at: UnixSeconds };
  /** The rows of these queues are gone. */
  queuesRemoved: { readonly ids: readonly string[] };
}

export type BusHint = { [K in keyof BusHintTypes]: { readonly kind: K } & BusHintTypes[K] }[keyof BusHintTypes];

export type Unsubscribe = () => void;

/**
 * Connection of one server to the others. A message is a hint: it may be lost, duplicated, late or out of order. Receivers
 * read the storage and must ignore unknown kinds. Every implementation passes bus.contract.ts.
 */
export interface Bus {
  /** Reaches subscribers of the organization on other servers, never those of this connection. Does not throw. */
  publish(realmId: RealmId, hint: BusHint): void;
  /** Resolves once later messages arrive. */
  subscribe(realmId: RealmId, listener: (hint: BusHint) => void): Promise<Unsubscribe>;
  readonly state: 'connected' | 'unavailable';
  /** Messages since the start; absent between servers of one process. */
  readonly counts?: BusCounts;
}

export interface BusCounts {
  readonly published: number;
  readonly received: number;
  /** Not published, because the connection was away or too slow. */
  readonly dropped: number;
  /** Received from another installation, which uses a copy of the database. */
  readonly foreign: number;
  /** Received in an unknown form. */
  readonly unknown: number;
}

/** Bus of a server that hears nothing of others but what the log says. */
export const noBus: Bus = { state: 'unavailable', publish: () => {}, subscribe: async () => () => {} };

type Listeners = Map<RealmId, Set<(hint: BusHint) => void>>;

/** Bus between servers of one process. */
export class LocalBus {
  private readonly connections = new Set<Listeners>();

  connect(): Bus {
    const own: Listeners = new Map();
    this.connections.add(own);
    return {
      state: 'connected',
      publish: (realmId, hint) => {
        for (const listeners of this.connections) {
          if (listeners !== own) for (const listener of listeners.get(realmId) ?? []) listener(hint);
        }
      },
      subscribe: async (realmId, listener) => {
        const listeners = own.get(realmId) ?? new Set();
        own.set(realmId, listeners.add(listener));
        return () => {
          listeners.delete(listener);
          if (listeners.size === 0 && own.get(realmId) === listeners) own.delete(realmId);
        };
      },
    };
  }
}
