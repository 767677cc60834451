import type { DraftEventTypes } from '@parley/domain/drafts';
import { type Presenters, toAll } from '../events/event-presenter.js';
import { presentDraft } from './draft.presenters.js';

export const DRAFT_EVENTS = {
  'draft.added': toAll('drafts', ({ drafts }) => ({ op: 'add', drafts: drafts.map(presentDraft) })),
  'draft.changed': toAll('drafts', ({ draft }) => ({ op: 'update', draft: presentDraft(draft) })),
  'draft.removed': toAll('drafts', ({ id }) => ({ op: 'remove', draft_id: id })),
} satisfies Presenters<keyof DraftEventTypes>;
