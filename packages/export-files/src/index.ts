export type { ColumnNames, SettingColumns } from './column-names.js';
export { type OpenExport, openExport } from './read-export.js';
export { writeExport } from './write-export.js';
