import type { ExternalPictures, FileTextReader, ImageProcessor } from '@parley/domain/files';
import { type DocumentReader, FileMetadata, FileTexts } from '@parley/images';
import { HmacPicturePaths, WebPictures } from '@parley/node-adapters';
import { Adapter } from '../adapter.js';
import type { DomainOptions } from './domain.js';

export interface ImageOptions extends Pick<DomainOptions, 'isQuiet'> {
  /** Image processor, which may also read documents. */
  readonly images: ImageProcessor & Partial<DocumentReader>;
  /** True if searches find texts in files; default: false. */
  readonly searchesFiles?: boolean;
}

const NO_PICTURES: ExternalPictures = { load: async () => null };
const READS_NO_FILES: FileTextReader = { reads: () => false, read: async () => null };

/** Image and document processing. */
export const images = ({ images: processor, searchesFiles = false, isQuiet = false }: ImageOptions) =>
  new Adapter({
    imageProcessor: () => processor,
    metadataFinder: () => new FileMetadata(),
    fileTextReader: () => (searchesFiles ? new FileTexts(processor) : READS_NO_FILES),
    externalPictures: ({ get }) =>
      isQuiet ? NO_PICTURES : new WebPictures(get('pageClient'), get('imageProcessor'), get('clock')),
    externalPicturePaths: ({ get }) => new HmacPicturePaths(get('secret')),
  });
