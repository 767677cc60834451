import type { GroupId } from '../kernel/ids.js';
import { type Actor, isGuest } from './actor.js';
import type { GroupSettingDefinition } from './group-setting.js';

/** What a grant reads of whoever asks. */
export type PermissionHolder = Pick<Actor, 'role' | 'groups'>;

/**
 * The one way to ask for a permission (channels §3.3). Guests never pass one that cannot be given to everyone, whatever
 * groups they are in. Nobody passes by their role alone: where administrators do, a rule says so.
 */
export function isGranted(
  actor: PermissionHolder,
  groupId: GroupId,
  definition: Pick<GroupSettingDefinition, 'allowEveryone'>,
): boolean {
  return (definition.allowEveryone || !isGuest(actor)) && actor.groups.has(groupId);
}
