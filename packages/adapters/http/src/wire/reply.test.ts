import { type DetailsParameter, DomainError, type ErrorCode } from '@parley/domain/kernel';
import { judgeInvitees } from '@parley/domain/membership';
import { ERROR_REPLIES } from '../features.js';
import { methodNotAllowed } from './reply.js';
import { parseUserAgent, variantOf } from './request.js';

const response = (code: ErrorCode, message: string, details?: object) => {
  const { reply } = ERROR_REPLIES.replyTo(
    new DomainError(code, message, ...([details] as DetailsParameter<ErrorCode>)),
  );
  return { status: reply.status, headers: reply.headers, ...JSON.parse(String(reply.body)) };
};

it.each`
  code                       | details                 | status | wire                        | extra
  ${'UNKNOWN_USER'}          | ${{ internal: 1 }}      | ${400} | ${'BAD_REQUEST'}            | ${{}}
  ${'NOT_PERMITTED'}         | ${{}}                   | ${400} | ${'BAD_REQUEST'}            | ${{}}
  ${'CANNOT_VIEW_FILE'}      | ${{}}                   | ${403} | ${'BAD_REQUEST'}            | ${{}}
  ${'MUST_BE_OWNER'}         | ${{}}                   | ${400} | ${'UNAUTHORIZED_PRINCIPAL'} | ${{}}
  ${'MUST_BE_BOT'}           | ${{}}                   | ${400} | ${'PERMISSION_DENIED'}      | ${{}}
  ${'AUTHENTICATION_FAILED'} | ${{}}                   | ${401} | ${'AUTHENTICATION_FAILED'}  | ${{}}
  ${'UNKNOWN_REALM'}         | ${{}}                   | ${404} | ${'NONEXISTENT_SUBDOMAIN'}  | ${{}}
  ${'UNKNOWN_DESTINATION'}   | ${{ channelId: 7 }}     | ${400} | ${'STREAM_DOES_NOT_EXIST'}  | ${{ stream_id: 7 }}
  ${'CHANNEL_NAME_TAKEN'}    | ${{ channelName: 'x' }} | ${409} | ${'CHANNEL_ALREADY_EXISTS'} | ${{ channel_name: 'x' }}
  ${'UNKNOWN_EVENT_QUEUE'}   | ${{ queueId: 'q' }}     | ${400} | ${'BAD_EVENT_QUEUE_ID'}     | ${{ queue_id: 'q' }}
  ${'STALE_VALUE'}           | ${{ field: 'old' }}     | ${400} | ${'EXPECTATION_MISMATCH'}   | ${{}}
  ${'STORAGE_UNAVAILABLE'}   | ${{}}                   | ${503} | ${'SERVER_NOT_READY'}       | ${{ headers: ['Retry-After', '1'] }}
`('ErrorReplies presents $code as $status $wire', ({ code, details, status, wire, extra }) => {
  expect(response(code, 'text', details)).toEqual({ status, result: 'error', msg: 'text', code: wire, ...extra });
});

it.each`
  code                       | details                                                       | msg                                                                        | wire                          | extra
  ${'UNKNOWN_DESTINATION'}   | ${{ channelName: '<b>' }}                                     | ${"Channel '&lt;b&gt;' does not exist"}                                    | ${'STREAM_DOES_NOT_EXIST'}    | ${{ stream: '&lt;b&gt;' }}
  ${'INVALID_RETENTION'}     | ${{ value: 'x' }}                                             | ${"Bad value for 'message_retention_days': x"}                             | ${'REQUEST_VARIABLE_INVALID'} | ${{ var_name: 'message_retention_days', bad_value: 'x' }}
  ${'GROUP_NOT_ALLOWED'}     | ${{ permission: 'canSubscribe', groupName: 'role:everyone' }} | ${"'can_subscribe_group' setting cannot be set to 'role:everyone' group."} | ${'BAD_REQUEST'}              | ${{}}
  ${'SYSTEM_GROUP_REQUIRED'} | ${{ permission: 'canAccessAllUsers' }}                        | ${"'can_access_all_users_group' must be a system user group."}             | ${'SYSTEM_GROUP_REQUIRED'}    | ${{ setting_name: 'can_access_all_users_group' }}
  ${'NO_TARGET_USERS'}       | ${{}}                                                         | ${'Either user_ids or group_ids must be provided.'}                        | ${'BAD_REQUEST'}              | ${{}}
`('ErrorReplies presents $code with wire names', ({ code, details, msg, wire, extra }) => {
  expect(response(code, 'text', details)).toEqual({ status: 400, result: 'error', msg, code: wire, ...extra });
});

