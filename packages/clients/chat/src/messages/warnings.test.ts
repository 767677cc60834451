import type { Destination } from '../kernel/narrow.js';
import { ChatState } from '../kernel/state.js';
import { warningsFor } from './warnings.js';

const TOPIC: Destination = { kind: 'channel', channelId: 5, topic: 'news' };
const people = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

function stateWith(subscribers: readonly number[] | null): ChatState {
  const state = new ChatState();
  for (const id of people(30)) {
    const user = { user_id: id, full_name: `Person ${id}`, role: id === 30 ? 600 : 400 };
    state.people.set(id, { user, list: 'realm_users' } as never);
  }
  state.channels.set(5, { channel: { subscriber_count: 40 }, membership: 'subscribed' } as never);
  if (subscribers) state.subscribers.set(5, subscribers);
  const group = { deactivated: false, direct_subgroup_ids: [] };
  state.groups.set(7, { ...group, id: 7, name: 'crowd', members: people(16) } as never);
  state.groups.set(8, { ...group, id: 8, name: 'team', members: people(3) } as never);
  state.fields.set('realm_enable_guest_user_dm_warning', true);
  return state;
}

describe('warningsFor', () => {
  it.each([
    ['hello', []],
    ['@**all** look', [{ kind: 'many', count: 20 }]],
    ['@_**all** look', []],
    ['`@**all**` is code', []],
    ['```\n@**all**\n```', []],
    ['@*crowd* look', [{ kind: 'many', count: 16 }]],
    ['@*team* look', []],
    ['@**Person 3** and @**Person 25**, @**Person 26|26**', [{ kind: 'unseen', userIds: [25, 26] }]],
    ['@**Nobody**', []],
  ])('returns the expected warnings for %j', (text, expected) => {
    expect(warningsFor(stateWith(people(20)), TOPIC, text)).toEqual(expected);
  });

  it('takes the active one of two people with the same name', () => {
    const state = stateWith(people(20));
    const user = { user_id: 40, full_name: 'Person 25', role: 400 };
    state.people.set(25, { user: { ...user, user_id: 25 }, list: 'realm_non_active_users' } as never);
    state.people.set(40, { user, list: 'realm_users' } as never);
    expect(warningsFor(state, TOPIC, '@**Person 25**')).toEqual([{ kind: 'unseen', userIds: [40] }]);
  });

  it('counts subscribers without names if not all members are known', () => {
    expect(warningsFor(stateWith(null), TOPIC, '@**all** and @**Person 25**')).toEqual([{ kind: 'many', count: 40 }]);
  });

  it('names guests in direct conversations if the organization enables it', () => {
    const direct: Destination = { kind: 'direct', userIds: [2, 30] };
    const state = stateWith(null);
    expect(warningsFor(state, direct, '')).toEqual([{ kind: 'guests', userIds: [30] }]);
    state.fields.set('realm_enable_guest_user_dm_warning', false);
    expect(warningsFor(state, direct, '')).toEqual([]);
  });
});
