import type { SnippetId } from '@parley/domain/kernel';
import {
  ChangeSnippet,
  CreateSnippet,
  DeleteSnippet,
  ListSnippets,
  loadSnippets,
  type Snippet,
  type SnippetEventTypes,
} from '@parley/domain/messages';
import type { HttpFeature } from '../declarations/feature.js';
import { type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { form, type Presenters, toAll } from '../delivery/event-presenter.js';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import { IntegerParam, NoParameters, TextParam } from '../kernel/params.js';
import { YieldingScheduler } from '../limits/yielding.js';
import type { WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

/** Users §18. */
export const snippet = wire.named(
  'SavedSnippet',
  wire.fields({ id: wire.integer(), title: wire.text(), content: wire.text(), date_created: wire.integer() }),
);

export const SNIPPET_WIRE_ERRORS = {
  UNKNOWN_SNIPPET: { status: 404 },
} as const satisfies WireErrors;

/** Users §18. */
export const presentSnippet = ({ id, title, content, createdAt }: Snippet) => ({
  id,
  title,
  content,
  date_created: createdAt,
});

export const SNIPPET_EVENTS = {
  'snippet.added': toAll(form('saved_snippets', { op: wire.oneOf('add'), saved_snippet: snippet }), (event) => ({
    op: 'add',
    saved_snippet: presentSnippet(event.snippet),
  })),
  'snippet.changed': toAll(form('saved_snippets', { op: wire.oneOf('update'), saved_snippet: snippet }), (event) => ({
    op: 'update',
    saved_snippet: presentSnippet(event.snippet),
  })),
  'snippet.removed': toAll(
    form('saved_snippets', { op: wire.oneOf('remove'), saved_snippet_id: wire.integer() }),
    ({ id }) => ({ op: 'remove', saved_snippet_id: id }),
  ),
} satisfies Presenters<keyof SnippetEventTypes>;

export const snippetsSection: RegisterSection = registerSection({
  name: 'saved_snippets',
  fields: { saved_snippets: wire.listOf(snippet) },
  forSpectators: { saved_snippets: [] },
  load: (snapshot) => snapshot.load(loadSnippets),
  present: (snippets) => ({ saved_snippets: new PresentedList(snippets, presentSnippet) }),
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

class DeleteSnippetDto {
  @IntegerParam() saved_snippet_id!: number;
}

export function snippetRoutes(): readonly Route[] {
  const scheduler = new YieldingScheduler();
  return [
    route('GET', '/saved_snippets', {
      summary: 'List saved snippets',
      section: 'users §18',
      withoutPage: 'state',
      auth: 'user',
      dto: NoParameters,
      useCase: ListSnippets,
      response: wire.fields({ saved_snippets: wire.listOf(snippet) }),
      present: (snippets) => presentLongList(scheduler, 'saved_snippets', new PresentedList(snippets, presentSnippet)),
    }),
    route('POST', '/saved_snippets', {
      summary: 'Create a saved snippet',
      section: 'users §18',
      auth: 'user',
      dto: CreateSnippetDto,
      useCase: CreateSnippet,
      toInput: ({ title, content }) => ({ title, content }),
      response: wire.fields({ saved_snippet_id: wire.integer() }),
      present: (id) => ({ saved_snippet_id: id }),
    }),
    route('PATCH', '/saved_snippets/:saved_snippet_id', {
      summary: 'Change a saved snippet',
      section: 'users §18',
      auth: 'user',
      dto: ChangeSnippetDto,
      useCase: ChangeSnippet,
      toInput: ({ saved_snippet_id, title = null, content = null }) => ({
        id: saved_snippet_id as SnippetId,
        title,
        content,
      }),
    }),
    route('DELETE', '/saved_snippets/:saved_snippet_id', {
      summary: 'Delete a saved snippet',
      section: 'users §18',
      auth: 'user',
      dto: DeleteSnippetDto,
      useCase: DeleteSnippet,
      toInput: ({ saved_snippet_id }) => ({ id: saved_snippet_id as SnippetId }),
    }),
  ];
}

export const SNIPPETS = {
  tag: 'Drafts, snippets and schedules',
  routes: snippetRoutes,
  events: SNIPPET_EVENTS,
  errors: SNIPPET_WIRE_ERRORS,
  registerSections: () => [snippetsSection],
} satisfies HttpFeature;
