import { DomainError } from '../../kernel/errors.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { BlobStore } from '../blob-store.js';
import type { Picture, PictureName } from '../picture.js';
import type { FileUser } from './sweep-files.js';

export interface ReadablePicture extends Picture {
  read(): AsyncIterable<Uint8Array>;
}

/** A picture, for anybody: browsers load it without credentials. */
export class ReadPicture {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** `realmId`: null where no realm has the address that was asked. @throws DomainError UNKNOWN_PICTURE */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { name }: { readonly name: PictureName },
  ): Promise<ReadablePicture> {
    const picture = realmId === null ? null : await this.uow.read(({ pictures }) => pictures.find(realmId, name));
    // The bytes may be gone, where it was replaced this moment.
    if (!picture || (await this.blobs.sizeOf(picture.blob)) === null) {
      throw new DomainError('UNKNOWN_PICTURE', 'There is no such picture.');
    }
    return { ...picture, read: () => this.blobs.read(picture.blob, { start: 0, end: picture.size }) };
  }
}

/** The sweep leaves their bytes alone. */
export const PICTURE_FEATURE: { readonly fileUser: FileUser } = {
  fileUser: { filterBlobs: ({ pictures }, keys) => pictures.filterBlobs(keys) },
};
