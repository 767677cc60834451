import { ChatState } from '../kernel/state.js';
import { addUnread, directWith, inTopic, markRead } from './unread.js';

describe('destinations of unread messages', () => {
  let state: ChatState;
  const of = (id: number) => state.unread.destinations.get(id);

  beforeEach(() => {
    state = new ChatState();
    addUnread(state, 1, inTopic(5, 'news'), []);
    addUnread(state, 2, inTopic(5, 'news'), []);
  });

  it('are one object per conversation', () => {
    for (const id of [3, 4]) addUnread(state, id, directWith([8, 7, 9], 9), []);
    expect(of(2)).toBe(of(1));
    expect(of(4)).toBe(of(3));
    expect(of(4)).toEqual({ kind: 'direct', userIds: [7, 8] });
  });

  it('are one object after the first message was read', () => {
    markRead(state, [1]);
    addUnread(state, 3, inTopic(5, 'news'), []);
    expect(of(3)).toBe(of(2));
  });

  it('keep the spelling of their topic', () => {
    addUnread(state, 3, inTopic(5, 'News'), []);
    expect([of(2), of(3)]).toEqual([inTopic(5, 'news'), inTopic(5, 'News')]);
  });
});
