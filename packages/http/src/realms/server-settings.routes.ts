import { type RealmUrls, SERVER_ITSELF } from '@parley/domain/kernel';
import { GetServerSettings } from '@parley/domain/membership';
import { badParameter } from '../kernel/errors.js';
import { NoParameters } from '../kernel/params.js';
import { success } from '../kernel/reply.js';
import { type Route, route } from '../kernel/route.js';
import * as wire from '../kernel/wire-schema.js';
import { presentServerSettings } from './server-settings.presenters.js';

/** Protocol §10; what names an organization only where there is one. */
const SERVER_SETTINGS = wire.fields({
  authentication_methods: wire.dictionaryOf(wire.boolean()),
  external_authentication_methods: wire.listOf(wire.anything()),
  zulip_feature_level: wire.integer(),
  zulip_version: wire.text(),
  zulip_merge_base: wire.text(),
  push_notifications_enabled: wire.boolean(),
  is_incompatible: wire.boolean(),
  email_auth_enabled: wire.boolean(),
  require_email_format_usernames: wire.boolean(),
  realm_url: wire.text(),
  realm_uri: wire.text(),
  realm_name: wire.optional(wire.text()),
  realm_icon: wire.optional(wire.text()),
  realm_description: wire.optional(wire.text()),
  realm_web_public_access_enabled: wire.boolean(),
});

export const serverSettingsRoutes = (realmUrls: RealmUrls): readonly Route[] => [
  route('GET', '/server_settings', {
    auth: 'anyone',
    isApiOnly: true,
    dto: NoParameters,
    useCase: GetServerSettings,
    toInput: (_dto, request) => {
      const { hostname } = new URL(realmUrls.urlOf(SERVER_ITSELF));
      return { isServerAddress: request.realmAddress === hostname || request.realmAddress === `www.${hostname}` };
    },
    answer: SERVER_SETTINGS,
    present: (settings) => presentServerSettings(settings, realmUrls),
  }),
  // Clients of long ago ask whether they are too old; none is (protocol §10).
  route('GET', '/compatibility', {
    auth: 'anyone',
    atRoot: true,
    dto: NoParameters,
    answer: wire.fields({}),
    handle: async ({ request }) => {
      if (request.header('user-agent') === undefined) throw badParameter('User-Agent header missing from request');
      return success();
    },
  }),
];
