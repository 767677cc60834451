/** Allowed or required deviations of a response from the recorded one. Absent properties mean no deviation. */
export interface CaseRule {
  /** Reason for not comparing the case. */
  readonly skip?: string;
  readonly status?: number | readonly number[];
  readonly msg?: string;
  readonly code?: string;
  /** Fields besides `result`, `msg` and `code` that replace recorded ones. */
  readonly extra?: Readonly<Record<string, string>>;
  /** True to skip comparison of the body. */
  readonly anyBody?: boolean;
  readonly anyEvents?: boolean;
  /** True to compare only `result` and `code`. */
  readonly loose?: boolean;
  /** Patterns of paths where differences are ignored. */
  readonly ignore?: readonly RegExp[];
}

const ANYTHING: CaseRule = { anyBody: true, anyEvents: true };
const ADMINS_ONLY: CaseRule = {
  code: 'UNAUTHORIZED_PRINCIPAL',
  msg: 'Must be an organization administrator',
  extra: {},
};

/** Rules by pattern of the full name. Matching rules are merged; later ones take precedence. */
const CASE_RULES: readonly (readonly [pattern: string, rule: CaseRule])[] = [
  // Protocol.
  [
    'fetch_api_key/json-body',
    {
      status: 400,
      code: 'REQUEST_VARIABLE_MISSING',
      msg: "Missing 'password' argument",
      extra: { var_name: 'password' },
    },
  ],
  ['params/json-content-type', { anyBody: true, status: 200 }],
  ['server_settings/post|dispatch/405-events', { anyBody: true, status: 405 }],
  ['dispatch/options-events', { skip: 'front server' }],
  [
    'fetch_api_key/other-realm|auth/other-realm|.*unknown-(realm|subdomain)',
    { skip: 'depends on the number of organizations' },
  ],
  ['auth/none-html', { anyBody: true, status: [302, 401] }],
  [
    'server_settings/ignored-parameter|params/ignored|register/queue_lifespan_secs|user/me-ignored-parameter',
    { ignore: [/ignored_parameters_unsupported/] },
  ],
  ['dispatch/options-(messages|users)', { skip: 'form of the answer to OPTIONS' }],
  // Register and events.
  [
    'register/.*',
    {
      ignore: [
        /realm_default_stream/,
        /realm_bots/,
        /presences/,
        /giphy/,
        // The contract has `config_options` instead (events §3.2).
        /realm_incoming_webhook_bots.*config/,
        /unavailable_reason/,
        /realm_workplace_users_group/,
        /ignored_parameters_unsupported/,
      ],
    },
  ],
  ['register/(narrow-shape|narrow-objects|capabilities-.*|bad-event-types)', { loose: true }],
  ['register/capabilities-unknown', { ...ANYTHING, status: 200 }],
  ['register/include_subscribers-quoted', { msg: 'Invalid include_subscribers' }],
  ['register/include_subscribers-partial', { ...ANYTHING, status: 200 }],
  ['register/type/(hotspots|update_display_settings|update_global_notifications|muted_topics)', { loose: true }],
  // Sending and reading.
  ['send/topic-empty|edit/topic-empty', { ...ANYTHING, status: 200 }],
  ['send/topic-no-topic', { anyEvents: true }],
  ['send/(sender|forged)', { ...ANYTHING, status: [200, 400] }],
  // Contract decision 20. The text contains the id.
  ['send/(private-not-member|guest-other-channel)', { code: 'STREAM_DOES_NOT_EXIST', loose: true }],
  ['get/narrow-not-json', { msg: 'narrow is not valid JSON', code: 'BAD_REQUEST', extra: {} }],
  ['get/narrow-object', { msg: 'narrow is not a list', code: 'BAD_REQUEST', extra: {} }],
  [
    'get/narrow-integers',
    { msg: 'Invalid narrow[0]: Value error, dict or list required', code: 'BAD_REQUEST', extra: {} },
  ],
  [
    'get/narrow-triple|get/narrow/pair-with-.*',
    { msg: 'Invalid narrow[0]: Value error, element is not a string pair', code: 'BAD_REQUEST', extra: {} },
  ],
  ['get/narrow-no-operator', { msg: 'Invalid narrow[0]: Value error, operator is missing', code: 'BAD_REQUEST' }],
  ['get/narrow-no-operand', { msg: 'Invalid narrow[0]: Value error, operand is missing', code: 'BAD_REQUEST' }],
  ['get/narrow-negated-bad|get/anchor-date|get/narrow/channel-bad-operand', { loose: true }],
  ['get/narrow/near$', { ...ANYTHING, status: 400 }],
  ['get/narrow/(is-followed|is-muted|with)', { ...ANYTHING, status: 200 }],
  ['get/narrow/(dm-empty|negated-dm-channel|search-negated)', { ...ANYTHING, status: 200 }],
  ['get/message_ids', { ...ANYTHING, status: 200 }],
  ['get/zero-zero-no-anchor-message', { anyBody: true, status: 200 }],
  ['send/mention-system-group', { ...ANYTHING, status: [200, 400] }],
  ['get/message_ids-with-anchor', { anyBody: true, status: 400 }],
  ['reaction/remove-.*wrong-code.*', { anyBody: true, status: 400 }],
  ['get/none', { msg: "Missing 'anchor' argument.", code: 'BAD_REQUEST', extra: {} }],
  ['edit/sha-mismatch', { ...ANYTHING, status: 400 }],
  ['limits/history-hidden', { loose: true }],
  ['realm/(mandatory-wildcards|wildcards-back|history-hidden|history-shown)', { loose: true }],
  ['render/(time-invalid|mention-system-group)', { anyBody: true }],
  ['send/mention-group-forbidden(-admin)?', { msg: "You are not allowed to mention user group 'g5-<run>'." }],
  ['edit/unresolve', { anyEvents: true }],
  ['topics/(list|not-subscribed-public)', { ignore: [/max_id$/] }],
  // Channels.
  ['subscribe/(bad-color|extra-key|principals-mixed|strings)', { loose: true }],
  ['subscribe/(private-)?guest-by-member', { ignore: [/message\.content$/] }],
  ['subscribe/web-public-and-private', { ...ANYTHING, status: 400 }],
  ['subscribe/private-outsider-unknown-principal', { msg: 'Unable to access channel (o-<run>-p).' }],
  ['subscribe/archived|subscribe/default-by-admin', { anyEvents: true }],
  ['channels/(include_all_active=true|all-active-member)', { ...ADMINS_ONLY, status: 400 }],
  ['channel-(update|archive)/by-(member|moderator|guest)', { anyBody: true, status: 400 }],
  ['channel-update/name-taken.*', { anyBody: true, status: [400, 409] }],
  ['channel-update/private-admin-outsider-privacy', { msg: 'Channel content access is required.' }],
  ['channel-update/(default-o.*|description-and-bad-name|description-afterwards)', { anyEvents: true }],
  ['channel-archive/(admin|private-admin-outsider|default)', { anyEvents: true }],
  ['channel/archived|channel-archive/topics', { anyBody: true, status: 200 }],
  ['channel-archive/send', { anyBody: true }],
  ['unsubscribe/private-self|unsubscribe/guest-self', { anyEvents: true }],
  ['subscription-property/set', { ...ANYTHING, status: 200 }],
  ['default-(channel|group)/.*by-member.*', { anyBody: true, status: 400 }],
  ['default-(channel|group)/.*', { anyEvents: true }],
  ['default-group/find', { ignore: [/realm_default_stream_groups\[\]\.streams/] }],
  ['delete-topic/.*', { anyEvents: true }],
  [
    '(send|typing|scheduled)/admins-only(-member|-guest)?',
    { msg: 'You do not have permission to post in this channel.' },
  ],
  // Users.
  ['user-update/(.*by-member|by-moderator|bot-.*by-its-owner)', { ...ADMINS_ONLY, status: 400 }],
  ['user-by-email/hidden-by-admin', { anyBody: true, status: 200 }],
  [
    'user-update/guest-to-(admin-2|owner)',
    {
      anyEvents: true,
      status: 400,
      msg: 'Guests cannot be organization administrators',
      code: 'BAD_REQUEST',
      extra: {},
    },
  ],
  ['user-update/(u3-guest|role-and-bad-name)', { anyEvents: true }],
  ['profile-data/null', { ...ANYTHING, status: 200 }],
  ['profile-data/clear', { anyEvents: true }],
  ['profile-data/extra-key|profile-field/choice-integer', { loose: true }],
  ['user-(deactivate|reactivate)/.*', { anyEvents: true }],
  ['status-get/.*', { skip: 'newer than the recording' }],
  ['presence/active', { anyBody: true }],
  ['presence/bad-last_update_id', { anyBody: true, status: 400 }],
  // Groups and bots.
  [
    'group-members/(nothing|empty-lists)',
    { msg: 'Nothing to do. Specify at least one of "add", "delete", "add_subgroups" or "delete_subgroups".' },
  ],
  ['group-delete/.*', { skip: 'removed' }],
  ['as-bot/user-groups', { anyBody: true, status: 200 }],
  ['bot-storage/(.*human.*)', { status: 400, msg: 'Must be a bot user', code: 'PERMISSION_DENIED', extra: {} }],
  ['bot-storage/put-not-strings', { loose: true }],
  ['(bot|bot-.*|as-bot)/.*|user-update/bot-.*', { anyEvents: true }],
  // The newer parser checks colors too (channels §4.9).
  [
    'subscription-properties/color-bad',
    { msg: 'Invalid subscription_data[0]: Value error, color is not a valid hex color code' },
  ],
  // The newer parser checks the type of recipients before the message type (users §20.2).
  ['scheduled/channel-name', { msg: 'to["int"] is not an integer' }],
  ['bot-create/at-in-short-name', { ...ANYTHING, status: [200, 400] }],
  ['draft/no-content', { anyBody: true, status: 400 }],
  // Organization.
  ['realm/waiting-period-negative', { anyBody: true }],
  ['realm/description.*', { anyEvents: true }],
  ['post-policy/.*', { anyEvents: true }],
  ['invite/moderator-role-by-moderator', { ...ANYTHING, status: 200 }],
  ['invite/spaces|apns/not-base64', { ...ANYTHING, status: 400 }],
  ['emoji/.*', { anyEvents: true }],
  ['upload/.*|attachments/.*', { ignore: [/attachment/] }],
  // Thumbnails were added in level 275; edits publish attachment changes as events of users §16.
  ['upload/message-image', { ignore: [/attachment/, /content$/] }],
  ['upload/message-edit-removes', { anyEvents: true }],
];

const COMPILED = CASE_RULES.map(([pattern, rule]) => [new RegExp(`^(?:${pattern})$`), rule] as const);

export function caseRuleOf(name: string): CaseRule {
  const rules = COMPILED.filter(([pattern]) => pattern.test(name)).map(([, rule]) => rule);
  return Object.assign({}, ...rules) as CaseRule;
}
