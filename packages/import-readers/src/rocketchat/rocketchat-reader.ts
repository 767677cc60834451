import { archiveReader } from '../archive-reader.js';
import { databaseFolder, RocketChatExport } from './rocketchat-export.js';
import { RocketChatFiles } from './rocketchat-files.js';

/** Reads dumps of the database by `mongodump`: a folder with a file per collection. */
export const ROCKETCHAT_READER = archiveReader({
  name: 'rocketchat',
  recognizes: (archive) => databaseFolder(archive) !== null,
  files: (archive) => new RocketChatFiles(archive, databaseFolder(archive) ?? ''),
  records: (archive, files) => new RocketChatExport(archive, databaseFolder(archive) ?? '', files).records(),
});
