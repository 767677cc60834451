export {
  DiskRoom,
  expansionProblem,
  findFile,
  importLimits,
  isDiskFull,
  pathIn,
  readLines,
  unpacksTooLarge,
} from './archive-files.js';
export { HTML_END, htmlStart } from './html-page.js';
export { excessOf, type JsonLimits } from './json.js';
export type { ColumnNames } from './message-rows.js';
export {
  IMPORT_FOLDER,
  isExport,
  type OpenExport,
  type OpenOptions,
  openExport,
  removeAbandoned,
} from './read-export.js';
export { systemBotCopy } from './system-bots.js';
export { type HeldFault, type HeldVerification, verifyHeld } from './verify-held.js';
export { writeExport } from './write-export.js';
export { type EncodeEmail, type HeldEmail, MAX_HELD_MESSAGES, writeHeld } from './write-held.js';
export { writePerson } from './write-person.js';
