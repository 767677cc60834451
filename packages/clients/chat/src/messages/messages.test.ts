import { ChatState } from '../kernel/state.js';
import { MESSAGE_RULES } from './messages.js';

describe('moves', () => {
  const movedAt = (change: object): number | undefined => {
    const state = new ChatState();
    state.messages.set(1, { id: 1, stream_id: 5, subject: 'news', flags: [] } as never);
    MESSAGE_RULES.update_message!(state, {
      type: 'update_message',
      message_id: 1,
      message_ids: [1],
      stream_id: 5,
      orig_subject: 'news',
      propagate_mode: 'change_all',
      edit_timestamp: 70,
      rendering_only: false,
      flags: [],
      ...change,
    } as never);
    return state.messages.peek(1)!.last_moved_timestamp;
  };

  it.each([
    ['to another topic', { subject: 'old news' }, 70],
    ['to another channel with the same topic', { new_stream_id: 6 }, 70],
    ['to a resolved topic of the same name', { subject: '✔ news' }, undefined],
    ['to a topic without the mark inside of the name', { orig_subject: 'old ✔ news', subject: 'old news' }, 70],
    ['from a resolved topic of the same name', { orig_subject: '✔ news', subject: 'news' }, undefined],
  ])('mark messages as moved except when a topic is resolved: %s', (_, change, time) => {
    expect(movedAt(change)).toBe(time);
  });
});
