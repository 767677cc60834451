import type { SnippetId } from '@parley/domain/kernel';
import {
  ChangeSnippet,
  CreateSnippet,
  DeleteSnippet,
  ListSnippets,
  SNIPPET_LIST,
  type Snippet,
  type SnippetEventTypes,
} from '@parley/domain/writing';
import type { HttpFeature } from '../declarations/feature.js';
import { WireList } from '../declarations/personal-list.js';
import type { Presenters } from '../delivery/event-presenter.js';
import { IntegerParam, TextParam } from '../params/params.js';
import * as wire from '../wire/schema.js';

const LIST = new WireList<Snippet>({
  name: 'saved_snippets',
  element: 'saved_snippet',
  noun: 'saved snippet',
  section: 'users §18',
  schema: wire.named(
    'SavedSnippet',
    wire.fields({ id: wire.integer(), title: wire.text(), content: wire.text(), date_created: wire.integer() }),
  ),
  present: ({ id, title, content, createdAt }) => ({ id, title, content, date_created: createdAt }),
});

const TITLE = { strip: true, notBlank: true, max: 60, description: 'Title.' };
const CONTENT = { strip: true, notBlank: true, max: 10_000 };

class CreateSnippetDto {
  @TextParam(TITLE) title!: string;
  @TextParam(CONTENT) content!: string;
}

class ChangeSnippetDto {
  @IntegerParam() saved_snippet_id!: number;
  @TextParam({ ...TITLE, optional: true }) title?: string;
  @TextParam({ ...CONTENT, optional: true }) content?: string;
}

export const SNIPPETS = {
  tag: 'Drafts, snippets and schedules',
  routes: () => [
    LIST.listRoute(ListSnippets, { withoutPage: 'state' }),
    LIST.createRoute(CreateSnippet, CreateSnippetDto, ({ title, content }) => ({ title, content })),
    LIST.changeRoute(ChangeSnippet, ChangeSnippetDto, ({ saved_snippet_id, title = null, content = null }) => ({
      id: saved_snippet_id as SnippetId,
      title,
      content,
    })),
    LIST.deleteRoute(DeleteSnippet),
  ],
  events: {
    'snippet.added': LIST.added(({ snippet }) => [snippet]),
    'snippet.changed': LIST.changed(({ snippet }) => snippet),
    'snippet.removed': LIST.removed(),
  } satisfies Presenters<keyof SnippetEventTypes>,
  errors: { UNKNOWN_SNIPPET: { status: 404 } },
  registerSections: () => [LIST.registerSection(SNIPPET_LIST.load)],
} satisfies HttpFeature;
