import type { LoadUnicodeEmoji } from '@parley/domain/emoji';
import type { EventHub } from '@parley/domain/events';
import type { Clock, RealmUrls } from '@parley/domain/shared';
import { authenticationRoutes } from './authentication/authentication.routes.js';
import { avatarRoutes } from './avatars/avatar.routes.js';
import { channelRoutes } from './channels/channel.routes.js';
import { emojiDataRoutes } from './emoji/emoji-data.routes.js';
import { eventRoutes } from './events/events.routes.js';
import type { LongPoll } from './events/long-poll.js';
import { messageRoutes } from './messages/message.routes.js';
import { reactionRoutes } from './reactions/reaction.routes.js';
import type { ServerInfo } from './realms/realm.presenters.js';
import { realmSettingRoutes } from './realms/realm-settings.routes.js';
import { registerSections } from './register-sections.js';
import type { Route } from './routing/route.js';
import { serverSettingsRoutes } from './server-settings/server-settings.routes.js';
import { userRoutes } from './users/user.routes.js';
import { UserPagePresenter } from './users/user-page.js';
import { userSettingRoutes } from './users/user-settings.routes.js';

/** What presenting needs beside what use cases answer. */
export interface RouteDependencies {
  readonly realmUrls: RealmUrls;
  readonly hub: EventHub;
  readonly longPoll: LongPoll;
  readonly serverInfo: ServerInfo;
  readonly clock: Clock;
  readonly unicodeEmoji: LoadUnicodeEmoji;
}

/** Every operation. What they keep at hand is theirs: each server makes its own. */
export function createRoutes(dependencies: RouteDependencies): readonly Route[] {
  const { realmUrls } = dependencies;
  const userPages = new UserPagePresenter(realmUrls);
  return [
    ...serverSettingsRoutes(realmUrls),
    ...authenticationRoutes,
    ...userRoutes(realmUrls, userPages),
    ...userSettingRoutes,
    ...realmSettingRoutes,
    ...channelRoutes,
    ...messageRoutes(realmUrls),
    ...reactionRoutes,
    ...eventRoutes({ ...dependencies, sections: registerSections({ ...dependencies, userPages }) }),
    ...avatarRoutes,
    ...emojiDataRoutes(dependencies.unicodeEmoji),
  ];
}
