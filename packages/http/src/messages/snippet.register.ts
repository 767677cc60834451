import { loadSnippets } from '@parley/domain/messages';
import { type RegisterSection, registerSection } from '../events/register-section.js';
import { PresentedList } from '../kernel/json-lists.js';
import * as wire from '../kernel/wire-schema.js';
import { snippet } from './snippet.answers.js';
import { presentSnippet } from './snippet.presenters.js';

export const snippetsSection: RegisterSection = registerSection({
  name: 'saved_snippets',
  fields: { saved_snippets: wire.listOf(snippet) },
  forSpectators: { saved_snippets: [] },
  load: (snapshot) => snapshot.load(loadSnippets),
  present: (snippets) => ({ saved_snippets: new PresentedList(snippets, presentSnippet) }),
});
