import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';

/** One's own, oldest first (users §10). */
export class ListAlertWords {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly string[]> {
    return this.uow.read(({ alertWords }) => alertWords.list(realmId, userId));
  }
}
