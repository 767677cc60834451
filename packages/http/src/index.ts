export * from './avatars/avatar-urls.js';
export * from './routes.js';
export * from './routing/index.js';
export * from './server-settings/server-version.js';
