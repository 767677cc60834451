import type { SnippetEventTypes } from '@parley/domain/messages';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { snippet } from './snippet.answers.js';
import { presentSnippet } from './snippet.presenters.js';

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
