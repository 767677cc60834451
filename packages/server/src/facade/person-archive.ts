import { type DataOwner, YieldingWork } from '@parley/domain/kernel';
import { keepProcessAlive, SystemEventLoop, SystemTimers } from '@parley/node-adapters';
import type { PersonReader } from '@parley/transfer/exports';

/** Ratio of rest to work, so that other requests are hardly delayed. */
const REST_FACTOR = 1;

/** Yields a ZIP archive of everything stored about a person. @throws DomainError UNKNOWN_USER */
export async function* personArchive(reader: PersonReader, owner: DataOwner): AsyncGenerator<Uint8Array> {
  const work = new YieldingWork(new SystemTimers(), new SystemEventLoop(), REST_FACTOR);
  const source = await reader.open(owner);
  const { writePerson } = await import('@parley/export-files');
  // Rest timers do not keep the process alive.
  const letEnd = keepProcessAlive();
  try {
    yield* writePerson(source, () => work.rest());
  } finally {
    letEnd();
  }
}
