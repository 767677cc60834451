export * from './import-reader.js';
export * from './records.js';
