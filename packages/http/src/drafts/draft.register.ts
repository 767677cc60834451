import { loadDrafts } from '@parley/domain/drafts';
import { PresentedList } from '../events/register-answer.js';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentDraft } from './draft.presenters.js';

export const draftsSection: RegisterSection = registerSection({
  name: 'drafts',
  forSpectators: { drafts: [] },
  load: (snapshot) => snapshot.load(loadDrafts),
  present: (drafts) => ({ drafts: new PresentedList(drafts, presentDraft) }),
});
