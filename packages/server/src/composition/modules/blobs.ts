import type { BlobStore, FileLimits, PartialBlobStore } from '@parley/domain/files';
import { FileTypeContentTypes, HmacTicketTokens } from '@parley/node-adapters';
import { FILE_LIMITS } from '../../configuration/settings.js';
import { Adapter } from '../adapter.js';

export interface BlobOptions {
  /** Store for file bytes. */
  readonly blobs: BlobStore;
  /** Store for the bytes of unfinished uploads. */
  readonly partialBlobs: PartialBlobStore;
  /** Default: 100 MiB per file and no quota. */
  readonly fileLimits?: FileLimits;
}

/** Bytes of files: a folder, a bucket or the application's own store. */
export const blobs = ({ blobs: store, partialBlobs, fileLimits = FILE_LIMITS }: BlobOptions) =>
  new Adapter({
    blobStore: () => store,
    partialBlobStore: () => partialBlobs,
    fileLimits: () => fileLimits,
    fileTokens: ({ get }) => new HmacTicketTokens(get('secret'), 'temporary addresses of files'),
    contentTypes: () => new FileTypeContentTypes(),
  });
