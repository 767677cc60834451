import { type Draw, IMAGE, PASSWORD } from './draw.js';

type Params = Readonly<Record<string, unknown>>;

/** Request parts that replace derived ones. */
export interface Parts {
  readonly params?: Params;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body instead of parameters. */
  readonly body?: string;
}

/** Input of recipes besides the route. */
export interface Kitchen {
  readonly draw: Draw;
  readonly email: string;
  readonly scimToken: string;
}

/** Needs of a route, besides values of the declared types, to succeed at a good rate. */
export interface Recipe {
  /** Calls of the same person in advance, which are named like recipes. */
  readonly before?: readonly string[];
  /** Parameters from responses of such calls, by the path of the field. */
  readonly from?: Readonly<Record<string, readonly [route: string, field: string]>>;
  /** Optional parameters that are always sent, and those that are never sent. */
  readonly takes?: readonly string[];
  readonly lacks?: readonly string[];
  readonly params?: Params | ((kitchen: Kitchen) => Params);
  readonly request?: (kitchen: Kitchen) => Parts;
}

const BOUNDARY = 'boundary-of-derived-uploads';

/** Form with a file, and with other fields. */
export const multipart = (name: string, content: string, fields: object = {}): Parts => ({
  headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
  body: [
    ...Object.entries(fields).flatMap(([field, value]) => [
      ...[`--${BOUNDARY}`, `Content-Disposition: form-data; name="${field}"`, '', JSON.stringify(value)],
    ]),
    ...[`--${BOUNDARY}`, `Content-Disposition: form-data; name="file"; filename="${name}"`],
    ...[`Content-Type: ${name.endsWith('png') ? 'image/png' : 'text/plain'}`, '', content, `--${BOUNDARY}--`, ''],
  ].join('\r\n'),
});

const either = <T>({ draw }: Kitchen, ...values: readonly T[]): T => draw.random.pick(values);
const channel = ({ draw }: Kitchen) => draw.seen('stream', 'number');
const person = ({ draw }: Kitchen) => draw.seen('user', 'number');

/** Channel or person that gets a message. */
const addressee = (kitchen: Kitchen): Params =>
  either<Params>(
    kitchen,
    { type: 'channel', to: channel(kitchen), topic: 'plans' },
    { type: 'direct', to: [person(kitchen)], topic: undefined },
  );
const draft = (kitchen: Kitchen) => ({ type: 'stream', to: [channel(kitchen)], topic: 'plans', content: 'Tea' });
const logIn: Recipe = { params: ({ email }) => ({ username: email, password: PASSWORD }) };
const JOINING: Recipe = {
  before: ['POST /invites/multiuse'],
  takes: ['email', 'full_name', 'password'],
  lacks: ['timezone'],
  params: ({ draw }) => ({ key: draw.newest('key') }),
};
const QUEUE: Recipe = { from: { queue_id: ['POST /register', 'queue_id'] } };
const NEW_USER: Recipe = { from: { user_id: ['POST /users', 'user_id'] }, lacks: ['actions'] };
const NEW_DEVICE: Recipe = { from: { device_id: ['POST /register_client_device', 'device_id'] } };

const TUS = { 'Tus-Resumable': '1.0.0', 'Content-Type': 'application/offset+octet-stream' };
const NEW_UPLOAD: Recipe = {
  request: (kitchen) => ({
    headers: { ...TUS, 'Upload-Length': '4', 'Upload-Metadata': `filename ${btoa(`a${kitchen.draw.n}.txt`)}` },
    body: either(kitchen, '', 'text'),
  }),
};
const IN_UPLOAD: Recipe = {
  before: ['POST /tus'],
  request: (kitchen) => ({ headers: { ...TUS, 'Upload-Offset': '0' }, body: either(kitchen, 'te', 'text') }),
};
const IMAGE_FILE: Recipe = { request: () => multipart('a.png', IMAGE) };

