import { ChatState, topicKey } from '../kernel/state.js';
import { addUnread, inTopic } from '../messages/unread.js';
import { Conversations } from './conversations.js';
import { Sidebar } from './sidebar.js';

const MUTED = 1;
const UNMUTED = 2;
const FOLLOWED = 3;
const PERSONAL = 3;

function stateWith(policies: Readonly<Record<string, number>> = {}, isMuted = false): ChatState {
  const state = new ChatState();
  const channel = { stream_id: 5, name: 'town', rendered_description: '', is_archived: false };
  state.channels.set(5, { channel, own: { is_muted: isMuted }, membership: 'subscribed' } as never);
  for (const [topic, policy] of Object.entries(policies))
    state.policies.set(topicKey(5, topic), { visibility_policy: policy } as never);
  return state;
}

const countsOf = (state: ChatState) => {
  const sidebar = new Sidebar(state);
  return [sidebar.total.value.count, sidebar.channel(5).value?.unread.count];
};

describe('unread count', () => {
  it.each([
    [{}, false, 3],
    [{ news: MUTED }, false, 1],
    [{}, true, 0],
    [{ news: UNMUTED }, true, 2],
    [{ gossip: FOLLOWED }, true, 1],
  ])('excludes muted conversations (topics %j, channel muted: %s)', (policies, isMuted, expected) => {
    const state = stateWith(policies, isMuted);
    for (const id of [1, 2]) addUnread(state, id, inTopic(5, 'news'), []);
    addUnread(state, 3, inTopic(5, 'gossip'), []);
    expect(countsOf(state)).toEqual([expected, expected]);
  });

  it('excludes archived channels', () => {
    const state = stateWith();
    state.fields.set('user_settings', { desktop_icon_count_display: PERSONAL } as never);
    addUnread(state, 1, inTopic(5, 'news'), ['mentioned']);
    const { total, badge } = new Sidebar(state);
    expect([total.value.count, badge.value]).toEqual([1, 1]);
    state.channels.change(5, (entry) => ({ ...entry, channel: { ...entry.channel, is_archived: true } }));
    expect([total.value.count, badge.value]).toEqual([0, 0]);
  });

  it('exceeds 50,000 if the server omitted older messages', () => {
    const state = stateWith();
    for (let id = 1; id <= 50_000; id++) addUnread(state, id, inTopic(5, 'news'), []);
    state.unread.isTruncated = false;
    expect(new Sidebar(state).total.value.count).toBe(50_000);
    state.unread.isTruncated = true;
    expect(new Sidebar(state).total.value.count).toBe(50_001);
  });
});

it('orders the inbox by the newest unread messages, whether or not read ones are known', () => {
  const state = stateWith();
  addUnread(state, 1, inTopic(5, 'news'), []);
  addUnread(state, 2, inTopic(5, 'gossip'), []);
  const { inbox } = new Conversations(new Sidebar(state), state);
  const order = () => inbox.value.groups[0]?.channels[0]?.topics.map(({ destination }) => destination);
  expect(order()).toEqual([inTopic(5, 'gossip'), inTopic(5, 'news')]);
  state.topics.set(5, new Map([['news', { channelId: 5, name: 'news', maxId: 3 }]]));
  expect(order()).toEqual([inTopic(5, 'gossip'), inTopic(5, 'news')]);
});
