import type { DraftEventTypes } from '@parley/domain/messages';
import { form } from '../events/event-forms.js';
import { type Presenters, toAll } from '../events/event-presenter.js';
import * as wire from '../kernel/wire-schema.js';
import { draft } from './draft.answers.js';
import { presentDraft } from './draft.presenters.js';

export const DRAFT_EVENTS = {
  'draft.added': toAll(form('drafts', { op: wire.oneOf('add'), drafts: wire.listOf(draft) }), ({ drafts }) => ({
    op: 'add',
    drafts: drafts.map(presentDraft),
  })),
  'draft.changed': toAll(form('drafts', { op: wire.oneOf('update'), draft }), (event) => ({
    op: 'update',
    draft: presentDraft(event.draft),
  })),
  'draft.removed': toAll(form('drafts', { op: wire.oneOf('remove'), draft_id: wire.integer() }), ({ id }) => ({
    op: 'remove',
    draft_id: id,
  })),
} satisfies Presenters<keyof DraftEventTypes>;
