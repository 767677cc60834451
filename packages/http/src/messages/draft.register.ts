import { loadDrafts } from '@parley/domain/messages';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { PresentedList } from '../kernel/json-lists.js';
import * as wire from '../kernel/wire-schema.js';
import { draft } from './draft.answers.js';
import { presentDraft } from './draft.presenters.js';

export const draftsSection: RegisterSection = registerSection({
  name: 'drafts',
  fields: { drafts: wire.listOf(draft) },
  forSpectators: { drafts: [] },
  load: (snapshot) => snapshot.load(loadDrafts),
  present: (drafts) => ({ drafts: new PresentedList(drafts, presentDraft) }),
});
