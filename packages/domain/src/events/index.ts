export { type Audience, users, wholeRealm } from './audience.js';
export type { Membership } from './audience-membership.js';
export type { EphemeralAnnouncement } from './ephemeral-event.js';
export type { AnyEvent, AnyEventType, DomainEvent, DomainEventType, EventOf } from './event.js';
export { type EventConsumerRepository, MAX_CONSUMERS, tooManyConsumers } from './event-consumer.js';
export { type ConsumerUnit, EventConsumption } from './event-consumption.js';

import './event-errors.js';

export type { EncodedEvent, EncodedRow } from './event-format.js';
export { DEFAULT_HUB_OPTIONS, EventHub, type EventHubOptions, queueNotFound } from './event-hub.js';
export type { EventListener } from './event-listener.js';
export {
  type Announcement,
  type EventLog,
  isReadable,
  type LogEnd,
  type LoggedEvent,
  type StoredEvent,
} from './event-log.js';
export {
  type EventQueue,
  type EventQueueRepository,
  type Expiry,
  POSITIONS_PER_SEQ,
  type QueueFilter,
  type QueueKey,
  type QueuePosition,
  type UnreadableQueue,
} from './event-queue.js';
export type { EncodedQueue } from './event-queue-format.js';
export { LiveQueue, type WakeReason } from './live-queue.js';
export { LogFollower } from './log-follower.js';
export type { DeliveryOutcome } from './queue-reader.js';
export { DEFAULT_SWEEP_OPTIONS, QueueSweep, type QueueSweepOptions } from './queue-sweep.js';
export type { Delivery, EventCatalogue, EventNeeds, Receiver } from './receiver.js';
export type { Snapshot, SnapshotLoader } from './snapshot.js';
export * from './use-cases/register-queue.js';
