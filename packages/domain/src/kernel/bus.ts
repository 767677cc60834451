import type { EphemeralAnnouncement } from './event.js';
import type { BusHintTypes } from './feature-types.js';
import type { RealmId, UnixSeconds } from './ids.js';

declare module './feature-types.js' {
  interface BusHintTypes {
    ephemeral: { readonly announcement: EphemeralAnnouncement; readonly at: UnixSeconds };
    /** The rows of these queues were removed. */
    queuesRemoved: { readonly ids: readonly string[] };
  }
}

export type BusHint = { [K in keyof BusHintTypes]: { readonly kind: K } & BusHintTypes[K] }[keyof BusHintTypes];

export type Unsubscribe = () => void;

/**
 * Connection between servers. A message is a hint: it may be lost, duplicated, late or out of order. Receivers read the
 * storage and must ignore unknown kinds. Every implementation passes bus.contract.ts.
 */
export interface Bus {
  /** Notifies subscribers of the organization on other servers, never those of this connection. Does not throw. */
  publish(realmId: RealmId, hint: BusHint): void;
  /** Resolves once the subscription is active. */
  subscribe(realmId: RealmId, listener: (hint: BusHint) => void): Promise<Unsubscribe>;
  readonly state: 'connected' | 'unavailable';
  /** Message counts since startup; absent for servers in one process. */
  readonly counts?: BusCounts;
}

export interface BusCounts {
  readonly published: number;
  readonly received: number;
  /** Messages not published because the connection was down or too slow. */
  readonly dropped: number;
  /** Messages from another installation that uses a copy of the database. */
  readonly foreign: number;
  /** Messages of unknown form. */
  readonly unknown: number;
}

/** Bus of a server that learns of other servers' commits only from the log. */
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
