import type { Clock } from '@parley/domain/kernel';
import type { Parley } from '@parley/server';

/** Application that runs with the simulated engine. The object is the part of it that survives crashes: its database. */
export interface SimulatedApp {
  /**
   * Attaches hooks and consumers. Called when the organization exists, and after each simulated crash, with a new engine on
   * the same database. Time stands still until it returns.
   */
  start(parley: Parley, world: SimulatedWorld): Promise<void> | void;
  /** Called after each step and at the end. @throws Error if the application's state is wrong */
  check?(state: SimulatedState): Promise<void> | void;
}

export interface SimulatedWorld {
  /** Organization of the people. Their external ids are `p0` (the owner), `p1`, `p2` and so on. */
  readonly realm: string;
  readonly clock: Clock;
}

export interface SimulatedState {
  /** Acknowledged messages of people, in the order in which they were sent. */
  readonly messages: readonly SimulatedMessage[];
  /** True after the last step, when consumers have received every event. */
  readonly isOver: boolean;
}

export interface SimulatedMessage {
  readonly id: number;
  /** External id. */
  readonly sender: string;
  /** Null for direct messages. */
  readonly channel: { readonly id: number; readonly name: string } | null;
  readonly isDeleted: boolean;
}
