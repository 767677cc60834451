import type { TokenScope } from '@parley/domain/kernel';
import { ChangeRealm, CheckStringId, DeactivateRealm } from '@parley/domain/log-in';
import { loadPushStatus } from '@parley/domain/push';
import { loadRealmPermissions, type RealmEventTypes, type RealmImageName } from '@parley/domain/realms';
import type { HttpFeature, SectionParts } from '../declarations/feature.js';
import { plainSection, type RegisterSection, registerSection } from '../declarations/register-section.js';
import { type Route, route } from '../declarations/route.js';
import { can, form, opened, type Presenters, toNobody } from '../delivery/event-presenter.js';
import { publicRealmOf } from '../delivery/public-realm.js';
import { presentRealmImage, REALM_IMAGES, realmImageFields } from '../files/realm-image-urls.js';
import { MAX_TOKEN_LENGTH } from '../params/param-types.js';
import { definedFields, NullableIntegerParam, TextParam } from '../params/params.js';
import { successSaying, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';
import { CHANGED_REALM, presentRealm, REALM_FIELDS, SHORT_PERMISSIONS } from './realm.presenters.js';
import {
  ChangeRealmDto,
  presentRealmChanges,
  REALM_SETTING_FORMS,
  REALM_SETTINGS_EVENTS,
  toAuthenticationMethods,
  toRealmPermissionChanges,
} from './realm-settings.js';

export const realmSettingRoutes: readonly Route[] = [
  route('PATCH', '/realm', {
    summary: 'Change settings and permissions of the organization',
    section: 'organization §2',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['administrator'],
    dto: ChangeRealmDto,
    useCase: ChangeRealm,
    toInput: (dto) =>
      definedFields({
        name: dto.name,
        stringId: dto.string_id,
        settings: REALM_SETTING_FORMS.read(dto),
        authenticationMethods: dto.authentication_methods && toAuthenticationMethods(dto.authentication_methods),
        permissions: toRealmPermissionChanges(dto),
      }),
    response: CHANGED_REALM,
    present: (output, { dto }) => presentRealmChanges(output, dto),
  }),
];

export const REALM_WIRE_ERRORS = {
  UNKNOWN_REALM: { status: 404, code: 'NONEXISTENT_SUBDOMAIN' },
  REALM_DEACTIVATED: { status: 401, code: 'REALM_DEACTIVATED' },
} as const satisfies WireErrors;

export const REALM_EVENTS = {
  'realm.deactivated': {
    forms: [form('realm', { op: wire.oneOf('deactivated'), realm_id: wire.integer() })],
    present: (_event, { queue }) => [[opened({ type: 'realm', op: 'deactivated', realm_id: queue.realmId })]],
  },
  'realm.image_changed': {
    forms: (Object.keys(REALM_IMAGES) as RealmImageName[]).map((name) =>
      form('realm', {
        op: wire.oneOf('update_dict'),
        property: wire.oneOf(REALM_IMAGES[name].wireName),
        data: wire.fields(realmImageFields(name)),
      }),
    ),
    present: ({ name, image }, context) =>
      context.shared('', () => {
        const data = presentRealmImage(name, image, context.publicRealm);
        return opened({ type: 'realm', op: 'update_dict', property: REALM_IMAGES[name].wireName, data });
      }),
  },
  'realm.limits_forgotten': toNobody,
} satisfies Presenters<keyof RealmEventTypes>;

/** Choices of pages that guests do not open. */
const ORGANIZATION_PAGE_FIELDS = [
  'gif_rating_policy_options',
  'realm_authentication_methods',
  'realm_available_video_chat_providers',
  'realm_default_external_accounts',
  'upgrade_text_for_wide_organization_logo',
];

export const realmSection = ({ realmUrls, serverInfo }: SectionParts): RegisterSection =>
  registerSection({
    name: 'realm',
    fields: REALM_FIELDS,
    forSpectators: 'likeGuests',
    forTokens: 'likeAccount',
    notForGuests: ({ presentation }) =>
      can(presentation, 'partial_state')
        ? ORGANIZATION_PAGE_FIELDS
        : [...ORGANIZATION_PAGE_FIELDS, 'server_supported_permission_settings'],
    load: async (snapshot) => ({
      permissions: await snapshot.load(loadRealmPermissions),
      push: serverInfo.sendsPushes ? await snapshot.load(loadPushStatus) : { isEnabled: false, endsAt: null },
    }),
    present: (loaded, { realm, isSpectator, scope, presentation }) => ({
      ...presentRealm(realm, loaded, publicRealmOf(realm, realmUrls), serverInfo),
      ...(can(presentation, 'partial_state') && SHORT_PERMISSIONS),
      ...(isSpectator && { realm_allow_message_editing: false, realm_presence_disabled: true }),
      ...(scope && presentTokenRights(scope)),
    }),
  });

/** Switches off what a token does not allow, so that clients do not offer it. */
const presentTokenRights = ({ actions }: TokenScope) => ({
  realm_presence_disabled: true,
  realm_enable_read_receipts: false,
  realm_message_edit_history_visibility_policy: 'none',
  // Channels of notices.
  realm_moderation_request_channel_id: -1,
  realm_new_stream_announcements_stream_id: -1,
  realm_signup_announcements_stream_id: -1,
  realm_zulip_update_announcements_stream_id: -1,
  ...(!actions.includes('write') && { realm_allow_message_editing: false }),
  ...(!actions.includes('upload') && { max_file_upload_size_mib: 0 }),
});

const giphySection = ({ serverInfo }: SectionParts): RegisterSection =>
  plainSection(
    'giphy',
    { giphy_api_key: wire.text() },
    () => ({ giphy_api_key: serverInfo.giphyApiKey }),
    'likeGuests',
  );

class DeactivateRealmDto {
  @NullableIntegerParam({ description: 'Days until the data is deleted; null for never.' }) deletion_delay_days:
    | number
    | null = null;
}

class CheckStringIdDto {
  @TextParam({ max: MAX_TOKEN_LENGTH, description: 'Name of the organization in its address.' }) subdomain!: string;
}

export const realmRoutes: readonly Route[] = [
  route('POST', '/realm/deactivate', {
    summary: 'Deactivate the organization',
    section: 'organization §3',
    auth: 'user',
    scope: 'account',
    roleRequirements: ['owner'],
    dto: DeactivateRealmDto,
    useCase: DeactivateRealm,
    toInput: ({ deletion_delay_days }) => ({ deletionDelayDays: deletion_delay_days }),
  }),
  // Custom handler, because the result is the envelope's message.
  route('GET', '/json/realm/subdomain/:subdomain', {
    summary: 'Check whether a name is free for a new organization',
    section: 'organization §3',
    auth: 'anyone',
    atRoot: true,
    dto: CheckStringIdDto,
    useCase: CheckStringId,
    response: wire.fields({}),
    handle: async ({ caller, dto, useCase }) =>
      successSaying((await useCase.execute(caller, { stringId: dto.subdomain })) ?? 'available'),
  }),
];

export const REALMS = {
  tag: 'Organization',
  routes: () => [...realmSettingRoutes, ...realmRoutes],
  events: { ...REALM_EVENTS, ...REALM_SETTINGS_EVENTS },
  errors: REALM_WIRE_ERRORS,
  registerSections: (parts) => [realmSection(parts), giphySection(parts)],
} satisfies HttpFeature;
