import type { StorageFeature, WritableRepositories } from '@parley/storage';
import type { Connection } from './connection.js';

export type CreateRepositories = (connection: Connection) => WritableRepositories;

/** Objects of a connection shared by repositories of several features. Features add theirs by declaration merging. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it.
export interface SharedObjects {}

export type PostgresFeature = StorageFeature<Connection, SharedObjects>;
