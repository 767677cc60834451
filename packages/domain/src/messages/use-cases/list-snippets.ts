import type { Caller } from '../../kernel/caller.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { MAX_SNIPPETS, type Snippet } from '../snippet.js';

/** One's own, oldest first (users §18). */
export class ListSnippets {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  execute({ realmId, userId }: Caller): Promise<readonly Snippet[]> {
    return this.uow.read(({ snippets }) => snippets.list(realmId, userId, MAX_SNIPPETS));
  }
}
