import { existsSync, realpathSync, statSync } from 'node:fs';
import type { AgentOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  type FilesListener,
  FolderBlobStore,
  FolderPartialBlobStore,
  S3BlobStore,
  S3PartialBlobStore,
} from '@parley/blobs';
import type { BlobStore } from '@parley/domain/files';
import { OutgoingProxy } from '@parley/node-adapters';
import { Checksums } from '../backup/checksums.js';
import type { Configuration, DatabaseLocation } from '../configuration/configuration.js';

/** Object that names the database of a location of files. */
export const FILES_MARK = 'parley-database.json';

export interface FilesConfiguration extends Pick<Configuration, 'files' | 'outgoingProxy'> {
  /** Null if the host application provides the storage. */
  readonly database: DatabaseLocation | null;
}

/** File name of a database; that of the target of a link within the folder. */
export function databaseNameOf(path: string): string {
  if (!existsSync(path)) return basename(path);
  const target = realpathSync(path);
  return basename(dirname(target) === realpathSync(dirname(path)) ? target : path);
}

/** Folder that `parley file split` fills for a database, and that replaces its default folder from then on. */
export const splitFolderOf = (path: string): string => join(dirname(path), `${databaseNameOf(path)}.files`);

/** Default folder of a database, which those in the same folder share. */
export const sharedFolderOf = (path: string): string => join(dirname(path), 'files');

/** True for a database that does not exist yet. */
export const isNewDatabase = ({ database }: Pick<FilesConfiguration, 'database'>): boolean =>
  database?.kind === 'sqlite' && !statSync(database.path, { throwIfNoEntry: false })?.size;

/** True if `parley file split` has completed for the database. */
export const isSplit = (path: string): boolean => existsSync(join(splitFolderOf(path), FILES_MARK));

export function filesFolderOf({ files, database }: Pick<FilesConfiguration, 'files' | 'database'>): string {
  if (files?.kind === 'folder') return files.path;
  if (database?.kind !== 'sqlite') return join(tmpdir(), 'parley-files');
  return isSplit(database.path) ? splitFolderOf(database.path) : sharedFolderOf(database.path);
}

export const locationOf = (configuration: FilesConfiguration): string =>
  configuration.files?.kind === 's3'
    ? `The bucket ${configuration.files.bucket}`
    : `The folder ${filesFolderOf(configuration)}`;

/** Returns the configured store for file bytes. */
export const blobStoreOf = (
  configuration: FilesConfiguration,
  onProblem?: FilesListener,
): FolderBlobStore | S3BlobStore => {
  const { files, outgoingProxy, database } = configuration;
  const onStored = Checksums.of(database)?.add;
  if (files?.kind !== 's3') return new FolderBlobStore(filesFolderOf(configuration), onProblem, onStored);
  const agentFor = (url: string, options: AgentOptions) => new OutgoingProxy(outgoingProxy).agentFor(url, options);
  return new S3BlobStore({ ...files, credentials: null }, {}, onProblem, agentFor, onStored);
};

/** Returns the store for unfinished uploads. In a bucket, any server can receive the next chunk. */
export const partialBlobStoreOf = (
  configuration: FilesConfiguration,
  blobs: BlobStore,
): FolderPartialBlobStore | S3PartialBlobStore =>
  blobs instanceof S3BlobStore
    ? new S3PartialBlobStore(blobs)
    : new FolderPartialBlobStore(join(filesFolderOf(configuration), 'uploads'), blobs);
