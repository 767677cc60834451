import type { Method } from '../kernel/route.js';

/** Operation described by the contract, including operations that have no route yet. */
export interface ContractOperation {
  readonly method: Method;
  /** Path in the syntax of the route table. */
  readonly path: string;
  /** Section in docs/contract, for example `messages §5`. */
  readonly section: string;
  /** True if docs/contract/README.md lists it among the twenty required operations. */
  readonly isStarred: boolean;
  /** True if the path is relative to the server's address instead of `/api/v1`. */
  readonly atRoot: boolean;
  /** Required behavior that the route does not implement; null if complete or if there is no route. */
  readonly lacks: string | null;
}

type Row = readonly [
  Method,
  path: string,
  section: string,
  Partial<Pick<ContractOperation, 'isStarred' | 'atRoot' | 'lacks'>>?,
];

const BOTS_LACK = '`config_data` is ignored';

const NO_CALL_PROVIDER = 'the provider cannot be configured: it answers that it is not';

const ROWS: readonly Row[] = [
  // Protocol.
  ['GET', '/server_settings', 'protocol §10'],
  ['GET', '/compatibility', 'protocol §10', { atRoot: true }],
  ['GET', '/openapi.json', 'protocol §10'],
  ['POST', '/fetch_api_key', 'protocol §8.1'],
  ['POST', '/dev_fetch_api_key', 'protocol §8.2'],
  ['GET', '/dev_list_users', 'protocol §8.2'],
  ['GET', '/accounts/login/', 'protocol §7.6', { atRoot: true }],
  ['GET', '/accounts/csrf_token/', 'protocol §7.6', { atRoot: true }],
  ['POST', '/accounts/login/', 'protocol §7.6', { atRoot: true }],
  ['POST', '/accounts/logout/', 'protocol §7.6', { atRoot: true }],
  ['GET', '/users/me/sessions', 'protocol §7.6'],
  ['DELETE', '/users/me/sessions', 'protocol §7.6'],
  ['DELETE', '/users/me/sessions/:session_id', 'protocol §7.6'],
  ['GET', '/users/:user_id/sessions', 'protocol §7.6'],
  ['DELETE', '/users/:user_id/sessions', 'protocol §7.6'],
  ['DELETE', '/users/:user_id/second_factors', 'protocol §7.7'],
  ['POST', '/json/fetch_api_key', 'protocol §8.4', { atRoot: true }],
  ['POST', '/jwt/fetch_api_key', 'protocol §8.2'],
  // Events
  [
    'POST',
    '/register',
    'events §1',
    {
      lacks: 'always empty: `realm_embedded_bots`, keys of GIF services, accounts at providers of calls',
    },
  ],
  ['GET', '/events', 'events §6.2'],
  ['DELETE', '/events', 'events §6.5'],
  // Messages
  ['POST', '/messages', 'messages §3'],
  ['GET', '/messages', 'messages §5', { isStarred: true }],
  ['GET', '/messages/:message_id', 'messages §6'],
  ['POST', '/json/register', 'events §1', { atRoot: true }],
  ['GET', '/json/users', 'protocol §9', { atRoot: true }],
  ['GET', '/json/users/me/:stream_id/topics', 'protocol §9', { atRoot: true }],
  ['GET', '/json/messages', 'protocol §9', { atRoot: true }],
  ['GET', '/json/messages/:message_id', 'protocol §9', { atRoot: true }],
  ['GET', '/messages/matches_narrow', 'messages §8', { isStarred: true }],
  ['PATCH', '/messages/:message_id', 'messages §9'],
  ['GET', '/messages/:message_id/history', 'messages §10', { isStarred: true }],
  ['DELETE', '/messages/:message_id', 'messages §11', { isStarred: true }],
  ['POST', '/messages/:message_id/reactions', 'messages §12'],
  ['DELETE', '/messages/:message_id/reactions', 'messages §12', { isStarred: true }],
  ['POST', '/messages/flags', 'messages §13.1'],
  ['POST', '/messages/flags/narrow', 'messages §13.2'],
  ['POST', '/mark_all_as_read', 'messages §13.3'],
  ['POST', '/mark_stream_as_read', 'messages §13.3'],
  ['POST', '/mark_topic_as_read', 'messages §13.3'],
  ['GET', '/messages/:message_id/read_receipts', 'messages §14'],
  ['POST', '/messages/render', 'messages §15.1'],
  ['POST', '/zcommand', 'messages §15.2'],
  ['POST', '/submessage', 'messages §15.3'],
  ['POST', '/messages/:message_id/report', 'messages §15.4'],
  ['POST', '/user_uploads', 'messages §16.1'],
  ['POST', '/tus', 'messages §16.1'],
  ['POST', '/tus/', 'messages §16.1'],
  ['GET', '/tus/*path_id', 'messages §16.1'],
  ['PATCH', '/tus/*path_id', 'messages §16.1'],
  ['DELETE', '/tus/*path_id', 'messages §16.1'],
  ['GET', '/user_uploads/:realm_id/*filename', 'messages §16.2'],
  ['GET', '/user_uploads/temporary/:token/:name', 'messages §16.2', { atRoot: true }],
  ['GET', '/user_uploads/*path_id', 'messages §16.2', { atRoot: true }],
  ['GET', '/user_uploads/download/*path_id', 'messages §16.2', { atRoot: true }],
  ['GET', '/user_uploads/thumbnail/*path_id_and_format', 'messages §16.2', { atRoot: true }],
  // Channels.
  ['GET', '/streams', 'channels §4.1', { isStarred: true }],
  ['GET', '/streams/:stream_id', 'channels §4.2'],
  ['GET', '/get_stream_id', 'channels §4.3'],
  ['POST', '/channels/create', 'channels §4.4', { isStarred: true }],
  ['POST', '/users/me/subscriptions', 'channels §4.5'],
  ['DELETE', '/users/me/subscriptions', 'channels §4.6'],
  ['PATCH', '/users/me/subscriptions', 'channels §4.7'],
  ['GET', '/users/me/subscriptions', 'channels §4.8'],
  ['POST', '/users/me/subscriptions/properties', 'channels §4.9'],
  ['PATCH', '/users/me/subscriptions/:stream_id', 'channels §4.9'],
  ['GET', '/users/:user_id/subscriptions/:stream_id', 'channels §4.10'],
  ['GET', '/users/:user_id/channels', 'channels §4.10'],
  ['GET', '/streams/:stream_id/members', 'channels §4.10'],
  ['PATCH', '/streams/:stream_id', 'channels §4.11'],
  ['DELETE', '/streams/:stream_id', 'channels §4.12'],
  ['POST', '/default_streams', 'channels §4.14'],
  ['DELETE', '/default_streams', 'channels §4.14'],
  ['POST', '/default_stream_groups/create', 'channels §4.14'],
  ['PATCH', '/default_stream_groups/:group_id', 'channels §4.14'],
  ['PATCH', '/default_stream_groups/:group_id/streams', 'channels §4.14'],
  ['DELETE', '/default_stream_groups/:group_id', 'channels §4.14'],
  ['POST', '/channel_folders/create', 'channels §4.15'],
  ['GET', '/channel_folders', 'channels §4.15'],
  ['PATCH', '/channel_folders', 'channels §4.15'],
  ['PATCH', '/channel_folders/:channel_folder_id', 'channels §4.15'],
  [
    'GET',
    '/streams/:stream_id/email_address',
    'channels §4.16',
    { lacks: 'mail to it is not taken: a gateway of the operator has to send it as messages' },
  ],
  ['GET', '/users/me/:stream_id/topics', 'channels §5.3'],
  ['POST', '/user_topics', 'channels §5.4'],
  ['PATCH', '/users/me/subscriptions/muted_topics', 'channels §5.5'],
  ['POST', '/streams/:stream_id/delete_topic', 'channels §5.6', { isStarred: true }],
  // Users.
  ['GET', '/users', 'users §2'],
  ['GET', '/users/:user_id', 'users §2'],
  ['GET', '/users/:email', 'users §2'],
  ['GET', '/users/me', 'users §2'],
  ['GET', '/avatar/:user_id', 'users §1.3', { atRoot: true }],
  ['GET', '/avatar/:user_id/medium', 'users §1.3', { atRoot: true }],
  ['POST', '/users', 'users §3.1'],
  ['PATCH', '/users/:user_id', 'users §3.2', { isStarred: true }],
  ['PATCH', '/users/:email', 'users §3.2', { isStarred: true }],
  ['DELETE', '/users/:user_id', 'users §4.1'],
  ['DELETE', '/users/me', 'users §4.2'],
  ['POST', '/users/:user_id/reactivate', 'users §4.3'],
  ['PATCH', '/settings', 'users §6.1'],
  ['PATCH', '/settings/display', 'users §6.1'],
  ['PATCH', '/settings/notifications', 'users §6.1'],
  ['PATCH', '/realm/user_settings_defaults', 'users §6.5'],
  ['GET', '/users/:user_id/status', 'users §7'],
  ['POST', '/users/me/status', 'users §7'],
  ['POST', '/users/:user_id/status', 'users §7'],
  ['POST', '/users/me/presence', 'users §8.1'],
  ['GET', '/users/:user_id_or_email/presence', 'users §8.3'],
  ['GET', '/realm/presence', 'users §8.4'],
  ['POST', '/typing', 'users §9.1'],
  ['POST', '/messages/:message_id/typing', 'users §9.2'],
  ['POST', '/users/me/muted_users/:muted_user_id', 'users §10'],
  ['DELETE', '/users/me/muted_users/:muted_user_id', 'users §10'],
  ['GET', '/users/me/alert_words', 'users §10'],
  ['POST', '/users/me/alert_words', 'users §10'],
  ['DELETE', '/users/me/alert_words', 'users §10'],
  ['POST', '/users/me/avatar', 'users §11'],
  ['DELETE', '/users/me/avatar', 'users §11'],
  ['GET', '/user_groups', 'users §12.3'],
  ['POST', '/user_groups/create', 'users §12.3'],
  ['PATCH', '/user_groups/:user_group_id', 'users §12.3'],
  ['POST', '/user_groups/:user_group_id/deactivate', 'users §12.3'],
  ['GET', '/user_groups/:user_group_id/members', 'users §12.3'],
  ['GET', '/user_groups/:user_group_id/members/:user_id', 'users §12.3'],
  ['GET', '/user_groups/:user_group_id/subgroups', 'users §12.3'],
  ['POST', '/user_groups/:user_group_id/members', 'users §12.4', { isStarred: true }],
  ['POST', '/user_groups/:user_group_id/subgroups', 'users §12.4'],
  ['GET', '/realm/profile_fields', 'users §13.2'],
  ['POST', '/realm/profile_fields', 'users §13.3'],
  ['PATCH', '/realm/profile_fields/:field_id', 'users §13.4'],
  ['DELETE', '/realm/profile_fields/:field_id', 'users §13.4'],
  ['PATCH', '/realm/profile_fields', 'users §13.4'],
  ['PATCH', '/users/me/profile_data', 'users §13.5', { isStarred: true }],
  ['DELETE', '/users/me/profile_data', 'users §13.5'],
  ['GET', '/bot_storage', 'users §14'],
  ['PUT', '/bot_storage', 'users §14', { isStarred: true }],
  ['DELETE', '/bot_storage', 'users §14'],
  ['POST', '/bots', 'users §15', { lacks: BOTS_LACK }],
  ['GET', '/bots', 'users §15'],
  ['PATCH', '/bots/:bot_id', 'users §15', { lacks: BOTS_LACK }],
  ['DELETE', '/bots/:bot_id', 'users §15'],
  ['GET', '/bots/:bot_id/api_key', 'users §15'],
  ['POST', '/bots/:bot_id/api_key/regenerate', 'users §15'],
  ['POST', '/users/me/api_key/regenerate', 'users §15'],
  ['GET', '/attachments', 'users §16'],
  ['DELETE', '/attachments/:attachment_id', 'users §16'],
  ['GET', '/drafts', 'users §17'],
  ['POST', '/drafts', 'users §17'],
  ['PATCH', '/drafts/:draft_id', 'users §17'],
  ['DELETE', '/drafts/:draft_id', 'users §17'],
  ['GET', '/saved_snippets', 'users §18'],
  ['POST', '/saved_snippets', 'users §18'],
  ['PATCH', '/saved_snippets/:saved_snippet_id', 'users §18'],
  ['DELETE', '/saved_snippets/:saved_snippet_id', 'users §18'],
  ['GET', '/navigation_views', 'users §19'],
  ['POST', '/navigation_views', 'users §19'],
  ['PATCH', '/navigation_views/*fragment', 'users §19'],
  ['DELETE', '/navigation_views/*fragment', 'users §19'],
  ['GET', '/scheduled_messages', 'users §20.1'],
  ['POST', '/scheduled_messages', 'users §20.2'],
  ['PATCH', '/scheduled_messages/:scheduled_message_id', 'users §20.3', { isStarred: true }],
  ['DELETE', '/scheduled_messages/:scheduled_message_id', 'users §20.4'],
  ['GET', '/reminders', 'users §21'],
  ['POST', '/reminders', 'users §21', { isStarred: true }],
  ['DELETE', '/reminders/:reminder_id', 'users §21'],
  ['POST', '/users/me/onboarding_steps', 'users §22'],
  // Organization.
  ['PATCH', '/realm', 'organization §2'],
  ['GET', '/realm/icon', 'organization §3'],
  ['POST', '/realm/icon', 'organization §3'],
  ['DELETE', '/realm/icon', 'organization §3'],
  ['GET', '/realm/logo', 'organization §3'],
  ['POST', '/realm/logo', 'organization §3'],
  ['DELETE', '/realm/logo', 'organization §3'],
  ['POST', '/realm/deactivate', 'organization §3'],
  ['GET', '/json/realm/subdomain/:subdomain', 'organization §3', { atRoot: true }],
  ['GET', '/realm/domains', 'organization §5'],
  ['POST', '/realm/domains', 'organization §5', { isStarred: true }],
  ['PATCH', '/realm/domains/:domain', 'organization §5'],
  ['DELETE', '/realm/domains/:domain', 'organization §5'],
  ['GET', '/realm/linkifiers', 'organization §6', { isStarred: true }],
  ['PATCH', '/realm/linkifiers', 'organization §6'],
  ['POST', '/realm/filters', 'organization §6'],
  ['PATCH', '/realm/filters/:filter_id', 'organization §6'],
  ['DELETE', '/realm/filters/:filter_id', 'organization §6'],
  ['POST', '/realm/playgrounds', 'organization §7'],
  ['DELETE', '/realm/playgrounds/:playground_id', 'organization §7'],
  ['GET', '/realm/emoji', 'organization §7'],
  ['POST', '/realm/emoji/*emoji_name', 'organization §7'],
  ['DELETE', '/realm/emoji/*emoji_name', 'organization §7'],
  ['GET', '/export/realm', 'organization §8'],
  ['POST', '/export/realm', 'organization §8'],
  ['DELETE', '/export/realm/:export_id', 'organization §8'],
  ['GET', '/export/realm/consents', 'organization §8'],
  ['POST', '/invites/multiuse', 'organization §9.1', { isStarred: true }],
  ['GET', '/invites', 'organization §9.2'],
  ['POST', '/invites', 'organization §9.3'],
  ['DELETE', '/invites/:invite_id', 'organization §9.4'],
  ['DELETE', '/invites/multiuse/:invite_id', 'organization §9.4'],
  ['POST', '/invites/:invite_id/resend', 'organization §9.4'],
  ['POST', '/invites/accept', 'organization §10.7'],
  ['POST', '/realm/test_welcome_bot_custom_message', 'organization §10.6'],
  ['POST', '/register_client_device', 'organization §11'],
  ['POST', '/remove_client_device', 'organization §11'],
  ['POST', '/mobile_push/register', 'organization §12', { isStarred: true }],
  ['POST', '/users/me/apns_device_token', 'organization §13', { isStarred: true }],
  ['DELETE', '/users/me/apns_device_token', 'organization §13'],
  ['POST', '/incoming_email', 'channels §4.16'],
  ['GET', '/web_push/subscriptions', 'organization §18'],
  ['POST', '/web_push/subscriptions', 'organization §18'],
  ['DELETE', '/web_push/subscriptions', 'organization §18'],
  ['POST', '/users/me/android_gcm_reg_id', 'organization §13'],
  ['DELETE', '/users/me/android_gcm_reg_id', 'organization §13'],
  ['POST', '/mobile_push/test_notification', 'organization §13'],
  ['POST', '/mobile_push/e2ee/test_notification', 'organization §13'],
  ['POST', '/external/:integration', 'organization §19'],
  ['POST', '/calls/zoom/create', 'organization §20', { lacks: NO_CALL_PROVIDER }],
  ['GET', '/calls/bigbluebutton/create', 'organization §20'],
  ['GET', '/calls/bigbluebutton/join', 'organization §20', { atRoot: true }],
  ['POST', '/calls/constructorgroups/create', 'organization §20', { lacks: NO_CALL_PROVIDER }],
  ['POST', '/calls/nextcloud_talk/create', 'organization §20', { lacks: NO_CALL_PROVIDER }],
  ['POST', '/calls/webex/create', 'organization §20', { lacks: NO_CALL_PROVIDER }],
];