const SCIM = 'urn:ietf:params:scim:';
const SCIM_USER = `${SCIM}schemas:core:2.0:User`;
const scim = (bodyOf: (draw: Draw) => object | null, from: Recipe['from'] = {}, params: Params = {}): Recipe => ({
  from,
  params,
  lacks: ['filter', 'startIndex', 'count'],
  request: ({ draw, scimToken }) => {
    const body = bodyOf(draw);
    return {
      headers: { Authorization: `Bearer ${scimToken}`, 'Content-Type': 'application/scim+json' },
      ...(body && { body: JSON.stringify(body) }),
    };
  },
});
const nothing = () => null;
const scimUser = ({ n }: Draw) => ({
  ...{ schemas: [SCIM_USER], userName: `s${n}@derived.test`, name: { formatted: `Synced ${n}` }, active: n % 4 > 0 },
});
const scimGroup = ({ n }: Draw) => ({
  ...{ schemas: [`${SCIM}schemas:core:2.0:Group`], displayName: `Synced group ${n}`, members: [] },
});
const operation = (path: string, wanted: (n: number) => unknown) => (draw: Draw) => ({
  schemas: [`${SCIM}api:messages:2.0:PatchOp`],
  Operations: [{ op: 'replace', path, value: wanted(draw.n) }],
});
const search = () => ({ schemas: [`${SCIM}api:messages:2.0:SearchRequest`] });
const IN_USER = { id: ['POST //scim/v2/Users', 'id'] } as const;
const IN_GROUP = { id: ['POST //scim/v2/Groups', 'id'] } as const;

