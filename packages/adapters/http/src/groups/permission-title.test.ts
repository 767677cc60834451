import { permissionTitle } from './group-settings.js';

it.each([
  ['canSubscribe', 'can_subscribe_group'],
  ['canMoveMessagesOutOfChannel', 'can_move_messages_out_of_channel_group'],
  ['canCreateGroups', 'can_create_groups'],
])('permissionTitle converts %s to %s', (name, title) => expect(permissionTitle(name)).toBe(title));
