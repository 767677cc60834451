export * from './archive-writer.js';
export * from './exports.use-cases.js';
export * from './person-exports.use-cases.js';
export * from './read-held.js';
export * from './read-person.js';
export * from './read-realm.js';
export * from './realm-copy.js';
