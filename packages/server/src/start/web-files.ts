import { dirname, join } from 'node:path';
import { FolderBlobStore, S3BlobStore } from '@parley/blobs';
import type { BlobStore } from '@parley/domain/files';
import type { Logger, WebAssets } from '@parley/http';
import { findImageScript } from '@parley/images';
import type { Configuration, DatabaseLocation } from '../configuration/configuration.js';
import { BucketBuilds, FolderBuilds, type KeptBuilds, openWebAssets } from '../http/web-assets.js';

type WebConfig = Pick<Configuration, 'webClient' | 'files'> & { readonly database: DatabaseLocation | null };

/** Returns the files of the web client; null without it. Logs files of the package that a build has left out. */
export function webAssetsOf(
  configuration: WebConfig,
  blobs: BlobStore,
  { isOneOff, logger }: { readonly isOneOff?: boolean; readonly logger: Logger },
): WebAssets | null {
  if (configuration.webClient === 'none') return null;
  const assets = openWebAssets(keptBuildsOf(configuration, blobs));
  if (!assets && !isOneOff) {
    const files = ['web/index.html', ...(findImageScript() === null ? ['image-child.js'] : [])];
    logger.error(
      { files },
      'files of Parley are missing, as in a build that copies only files it finds: there is no web client, and thumbnails may ' +
        'be missing. Copy the folder `dist` of the package, or turn the web client off (PARLEY_WEB_CLIENT, webClient: false).',
    );
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
