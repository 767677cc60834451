import { DomainError } from './errors.js';
import type { EventSeq, RealmId } from './ids.js';

/** In code points. */
export const MAX_CONSUMER_NAME_LENGTH = 100;
/** On the whole server: each keeps events in the log until it is done with them. */
export const MAX_CONSUMERS = 50;
/** In a realm: so many events the log keeps for a consumer that is behind, and no more. */
export const MAX_EVENTS_FOR_CONSUMERS = 1_000_000;

/** @throws DomainError INVALID_CONSUMER_NAME */
export function checkConsumerName(name: string): void {
  if (!/^[\p{L}\p{N}._:-]+$/u.test(name) || name.length > MAX_CONSUMER_NAME_LENGTH) {
    throw new DomainError(
      'INVALID_CONSUMER_NAME',
      `The name of a consumer is up to ${MAX_CONSUMER_NAME_LENGTH} letters, digits and . _ : -`,
    );
  }
}

export interface EventConsumerReads {
  /** Ascending names. */
  list(): Promise<readonly string[]>;
  /** By realm: the last event that it is done with. A realm that is absent it reads from the beginning. Null: no such consumer. */
  findPositions(name: string): Promise<ReadonlyMap<RealmId, EventSeq> | null>;
  /** Of all consumers in the realm, 0 for one that has read nothing of it; null while there is no consumer. */
  lowestPosition(realmId: RealmId): Promise<number | null>;
}

/**
 * Parts of the host application that work through every event, each with its place in every log. Every implementation passes
 * event-consumer-repository.contract.ts.
 */
export interface EventConsumerRepository extends EventConsumerReads {
  /** Answers false, and changes nothing, when there is one of this name. @throws DomainError TOO_MANY_CONSUMERS */
  add(name: string, positions: ReadonlyMap<RealmId, EventSeq>): Promise<boolean>;
  /** From one event to a later one. Answers false, and changes nothing, when it does not stand at `from` (0: the beginning). */
  advance(name: string, realmId: RealmId, from: number, to: EventSeq): Promise<boolean>;
  /** Whether there was one. */
  remove(name: string): Promise<boolean>;
}

export const tooManyConsumers = (): DomainError =>
  new DomainError('TOO_MANY_CONSUMERS', `There are too many consumers of events (limit: ${MAX_CONSUMERS}).`);

declare module './unit-of-work.js' {
  interface RepositoryMap {
    consumers: [reads: EventConsumerReads, repository: EventConsumerRepository];
  }
}
