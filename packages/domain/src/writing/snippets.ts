import { declareErrors } from '../kernel/errors.js';
import type { FeatureParts } from '../kernel/event.js';
import type { SnippetId, UnixSeconds } from '../kernel/ids.js';
import { adding, changing, listing, PersonalList, type PersonalListPorts, removing } from '../kernel/personal-list.js';
import type { UserRow } from '../kernel/rows.js';
import * as shape from '../kernel/shape.js';
import { MAX_KEPT_TEXT_BYTES } from '../kernel/text.js';

/** Text that a user saved for reuse. */
export interface Snippet extends UserRow {
  readonly id: SnippetId;
  readonly title: string;
  /** Markdown. */
  readonly content: string;
  readonly createdAt: UnixSeconds;
}

/** Per user. */
export const MAX_SNIPPETS = 1000;

export const SNIPPET_ERRORS = declareErrors({
  /** The caller has no such saved snippet. */
  UNKNOWN_SNIPPET: 'unknown',
  /** The user has too many saved snippets, or too much text in them. */
  TOO_MANY_SNIPPETS: 'conflict',
});
type SnippetErrors = typeof SNIPPET_ERRORS;

/** Sent to the owner of the snippets (users §18). */
export interface SnippetEventTypes {
  'snippet.added': { readonly snippet: Snippet };
  'snippet.changed': { readonly snippet: Snippet };
  'snippet.removed': { readonly id: SnippetId };
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    snippets: PersonalListPorts<Snippet>;
  }
  interface ErrorCodes extends SnippetErrors {}
  interface DomainEventTypes extends SnippetEventTypes {}
  interface PersonCopyParts {
    readonly snippets: readonly Snippet[];
  }
  interface IdKindParts {
    snippet: SnippetId;
  }
}

/** Oldest first. */
export const SNIPPET_LIST = new PersonalList<Snippet>('snippets', {
  rows: {
    kind: 'snippet',
    order: ['id'],
    texts: ['content'],
    exported: {
      noun: 'saved snippet',
      shape: { title: shape.name, content: shape.content, createdAt: shape.time },
      max: 100_000,
      imported: ({ content }, { rewriter }) => ({ content: rewriter.markdown(content) }),
    },
  },
  max: MAX_SNIPPETS,
  unknown: ['UNKNOWN_SNIPPET', 'Saved snippet does not exist.'],
  tooMany: ['TOO_MANY_SNIPPETS', `Too many saved snippets (limit: ${MAX_SNIPPETS}).`],
  tooLong: ['TOO_MANY_SNIPPETS', `Too much text in saved snippets (limit: ${MAX_KEPT_TEXT_BYTES} bytes).`],
  events: {
    added: (snippet) => ({ type: 'snippet.added', snippet }),
    changed: (snippet) => ({ type: 'snippet.changed', snippet }),
    removed: ({ id }) => ({ type: 'snippet.removed', id }),
  },
});

export const SNIPPET_FEATURE = {
  eventFormats: { 'snippet.added': 1, 'snippet.changed': 1, 'snippet.removed': 1 },
  rows: { snippets: SNIPPET_LIST.rows },
} satisfies FeatureParts<SnippetEventTypes>;

/** Lists the caller's snippets, oldest first (users §18). */
export class ListSnippets extends listing(SNIPPET_LIST) {}

/** Saves a text for reuse (users §18). @throws DomainError TOO_MANY_SNIPPETS */
export class CreateSnippet extends adding(
  SNIPPET_LIST,
  ({ title, content }: Pick<Snippet, 'title' | 'content'>, createdAt) => ({ title, content, createdAt }),
) {}

/** Changes one of the caller's snippets (users §18). @throws DomainError UNKNOWN_SNIPPET, TOO_MANY_SNIPPETS */
export class ChangeSnippet extends changing(SNIPPET_LIST, 'title', 'content') {}

/** Deletes one of the caller's snippets (users §18). @throws DomainError UNKNOWN_SNIPPET */
export class DeleteSnippet extends removing(SNIPPET_LIST) {}
