export * from './delivery-features.js';
export * from './event-encoding.js';
export * from './features.js';
export * from './inject.js';
export * from './ports.js';
export * from './publishing-unit-of-work.js';
export * from './queue-encoding.js';
export * from './unit-record.js';
