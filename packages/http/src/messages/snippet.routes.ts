import type { SnippetId } from '@parley/domain/kernel';
import { ChangeSnippet, CreateSnippet, DeleteSnippet, ListSnippets } from '@parley/domain/messages';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import { IntegerParam, NoParameters, TextParam } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';
import { snippet } from './snippet.answers.js';
import { presentSnippet } from './snippet.presenters.js';

const TITLE = { strip: true, notBlank: true, max: 60 };
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
  const turns = new Turns();
  return [
    route('GET', '/saved_snippets', {
      auth: 'user',
      dto: NoParameters,
      useCase: ListSnippets,
      answer: wire.fields({ saved_snippets: wire.listOf(snippet) }),
      present: (snippets) => presentLongList(turns, 'saved_snippets', new PresentedList(snippets, presentSnippet)),
    }),
    route('POST', '/saved_snippets', {
      auth: 'user',
      dto: CreateSnippetDto,
      useCase: CreateSnippet,
      toInput: ({ title, content }) => ({ title, content }),
      answer: wire.fields({ saved_snippet_id: wire.integer() }),
      present: (id) => ({ saved_snippet_id: id }),
    }),
    route('PATCH', '/saved_snippets/:saved_snippet_id', {
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
      auth: 'user',
      dto: DeleteSnippetDto,
      useCase: DeleteSnippet,
      toInput: ({ saved_snippet_id }) => ({ id: saved_snippet_id as SnippetId }),
    }),
  ];
}
