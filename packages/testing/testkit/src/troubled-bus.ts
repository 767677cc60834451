import type { Bus, BusHint, RealmId } from '@parley/domain/kernel';
import { LocalBus } from '@parley/domain/kernel';
import { SeededRandomness } from './seeded-randomness.js';

/** Share of messages that are lost, and of those that arrive twice. */
const SHARE = 0.25;
/** Maximum delay of a message in event loop turns, so that messages overtake each other. */
const MAX_TURNS = 8;

/** Buses between servers of one process that drop, duplicate, delay and reorder messages by seed. */
export class TroubledBus {
  private readonly local = new LocalBus();
  private readonly randomness: SeededRandomness;

  constructor(seed: number) {
    this.randomness = new SeededRandomness(seed);
  }

  connect(): Bus {
    const bus = this.local.connect();
    return {
      state: bus.state,
      subscribe: bus.subscribe,
      publish: (realmId, hint) => {
        // Messages between processes are JSON.
        const sent = JSON.stringify(hint);
        const copies = Math.floor(this.randomness.fraction() / SHARE);
        for (let copy = 0; copy < Math.min(copies, 2); copy++) this.deliverLater(bus, realmId, sent);
      },
    };
  }

  private deliverLater(bus: Bus, realmId: RealmId, sent: string): void {
    let turns = Math.floor(this.randomness.fraction() * MAX_TURNS);
    const next = () => {
      if (turns-- > 0) setImmediate(next);
      else bus.publish(realmId, JSON.parse(sent) as BusHint);
    };
    next();
  }
}
