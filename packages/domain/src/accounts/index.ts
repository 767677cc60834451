export * from './use-cases/deactivate-user.js';
export * from './use-cases/reactivate-user.js';
