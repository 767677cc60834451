export type { AppendedCopy, CopyRepository, FlagsCopy, IdKind } from './copy-repository.js';

import './export-errors.js';

export type { ArchiveWriter } from './archive-writer.js';
export { ExpireExports } from './expire-exports.js';
export type { ExportEventTypes, ExportView } from './export-events.js';

export { RealmReader } from './read-realm.js';
export type {
  FileCopy,
  GroupCopy,
  HolderCopy,
  ImportSource,
  MessageCopy,
  PersonCopy,
  PictureCopy,
  RealmCopy,
  RealmSource,
  UserCopy,
} from './realm-copy.js';
export {
  type ExportLimits,
  type ExportRepository,
  type ExportType,
  MAX_EXPORTED_BYTES,
  MAX_EXPORTED_MESSAGES,
  type RealmExport,
} from './realm-export.js';
export * from './use-cases/delete-export.js';
export * from './use-cases/import-realm.js';
export * from './use-cases/list-export-consents.js';
export * from './use-cases/list-exports.js';
export * from './use-cases/read-export.js';
export * from './use-cases/request-export.js';
export { WriteRealmExport } from './write-realm-export.js';
