import { SERVER_ITSELF } from '@parley/domain/kernel';
import { GetServerSettings, type LogInMethod, type ServerSettings } from '@parley/domain/log-in';
import type { Realm } from '@parley/domain/realms';
import type { HttpFeature, RouteDependencies } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { FEATURE_LEVEL, type ServerInfo, ZULIP_VERSION } from '../declarations/server-info.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { realmImageUrl } from '../files/realm-image-urls.js';
import { NoParameters } from '../params/params.js';
import { badParameter, success, type WireFields } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

type Parts = Pick<RouteDependencies, 'realmUrls'> & {
  readonly serverInfo: Pick<ServerInfo, 'directoryRealms' | 'sendsPushes' | 'isQuiet'>;
};

/** True if members of the organization log in with directory passwords. */
export const usesDirectory = (
  { stringId, settings }: Pick<Realm, 'stringId' | 'settings'>,
  { directoryRealms }: Pick<ServerInfo, 'directoryRealms'>,
): boolean => settings.ldapAuthentication && directoryRealms.has(stringId);

/** Presents the server settings (protocol §10); clients decode all fields strictly. */
export function presentServerSettings(settings: ServerSettings, { realmUrls, serverInfo }: Parts): WireFields {
  const { realm, url, isDevelopment, allowsSpectators, logInMethods, offersBrowserLogIn } = settings;
  const offers = (kind: LogInMethod['kind']) => logInMethods.some((method) => method.kind === kind);
  const allowsEmail = realm?.settings.emailAuthentication ?? true;
  const hasDirectory = realm !== null && usesDirectory(realm, serverInfo);
  return {
    authentication_methods: {
      password: allowsEmail || hasDirectory,
      dev: isDevelopment && (realm?.settings.devAuthentication ?? true),
      email: allowsEmail,
      ldap: hasDirectory,
      remoteuser: false,
      github: offers('gitHubAuthentication'),
      azuread: false,
      gitlab: offers('gitLabAuthentication'),
      google: offers('googleAuthentication'),
      apple: offers('appleAuthentication'),
      saml: offers('samlAuthentication'),
      'openid connect': offers('openIdConnectAuthentication'),
    },
    external_authentication_methods: [
      ...logInMethods.map((method) => presentLogInMethod(method, url)),
      ...(offersBrowserLogIn && (allowsEmail || hasDirectory) ? [browserLogIn(url)] : []),
    ],
    zulip_feature_level: FEATURE_LEVEL,
    zulip_version: ZULIP_VERSION,
    zulip_merge_base: ZULIP_VERSION,
    push_notifications_enabled: serverInfo.sendsPushes,
    is_incompatible: false,
    email_auth_enabled: allowsEmail,
    require_email_format_usernames: true,
    realm_url: url,
    realm_uri: url,
    // Realm fields are omitted if the address belongs to no realm.
    ...(realm && {
      realm_name: realm.name,
      realm_icon: realmImageUrl('icon', realm.images.icon, publicRealmOf(realm, realmUrls)),
      realm_description: realm.renderedDescription,
    }),
    realm_web_public_access_enabled: allowsSpectators,
    ...(serverInfo.isQuiet && { is_quiet: true }),
  };
}

/** Presents a log-in method. Clients resolve its paths against the organization's origin. */
export function presentLogInMethod({ name, displayName, displayIcon }: LogInMethod, url: string): WireFields {
  const path = new URL(`${url}/accounts/login/external/${name}/`).pathname;
  return { name, display_name: displayName, display_icon: displayIcon, login_url: path, signup_url: path };
}

/** Capabilities of the log-in page: password and second factor. */
function browserLogIn(url: string): WireFields {
  const { pathname } = new URL(`${url}/`);
  const paths = { login_url: `${pathname}login/`, signup_url: `${pathname}register/` };
  return { name: 'browser', display_name: 'Browser', display_icon: null, ...paths };
}

const EXTERNAL_METHOD = wire.fields({
  name: wire.text(),
  display_name: wire.text(),
  display_icon: wire.nullable(wire.text()),
  login_url: wire.text(),
  signup_url: wire.text(),
});

/** Response of the server settings (protocol §10); organization fields are present only if there is one. */
const SERVER_SETTINGS_RESPONSE = wire.fields({
  authentication_methods: wire.dictionaryOf(wire.boolean()),
  external_authentication_methods: wire.listOf(EXTERNAL_METHOD),
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
  is_quiet: wire.optional(wire.boolean()),
});

export const serverSettingsRoutes = (parts: Parts): readonly Route[] => [
  route('GET', '/server_settings', {
    summary: 'Get settings needed before logging in',
    section: 'protocol §10',
    withoutPage: 'apps',
    auth: 'anyone',
    sessions: 'none',
    dto: NoParameters,
    useCase: GetServerSettings,
    toInput: (_dto, request) => {
      const { hostname } = new URL(parts.realmUrls.urlOf(SERVER_ITSELF));
      return { isServerAddress: request.realmAddress === hostname || request.realmAddress === `www.${hostname}` };
    },
    response: SERVER_SETTINGS_RESPONSE,
    present: (settings) => presentServerSettings(settings, parts),
  }),
  // Very old clients check if they are supported; all of them are (protocol §10).
  route('GET', '/compatibility', {
    summary: 'Check whether a client version is supported',
    section: 'protocol §10',
    auth: 'anyone',
    atRoot: true,
    dto: NoParameters,
    response: wire.fields({}),
    handle: async ({ request }) => {
      if (request.header('user-agent') === undefined) throw badParameter('User-Agent header missing from request');
      return success();
    },
  }),
];

export const SERVER_SETTINGS = { tag: 'Server and log-in', routes: serverSettingsRoutes } satisfies HttpFeature;
