export * from './exports.js';
export * from './exports.use-cases.js';
export * from './import-batches.js';
export * from './import-realm.use-cases.js';
export * from './read-realm.js';
export * from './realm-copy.js';
export * from './undo-import.use-cases.js';
export * from './verify-import.use-cases.js';
