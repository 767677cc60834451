import type { BlobContent, BlobKey, BlobStore, ByteRange } from '../../files/blob-store.js';
import type { RealmId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';

/** An archive to be read, all of it or a part. */
export interface ReadableArchive {
  readonly name: string;
  readonly contentType: string;
  readonly blob: BlobKey;
  /** In bytes. */
  readonly size: number;
  read(range: ByteRange): BlobContent;
}

/** The archive of an export, for whoever has its address: nobody can guess it (organization §8). */
export class ReadExport {
  static readonly inject = ['unitOfWork', 'blobStore'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
  ) {}

  /** `realmId`: at whose address it is asked for; null: at none. Null: there is no archive, or not any more. */
  async execute(
    { realmId }: { readonly realmId: RealmId | null },
    { pathId }: { readonly pathId: string },
  ): Promise<ReadableArchive | null> {
    const found = realmId && (await this.uow.read(({ exports }) => exports.findByPath(realmId, pathId)));
    if (found?.state.status !== 'complete') return null;
    const { blob, size } = found.state;
    const name = pathId.slice(pathId.lastIndexOf('/') + 1);
    return { name, contentType: 'application/gzip', blob, size, read: (range) => this.blobs.read(blob, range) };
  }
}
