import type { Caller } from '../../kernel/caller.js';
import type { SnippetId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { knownSnippet, requireRoomForSnippetText } from '../snippet.js';
import { publishSnippet } from '../snippet-events.js';

/** Null: as it is. */
export interface ChangeSnippetInput {
  readonly id: SnippetId;
  readonly title: string | null;
  readonly content: string | null;
}

/** Changes a saved snippet of one's own (users §18). */
export class ChangeSnippet {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_SNIPPET, TOO_MANY_SNIPPETS */
  execute({ realmId, userId }: Caller, { id, title, content }: ChangeSnippetInput): Promise<void> {
    return this.uow.write(async (tx) => {
      const before = knownSnippet(await tx.snippets.find(realmId, userId, id));
      if (title === null && content === null) return;
      const snippet = { ...before, title: title ?? before.title, content: content ?? before.content };
      const present = await tx.snippets.countBytes(realmId, userId);
      requireRoomForSnippetText(present, [snippet.content], [before.content]);
      await tx.snippets.update(snippet);
      await publishSnippet(tx, snippet, { type: 'snippet.changed', snippet });
    });
  }
}
