import { decodeQueue } from '@parley/domain/composition';
import type {
  EventQueue,
  EventSeq,
  MessageId,
  QueueKey,
  RealmId,
  UnixSeconds,
  UnreadableQueue,
  UserId,
} from '@parley/domain/kernel';

export type EventTuple = readonly [
  seq: EventSeq,
  at: UnixSeconds,
  quotes: MessageId | null,
  format: number,
  audience: string,
  payload: string,
];

export interface QueueRow {
  readonly id: string;
  readonly realm_id: RealmId;
  readonly owner_id: UserId;
  readonly filter: string;
  readonly presentation: string;
  readonly start_seq: EventSeq;
  readonly acked: number;
  readonly floor_seq: EventSeq;
  readonly last_polled_at: UnixSeconds;
  readonly idle_timeout_seconds: number;
}

export const toQueueKey = ([realmId, id]: readonly [RealmId, string]): QueueKey => ({ realmId, id });

export const toQueue = (row: QueueRow): EventQueue | UnreadableQueue =>
  decodeQueue({
    id: row.id,
    realmId: row.realm_id,
    ownerId: row.owner_id,
    filter: row.filter,
    presentation: row.presentation,
    startSeq: row.start_seq,
    acked: row.acked,
    floorSeq: row.floor_seq,
    lastPolledAt: row.last_polled_at,
    idleTimeoutSeconds: row.idle_timeout_seconds,
  });
