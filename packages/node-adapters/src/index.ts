export * from './calls.js';
export * from './content-types.js';
export * from './disposable-domains.js';
export * from './email.js';
export * from './passwords.js';
export * from './push.js';
export * from './system.js';
export * from './tokens.js';
