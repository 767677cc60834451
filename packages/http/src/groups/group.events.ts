import type { EventOf, GroupEventTypes } from '@parley/domain';
import { type EventContext, opened, type Presented, type Presenters, toAll } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import { presentGroup } from './group.presenters.js';

export const GROUP_EVENTS = {
  'group.created': {
    wireTypes: ['user_group'],
    present: ({ view }, context) =>
      view ? [[context.shared('', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]] : [],
  },
  'group.members_changed': toAll('user_group', ({ op, groupId, userIds }) => ({
    op: `${op}_members`,
    group_id: groupId,
    user_ids: userIds,
  })),
  'group.subgroups_changed': toAll('user_group', ({ op, groupId, subgroupIds }) => ({
    op: `${op}_subgroups`,
    group_id: groupId,
    direct_subgroup_ids: subgroupIds,
  })),
  'group.activation_changed': { wireTypes: ['user_group'], present: presentGroupActivation },
} satisfies Presenters<keyof GroupEventTypes>;

/** Events §2, `include_deactivated_groups`. */
function presentGroupActivation({ view }: EventOf<'group.activation_changed'>, context: EventContext): Presented {
  if (can(context.presentation, 'include_deactivated_groups')) {
    const data = { deactivated: view.isDeactivated };
    return [[context.shared('update', () => opened({ type: 'user_group', op: 'update', group_id: view.id, data }))]];
  }
  return view.isDeactivated
    ? [[context.shared('remove', () => opened({ type: 'user_group', op: 'remove', group_id: view.id }))]]
    : [[context.shared('add', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]];
}
