import { ReceiveEmail, VerifyGatewayToken } from '@parley/domain/push';
import type { HttpFeature } from '../declarations/feature.js';
import { type Route, route } from '../declarations/route.js';
import { TextParam } from '../params/params.js';
import { HttpRefusal, success, type WireErrors } from '../wire/reply.js';
import * as wire from '../wire/schema.js';

const MAX_ADDRESS_LENGTH = 320;

class IncomingEmailDto {
  /** In the query, because the body is the email. */
  @TextParam({
    max: MAX_ADDRESS_LENGTH,
    optional: true,
    description: "Address to which the email was delivered. Default: the first gateway address in the email's headers.",
  })
  recipient?: string;
}

const INCOMING_EMAIL_WIRE_ERRORS = {
  NO_MAIL_GATEWAY: { status: 404 },
  WRONG_GATEWAY_TOKEN: { status: 401, code: 'UNAUTHORIZED' },
  EMAIL_TOO_LARGE: { status: 413 },
  UNKNOWN_EMAIL_ADDRESS: { status: 404 },
} as const satisfies WireErrors;

/** Content types with a body that stays unread before the operation. */
const CONTENT_TYPE = /^(?:message\/rfc822|application\/octet-stream)\s*(?:;|$)/i;

/** Extensions §3. */
const incomingEmailRoutes: readonly Route[] = [
  route('POST', '/incoming_email', {
    summary: 'Post an email to the channel or conversation of its recipient',
    extension: 'extensions §3',
    withoutPage: 'scripts',
    auth: 'anyone',
    sessions: 'none',
    body: 'stream',
    dto: IncomingEmailDto,
    useCase: ReceiveEmail,
    response: wire.fields({ outcome: wire.text() }),
    async handle({ request, dto: { recipient }, useCase, resolve }) {
      const token = /^Bearer (\S+)$/.exec(request.header('authorization') ?? '')?.[1] ?? '';
      resolve(VerifyGatewayToken).execute(token);
      if (!CONTENT_TYPE.test(request.header('content-type') ?? '')) {
        throw new HttpRefusal(400, 'BAD_REQUEST', 'The Content-Type must be message/rfc822.');
      }
      // Remains open if not fully read, because a rejection is sent on the same connection.
      const raw = request.raw.iterator({ destroyOnReturn: false });
      const outcome = await useCase.execute({ recipient: recipient ?? null, raw });
      return success({ outcome });
    },
  }),
];

export const INCOMING_EMAIL = {
  tag: 'Push notifications',
  routes: () => incomingEmailRoutes,
  errors: INCOMING_EMAIL_WIRE_ERRORS,
} satisfies HttpFeature;
