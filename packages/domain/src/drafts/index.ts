export { type Draft, type DraftRepository, mustSynchronizeDrafts, type NewDraft } from './draft.js';

import './draft-errors.js';

export type { DraftEventTypes } from './draft-events.js';
export { loadDrafts } from './draft-loaders.js';
export type { DraftInput } from './parse-drafts.js';
export * from './use-cases/change-draft.js';
export * from './use-cases/create-drafts.js';
export * from './use-cases/delete-draft.js';
export * from './use-cases/list-drafts.js';
