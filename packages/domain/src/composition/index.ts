export * from './features.js';
export * from './inject.js';
export * from './ports.js';
export * from './publishing-unit-of-work.js';
export * from './unit-record.js';
