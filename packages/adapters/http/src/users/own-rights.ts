import type { Actor } from '@parley/domain/access';
import { canCreateOfPrivacy } from '@parley/domain/channels';
import type { Realm } from '@parley/domain/realms';
import type { ServerInfo } from '../declarations/server-info.js';

/** Rights of the viewer in the format of older clients (events §3.3). */
export function presentOwnRights(viewer: Actor, realm: Realm, serverInfo: ServerInfo): Record<string, boolean> {
  const mayCreate = (privacy: 'public' | 'privateSharedHistory') => canCreateOfPrivacy(viewer, realm, privacy).allowed;
  const mayCreateWebPublic =
    serverInfo.webPublicEnabled &&
    realm.settings.enableSpectatorAccess &&
    mayCreate('public') &&
    viewer.groups.has(realm.permissions.canCreateWebPublicChannel);
  const isGuest = viewer.role === 'guest';
  return {
    can_create_private_streams: mayCreate('privateSharedHistory'),
    can_create_public_streams: mayCreate('public'),
    can_create_streams: mayCreate('privateSharedHistory') || mayCreate('public'),
    can_create_web_public_streams: mayCreateWebPublic,
    can_invite_others_to_realm: !isGuest && viewer.groups.has(realm.permissions.canInviteUsers),
  };
}
