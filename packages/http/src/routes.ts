import type { RealmAddresses } from '@parley/domain';
import { authenticationRoutes } from './authentication/authentication.routes.js';
import { avatarRoutes } from './avatars/avatar.routes.js';
import { channelRoutes } from './channels/channel.routes.js';
import { messageRoutes } from './messages/message.routes.js';
import type { Route } from './routing/route.js';
import { serverSettingsRoutes } from './server-settings/server-settings.routes.js';
import { userRoutes } from './users/user.routes.js';
import { UserPagePresenter } from './users/user-page.js';

/** What presenting needs beside what use cases answer. */
export interface RouteDependencies {
  readonly addresses: RealmAddresses;
}

/** Every operation. What they keep at hand is theirs: each server makes its own. */
export function createRoutes({ addresses }: RouteDependencies): readonly Route[] {
  const userPages = new UserPagePresenter(addresses);
  return [
    ...serverSettingsRoutes(addresses),
    ...authenticationRoutes,
    ...userRoutes(addresses, userPages),
    ...channelRoutes(addresses),
    ...messageRoutes(addresses),
    ...avatarRoutes,
  ];
}
