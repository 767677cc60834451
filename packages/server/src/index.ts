export { TRANSPORT_LIMITS, type TransportLimits } from '@parley/http';
export { DatabaseRefused } from '@parley/sqlite';
export type { HostAuthenticate, HostIdentity } from './authentication/host-authenticator.js';
export { createParley, type ParleyConfig } from './create-parley.js';
export { createHttpServer, type HttpServerOptions } from './http-server.js';
export type { Parley } from './parley.js';
export { StartupError } from './startup-error.js';
