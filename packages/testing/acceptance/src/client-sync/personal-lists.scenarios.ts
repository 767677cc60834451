import type { WireWorld as World } from '../testing/wire-world.js';
import { keepDraft, type Scenarios, twoDrafts } from './scenario.js';

const VIEW = { fragment: 'narrow/is/starred' };

export const PERSONAL_LISTS_SCENARIOS: Scenarios = {
  'POST /drafts': [
    { title: 'two', as: 'hamlet', prepare: keepDraft, params: twoDrafts, heard: ['drafts/add'] },
    { title: 'none', as: 'hamlet', prepare: keepDraft, params: { drafts: [] }, heard: ['drafts/add'] },
  ],
  'PATCH /drafts/:draft_id': [
    {
      title: 'another text',
      as: 'hamlet',
      prepare: keepDraft,
      at: () => ({ draft_id: 1 }),
      params: { draft: { type: 'private', to: [], topic: '', content: 'done', timestamp: 7 } },
      heard: ['drafts/update'],
    },
  ],
  'DELETE /drafts/:draft_id': [
    { title: 'deleted', as: 'hamlet', prepare: keepDraft, at: () => ({ draft_id: 1 }), heard: ['drafts/remove'] },
  ],
  'POST /navigation_views': [
    {
      title: 'a custom view',
      as: 'hamlet',
      prepare: addView,
      params: { fragment: 'narrow/is/alerted', name: 'Alerts', is_pinned: false },
      heard: ['navigation_view/add'],
    },
  ],
  'PATCH /navigation_views/*fragment': [
    {
      title: 'pinned',
      as: 'hamlet',
      prepare: addView,
      at: () => VIEW,
      params: { is_pinned: true },
      heard: ['navigation_view/update'],
    },
  ],
  'DELETE /navigation_views/*fragment': [
    { title: 'deleted', as: 'hamlet', prepare: addView, at: () => VIEW, heard: ['navigation_view/remove'] },
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

function addView({ server, people }: World): Promise<unknown> {
  return server.post('/navigation_views', people.hamlet, { ...VIEW, is_pinned: false });
}
