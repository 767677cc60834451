import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type ExportId, type RealmId, YieldingWork } from '@parley/domain/kernel';
import { keepProcessAlive, SystemEventLoop, SystemTimers } from '@parley/node-adapters';
import type { ArchiveWriter, PersonSource, RealmReader, RealmSource } from '@parley/transfer/exports';
import { COLUMN_NAMES } from './column-names.js';

/** Spools data that does not fit into memory to a folder per export. */
export class FolderArchiveWriter implements ArchiveWriter {
  constructor(private readonly folder: string) {}

  async *write(id: ExportId, source: RealmSource, rest: () => Promise<void>): AsyncGenerator<Uint8Array> {
    const temporaryFolder = this.folderOf(id);
    // No access for others, since the folder contains private messages.
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    try {
      const { writeExport } = await import('@parley/export-files');
      yield* writeExport(source, { names: COLUMN_NAMES, temporaryFolder, rest });
    } finally {
      await this.clean(id);
    }
  }

  async *writePerson(source: PersonSource, rest: () => Promise<void>): AsyncGenerator<Uint8Array> {
    const { writePerson } = await import('@parley/export-files');
    yield* writePerson(source, rest);
  }

  async clean(id: ExportId): Promise<void> {
    await rm(this.folderOf(id), { recursive: true, force: true });
    // Fails if the folder still contains other exports.
    await rmdir(this.folder).catch(() => undefined);
  }

  private folderOf(id: ExportId): string {
    return join(this.folder, String(id));
  }
}

/** Ratio of rest to work, since the export shares the disk but not the event loop with the server. */
const REST_FACTOR = 1;

/** Exports a whole realm at reduced speed, since a server may be running. Returns the number of messages. */
export async function exportToFile(
  reader: RealmReader,
  realmId: RealmId,
  path: string,
  onProgress: (messages: number) => void,
): Promise<number> {
  const work = new YieldingWork(new SystemTimers(), new SystemEventLoop(), REST_FACTOR);
  const source = await reader.open(realmId, { covers: 'all' });
  let messages = 0;
  const { writeExport } = await import('@parley/export-files');
  const content = writeExport(source, {
    names: COLUMN_NAMES,
    temporaryFolder: dirname(resolve(path)),
    onProgress: (count) => {
      messages = count;
      onProgress(count);
    },
    rest: () => work.rest(),
  });
  await writeWhole(path, content);
  return messages;
}

/** Writes a file that is renamed to its final name when complete. */
export async function writeWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const partial = `${path}.part`;
  // Readable by the owner only, since it contains private messages.
  const file = await open(partial, 'w', 0o600);
  // Rest timers do not keep the process alive.
  const letEnd = keepProcessAlive();
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.sync();
    await file.close();
    await rename(partial, path);
  } catch (error) {
    // May be closed already; the caller gets the first error.
    await file.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  } finally {
    letEnd();
  }
}
