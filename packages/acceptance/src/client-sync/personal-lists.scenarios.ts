import type { Wire } from '../testing/expectations.js';
import { type Rules, replaces } from '../testing/wire-rule.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import { keepDraft, type Scenarios, twoDrafts } from './scenario.js';

const SNIPPET = { title: 'Greeting', content: 'Hello!' };

const VIEW = { fragment: 'narrow/is/starred' };

export const PERSONAL_LISTS_SCENARIOS: Scenarios = {
  'POST /drafts': [
    { title: 'two', as: 'hamlet', given: keepDraft, params: twoDrafts, heard: ['drafts/add'] },
    { title: 'none', as: 'hamlet', given: keepDraft, params: { drafts: [] }, heard: ['drafts/add'] },
  ],
  'PATCH /drafts/:draft_id': [
    {
      title: 'another text',
      as: 'hamlet',
      given: keepDraft,
      at: () => ({ draft_id: 1 }),
      params: { draft: { type: 'private', to: [], topic: '', content: 'done', timestamp: 7 } },
      heard: ['drafts/update'],
    },
  ],
  'DELETE /drafts/:draft_id': [
    { title: 'deleted', as: 'hamlet', given: keepDraft, at: () => ({ draft_id: 1 }), heard: ['drafts/remove'] },
  ],
  'POST /saved_snippets': [
    { title: 'a text', as: 'hamlet', given: saveSnippet, params: SNIPPET, heard: ['saved_snippets/add'] },
  ],
  'PATCH /saved_snippets/:saved_snippet_id': [
    {
      title: 'another title',
      as: 'hamlet',
      given: saveSnippet,
      at: () => ({ saved_snippet_id: 1 }),
      params: { title: 'Farewell' },
      heard: ['saved_snippets/update'],
    },
  ],
  'DELETE /saved_snippets/:saved_snippet_id': [
    {
      title: 'deleted',
      as: 'hamlet',
      given: saveSnippet,
      at: () => ({ saved_snippet_id: 1 }),
      heard: ['saved_snippets/remove'],
    },
  ],
  'POST /navigation_views': [
    {
      title: 'one of their own',
      as: 'hamlet',
      given: addView,
      params: { fragment: 'narrow/is/alerted', name: 'Alerts', is_pinned: false },
      heard: ['navigation_view/add'],
    },
  ],
  'PATCH /navigation_views/*fragment': [
    {
      title: 'pinned',
      as: 'hamlet',
      given: addView,
      at: () => VIEW,
      params: { is_pinned: true },
      heard: ['navigation_view/update'],
    },
  ],
  'DELETE /navigation_views/*fragment': [
    { title: 'deleted', as: 'hamlet', given: addView, at: () => VIEW, heard: ['navigation_view/remove'] },
  ],
  'POST /users/me/onboarding_steps': [
    {
      title: 'shown',
      as: 'hamlet',
      params: { onboarding_step: 'intro_recent_view_modal' },
      heard: ['onboarding_steps'],
    },
  ],
};

function saveSnippet({ server, people }: World): Promise<unknown> {
  return server.post('/saved_snippets', people.hamlet, SNIPPET);
}

function addView({ server, people }: World): Promise<unknown> {
  return server.post('/navigation_views', people.hamlet, { ...VIEW, is_pinned: false });
}

export const PERSONAL_LISTS_RULES: Rules = {
  onboarding_steps: replaces('onboarding_steps'),
  'drafts/add': ({ answer, event }) => putDrafts(answer, event.drafts),
  'drafts/update': ({ answer, event }) => putDrafts(answer, [event.draft]),
  'drafts/remove': ({ answer, event: { draft_id } }) => {
    answer.drafts = answer.drafts.filter(({ id }: Wire) => id !== draft_id);
  },
  'saved_snippets/add': ({ answer, event }) => {
    answer.saved_snippets.push(event.saved_snippet);
  },
  'saved_snippets/update': ({ answer, event: { saved_snippet: changed } }) => {
    answer.saved_snippets = answer.saved_snippets.map((it: Wire) => (it.id === changed.id ? changed : it));
  },
  'saved_snippets/remove': ({ answer, event: { saved_snippet_id } }) => {
    answer.saved_snippets = answer.saved_snippets.filter(({ id }: Wire) => id !== saved_snippet_id);
  },
  'navigation_view/add': ({ answer, event }) => {
    answer.navigation_views.push(event.navigation_view);
  },
  'navigation_view/update': ({ answer, event: { fragment, data } }) => {
    answer.navigation_views = answer.navigation_views.map((it: Wire) =>
      it.fragment === fragment ? { ...it, ...data } : it,
    );
  },
  'navigation_view/remove': ({ answer, event }) => {
    answer.navigation_views = answer.navigation_views.filter(({ fragment }: Wire) => fragment !== event.fragment);
  },
};

/** Sorts drafts by last edit, newest first (events §3.2). */
function putDrafts(answer: Wire, drafts: Wire[]): void {
  const others = answer.drafts.filter((it: Wire) => !drafts.some(({ id }) => id === it.id));
  answer.drafts = [...others, ...drafts].sort((a: Wire, b: Wire) => b.timestamp - a.timestamp || b.id - a.id);
}
