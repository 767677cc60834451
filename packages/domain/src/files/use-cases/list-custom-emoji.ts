import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import type { CustomEmoji } from '../custom-emoji.js';

/** All of the organization, deactivated ones too; ascending id (organization §7). */
export class ListCustomEmoji {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId }: Caller): Promise<readonly CustomEmoji[]> {
    return this.uow.read(({ customEmoji }) => customEmoji.list(realmId));
  }
}
