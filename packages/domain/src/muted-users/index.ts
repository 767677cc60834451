import './muted-user-errors.js';

export type { MutedUserEventTypes } from './muted-user-events.js';
export { loadMutedUsers } from './muted-user-loaders.js';
export * from './use-cases/mute-user.js';
export * from './use-cases/unmute-user.js';
