import { GetServerSettings } from '@parley/domain/realms';
import { type RealmUrls, SERVER_ITSELF } from '@parley/domain/shared';
import { NoParameters } from '../routing/params.js';
import { type Route, route } from '../routing/route.js';
import { presentServerSettings } from './server-settings.presenters.js';

export const serverSettingsRoutes = (realmUrls: RealmUrls): readonly Route[] => [
  route('GET', '/server_settings', {
    auth: 'anyone',
    dto: NoParameters,
    useCase: GetServerSettings,
    toInput: (_dto, request) => {
      const { hostname } = new URL(realmUrls.urlOf(SERVER_ITSELF));
      return { isServerAddress: request.realmAddress === hostname || request.realmAddress === `www.${hostname}` };
    },
    present: (settings) => presentServerSettings(settings, realmUrls),
  }),
];
