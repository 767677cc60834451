import type { Event } from '@parley/client';
import { ChatState } from '../kernel/state.js';
import { applyEvent } from '../session/rules.js';

const SELF = 7;
const GROUP = 3;

describe('own permissions', () => {
  let state: ChatState;

  beforeEach(() => {
    state = new ChatState();
    state.fields.set('user_id', SELF);
    state.groups.set(GROUP, { id: GROUP, members: [], direct_subgroup_ids: [] } as never);
    for (const kind of ['public', 'private', 'web_public'] as const)
      state.fields.set(`realm_can_create_${kind}_channel_group`, GROUP);
    state.fields.set('server_web_public_streams_enabled', true);
  });

  const joinGroup = () =>
    applyEvent(state, { type: 'user_group', op: 'add_members', group_id: GROUP, user_ids: [SELF] } as unknown as Event);

  it('include public channels for members of the group', () => {
    joinGroup();
    expect(state.fields.peek('can_create_public_streams')).toBe(true);
  });

  it('exclude web-public channels while the organization has no spectators', () => {
    state.fields.set('realm_enable_spectator_access', false);
    joinGroup();
    expect(state.fields.peek('can_create_web_public_streams')).toBe(false);
  });

  it('exclude web-public channels while the server has none', () => {
    state.fields.set('server_web_public_streams_enabled', false);
    state.fields.set('realm_enable_spectator_access', true);
    joinGroup();
    expect(state.fields.peek('can_create_web_public_streams')).toBe(false);
  });

  it('include web-public channels as soon as the organization permits spectators', () => {
    joinGroup();
    applyEvent(state, {
      ...{ type: 'realm', op: 'update_dict', property: 'default' },
      data: { enable_spectator_access: true },
    } as unknown as Event);
    expect(state.fields.peek('can_create_web_public_streams')).toBe(true);
  });
});

describe('former policies', () => {
  it.each([
    ['role:moderators', 4, 4],
    ['role:owners', 1, 7],
    ['role:nobody', 1, 6],
  ])('stand for the group %s as in the initial state', (name, creators, ofWebPublic) => {
    const state = new ChatState();
    state.groups.set(GROUP, { id: GROUP, name, members: [], direct_subgroup_ids: [] } as never);
    const data = Object.fromEntries(
      ['public', 'private', 'web_public'].map((kind) => [`can_create_${kind}_channel_group`, GROUP]),
    );
    applyEvent(state, { type: 'realm', op: 'update_dict', property: 'default', data } as unknown as Event);
    expect(state.fields.peek('realm_create_public_stream_policy')).toBe(creators);
    expect(state.fields.peek('realm_create_private_stream_policy')).toBe(creators);
    expect(state.fields.peek('realm_create_web_public_stream_policy')).toBe(ofWebPublic);
  });
});
