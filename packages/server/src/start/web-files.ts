import { dirname, join } from 'node:path';
import { FolderBlobStore, S3BlobStore } from '@parley/blobs';
import type { BlobStore } from '@parley/domain/files';
import type { Logger, WebAssets } from '@parley/http';
import { findImageScript } from '@parley/images';
import { findTypesettingScript } from '@parley/markdown';
import { findMailScript } from '@parley/node-adapters';
import type { Configuration, DatabaseLocation } from '../configuration/configuration.js';
import { BucketBuilds, FolderBuilds, type KeptBuilds, openWebAssets } from '../http/web-assets.js';

type WebConfig = Pick<Configuration, 'webClient' | 'files'> & { readonly database: DatabaseLocation | null };

/** Returns the files of the web client; null without it. Logs files of the package that a build has left out. */
export function webAssetsOf(
  configuration: WebConfig,
  blobs: BlobStore,
  { isOneOff, logger }: { readonly isOneOff?: boolean; readonly logger: Logger },
): WebAssets | null {
  const isOff = configuration.webClient === 'none';
  const assets = isOff ? null : openWebAssets(keptBuildsOf(configuration, blobs));
  const missing = {
    web: !assets && !isOff && 'there is no web client, which PARLEY_WEB_CLIENT (webClient: false) turns off on purpose',
    'image-child.js':
      findImageScript() === null && 'pictures take time of other requests; HEIC pictures and documents are not read',
    'thread.js': findTypesettingScript() === null && 'formulas take time of other requests, and long ones stay plain',
    'mail-thread.js': findMailScript() === null && 'received emails take time of other requests',
  };
  for (const [file, loss] of Object.entries(missing)) {
    const build = 'as in a build that copies only files it finds';
    const message = `dist/${file} of Parley is missing, ${build}: ${loss}. Copy the package as a whole.`;
    if (loss && !isOneOff) logger.error({ file }, message);
  }
  return assets && configuration.webClient === 'element' ? { open: (...asset) => assets.open(...asset) } : assets;
}

/** Place for files of previous web client builds; null without persistent storage. */
function keptBuildsOf({ database, files }: WebConfig, blobs: BlobStore): KeptBuilds | null {
  if (database?.kind === 'sqlite') return new FolderBuilds(join(dirname(database.path), 'web-client'));
  if (blobs instanceof FolderBlobStore && files?.kind === 'folder')
    return new FolderBuilds(join(files.path, 'web-client'));
  return blobs instanceof S3BlobStore ? new BucketBuilds(blobs) : null;
}
