import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { AttachedFile } from '../file.js';

const AT_A_TIME = 200;

export interface ListFilesOutput {
  /** Oldest first. */
  readonly files: readonly AttachedFile[];
  /** Of all files of the realm. */
  readonly usedBytes: number;
}

/** One's own files (users §16). */
export class ListFiles {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<ListFilesOutput> {
    return this.uow.read(async (reads) => {
      const files: AttachedFile[] = [];
      for (;;) {
        const page = await reads.files.list(realmId, userId, files.at(-1)?.id ?? 0, AT_A_TIME);
        files.push(...page);
        if (page.length < AT_A_TIME) return { files, usedBytes: await reads.files.usedBytes(realmId) };
        await reads.yield();
      }
    });
  }
}
