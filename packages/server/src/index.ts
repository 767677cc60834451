export { DatabaseRefused } from '@parley/sqlite';
export type { HostAuthenticate, HostIdentity } from './authentication/host-authenticator.js';
export { StartupError } from './config.js';
export { createParley, type ParleyConfig } from './create-parley.js';
export type { Parley } from './parley.js';
