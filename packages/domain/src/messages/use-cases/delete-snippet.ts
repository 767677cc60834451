import type { Caller } from '../../kernel/caller.js';
import type { SnippetId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { knownSnippet } from '../snippet.js';
import { publishSnippet } from '../snippet-events.js';

/** Deletes a saved snippet of one's own (users §18). */
export class DeleteSnippet {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_SNIPPET */
  execute({ realmId, userId }: Caller, { id }: { readonly id: SnippetId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const snippet = knownSnippet(await tx.snippets.find(realmId, userId, id));
      await tx.snippets.remove(realmId, userId, id);
      await publishSnippet(tx, snippet, { type: 'snippet.removed', id });
    });
  }
}
