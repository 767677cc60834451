export type { ColumnNames } from './column-names.js';
export { openExport } from './read-export.js';
export { writeExport } from './write-export.js';
