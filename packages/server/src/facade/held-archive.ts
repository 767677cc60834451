import { type HoldId, type RealmId, YieldingWork } from '@parley/domain/kernel';
import { encodeEmail, keepProcessAlive, SystemEventLoop, SystemTimers } from '@parley/node-adapters';
import type { HeldReader } from '@parley/transfer/exports';

/** Ratio of rest to work, so that other requests are hardly delayed. */
const REST_FACTOR = 1;

/** Yields a ZIP archive of everything that a hold keeps. @throws DomainError UNKNOWN_HOLD, HOLD_RELEASED */
export async function* heldArchive(
  reader: HeldReader,
  { realmId, holdId }: { readonly realmId: RealmId; readonly holdId: HoldId },
): AsyncGenerator<Uint8Array> {
  const work = new YieldingWork(new SystemTimers(), new SystemEventLoop(), REST_FACTOR);
  const source = await reader.open(realmId, holdId);
  const { writeHeld } = await import('@parley/export-files');
  // Rest timers do not keep the process alive.
  const letEnd = keepProcessAlive();
  try {
    yield* writeHeld(source, encodeEmail, () => work.rest());
  } finally {
    letEnd();
  }
}
