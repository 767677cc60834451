import type { RealmUrls } from '@parley/domain/kernel';
import type { ServerSettings } from '@parley/domain/membership';
import { realmImageUrl } from '../files/realm-image-urls.js';
import type { WireFields } from '../kernel/reply.js';
import { publicRealmOf } from './public-realm.js';
import { FEATURE_LEVEL, ZULIP_VERSION } from './server-version.js';

/** Protocol §10. Clients decode all of it strictly. */
export function presentServerSettings(settings: ServerSettings, realmUrls: RealmUrls): WireFields {
  const { realm, url, isDevelopment, allowsSpectators } = settings;
  const allowsPasswords = realm?.settings.emailAuthentication ?? true;
  return {
    authentication_methods: {
      password: allowsPasswords,
      dev: isDevelopment && (realm?.settings.devAuthentication ?? true),
      email: allowsPasswords,
      ldap: false,
      remoteuser: false,
      github: false,
      azuread: false,
      gitlab: false,
      google: false,
      apple: false,
      saml: false,
      'openid connect': false,
    },
    external_authentication_methods: [],
    zulip_feature_level: FEATURE_LEVEL,
    zulip_version: ZULIP_VERSION,
    zulip_merge_base: ZULIP_VERSION,
    push_notifications_enabled: false,
    is_incompatible: false,
    email_auth_enabled: allowsPasswords,
    require_email_format_usernames: true,
    realm_url: url,
    realm_uri: url,
    // Where the server's address belongs to no realm there is nothing to name.
    ...(realm && {
      realm_name: realm.name,
      realm_icon: realmImageUrl('icon', realm.images.icon, publicRealmOf(realm, realmUrls)),
      realm_description: realm.renderedDescription,
    }),
    realm_web_public_access_enabled: allowsSpectators,
  };
}
