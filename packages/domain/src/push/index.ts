export * from './due.js';
export * from './find-due.js';
export * from './notification-text.js';
export * from './notifications.js';
export * from './push.js';
export * from './push.use-cases.js';
export * from './push-jobs.js';
