import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { RealmReader } from '@parley/domain/exports';
import { type RealmId, SparingWork } from '@parley/domain/kernel';
import { writeExport } from '@parley/export-files';
import type { Parley } from '../facade/parley.js';
import { SystemEventLoop } from '../system-event-loop.js';
import { keepProcessAlive, SystemTimers } from '../system-timers.js';
import { COLUMN_NAMES } from './column-names.js';

/** It shares the disk with the server, but not the event loop. */
const REST_FACTOR = 1;

/**
 * Everything of a realm, sparing the server that may be running beside it. There is no file of that name before it is complete.
 * Answers how many messages are in it.
 */
export async function exportToFile(
  { useCase }: Pick<Parley, 'useCase'>,
  realmId: RealmId,
  path: string,
  onProgress: (messages: number) => void,
): Promise<number> {
  const work = new SparingWork(new SystemTimers(), new SystemEventLoop(), REST_FACTOR);
  const source = await useCase(RealmReader).open(realmId, { covers: 'all' });
  const partial = `${path}.part`;
  let messages = 0;
  const content = writeExport(source, {
    names: COLUMN_NAMES,
    temporaryFolder: dirname(resolve(path)),
    onProgress: (count) => {
      messages = count;
      onProgress(count);
    },
    rest: () => work.rest(),
  });
  // Readable for nobody else: it holds what people said in private.
  const file = await open(partial, 'w', 0o600);
  // Resting keeps none alive.
  const letEnd = keepProcessAlive();
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.sync();
    await file.close();
    await rename(partial, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  } finally {
    letEnd();
  }
  return messages;
}
