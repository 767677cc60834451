import type { UnixSeconds } from '@parley/domain/kernel';
import type { MemoryUnit } from './tables.js';

/** Scheduled messages and reminders share one counter. */
export const nextSchedulingId = <Id extends number>(unit: MemoryUnit): Id => unit.nextNumber<Id>('scheduling');

interface Timed {
  readonly id: number;
  readonly dueAt: UnixSeconds;
}

export const inOrderOfTime = (a: Timed, b: Timed): number => a.dueAt - b.dueAt || a.id - b.id;
