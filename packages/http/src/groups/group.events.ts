import type { GroupSettingValue } from '@parley/domain/access';
import type { GroupEventTypes } from '@parley/domain/groups';
import type { EventOf } from '@parley/domain/kernel';
import { form, formWithout } from '../events/event-forms.js';
import { type EventContext, opened, type Presented, type Presenters, toAll } from '../events/event-presenter.js';
import { can } from '../events/queue-presentation.js';
import * as wire from '../kernel/wire-schema.js';
import { group, groupChange } from './group.answers.js';
import { presentGroup } from './group.presenters.js';
import { presentGroupSetting } from './group-setting.presenters.js';
import { permissionTitle } from './permission-title.js';

const CAPABILITY = 'include_deactivated_groups';

const ADDED = form('user_group', { op: wire.oneOf('add'), group });
const CHANGED = form('user_group', { op: wire.oneOf('update'), group_id: wire.integer(), data: groupChange });
const REMOVED = formWithout(CAPABILITY, 'user_group', { op: wire.oneOf('remove'), group_id: wire.integer() });

export const GROUP_EVENTS = {
  'group.created': {
    forms: [ADDED],
    present: ({ view }, context) =>
      view ? [[context.shared('', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]] : [],
  },
  'group.members_changed': toAll(
    form('user_group', {
      op: wire.oneOf('add_members', 'remove_members'),
      group_id: wire.integer(),
      user_ids: wire.listOf(wire.integer()),
    }),
    ({ op, groupId, userIds }) => ({ op: `${op}_members`, group_id: groupId, user_ids: userIds }),
  ),
  'group.subgroups_changed': toAll(
    form('user_group', {
      op: wire.oneOf('add_subgroups', 'remove_subgroups'),
      group_id: wire.integer(),
      direct_subgroup_ids: wire.listOf(wire.integer()),
    }),
    ({ op, groupId, subgroupIds }) => ({ op: `${op}_subgroups`, group_id: groupId, direct_subgroup_ids: subgroupIds }),
  ),
  'group.property_changed': { forms: [CHANGED], present: presentGroupChange },
  'group.activation_changed': { forms: [CHANGED, ADDED, REMOVED], present: presentGroupActivation },
} satisfies Presenters<keyof GroupEventTypes>;

/** Names of deactivated groups change for those only who know of such groups (users §12.3). */
function presentGroupChange(event: EventOf<'group.property_changed'>, context: EventContext): Presented {
  const { groupId: group_id, isDeactivated, property, value } = event;
  const isHidden = isDeactivated && property === 'name';
  if (isHidden && !can(context.presentation, CAPABILITY)) return [];
  const data =
    property === 'name' || property === 'description'
      ? { [property]: value }
      : { [permissionTitle(property)]: presentGroupSetting(value as GroupSettingValue) };
  return [[context.shared('', () => opened({ type: 'user_group', op: 'update', group_id, data }))]];
}

/** Events §2, `include_deactivated_groups`. */
function presentGroupActivation({ view }: EventOf<'group.activation_changed'>, context: EventContext): Presented {
  if (can(context.presentation, CAPABILITY)) {
    const data = { deactivated: view.isDeactivated };
    return [[context.shared('update', () => opened({ type: 'user_group', op: 'update', group_id: view.id, data }))]];
  }
  return view.isDeactivated
    ? [[context.shared('remove', () => opened({ type: 'user_group', op: 'remove', group_id: view.id }))]]
    : [[context.shared('add', () => opened({ type: 'user_group', op: 'add', group: presentGroup(view) }))]];
}
