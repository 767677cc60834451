export type * from './api.js';
export * from './event-stream.js';
export type { Answer, CallOptions, Method, OperationName, Params, PathOf } from './operations.js';
export { type LogInOptions, ParleyClient } from './parley-client.js';
export { type ConnectionErrorCode, ParleyError } from './parley-error.js';
export type { ClientOptions, Credentials, TokenSource } from './transport.js';
