import { ChangeDraft, CreateDrafts, DeleteDraft, ListDrafts } from '@parley/domain/messages';
import { PresentedList, presentLongList } from '../kernel/json-lists.js';
import { NoParameters } from '../kernel/params.js';
import { type Route, route } from '../kernel/route.js';
import { Turns } from '../kernel/turns.js';
import * as wire from '../kernel/wire-schema.js';
import { draft } from './draft.answers.js';
import {
  ChangeDraftDto,
  CreateDraftsDto,
  DeleteDraftDto,
  toChangeDraftInput,
  toCreateDraftsInput,
  toDraftId,
} from './draft.dtos.js';
import { presentDraft } from './draft.presenters.js';

const OF_SYNCHRONIZED = { auth: 'user', roleRequirements: ['synchronizesDrafts'] } as const;

export function draftRoutes(): readonly Route[] {
  const turns = new Turns();
  return [
    route('GET', '/drafts', {
      ...OF_SYNCHRONIZED,
      dto: NoParameters,
      useCase: ListDrafts,
      answer: wire.fields({ count: wire.integer(), drafts: wire.listOf(draft) }),
      present: (drafts) =>
        presentLongList(turns, 'drafts', new PresentedList(drafts, presentDraft), { count: drafts.length }),
    }),
    route('POST', '/drafts', {
      ...OF_SYNCHRONIZED,
      dto: CreateDraftsDto,
      useCase: CreateDrafts,
      toInput: toCreateDraftsInput,
      answer: wire.fields({ ids: wire.listOf(wire.integer()) }),
      present: (ids) => ({ ids }),
    }),
    route('PATCH', '/drafts/:draft_id', {
      ...OF_SYNCHRONIZED,
      dto: ChangeDraftDto,
      useCase: ChangeDraft,
      toInput: toChangeDraftInput,
    }),
    route('DELETE', '/drafts/:draft_id', {
      ...OF_SYNCHRONIZED,
      dto: DeleteDraftDto,
      useCase: DeleteDraft,
      toInput: toDraftId,
    }),
  ];
}
