import type { Submessage } from '@parley/client';
import { nextIndex, type WidgetAction, widgetOf } from './widgets.js';

const AUTHOR = 1;
const OTHER = 2;

function submessages(beginning: unknown, ...actions: readonly (readonly [sender: number, action: WidgetAction])[]) {
  const row = (id: number, sender_id: number, content: unknown): Submessage => ({
    id,
    message_id: 7,
    sender_id,
    msg_type: 'widget',
    content: JSON.stringify(content),
  });
  return [row(1, AUTHOR, beginning), ...actions.map(([sender, action], at) => row(at + 2, sender, action))];
}

const poll = { widget_type: 'poll', extra_data: { question: 'Where?', options: ['Rome', 'Verona'] } };
const todo = { widget_type: 'todo', extra_data: { task_list_title: 'Party', tasks: [{ task: 'Cake', desc: 'big' }] } };

describe('poll', () => {
  it('counts one vote per person and option until it is withdrawn', () => {
    const vote = (vote: 1 | -1, key = 'canned,1') => ({ type: 'vote', key, vote }) as const;
    const rows = submessages(poll, [OTHER, vote(1)], [OTHER, vote(1)], [AUTHOR, vote(1)], [AUTHOR, vote(-1)]);
    expect(widgetOf(rows)).toEqual({
      kind: 'poll',
      question: 'Where?',
      options: [
        { key: 'canned,0', text: 'Rome', voterIds: [] },
        { key: 'canned,1', text: 'Verona', voterIds: [OTHER] },
      ],
    });
  });

  it('accepts options once from everyone, and a new question only from the author', () => {
    const rows = submessages(
      poll,
      [OTHER, { type: 'new_option', option: 'Venice', idx: 1 }],
      [OTHER, { type: 'new_option', option: 'Rome', idx: 2 }],
      [OTHER, { type: 'question', question: 'Why?' }],
      [AUTHOR, { type: 'question', question: 'When?' }],
      [AUTHOR, { type: 'vote', key: `${OTHER},1`, vote: 1 }],
    );
    const widget = widgetOf(rows);
    expect(widget).toMatchObject({ question: 'When?' });
    expect(widget).toHaveProperty('options.length', 3);
    expect(widget).toHaveProperty('options.2', { key: `${OTHER},1`, text: 'Venice', voterIds: [AUTHOR] });
    expect(nextIndex(rows, OTHER)).toBe(3);
    expect(nextIndex(rows, AUTHOR)).toBe(1);
  });
});

describe('to-do list', () => {
  it('accepts tasks and ticks from everyone', () => {
    const rows = submessages(
      todo,
      [OTHER, { type: 'new_task', key: 1, task: 'Candles', desc: '', completed: false }],
      [AUTHOR, { type: 'strike', key: `1,${OTHER}` }],
      [AUTHOR, { type: 'strike', key: '0,canned' }],
      [OTHER, { type: 'strike', key: '0,canned' }],
    );
    expect(widgetOf(rows)).toEqual({
      kind: 'todo',
      title: 'Party',
      tasks: [
        { key: '0,canned', text: 'Cake', detail: 'big', isDone: false },
        { key: `1,${OTHER}`, text: 'Candles', detail: '', isDone: true },
      ],
    });
  });
});

it('ignores invalid widgets', () => {
  expect(widgetOf([])).toBeNull();
  expect(widgetOf(submessages({ widget_type: 'zform' }))).toBeNull();
  const broken = submessages(poll).map((row) => ({ ...row, content: '{' }));
  expect(widgetOf(broken)).toBeNull();
});
