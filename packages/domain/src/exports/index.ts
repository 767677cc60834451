export type { CopyRepository, FlagsCopy, IdKind } from './copy-repository.js';

import './export-errors.js';

export { RealmReader } from './read-realm.js';
export type {
  FileCopy,
  GroupCopy,
  HolderCopy,
  MessageCopy,
  PersonCopy,
  RealmCopy,
  RealmSource,
  UserCopy,
} from './realm-copy.js';
export * from './use-cases/import-realm.js';
