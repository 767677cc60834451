import { groupMembers } from '../access/group-delivery.js';
import { type Audience, allOf, anyOf, wholeRealm } from '../kernel/audience.js';
import { atLeast } from '../users/user-delivery.js';
import { type Channel, isPrivate, isWebPublic } from './channel.js';
import { subscribersOf } from './channel-delivery.js';

/** Who sees a channel before anybody has followed it (channels §6.1, `create`). */
export function firstAudience(channel: Channel): Audience {
  if (isWebPublic(channel)) return wholeRealm;
  if (!isPrivate(channel)) return atLeast('member');
  const { canAdministerChannel, canAddSubscribers, canSubscribe } = channel.permissions;
  const granted = anyOf(
    groupMembers(canAdministerChannel),
    groupMembers(canAddSubscribers),
    groupMembers(canSubscribe),
  );
  return anyOf(atLeast('administrator'), allOf(atLeast('member'), granted));
}

/** Everybody who sees that the channel exists: the "metadata users" of channels §6. */
export function metadataUsers(channel: Channel): Audience {
  return isWebPublic(channel) ? wholeRealm : anyOf(subscribersOf(channel.id), firstAudience(channel));
}
