import { rm } from 'node:fs/promises';
import type { ImportReader } from '@parley/transfer/records';
import { archiveReader } from '../archive-reader.js';
import { collectionsOf, unpackArchive } from './mongo-archive.js';
import { databaseFolder, RocketChatExport } from './rocketchat-export.js';
import { RocketChatFiles } from './rocketchat-files.js';

/** Reads dumps by `mongodump` without `--archive`: a folder with a file per collection. */
const FOLDER_READER = archiveReader({
  name: 'rocketchat',
  recognizes: (archive) => databaseFolder(archive) !== null,
  files: (archive) => new RocketChatFiles(archive, databaseFolder(archive) ?? ''),
  records: (archive, files) => new RocketChatExport(archive, databaseFolder(archive) ?? '', files).records(),
});

/** Reads dumps of the database by `mongodump`: a folder or an archive. */
export const ROCKETCHAT_READER: ImportReader = {
  name: FOLDER_READER.name,

  async recognizes(path) {
    const collections = await collectionsOf(path);
    return collections === null ? FOLDER_READER.recognizes(path) : collections.includes('rocketchat_message');
  },

  async open(path, maxUnpackedBytes) {
    if ((await collectionsOf(path)) === null) return FOLDER_READER.open(path);
    const folder = await unpackArchive(path, maxUnpackedBytes);
    const remove = () => rm(folder, { recursive: true, force: true });
    try {
      const opened = await FOLDER_READER.open(folder);
      return {
        ...opened,
        close: async () => {
          await opened.close();
          await remove();
        },
      };
    } catch (error) {
      await remove();
      throw error;
    }
  },
};
