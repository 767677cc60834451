import { DomainError } from '../kernel/errors.js';
import { inOneChunk } from './blobs.js';
import type { ReadablePicture } from './pictures.js';

/** Signed paths for pictures of other sites. Readers load them from this server, which hides readers from the sites. */
export interface ExternalPicturePaths {
  /** Returns a path of this server made of slashes, letters and digits. */
  pathOf(url: string): string;
  /** Returns the URL of the picture; null if this server did not sign the path. */
  urlOf(signature: string, encodedUrl: string): string | null;
}

/** Pictures of other sites, reduced for previews. */
export interface ExternalPictures {
  /** Returns a WebP file; null if the site does not provide a readable picture. @throws DomainError SERVER_BUSY */
  load(url: string): Promise<Uint8Array | null>;
}

/** Returns a picture of another site to any caller with its signed path (markdown §15.6). */
export class ReadExternalPicture {
  static readonly inject = ['externalPicturePaths', 'externalPictures'] as const;
  constructor(
    private readonly paths: ExternalPicturePaths,
    private readonly pictures: ExternalPictures,
  ) {}

  /** @throws DomainError UNKNOWN_PICTURE, SERVER_BUSY */
  async execute(
    _caller: unknown,
    { signature, encodedUrl }: { readonly signature: string; readonly encodedUrl: string },
  ): Promise<Pick<ReadablePicture, 'format' | 'size' | 'read'>> {
    const url = this.paths.urlOf(signature, encodedUrl);
    const bytes = url === null ? null : await this.pictures.load(url);
    if (bytes === null) throw new DomainError('UNKNOWN_PICTURE', 'There is no such picture.');
    return { format: 'webp', size: bytes.length, read: () => inOneChunk(bytes) };
  }
}
