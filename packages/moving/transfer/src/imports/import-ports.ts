import type { ApiKeyMint } from '@parley/domain/access';
import { type BlobStore, type ImageProcessor, PictureMaker, Thumbnails } from '@parley/domain/files';
import type { Clock, Randomness, RealmUrls, UnitOfWork } from '@parley/domain/kernel';
import type { MarkdownRenderer } from '@parley/domain/markdown';

/** Ports of all imports, which pass them on to the imports of single kinds of objects. */
export class ImportPorts {
  static readonly inject = [
    'unitOfWork',
    'blobStore',
    'imageProcessor',
    PictureMaker,
    Thumbnails,
    'markdownRenderer',
    'realmUrls',
    'apiKeyMint',
    'clock',
    'randomness',
  ] as const;

  constructor(
    readonly uow: UnitOfWork,
    readonly blobs: BlobStore,
    readonly images: ImageProcessor,
    readonly pictureMaker: PictureMaker,
    readonly thumbnails: Thumbnails,
    readonly renderer: MarkdownRenderer,
    readonly realmUrls: RealmUrls,
    readonly mint: ApiKeyMint,
    readonly clock: Clock,
    readonly randomness: Randomness,
  ) {}
}
