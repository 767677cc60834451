import { loadSnippets } from '@parley/domain/snippets';
import { PresentedList } from '../events/register-answer.js';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { presentSnippet } from './snippet.presenters.js';

export const snippetsSection: RegisterSection = registerSection({
  name: 'saved_snippets',
  forSpectators: { saved_snippets: [] },
  load: (snapshot) => snapshot.load(loadSnippets),
  present: (snippets) => ({ saved_snippets: new PresentedList(snippets, presentSnippet) }),
});
