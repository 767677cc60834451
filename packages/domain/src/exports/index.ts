export * from './copies.js';
export * from './exports.js';
export * from './import-batches.js';
export * from './import-reports.js';
export * from './import-runs.js';
export * from './person-exports.js';