/** Contract operations in contract order. docs/compatibility.md is generated from this list and the route table. */
export const CONTRACT_OPERATIONS: readonly ContractOperation[] = ROWS.map(([method, path, section, more]) => ({
  method,
  path,
  section,
  isStarred: false,
  atRoot: false,
  lacks: null,
  ...more,
}));

/**
 * Returns the contract path template that matches a request path, for logging requests without a route. Undefined if
 * no path below `/api/v1` or `/json` matches.
 */
export function contractPathOf(requestPath: string): string | undefined {
  const [, path = null] = /^\/(?:api\/v1|json)(\/.*)/s.exec(requestPath) ?? [];
  return path === null ? undefined : pathPatterns().find(({ pattern }) => pattern.test(path))?.path;
}

interface PathPattern {
  readonly path: string;
  readonly pattern: RegExp;
}

let patterns: readonly PathPattern[] | undefined;

/** Builds the patterns on first use. Paths with more literal text come first, as in the route table. */
function pathPatterns(): readonly PathPattern[] {
  patterns ??= [...new Set(CONTRACT_OPERATIONS.filter(({ atRoot }) => !atRoot).map(({ path }) => path))]
    .map((path) => ({ path, pattern: patternOf(path), literals: path.split('/').filter(isLiteral).length }))
    .sort((a, b) => b.literals - a.literals);
  return patterns;
}

const isLiteral = (segment: string): boolean => !/^[:*]/.test(segment);

/** Converts a path template: `:stream_id` matches digits, `:email` a segment, `*fragment` the rest. */
function patternOf(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (isLiteral(segment)) return segment;
    if (segment.startsWith('*')) return '.+';
    return segment.endsWith('_id') ? '\\d+' : '[^/]+';
  });
  return new RegExp(`^${segments.join('/')}$`);
}
