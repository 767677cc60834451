export type { ColumnNames } from './message-rows.js';
export { openExport } from './read-export.js';
export { writeExport } from './write-export.js';
