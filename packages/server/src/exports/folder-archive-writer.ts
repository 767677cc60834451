import { mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ArchiveWriter, RealmSource } from '@parley/domain/exports';
import type { ExportId } from '@parley/domain/kernel';
import { writeExport } from '@parley/export-files';
import { COLUMN_NAMES } from './column-names.js';

/** Keeps what does not fit into memory in a folder of each export. */
export class FolderArchiveWriter implements ArchiveWriter {
  constructor(private readonly folder: string) {}

  async *write(id: ExportId, source: RealmSource, rest: () => Promise<void>): AsyncGenerator<Uint8Array> {
    const temporaryFolder = this.folderOf(id);
    // What people said in private is in it.
    await mkdir(temporaryFolder, { recursive: true, mode: 0o700 });
    try {
      yield* writeExport(source, { names: COLUMN_NAMES, temporaryFolder, rest });
    } finally {
      await this.clean(id);
    }
  }

  async clean(id: ExportId): Promise<void> {
    await rm(this.folderOf(id), { recursive: true, force: true });
    // Unless there are others in it.
    await rmdir(this.folder).catch(() => undefined);
  }

  private folderOf(id: ExportId): string {
    return join(this.folder, String(id));
  }
}
