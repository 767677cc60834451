export * from './actor.js';
export * from './confirmations.js';
export * from './credentials.js';
export * from './email.js';
export * from './group-closure.js';
export * from './group-delivery.js';
export * from './group-settings.js';
export * from './roles.js';
