export type { EmojiKey, Reaction, ReactionRepository } from './reaction.js';
export type { ReactionEventTypes } from './reaction-events.js';
export * from './use-cases/add-reaction.js';
export * from './use-cases/remove-reaction.js';