/** Recipes by route. New routes need none. */
export const RECIPES: Readonly<Record<string, Recipe>> = {
  // Messages.
  'POST /messages': { params: addressee },
  'POST /scheduled_messages': { params: addressee },
  'PATCH /scheduled_messages/:scheduled_message_id': {
    ...{ takes: ['scheduled_delivery_timestamp'], lacks: ['type', 'to', 'topic'] },
  },
  'POST /typing': {
    params: (kitchen) => ({
      op: either(kitchen, 'start', 'stop'),
      ...either<Params>(
        kitchen,
        { type: 'direct', to: [person(kitchen)], stream_id: undefined, topic: undefined },
        { type: 'stream', stream_id: channel(kitchen), topic: 'plans', to: undefined },
      ),
    }),
  },
  'POST /messages/:message_id/typing': {
    from: { message_id: ['POST /messages', 'id'] },
    params: (kitchen) => ({ op: either(kitchen, 'start', 'stop') }),
  },
  'PATCH /messages/:message_id': {
    from: { message_id: ['POST /messages', 'id'] },
    params: (kitchen) => either<Params>(kitchen, { stream_id: undefined }, { content: undefined }, {}),
  },
  'POST /messages/flags': { params: (kitchen) => ({ flag: either(kitchen, 'read', 'starred', 'collapsed') }) },
  'POST /messages/flags/narrow': {
    params: (kitchen) => ({ flag: either(kitchen, 'read', 'starred'), num_before: 5, num_after: 5 }),
  },
  'POST /messages/matches_narrow': { params: ({ draw }) => ({ msg_ids: [draw.seen('message', 'number')] }) },
  'GET /messages': {
    takes: ['anchor'],
    lacks: ['message_ids', 'anchor_date'],
    params: { num_before: 9, num_after: 9 },
  },
  'GET //json/messages': {
    lacks: ['message_ids', 'anchor_date'],
    params: { anchor: 'newest', num_before: 9, num_after: 0, narrow: [['streams', 'web-public']] },
  },
  'GET //json/messages/:message_id': { from: { message_id: ['GET //json/messages', 'messages.0.id'] } },
  'GET //json/users/me/:stream_id/topics': { from: { stream_id: ['GET //json/messages', 'messages.0.stream_id'] } },
  'DELETE /messages/:message_id/reactions': {
    before: ['POST /messages/:message_id/reactions'],
    takes: ['emoji_name'],
  },
  'POST /submessage': {
    from: { message_id: ['POST /messages', 'id'] },
    params: { msg_type: 'widget', content: JSON.stringify({ type: 'new_option', idx: 1, option: 'Tea' }) },
  },
  'POST /drafts': { params: (kitchen) => ({ drafts: [draft(kitchen)] }) },
  'PATCH /drafts/:draft_id': { params: (kitchen) => ({ draft: draft(kitchen) }) },
  'PATCH /application_data': {
    params: (kitchen) => ({ object_type: 'channel', object_id: channel(kitchen), data: { note: `${kitchen.draw.n}` } }),
  },
  'GET /application_data': { params: (kitchen) => ({ object_type: 'channel', object_ids: [channel(kitchen)] }) },
  'POST /holds': { lacks: ['user_id', 'message_id', 'since', 'until'], takes: ['stream_id'] },
  // Accounts.
  'POST /fetch_api_key': logIn,
  'POST //accounts/login/': logIn,
  'POST //login/': { ...logIn, before: ['GET //login/'], takes: ['csrfmiddlewaretoken'] },
  'POST //json/fetch_api_key': { takes: ['password'] },
  'POST //accounts/second-factor/': { takes: ['password'] },
  'GET //accounts/second-factor/app/': { before: ['POST //accounts/second-factor/'], takes: ['state'] },
  'POST //register/': { takes: ['email'] },
  'GET //accounts/do_confirm/:key': { before: ['POST //register/'] },
  'GET //accounts/confirm_new_email/:key': { before: ['PATCH /settings email'] },
  'POST //accounts/confirm_new_email/:key': { before: ['PATCH /settings email'] },
  'POST //accounts/password/reset/': { params: ({ email }) => ({ email }) },
  'GET //accounts/password/reset/:key': { before: ['POST //accounts/password/reset/'] },
  'POST //accounts/password/reset/:key': { before: ['POST //accounts/password/reset/'], takes: ['password'] },
  'POST /invites': { lacks: ['welcome_message_custom_text', 'group_ids'] },
  'POST /invites/multiuse': { lacks: ['welcome_message_custom_text', 'group_ids'] },
  'POST /invites/accept': JOINING,
  'POST //accounts/register/': JOINING,
  'GET //join/:key/': { before: ['POST /invites/multiuse'] },
  'POST //join/:key/': { before: ['POST /invites/multiuse'], takes: ['email'] },
  'DELETE /invites/multiuse/:invite_id': {
    ...{ before: ['POST /invites/multiuse'], from: { invite_id: ['GET /invites', 'invites.-1.id'] } },
  },
  'DELETE /invites/:invite_id': { before: ['POST /invites'], from: { invite_id: ['GET /invites', 'invites.-1.id'] } },
  'POST /invites/:invite_id/resend': {
    ...{ before: ['POST /invites'], from: { invite_id: ['GET /invites', 'invites.-1.id'] } },
  },
  'DELETE /users/:user_id': NEW_USER,
  'POST /users/:user_id/reactivate': { before: ['DELETE /users/:user_id'] },
  'POST /users/:user_id/erasure': { ...NEW_USER, params: ({ draw }) => ({ name: draw.newest('full_name') }) },
  'GET /users/:user_id/erasure': { before: ['POST /users/:user_id/erasure'] },
  'POST /users/me/onboarding_steps': {
    params: (kitchen) => ({ onboarding_step: either(kitchen, 'intro_inbox_view_modal', 'intro_recent_view_modal') }),
  },
  'POST /users/me/presence': {
    params: (kitchen) => ({ status: either(kitchen, 'active', 'idle'), last_update_id: -1 }),
  },
  'GET /users/:user_id_or_email/presence': {
    ...{ before: ['POST /users/me/presence'], params: ({ email }) => ({ user_id_or_email: email }) },
  },
  'DELETE /users/me/muted_users/:muted_user_id': { before: ['POST /users/me/muted_users/:muted_user_id'] },
  'PATCH /users/me/profile_data': {
    before: ['POST /realm/profile_fields'],
    params: ({ draw }) => ({ data: [{ id: draw.seen('profile_field', 'number'), value: `Value ${draw.n}` }] }),
  },
  'DELETE /users/me/profile_data': {
    ...{
      before: ['POST /realm/profile_fields'],
      params: ({ draw }) => ({ data: [draw.seen('profile_field', 'number')] }),
    },
  },
  'POST /zcommand': {
    params: (kitchen) => ({ command: either(kitchen, '/ping', '/day', '/night', '/light', '/dark') }),
  },
  // Files.
  'POST /user_uploads': { request: (kitchen) => multipart(either(kitchen, 'a.png', 'a.txt'), IMAGE) },
  'POST /realm/logo': { request: () => multipart('a.png', IMAGE, { night: true }) },
  'POST /realm/emoji/*emoji_name': { ...IMAGE_FILE, params: ({ draw }) => ({ emoji_name: `tea${draw.n}` }) },
  'DELETE /realm/emoji/*emoji_name': { before: ['POST /realm/emoji/*emoji_name'] },
  'GET //user_avatars/:realm_id/emoji/images/:file': { before: ['POST /realm/emoji/*emoji_name', 'GET /realm/emoji'] },
  'POST /tus': NEW_UPLOAD,
  'POST /tus/': NEW_UPLOAD,
  'PATCH /tus/*path_id': IN_UPLOAD,
  'GET /tus/*path_id': IN_UPLOAD,
  'DELETE /tus/*path_id': IN_UPLOAD,
  'GET /user_uploads/:realm_id/*filename': { before: ['POST /user_uploads'] },
  'GET //user_uploads/temporary/:token/:name': { before: ['GET /user_uploads/:realm_id/*filename'] },
  'GET //user_uploads/*path_id': { before: ['POST /user_uploads'] },
  'GET //user_uploads/download/*path_id': { before: ['POST /user_uploads'] },
  'DELETE /attachments/:attachment_id': {
    ...{ before: ['POST /user_uploads'], from: { attachment_id: ['GET /attachments', 'attachments.0.id'] } },
  },
  // Events.
  'GET /events': QUEUE,
  'DELETE /events': QUEUE,
  'POST /events/acknowledge': QUEUE,
  // The organization.
  'PATCH /realm/linkifiers': { from: { ordered_linkifier_ids: ['GET /realm/linkifiers', 'linkifiers.*.id'] } },
  'PATCH /realm/profile_fields': { from: { order: ['GET /realm/profile_fields', 'custom_fields.*.id'] } },
  'PATCH /channel_folders': { from: { order: ['GET /channel_folders include_archived', 'channel_folders.*.id'] } },
  'GET /channel_folders': { params: { include_archived: true } },
  'POST /realm/profile_fields': {
    params: (kitchen) => ({ field_type: either(kitchen, 1, 2, 4, 5, 6, 8) }),
    ...{ takes: ['name'], lacks: ['field_data'] },
  },
  'PATCH /realm/profile_fields/:field_id': { takes: ['name'], lacks: ['field_data'] },
  'POST /realm/playgrounds': { params: { pygments_language: 'Python', url_template: 'https://play.example/{code}' } },
  'PATCH /navigation_views/*fragment': { before: ['POST /navigation_views'] },
  'DELETE /navigation_views/*fragment': { before: ['POST /navigation_views'] },
  'PATCH /realm/domains/:domain': { before: ['POST /realm/domains'] },
  'DELETE /realm/domains/:domain': { before: ['POST /realm/domains'] },
  'GET //json/realm/subdomain/:subdomain': { params: ({ draw }) => ({ subdomain: `free${draw.n}` }) },
  // Channels and groups.
  'POST /streams/:stream_id/delete_topic': { before: ['POST /messages'] },
  'PATCH /users/me/subscriptions/:stream_id': { params: { property: 'is_muted', value: true } },
  'POST /users/me/subscriptions/properties': {
    params: (kitchen) => ({
      subscription_data: [{ stream_id: channel(kitchen), property: 'pin_to_top', value: true }],
    }),
  },
  'POST /users/me/subscriptions': {
    params: (kitchen) => ({
      subscriptions: [{ name: either(kitchen, `channel ${kitchen.draw.n}`, kitchen.draw.seen('stream', 'string')) }],
    }),
    lacks: ['is_web_public'],
  },
  'POST /channels/create': { lacks: ['is_web_public'] },
  'POST /default_stream_groups/create': { params: { stream_names: [] } },
  'PATCH /default_stream_groups/:group_id': {
    ...{ before: ['POST /default_stream_groups/create', 'POST /register'], takes: ['new_description'] },
  },
  'PATCH /default_stream_groups/:group_id/streams': {
    before: ['POST /default_stream_groups/create', 'POST /register'],
    params: ({ draw }) => ({ op: 'add', stream_names: [draw.seen('stream', 'string')] }),
  },
  'DELETE /default_stream_groups/:group_id': { before: ['POST /default_stream_groups/create', 'POST /register'] },
  'POST /user_groups/:user_group_id/subgroups': { before: ['POST /user_groups/create'], takes: ['add'] },
  // Bots and devices.
  'POST /bots': { params: (kitchen) => ({ bot_type: either(kitchen, 1, 2, 3), interface_type: 1 }) },
  'PATCH /bots/:bot_id': { lacks: ['service_payload_url', 'service_interface'] },
  'PUT /bot_storage': { params: ({ draw }) => ({ storage: { tea: `${draw.n}` } }) },
  'GET /bot_storage': { before: ['PUT /bot_storage'], lacks: ['keys'] },
  'DELETE /bot_storage': { before: ['PUT /bot_storage'], params: { keys: ['tea'] } },
  'POST /external/:integration': {
    params: ({ draw }) => ({ stream: draw.seen('stream', 'string'), topic: 'plans' }),
    lacks: ['only_events', 'include_events', 'exclude_events'],
    request: ({ draw }) => ({
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ text: `Tea ${draw.n}` }),
    }),
  },
  'POST /mobile_push/register': {
    ...NEW_DEVICE,
    params: ({ draw: { n } }) => ({
      ...{
        push_key_id: n,
        push_key: btoa(`1${'x'.repeat(32)}`),
        token_kind: 'fcm',
        token_id: btoa(`${n}`.padStart(8, '0')),
      },
      ...{ bouncer_public_key: 'x'.repeat(44), encrypted_push_registration: 'x'.repeat(80) },
    }),
  },
  'POST /remove_client_device': NEW_DEVICE,
  'DELETE /users/me/apns_device_token': { before: ['POST /users/me/apns_device_token'] },
  'DELETE /users/me/android_gcm_reg_id': { before: ['POST /users/me/android_gcm_reg_id'] },
  // Directories.
  'GET //scim/v2/Users': scim(nothing),
  'POST //scim/v2/Users/.search': scim(search),
  'GET //scim/v2/Users/:id': scim(nothing, IN_USER),
  'POST //scim/v2/Users': scim(scimUser),
  'PUT //scim/v2/Users/:id': scim(scimUser, IN_USER),
  'PATCH //scim/v2/Users/:id': scim(
    operation('active', (n) => n % 2 === 0),
    IN_USER,
  ),
  'DELETE //scim/v2/Users/:id': scim(nothing, IN_USER),
  'GET //scim/v2/Groups': scim(nothing),
  'POST //scim/v2/Groups/.search': scim(search),
  'GET //scim/v2/Groups/:id': scim(nothing, IN_GROUP),
  'POST //scim/v2/Groups': scim(scimGroup),
  'PUT //scim/v2/Groups/:id': scim(scimGroup, IN_GROUP),
  'PATCH //scim/v2/Groups/:id': scim(
    operation('displayName', (n) => `Renamed ${n}`),
    IN_GROUP,
  ),
  'DELETE //scim/v2/Groups/:id': scim(nothing, IN_GROUP),
  'GET //scim/v2/ServiceProviderConfig': scim(nothing),
  'GET //scim/v2/ResourceTypes': scim(nothing),
  'GET //scim/v2/ResourceTypes/:id': scim(nothing, {}, { id: 'User' }),
  'GET //scim/v2/Schemas': scim(nothing),
  'GET //scim/v2/Schemas/:id': scim(nothing, {}, { id: SCIM_USER }),
};
