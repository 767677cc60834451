import { GetServerSettings } from '@parley/domain/realms';
import { type RealmUrls, SERVER_ITSELF } from '@parley/domain/shared';
import { badParameter } from '../routing/errors.js';
import { NoParameters } from '../routing/params.js';
import { success } from '../routing/reply.js';
import { type Route, route } from '../routing/route.js';
import { presentServerSettings } from './server-settings.presenters.js';

export const serverSettingsRoutes = (realmUrls: RealmUrls): readonly Route[] => [
  route('GET', '/server_settings', {
    auth: 'anyone',
    isApiOnly: true,
    dto: NoParameters,
    useCase: GetServerSettings,
    toInput: (_dto, request) => {
      const { hostname } = new URL(realmUrls.urlOf(SERVER_ITSELF));
      return { isServerAddress: request.host === hostname || request.host === `www.${hostname}` };
    },
    present: (settings) => presentServerSettings(settings, realmUrls),
  }),
  // Clients of long ago ask whether they are too old; none is (protocol §10).
  route('GET', '/compatibility', {
    auth: 'anyone',
    atRoot: true,
    dto: NoParameters,
    handle: async ({ request }) => {
      if (request.header('user-agent') === undefined) throw badParameter('User-Agent header missing from request');
      return success();
    },
  }),
];
