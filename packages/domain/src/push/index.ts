export * from './push.js';
export * from './push.use-cases.js';
export * from './push-jobs.js';
