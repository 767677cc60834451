export * from './avatars/avatar-urls.js';
export type { EmojiNames } from './emoji/emoji-data.routes.js';
export { EVENT_TYPE_NAMES } from './events/event.presenters.js';
export { LongPoll } from './events/long-poll.js';
export { RealmPlaces } from './events/realm-places.js';
export type { ServerFacts } from './realms/realm.presenters.js';
export * from './routes.js';
export * from './routing/index.js';
export * from './server-settings/server-version.js';
