import type { Draft, Event, SavedSnippet } from '@parley/client';
import { applyEvent } from '../session/rules.js';
import { ChatState } from './state.js';

const snippet = (id: number, title = 'Hi'): SavedSnippet => ({ id, title, content: '', date_created: 1 });
const draft = (id: number, timestamp: number): Draft => ({ id, type: '', to: [], topic: '', content: '', timestamp });

function changed(state: ChatState, event: object): void {
  applyEvent(state, { id: 1, ...event } as Event);
}

it('adds, changes and removes elements of a list without a separate rule', () => {
  const state = new ChatState();
  state.fields.set('saved_snippets', [snippet(1)]);
  changed(state, { type: 'saved_snippets', op: 'add', saved_snippet: snippet(2) });
  changed(state, { type: 'saved_snippets', op: 'update', saved_snippet: snippet(1, 'Bye') });
  expect(state.fields.get('saved_snippets')).toEqual([snippet(1, 'Bye'), snippet(2)]);
  changed(state, { type: 'saved_snippets', op: 'remove', saved_snippet_id: 1 });
  expect(state.fields.get('saved_snippets')).toEqual([snippet(2)]);
});

it('keeps a sorted list in its order after each change', () => {
  const state = new ChatState();
  state.fields.set('drafts', [draft(1, 50)]);
  changed(state, { type: 'drafts', op: 'add', drafts: [draft(2, 40), draft(3, 60)] });
  changed(state, { type: 'drafts', op: 'update', draft: draft(2, 70) });
  expect(state.fields.get('drafts')).toEqual([draft(2, 70), draft(3, 60), draft(1, 50)]);
  changed(state, { type: 'drafts', op: 'remove', draft_id: 3 });
  expect(state.fields.get('drafts')).toEqual([draft(2, 70), draft(1, 50)]);
});

it('ignores an event for a list that was not requested', () => {
  const state = new ChatState();
  changed(state, { type: 'saved_snippets', op: 'add', saved_snippet: snippet(2) });
  expect(state.fields.get('saved_snippets')).toBeUndefined();
});