it('ErrorReplies lists the uses of a group in the order of the rule (users §12.3)', () => {
  const objections = [
    { type: 'subgroup', supergroupIds: [8, 9] },
    { type: 'channel', channelId: 5, permissions: ['canSendMessage', 'canSubscribe'] },
    { type: 'group', groupId: 9, permissions: ['canManage', 'canAddMembers'] },
    { type: 'realm', permissions: ['canCreateGroups', 'canInviteUsers', 'createMultiuseInvite'] },
  ];
  expect(response('CANNOT_DEACTIVATE_GROUP_IN_USE', 'text', { objections })).toEqual({
    status: 400,
    result: 'error',
    msg: 'text',
    code: 'CANNOT_DEACTIVATE_GROUP_IN_USE',
    objections: [
      { type: 'subgroup', supergroup_ids: [8, 9] },
      { type: 'channel', channel_id: 5, settings: ['can_send_message_group', 'can_subscribe_group'] },
      { type: 'user_group', group_id: 9, settings: ['can_manage_group', 'can_add_members_group'] },
      {
        type: 'realm',
        settings: ['can_create_groups', 'can_invite_users_group', 'create_multiuse_invite_group'],
      },
    ],
  });
});

it('ErrorReplies reports why each address was not invited (organization §9.3)', () => {
  const { decision } = judgeInvitees(
    [
      { email: 'a@x.org', state: 'new' },
      { email: 'b@x.org', state: 'isDeactivated' },
    ],
    { hasReachedDailyLimit: false, isTooNew: false },
  );
  if (decision.allowed) throw new Error('Somebody was passed over.');
  expect(response(decision.code, 'text', decision.details)).toEqual({
    status: 400,
    result: 'error',
    msg: 'text',
    code: 'INVITATION_FAILED',
    errors: [['b@x.org', 'Account has been deactivated.', true]],
    sent_invitations: true,
    license_limit_reached: false,
    daily_limit_reached: false,
  });
});

it('ErrorReplies sends a challenge for missing credentials', () => {
  expect(response('UNAUTHENTICATED', 'text').headers).toEqual(['WWW-Authenticate', 'Basic realm="zulip"']);
});

it.each([
  ['RATE_LIMITED', 429, { 'retry-after': 28.5 }],
  ['SERVER_BUSY', 503, {}],
] as const)('ErrorReplies states when to retry: %s', (code, status, fields) => {
  const { headers, status: answered, ...body } = response(code, 'text', { retryAfter: 28.5 });
  expect([answered, headers]).toEqual([status, ['Retry-After', '28.5']]);
  expect(body).toEqual({ result: 'error', msg: 'text', code: expect.any(String), ...fields });
});

it('ErrorReplies sends a legacy text to a terminal client for a lost queue', () => {
  const terminal = variantOf(parseUserAgent('ZulipTerminal/0.7.0'));
  const { reply } = ERROR_REPLIES.replyTo(
    new DomainError('UNKNOWN_EVENT_QUEUE', 'Bad event queue ID: q:1', { queueId: 'q:1' }),
    terminal,
  );
  expect(JSON.parse(String(reply.body)).msg).toBe('Bad event queue id: q:1');
});

it('ErrorReplies sends no code for a wrong method', () => {
  const { reply } = ERROR_REPLIES.replyTo(methodNotAllowed(['GET', 'HEAD']));
  expect(reply.headers).toEqual(['Allow', 'GET, HEAD']);
  expect(JSON.parse(String(reply.body))).toEqual({
    result: 'error',
    msg: 'Method Not Allowed',
    allowed_methods: ['GET', 'HEAD'],
  });
});

it('ErrorReplies hides unexpected errors', () => {
  expect(ERROR_REPLIES.replyTo(new TypeError('secret'))).toEqual({
    isBug: true,
    message: 'Internal server error',
    reply: { status: 500, body: '{"result":"error","msg":"Internal server error"}\n' },
  });
});
