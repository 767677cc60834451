export * from './access.js';
export * from './import-reader.js';
export * from './imported-text.js';
export * from './ledger.js';
export * from './names.js';
export * from './people.js';
export * from './records.js';
